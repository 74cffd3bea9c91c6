"""The table of evaluators: the semantics of each operation.

An evaluator is a function of an operation and the batch that executes it:

    @evaluator(AddIOp)
    def addi(op: AddIOp, at: Batch) -> Array:
        return integers.add(at[op.lhs], at[op.rhs], element(op.result))

It returns the value of the result, a tuple for several, None for none. Evaluators of operations
with regions are generators, which `control_flow` explains.

What an operation of scalars does takes less time than reading its attributes. A decoder reads them
once in a launch, and returns the function of the batch:

    @decoder(AndIOp)
    def andi(op: AndIOp) -> Run:
        return binary(op.lhs, op.rhs, np.bitwise_and)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.ir.values import Value
    from tilewright.reference.tile import Array

Evaluator = Callable[[Any, Any], Any]
EvaluatorT = TypeVar("EvaluatorT", bound=Evaluator)
Run = Callable[[Any], Any]
"""An evaluator of one operation, as a function of the batch."""
DecoderT = TypeVar("DecoderT", bound=Callable[[Any], Run])


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


class Decoded:
    """An evaluator whose decoder reads the attributes of an operation before it runs."""

    __slots__ = ("decode",)

    def __init__(self, decode: Callable[[Any], Run]) -> None:
        self.decode = decode

    def __call__(self, op: Any, at: Any) -> Any:
        """Decode and run an operation."""
        return self.decode(op)(at)


def decoder(*kinds: type[Operation]) -> Callable[[DecoderT], DecoderT]:
    """Register a function as the decoder of operations."""

    def register(function: DecoderT) -> DecoderT:
        EVALUATORS.update(dict.fromkeys(kinds, Decoded(function)))
        return function

    return register


def decode(op: Operation) -> Run:
    """The evaluator of one operation."""
    evaluate = EVALUATORS[type(op)]
    return evaluate.decode(op) if isinstance(evaluate, Decoded) else partial(evaluate, op)


def binary(lhs: Value, rhs: Value, compute: Callable[[Array, Array], Array]) -> Run:
    """Apply a function of arrays to two operands."""

    def run(at: Any) -> Array:
        values = at.values
        return compute(values[lhs], values[rhs])

    return run
