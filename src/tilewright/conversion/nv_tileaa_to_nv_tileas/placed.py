"""The tiles of the new program, each in whatever layouts it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileaa_to_nv_tileas.classes import REARRANGEMENTS, is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.counterparts import led_back, remade
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import laid_out, layout_of
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.ir.builder import InsertPoint, create_op
from tilewright.layout.transfer import Move, transfer

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileaa_to_nv_tileas.assign import Assignment
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class Placed:
    """What stands for each value of the old program.

    A tile is made in one layout and converted to others right behind its definition, once for
    each. A flexible one is not made at all before somebody asks for it; then it appears where it
    was in the old program.
    """

    __slots__ = ("_assignment", "_cursors", "_homes", "_tiles", "_values")

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._values: dict[Value, Value] = {}
        self._tiles: dict[tuple[Value, Layout], Value] = {}
        self._homes: dict[Operation, tuple[Block, Operation | None]] = {}
        self._cursors: dict[tuple[Block, Operation | None], Operation] = {}
        """By place, the last operation that was put there later."""

    def bind(self, old: Value, new: Value) -> None:
        """Let a value of the new program stand for one of the old."""
        self._values[old] = new
        if is_tile(old):
            self._tiles[old, layout_of(new)] = new

    def postpone(self, op: Operation, block: Block) -> None:
        """Remember where a flexible tile belongs: behind what the block has now."""
        self._homes[op] = (block, block.last)

    def plain(self, value: Value) -> Value:
        """What stands for a scalar, or for a tile in the layout of its class."""
        if is_tile(value):
            return self.tile(value, self._assignment.layout(value))
        return self._values.get(value, value)

    def any(self, value: Value) -> Value:
        """What stands for a scalar, or for a tile as it was made."""
        found = self._values.get(value)
        return self.plain(value) if found is None else found

    def tile(self, value: Value, layout: Layout) -> Value:
        """A tile in a layout, which is made or converted to where its definition is."""
        found = self._tiles.get((value, layout))
        if found is None:
            flexible = self._assignment.classes.is_flexible(value)
            found = self._remade(value, layout) if flexible else self._converted(value, layout)
            self._tiles[value, layout] = found
        return found

    def held(self, value: Value, wanted: Layout) -> Value:
        """A tile of which every thread holds what it needs for the wanted layout."""
        if not self._assignment.classes.is_flexible(value):
            made = self._values[value]
            if transfer(layout_of(made), wanted).move <= Move.REGISTERS:
                return made
        return self.tile(value, wanted.distinct_registers())

    def _converted(self, value: Value, layout: Layout) -> Value:
        made = self._values[value]
        op = create_op(
            ConvertLayoutOp,
            source=made,
            types=[laid_out(element_of(made.type), layout)],
            location=value.location,
        )
        block = made.parent_block
        assert block is not None
        self._insert(op, (block, made.defining_op()))
        return op.result

    def _remade(self, value: Value, layout: Layout) -> Value:
        op = value.defining_op()
        assert op is not None
        operands = [self._operand(op, each, layout) for each in op.operands]
        made = remade(op, operands, [laid_out(element_of(value.type), layout)])
        self._insert(made, self._homes[op])
        return made.results[0]

    def _operand(self, op: Operation, operand: Value, layout: Layout) -> Value:
        if not is_tile(operand):
            return self.plain(operand)
        if isinstance(op, REARRANGEMENTS):
            return self.held(operand, led_back(op, layout))
        return self.tile(operand, layout)

    def _insert(self, op: Operation, home: tuple[Block, Operation | None]) -> None:
        """Put an operation behind its home and behind what was put there before."""
        block, anchor = home
        cursor = self._cursors.get(home, anchor)
        point = InsertPoint.at_start(block) if cursor is None else InsertPoint.after(cursor)
        point.insert(op)
        self._cursors[home] = op
