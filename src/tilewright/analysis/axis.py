"""Axis facts of every tile: contiguity, divisibility and constancy along each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tilewright.analysis import axis_arithmetic as transfer
from tilewright.analysis.axis_integers import INTEGER_RULES
from tilewright.analysis.axis_memory import MEMORY_RULES
from tilewright.analysis.axis_shapes import SHAPE_RULES
from tilewright.analysis.ranges import Ranges
from tilewright.analysis.runs import Axes, joined, unit_of, unknown
from tilewright.analysis.solver import Analysis, Rule
from tilewright.dialects.nv_tileaa import misc
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.types import MemrefType, PtrType
from tilewright.ir.traits import ELEMENTWISE
from tilewright.ir.types import INDEX, IntegerType, TensorType

if TYPE_CHECKING:
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class AxisFacts(Analysis[Axes]):
    """The axis facts of the values of a function.

    Of floats constancy alone is known; of tensors in memory, what divides the address.
    """

    __slots__ = ("_function", "_ranges")

    rules: ClassVar[dict[type[Operation], Rule | None]] = {
        **SHAPE_RULES,
        **INTEGER_RULES,
        **MEMORY_RULES,
    }

    def __init__(self, function: Operation) -> None:
        self._function = function
        self._ranges: Ranges | None = None
        super().__init__(function)

    @property
    def ranges(self) -> Ranges:
        """The intervals of the same function; many programs never ask for them."""
        if self._ranges is None:
            self._ranges = Ranges(self._function)
        return self._ranges

    def top(self, value: Value) -> Axes:
        type = value.type
        if isinstance(type, TensorType):
            return unknown(len(type.shape or ()), unit_of(type))
        return unknown(0, unit_of(type))

    def join(self, a: Axes, b: Axes) -> Axes:
        return joined(a, b)

    def tracks(self, value: Value) -> bool:
        type = value.type
        return isinstance(type, TensorType | IntegerType | PtrType | MemrefType) or type is INDEX

    def counter(self, loop: ForOp) -> Axes:
        """From the lower bound by steps: what divides both divides the index."""
        return Axes((), min(self.of(loop.lower_bound).divisor, self.of(loop.step).divisor))

    def default_rule(self, kind: type[Operation]) -> Rule | None:
        """Functions of elements give equal results for equal operands."""
        is_known = ELEMENTWISE in kind.traits and not issubclass(kind, misc.ForeignOp)
        return _elementwise if is_known else None

    def is_uniform(self, value: Value) -> bool:
        """Whether all elements of a tile are equal; a scalar is by itself."""
        return self.of(value).is_uniform(extents(value.type))


def _elementwise(at: AxisFacts, op: Operation) -> Any:
    """Equal operands give equal results; scalars are equal everywhere."""
    rank = len(extents(op.results[0].type))
    facts = [each for each in map(at.of, op.operands) if len(each.dims) == rank]
    if not facts:
        return None
    fact = transfer.pointwise(*facts)
    return fact if len(op.results) == 1 else [fact] * len(op.results)
