"""Which tiles of a kernel are halved, and along what dimension.

The CTAs of a cluster compute a half each; where nothing of the second half is in bounds, one CTA
computes the first half alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from tilewright.plans.slicing import Rematerializable
from tilewright.transforms.nv_tileaa.half_tile_slicing import CannotHalve, half_slicing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.plans.slicing import Slicing

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


def control_flow_transfers(function: FuncOp) -> Iterator[Transfer]:
    """The values that loops carry and branches yield."""
    for op in function.walk():
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


class HalfTilePlan:
    """The tiles that are halved, such that every operation has the operands that it needs.

    A tile is either halved along one dimension, or whole in both CTAs. Tiles that are computed from
    scalars alone are rematerialized as each user needs them.
    """

    __slots__ = ("_linked", "_remade", "dims", "transfers", "ways")

    def __init__(self, function: FuncOp) -> None:
        self._remade = Rematerializable()
        self.transfers = [
            transfer
            for transfer in control_flow_transfers(function)
            if is_tile(transfer.targets[0])
        ]
        """The tiles that loops carry and branches yield."""
        self._linked: dict[Value, list[Value]] = {}
        for transfer in self.transfers:
            linked = [*transfer.sources, *transfer.targets]
            for value in linked:
                self._linked.setdefault(value, []).extend(linked)
        self.dims: Slicing = {}
        """The dimension along which each tile is halved; without those that are rematerialized."""
        self.ways: dict[Operation, Slicing] = {}
        """The operations that are halved, and the dimensions of their tiles."""

    def copy(self) -> HalfTilePlan:
        """A plan that can be extended without a change to this one."""
        other = object.__new__(HalfTilePlan)
        other._remade, other.transfers, other._linked = self._remade, self.transfers, self._linked
        other.dims, other.ways = self.dims.copy(), self.ways.copy()
        return other

    def with_half(self, op: Operation, way: Slicing) -> HalfTilePlan:
        """This plan with one more operation halved, and all that is connected with it.

        Raises `CannotHalve` if one of them cannot be.
        """
        plan = self.copy()
        worklist = plan._halve(op, way)  # noqa: SLF001 - of the same class
        while worklist:
            worklist += plan._cut(*worklist.pop())  # noqa: SLF001 - of the same class
        return plan

    def is_remade(self, value: Value) -> bool:
        """Whether a tile is computed from scalars, wherever one of its users needs it."""
        return value in self._remade

    def _halve(self, op: Operation, way: Slicing) -> list[tuple[Value, int]]:
        """Halve an operation; returns its tiles."""
        if self.ways.setdefault(op, way) != way:
            raise CannotHalve(op, "its tiles would be split in two ways")
        return list(way.items())

    def _cut(self, value: Value, dim: int) -> list[tuple[Value, int]]:
        """Halve a tile; returns the tiles that are halved with it."""
        maker = value.defining_op()
        if self.is_remade(value):
            assert maker is not None
            way = half_slicing(maker, value, dim)
            return [(other, along) for other, along in way.items() if other is not value]
        known = self.dims.get(value)
        if known is not None:
            if known == dim:
                return []
            raise CannotHalve(maker or _owner(value), "its tiles would be split in two ways")
        self.dims[value] = dim
        more: list[tuple[Value, int]] = []
        for op in (*([] if maker is None else [maker]), *value.users):
            if not isinstance(op, CONTROL_FLOW):
                more += self._halve(op, half_slicing(op, value, dim))
        return more + [(other, dim) for other in self._linked.get(value, ())]


def _owner(value: Value) -> Operation:
    """The operation whose region a block argument is of."""
    block = value.parent_block
    owner = None if block is None else block.parent_op
    assert owner is not None
    return owner
