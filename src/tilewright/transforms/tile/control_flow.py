"""Values that control flow passes on: those that loops carry and branches yield."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

CONTROL_FLOW: Final = (ForOp, IfOp, WhileOp, YieldOp, ConditionOp)

Use = tuple["Operation", int]
"""An operand of an operation, by its number."""


class Transfer:
    """A value that control flow passes on: its uses, and the values that it becomes."""

    __slots__ = ("targets", "uses")

    def __init__(self, uses: list[Use], targets: list[Value]) -> None:
        self.uses = uses
        self.targets = targets

    @property
    def sources(self) -> list[Value]:
        """The values that are passed on."""
        return [op.operands[number] for op, number in self.uses]


def control_flow_transfers(ops: Iterable[Operation]) -> Iterator[Transfer]:
    """The values that loops carry and branches yield."""
    for op in ops:
        yield from _transfers(op)


def _transfers(op: Operation) -> Iterator[Transfer]:
    match op:
        case ForOp():
            end = _end(op.body.block.last)
            for number, result in enumerate(op.results):
                yield Transfer([(op, 3 + number), (end, number)], [op.carried[number], result])
        case IfOp():
            ends = [_end(region.block.last) for region in op.regions if region.blocks]
            for number, result in enumerate(op.results):
                yield Transfer([(end, number) for end in ends], [result])
        case WhileOp():
            again, condition = _end(op.after.block.last), _end(op.before.block.last)
            for number, argument in enumerate(op.before.block.args):
                yield Transfer([(op, number), (again, number)], [argument])
            for number, result in enumerate(op.results):
                yield Transfer([(condition, 1 + number)], [op.after.block.args[number], result])
        case _:
            pass


def _end(terminator: Operation | None) -> Operation:
    assert terminator is not None
    return terminator


class Scope:
    """The part of a program in which tiles are cut, and how control flow links its tiles.

    Tiles that are linked stand for one another, and are cut alike.
    """

    __slots__ = ("_blocks", "_linked", "_linking", "transfers")

    def __init__(self, ops: Iterable[Operation], blocks: Iterable[Block]) -> None:
        self._blocks = set(blocks)
        self.transfers = [each for each in control_flow_transfers(ops) if is_tile(each.targets[0])]
        """The tiles that control flow passes on."""
        self._linked: dict[Value, list[Value]] = {}
        self._linking: set[Operation] = set()
        for transfer in self.transfers:
            values = [*transfer.sources, *transfer.targets]
            for value in values:
                self._linked.setdefault(value, []).extend(values)
            self._linking.update(op for op, _ in transfer.uses)
            self._linking.update(filter(None, (v.defining_op() for v in transfer.targets)))

    @staticmethod
    def of_function(function: Operation) -> Scope:
        """All of a function."""
        ops = list(function.walk())
        return Scope(ops, (block for op in ops for region in op.regions for block in region.blocks))

    @staticmethod
    def of_block(block: Block) -> Scope:
        """A block and the loops directly in it."""
        loops = [op for op in block if isinstance(op, ForOp)]
        return Scope(loops, (block, *(loop.body.block for loop in loops)))

    def __contains__(self, op: Operation) -> bool:
        return op.parent in self._blocks

    def linked(self, value: Value) -> list[Value]:
        """The tiles that control flow passes to or from a tile, itself included."""
        return self._linked.get(value, [])

    def links(self, op: Operation) -> bool:
        """Whether an operation only passes tiles on."""
        return op in self._linking
