"""The table of evaluators: the semantics of each operation.

An evaluator is a function of an operation and the batch that executes it:

    @evaluator(AddIOp)
    def addi(op: AddIOp, at: Batch) -> Array:
        return integers.add(at[op.lhs], at[op.rhs], element(op.result))

It returns the value of the result, a tuple for several, None for none. Evaluators of operations
with regions are generators, which `control_flow` explains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Unsupported

Evaluator = Callable[[Any, Any], Any]
EvaluatorT = TypeVar("EvaluatorT", bound=Evaluator)


class Table(dict[type[Operation], Evaluator]):
    """Evaluators by the class of the operation."""

    def __missing__(self, kind: type[Operation]) -> Evaluator:
        return _unsupported


def _unsupported(op: Operation, at: Any) -> Any:
    """Reject an operation without an evaluator, at its location."""
    raise Unsupported(f"running '{op.name}'", op.location)


EVALUATORS: Final = Table()


def evaluator(*kinds: type[Operation]) -> Callable[[EvaluatorT], EvaluatorT]:
    """Register a function as the evaluator of operations."""

    def register(function: EvaluatorT) -> EvaluatorT:
        EVALUATORS.update(dict.fromkeys(kinds, function))
        return function

    return register
