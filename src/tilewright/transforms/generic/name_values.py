"""Names of values for debuggers: those of the source, or those of the IR text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.ir.passes import Pass
from tilewright.ir.types import FloatType, IntegerType, TensorType
from tilewright.support.location import NameLoc
from tilewright.support.source_location import source_location
from tilewright.text.naming import Names

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

DATA: Final = ("cuda_tile.tile", "nv_tileaa.ptr")
"""Types of data that are not builtin."""
BODIES: Final = (".reduce", ".scan", ".generate")
"""Operations with a body on scalars, at all levels."""


class NameValues(Pass):
    """Put the names of its values into the location of each operation that has none there.

    Names go with locations down to the last level. They are those that the program has as text.
    """

    name = "name-values"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        names = Names(op, "public", hinted=True).of
        taken: set[str] = set()
        for inner in op.walk():
            if inner.is_isolated:
                taken.clear()
            if isinstance(inner.location, NameLoc) or _is_in_body(inner):
                continue
            is_value = any(_is_data(result.type) for result in inner.results)
            if is_value and source_location(inner.location) is not None:
                unique = [_fresh(spelled(names[result]), taken) for result in inner.results]
                inner.location = NameLoc(",".join(unique), inner.location)


def _is_data(type: Type) -> bool:
    """Whether a debugger has something to show: views and tokens are no data."""
    return isinstance(type, IntegerType | FloatType | TensorType) or type.mnemonic in DATA


def _is_in_body(op: Operation) -> bool:
    """Whether an operation runs many times for one value, which has a name itself."""
    return any(outer.name.endswith(BODIES) for outer in op.ancestors())


def _fresh(name: str, taken: set[str]) -> str:
    """A name that no other value of the function has: regions side by side share those of text."""
    unique, count = name, 0
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    taken.add(unique)
    return unique


def spelled(name: str) -> str:
    """The name of a value as an identifier of C."""
    plain = "".join([letter if letter.isalnum() else "_" for letter in name.lstrip("%")])
    return f"v{plain}" if plain[:1].isdigit() else plain
