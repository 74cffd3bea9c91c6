"""The table of meanings: what running each operation does.

A meaning is a function of an operation and the batch it runs in:

    @meaning(AddIOp)
    def addi(op: AddIOp, at: Batch) -> Array:
        return integers.add(at[op.lhs], at[op.rhs], element(op.result))

It gives the value of the result, a tuple for several, nothing for none. Operations with regions
have generators instead, which `control_flow` explains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Unsupported

Meaning = Callable[[Any, Any], Any]
MeaningT = TypeVar("MeaningT", bound=Meaning)


class Table(dict[type[Operation], Meaning]):
    """Meanings by the class of the operation."""

    def __missing__(self, kind: type[Operation]) -> Meaning:
        raise Unsupported(f"running '{kind.name}'")


MEANINGS: Final = Table()


def meaning(*kinds: type[Operation]) -> Callable[[MeaningT], MeaningT]:
    """Make a function the meaning of operations."""

    def note(function: MeaningT) -> MeaningT:
        MEANINGS.update(dict.fromkeys(kinds, function))
        return function

    return note
