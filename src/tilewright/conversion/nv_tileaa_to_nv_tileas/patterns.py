"""Application of a layout assignment: patterns that rebuild operations on tiles with layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_values import LayoutValues
from tilewright.conversion.nv_tileaa_to_nv_tileas.op_mapping import TILEAS_OPS, with_layouts
from tilewright.conversion.nv_tileaa_to_nv_tileas.plugins import create_agent
from tilewright.conversion.nv_tileaa_to_nv_tileas.required_layouts import (
    operand_layouts,
    operand_values,
)
from tilewright.dialects.nv_tileaa import atomics, memory, multimem, queue, view
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileas.agents import ExecuteOp
from tilewright.dialects.nv_tileas.attributes import LayoutAttr
from tilewright.ir.attributes import IntegerAttr, UnitAttr
from tilewright.ir.conversion import Patterns
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation
from tilewright.ir.types import I32, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.ir.conversion import ConversionBuilder, Result
    from tilewright.ir.values import Value

QUEUE_OPS: Final = (queue.CreateQueueOp, queue.QueuePutOp, queue.QueueGetOp)
"""Queues are lowered by `convert-queues-to-pipelines`, before."""

ACCESSES: Final = (
    memory.LoadOp,
    memory.StoreOp,
    atomics.AtomicOp,
    view.TileLoadOp,
    view.TileStoreOp,
    view.TiledAtomicRmwOp,
    multimem.MultimemOp,
)


def carries_layouts(op: Operation) -> bool:
    """Whether all tiles of an operation have layouts: operands, results and block arguments."""
    if not (_have_layouts(op.operands) and _have_layouts(op.results)):
        return False
    return all(_have_layouts(block.args) for region in op.regions for block in region.blocks)


def _have_layouts(values: Iterable[Value]) -> bool:
    for value in values:
        type = value.type
        if isinstance(type, TensorType) and not isinstance(type.encoding, LayoutAttr):
            return False
    return True


TARGET: Final = ConversionTarget(illegal=(*TILEAS_OPS, *QUEUE_OPS), unknown=carries_layouts)
"""Operations of `nv_tileaa` that an operation of `nv_tileas` replaces are illegal; all others are
legal once their tiles carry layouts."""


def layout_patterns(assignment: LayoutAssignment) -> Patterns:
    """The patterns that apply an assignment to the kernel for which it was made."""
    patterns = _LayoutPatterns(assignment)
    return (
        ConversionPattern(ACCESSES, patterns.access, "access"),
        ConversionPattern((DotOp,), patterns.dot, "dot"),
        ConversionPattern((queue.ExecuteOp,), patterns.execute, "execute"),
        ConversionPattern((Operation,), patterns.tile_op, "tile_op"),
    )


class _LayoutPatterns:
    """The patterns, and the tiles that they share."""

    __slots__ = ("_assignment", "_values")

    def __init__(self, assignment: LayoutAssignment) -> None:
        self._assignment = assignment
        self._values = LayoutValues(assignment)

    def access(self, op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        """A memory access, with its vector width."""
        made = self._create(op, build)
        access = self._assignment.accesses.get(op)
        if access is not None and access.vector > 1:
            made.attributes["vector"] = IntegerAttr(access.vector, I32)
            if access.is_partial:
                made.attributes["partial"] = UnitAttr()
        return made

    def dot(self, op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
        """A dot, with its instruction."""
        made = self._create(op, build)
        made.attributes["atom"] = self._assignment.dots[op].atom
        return made

    def execute(
        self, op: queue.ExecuteOp, new: queue.ExecuteOp, build: ConversionBuilder
    ) -> Result:
        """The execution of a plugin, in an agent of its own."""
        made = self._with_layouts(op, build)
        assert isinstance(made, ExecuteOp)
        return create_agent(op, made, self._assignment.warps, build)

    def tile_op(self, op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        """Any other operation: element-wise, shape, reduction, control flow.

        A rematerializable one is left out until an operation requires its result in a layout.
        """
        if isinstance(op, QUEUE_OPS):
            return build.reject("expected queues to be lowered by 'convert-queues-to-pipelines'")
        if self._values.is_rematerializable(op):
            self._values.defer(op, build.point.block)
            return [()]
        return self._create(op, build)

    def _create(self, op: Operation, build: ConversionBuilder) -> Operation:
        """Create the operation on tiles with layouts, and convert its regions."""
        made = build.insert(self._with_layouts(op, build))
        for region, target in zip(op.regions, made.regions, strict=True):
            build.convert_region(region, target)
        return made

    def _with_layouts(self, op: Operation, build: ConversionBuilder) -> Operation:
        """The operation on operands in the layouts that it requires; not inserted yet."""
        required = operand_layouts(op, self._assignment).operands
        operands = [
            self._values.operand(value, layout, build)
            for value, layout in zip(operand_values(op, self._assignment), required, strict=True)
        ]
        types = build.types.convert_values(op.results)
        assert types is not None
        return with_layouts(op, operands, types)
