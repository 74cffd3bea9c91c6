"""Application of a layout assignment: patterns that rebuild operations on tiles with layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import source_layout
from tilewright.conversion.nv_tileaa_to_nv_tileas.required_layouts import (
    RegisterConvertible,
    operand_layouts,
    operand_values,
    plugin_layouts,
    plugin_of,
)
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import queue
from tilewright.dialects.nv_tileaa.dialect import NV_TILEAA
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import AccessOp
from tilewright.dialects.nv_tileaa.shape import Rearrangement
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, ExecuteOp, YieldOp
from tilewright.dialects.nv_tileas.attributes import (
    LayoutAttr,
    laid_out,
    layout_of,
    maybe_layout_of,
)
from tilewright.dialects.nv_tileas.dialect import NV_TILEAS
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.ir.attributes import DenseElementsAttr, IntegerAttr, Type, UnitAttr
from tilewright.ir.builder import InsertPoint, create_op
from tilewright.ir.conversion import Patterns
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import I32, TensorType
from tilewright.layout.linear import OFFSET
from tilewright.layout.transfer import Move, transfer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.conversion.nv_tileaa_to_nv_tileas.required_layouts import OperandLayout
    from tilewright.ir.builder import Builder
    from tilewright.ir.conversion import ConversionBuilder, Result
    from tilewright.ir.type_converter import Converted
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.support.location import Location

Position = tuple["Block", "Operation | None"]
"""A block, and the operation after which to insert; `None`: at the start."""
TILEAS_OPS: Final = {
    NV_TILEAA.ops[name]: kind
    for kind in NV_TILEAS.ops.values()
    if (name := kind.name.replace(NV_TILEAS.name, NV_TILEAA.name, 1)) in NV_TILEAA.ops
}
"""The operation of nv_tileas for each that does not stay what it is: that of the same name."""
QUEUE_OPS: Final = (queue.CreateQueueOp, queue.QueuePutOp, queue.QueueGetOp)
"""Queues are lowered by `convert-queues-to-pipelines`, before."""


def carries_layouts(op: Operation) -> bool:
    """Whether all tiles of an operation have layouts: operands, results and block arguments."""
    blocks = [block for region in op.regions for block in region.blocks]
    arguments = [argument for block in blocks for argument in block.args]
    types = [value.type for value in (*op.operands, *op.results, *arguments)]
    tiles = [type for type in types if isinstance(type, TensorType)]
    return all(isinstance(type.encoding, LayoutAttr) for type in tiles)


TARGET: Final = ConversionTarget(illegal=(*TILEAS_OPS, *QUEUE_OPS), unknown=carries_layouts)
"""Operations of `nv_tileaa` that an operation of `nv_tileas` replaces are illegal; all others are
legal once their tiles carry layouts."""


def layout_patterns(assignment: LayoutAssignment) -> Patterns:
    """The patterns that apply an assignment to the kernel for which it was made."""
    patterns = _LayoutPatterns(assignment)
    return (
        ConversionPattern((AccessOp,), patterns.access, "access"),
        ConversionPattern((DotOp,), patterns.dot, "dot"),
        ConversionPattern((queue.ExecuteOp,), patterns.execute, "execute"),
        ConversionPattern((Operation,), patterns.tile_op, "tile_op"),
    )


def layout_types(assignment: LayoutAssignment) -> TypeConverter:
    """A type converter that gives each tile the layout in which it is defined.

    The layout depends on the value, not on its type. A rematerializable tile is converted to no
    value at all: each use computes it in the layout that it requires; see `_LayoutValues`.
    """

    def tile_type(value: Value) -> Converted:
        if maybe_layout_of(value) is not None:
            return value.type
        if assignment.classes.is_rematerializable(value):
            return ()
        op = value.defining_op()
        if op is None:
            return laid_out(element_of(value.type), assignment.layout(value))
        layout = operand_layouts(op, assignment).results[value.index]
        return None if layout is None else laid_out(element_of(value.type), layout)

    types = TypeConverter()
    types.keep(Type)
    types.add_for_values(TensorType, tile_type)
    return types


class _LayoutPatterns:
    """The patterns, and the tiles that they share."""

    __slots__ = ("_assignment", "_values")

    def __init__(self, assignment: LayoutAssignment) -> None:
        self._assignment = assignment
        self._values = _LayoutValues(assignment)

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
        return _create_agent(op, made, self._assignment.warps, build)

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
        return _with_layouts(op, operands, types)


def _with_layouts(op: Operation, operands: Sequence[Value], types: Sequence[Type]) -> Operation:
    """An operation on tiles with layouts, with empty regions in place of its own."""
    kind = TILEAS_OPS.get(type(op), type(op))
    attributes = op.attributes.copy()
    if isinstance(op, ConstantOp) and isinstance(op.value, DenseElementsAttr):
        attributes["value"] = DenseElementsAttr(op.value.data, types[0])
    return kind(
        operands,
        types,
        attributes,
        [Region() for _ in op.regions],
        op.location,
        (),
        op.schema.group_sizes(op) if kind.schema.has_segments else None,
    )


def _create_agent(
    op: queue.ExecuteOp, execute: ExecuteOp, warps: int, build: Builder
) -> AgentSwitchOp:
    """Create an agent of all warps that runs a plugin, with the resources that it is granted."""
    plugin, (inputs, outputs) = plugin_of(op), plugin_layouts(op)
    body = Block()
    body.append(execute)
    body.append(create_op(YieldOp, values=execute.outputs, location=op.location))
    return build.create(
        AgentSwitchOp,
        warps=warps,
        max_registers=op.max_registers or plugin.max_registers,
        named_barriers=op.named_barriers or plugin.named_barriers,
        shared_memory_bytes=op.shared_memory_bytes or plugin.shared_memory_bytes,
        tensor_memory_bytes=op.tensor_memory_bytes or plugin.tensor_memory_bytes,
        input_layouts=tuple(inputs) or None,
        output_layouts=tuple(outputs) or None,
        types=[result.type for result in execute.outputs],
        body=body,
        location=op.location,
    )


class _LayoutValues:
    """The values of the new program that replace each tile of the old one, by layout.

    A tile is defined in one layout and converted to others right after its definition, once for
    each layout. A rematerializable tile is computed where it was defined in the old program, once
    for each layout in which an operation requires it.
    """

    __slots__ = ("_assignment", "_definitions", "_last_inserted", "_tiles")

    def __init__(self, assignment: LayoutAssignment) -> None:
        self._assignment = assignment
        self._tiles: dict[tuple[Value, Layout], Value] = {}
        self._definitions: dict[Operation, Position] = {}
        """The definition of each rematerializable tile."""
        self._last_inserted: dict[Position, Operation] = {}

    def is_rematerializable(self, op: Operation) -> bool:
        """Whether an operation is only computed in the layouts that are required of its result."""
        if len(op.results) != 1 or not is_tile(op.results[0]):
            return False
        return self._assignment.classes.is_rematerializable(op.results[0])

    def defer(self, op: Operation, block: Block) -> None:
        """Record the position of a rematerializable tile: the current end of a block."""
        self._definitions[op] = (block, block.last)

    def operand(self, value: Value, required: OperandLayout, build: ConversionBuilder) -> Value:
        """The replacement of an operand, in a layout that the operation requires of it."""
        is_rematerializable = is_tile(value) and self._assignment.classes.is_rematerializable(value)
        if required is None:
            if not is_rematerializable:
                return build.value(value)
            required = self._assignment.layout(value)
        elif isinstance(required, RegisterConvertible):
            if not is_rematerializable:
                defined = build.value(value)
                if transfer(layout_of(defined), required.layout).move <= Move.REGISTERS:
                    return defined
            required = required.layout.distinct_registers()
        return self._in_layout(value, required, build)

    def _in_layout(self, value: Value, layout: Layout, build: ConversionBuilder) -> Value:
        tile = self._tiles.get((value, layout))
        if tile is None or _is_rolled_back(tile.defining_op()):
            if not self._assignment.classes.is_rematerializable(value):
                tile = self._converted(build.value(value), layout, value.location, build)
            elif layout.names == (OFFSET,):
                # Threads compute it in registers, and store it.
                computed = self._in_layout(value, self._assignment.layout(value), build)
                tile = self._converted(computed, layout, value.location, build)
            else:
                tile = self._rematerialized(value, layout, build)
            self._tiles[value, layout] = tile
        return tile

    def _converted(
        self, defined: Value, layout: Layout, location: Location, build: ConversionBuilder
    ) -> Value:
        if layout_of(defined) == layout:
            return defined
        type = laid_out(element_of(defined.type), layout)
        op = create_op(ConvertLayoutOp, source=defined, types=[type], location=location)
        block = defined.parent_block
        if block is None:
            # A placeholder for a tile that failed to convert: go on, to report further errors.
            return build.insert(op).result
        self._insert(op, (block, defined.defining_op()), build)
        return op.result

    def _rematerialized(self, value: Value, layout: Layout, build: ConversionBuilder) -> Value:
        old = value.defining_op()
        assert old is not None
        operands = [
            self.operand(each, _rematerialized_operand(old, each, layout), build)
            for each in old.operands
        ]
        op = _with_layouts(old, operands, [laid_out(element_of(value.type), layout)])
        self._insert(op, self._definitions[old], build)
        return op.results[0]

    def _insert(self, op: Operation, position: Position, build: ConversionBuilder) -> None:
        """Insert an operation after a position, and after all that was inserted there before."""
        block, anchor = position
        last = self._last_inserted.get(position, anchor)
        last = anchor if _is_rolled_back(last) else last
        point = InsertPoint.at_start(block) if last is None else InsertPoint.after(last)
        with build.at(point):
            build.insert(op)
        self._last_inserted[position] = op


def _is_rolled_back(op: Operation | None) -> bool:
    """Whether an operation belonged to a pattern that was rejected."""
    return op is not None and op.parent is None


def _rematerialized_operand(op: Operation, operand: Value, layout: Layout) -> OperandLayout:
    """The layout of an operand of a rematerializable operation, for a result in a layout."""
    if not is_tile(operand):
        return None
    if isinstance(op, Rearrangement):
        return RegisterConvertible(source_layout(op, layout))
    return layout
