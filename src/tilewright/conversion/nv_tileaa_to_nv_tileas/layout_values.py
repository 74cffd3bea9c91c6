"""The tiles of the new program, in each layout that an operation requires of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_classes import REARRANGEMENTS
from tilewright.conversion.nv_tileaa_to_nv_tileas.op_mapping import source_layout, with_layouts
from tilewright.conversion.nv_tileaa_to_nv_tileas.required_layouts import RegisterConvertible
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import laid_out, layout_of
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.ir.builder import InsertPoint, create_op
from tilewright.layout.linear import OFFSET
from tilewright.layout.transfer import Move, transfer

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.conversion.nv_tileaa_to_nv_tileas.required_layouts import OperandLayout
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.support.location import Location

Position = tuple["Block", "Operation | None"]
"""A block, and the operation after which to insert; `None`: at the start."""


class LayoutValues:
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
        if required is None:
            return self._in_any_layout(value, build)
        if isinstance(required, RegisterConvertible):
            return self._register_convertible(value, required.layout, build)
        return self._in_layout(value, required, build)

    def _in_any_layout(self, value: Value, build: ConversionBuilder) -> Value:
        if is_tile(value) and self._assignment.classes.is_rematerializable(value):
            return self._in_layout(value, self._assignment.layout(value), build)
        return build.value(value)

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

    def _register_convertible(
        self, value: Value, layout: Layout, build: ConversionBuilder
    ) -> Value:
        """The tile as it is defined, if converting it takes no exchange between threads."""
        if not self._assignment.classes.is_rematerializable(value):
            defined = build.value(value)
            if transfer(layout_of(defined), layout).move <= Move.REGISTERS:
                return defined
        return self._in_layout(value, layout.distinct_registers(), build)

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
        op = with_layouts(old, operands, [laid_out(element_of(value.type), layout)])
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
    if isinstance(op, REARRANGEMENTS):
        return RegisterConvertible(source_layout(op, layout))
    return layout
