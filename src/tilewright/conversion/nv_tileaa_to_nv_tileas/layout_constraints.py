"""Layout constraints: tiles that share a layout, and those that accesses and dots prefer.

Tiles that element-wise operations or control flow connect are a class, which has one layout.
Rematerializable tiles belong to no class: they are recomputed in each layout that is required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import coalesced
from tilewright.conversion.nv_tileaa_to_nv_tileas.dot_accesses import operand_access
from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import select_all
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import aggregate, shape
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from tilewright.plans.accesses import accessed
from tilewright.schedule.limits import ASSUMED_TRIPS, DOT_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import MemoryAccess
    from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import MmaSelection
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.target.arch import Arch

SOURCES: Final = (ConstantOp, shape.SplatOp, shape.MakeRangeOp)
"""Ops whose results are free to compute in any layout."""
HELD_WEIGHT: Final = 1
"""An operand that threads hold in registers: less than any access of it, which would not be
coalesced in the layout of the dot."""

SHAPE_OPS: Final = (
    shape.Rearrangement,
    aggregate.ReduceOp,
    shape.CatOp,
    shape.PackOp,
    shape.UnpackOp,
)
"""Operations through which a layout propagates from one class to another."""

Preferences = dict["Value", dict["Layout", int]]
"""By the leader of each layout class, the layouts that its members prefer and their weights."""


class LayoutClasses:
    """A union-find structure over the tiles of a function: each class gets one layout."""

    __slots__ = ("_parent", "_rematerializable")

    def __init__(self, function: Operation) -> None:
        self._parent: dict[Value, Value] = {}
        self._rematerializable: dict[Value, bool] = {}
        for op in function.walk():
            for group in _groups(op):
                self._join(group)

    def leaders(self) -> Iterator[Value]:
        """One tile of each class, which represents it."""
        return (value for value in self._parent if self._parent[value] is value)

    def leader_of(self, value: Value) -> Value | None:
        """The leader of the class of a tile; None if it is rematerializable."""
        return None if self.is_rematerializable(value) else self._leader(value)

    def _leader(self, value: Value) -> Value:
        parent = self._parent
        while parent[value] is not value:
            parent[value] = value = parent[parent[value]]
        return value

    def is_rematerializable(self, value: Value) -> bool:
        """Whether a tile is recomputed in each layout that is required.

        Constants, splats and ranges are, and the results of element-wise and shape operations whose
        operands all are.
        """
        known = self._rematerializable.get(value)
        if known is None:
            known = self._rematerializable[value] = self._can_rematerialize(value)
        return known

    def _can_rematerialize(self, value: Value) -> bool:
        op = value.defining_op()
        if op is None or op.regions or len(op.results) != 1:
            return False
        if isinstance(op, SOURCES):
            return True
        if not (is_elementwise(op) or isinstance(op, shape.Rearrangement)):
            return False
        return all(self.is_rematerializable(each) for each in op.operands if is_tile(each))

    def _join(self, values: Iterable[Value]) -> None:
        first: Value | None = None
        for value in values:
            if not is_tile(value) or self.is_rematerializable(value):
                continue
            self._parent.setdefault(value, value)
            first = value if first is None else first
            self._parent[self._leader(value)] = self._leader(first)


def _groups(op: Operation) -> Iterator[Iterable[Value]]:
    """Groups of values of an operation that share a layout; every result is in one."""
    match op:
        case ForOp():
            end = op.body.block.terminator
            assert end is not None
            yield from zip(op.init_args, op.carried, end.operands, op.results, strict=True)
        case WhileOp():
            condition, end = op.before.block.terminator, op.after.block.terminator
            assert isinstance(condition, ConditionOp)
            assert isinstance(end, YieldOp)
            yield from zip(op.init_args, op.before.block.args, end.values, strict=True)
            yield from zip(condition.values, op.after.block.args, op.results, strict=True)
        case IfOp():
            ends = [region.block.terminator for region in op.regions if region.blocks]
            branches = [end.operands for end in ends if end is not None]
            yield from zip(op.results, *branches, strict=True)
        case DotOp():
            yield (op.c, op.result)
        case _ if is_elementwise(op):
            yield (*op.operands, *op.results)
        case _:
            yield from ((result,) for result in op.results)


class LayoutConstraints(NamedTuple):
    """The layout constraints of a kernel, the input of the solver."""

    warps: int
    classes: LayoutClasses
    preferences: Mapping[Value, Mapping[Layout, int]]
    accesses: Mapping[Operation, MemoryAccess]
    """The access that suits each load, store or atomic best."""
    dots: Mapping[Operation, MmaSelection]
    """The instruction of each dot, with the layouts that it requires of its operands."""
    shape_ops: Sequence[Operation]
    """The operations through which layouts propagate, in program order."""


def collect_constraints(kernel: Operation, arch: Arch, warps: int) -> LayoutConstraints:
    """Collect the constraints of all operations of a kernel."""
    classes = LayoutClasses(kernel)
    dots = select_all((op for op in kernel.walk() if isinstance(op, DotOp)), arch, warps)
    accesses: dict[Operation, MemoryAccess] = {}
    preferences: Preferences = {}
    facts: AxisFacts | None = None

    def prefer(op: Operation, tile: Value, layout: Layout, weight: int) -> None:
        """Add the preference of an operation for the layout of a tile, by size and loop depth."""
        leader = classes.leader_of(tile)
        if leader is not None:
            loops = sum(isinstance(outer, ForOp | WhileOp) for outer in op.ancestors())
            weights = preferences.setdefault(leader, {})
            cost = count(tile.type) * weight * ASSUMED_TRIPS**loops
            weights[layout] = weights.get(layout, 0) + cost

    for op in kernel.walk():
        if isinstance(op, DotOp):
            chosen = dots[op]
            prefer(op, op.result, chosen.accumulator, DOT_WEIGHT)
            for operand, held in ((op.a, chosen.a), (op.b, chosen.b)):
                if chosen.lines and held is not None:
                    prefer(op, operand, held, HELD_WEIGHT)
        tile = accessed(op)
        if tile is None or not is_tile(tile):
            continue
        facts = facts or AxisFacts(kernel)
        access = coalesced(op, tile, warps, facts)
        if op.results and dots:
            access = operand_access(access, dots, warps)
        accesses[op] = access
        for value in (tile, *_beside(op, tile)):
            prefer(op, value, access.layout, register_bytes(element_of(value.type)))
    shape_ops = [op for op in kernel.walk() if isinstance(op, SHAPE_OPS)]
    return LayoutConstraints(warps, classes, preferences, accesses, dots, shape_ops)


def _beside(op: Operation, tile: Value) -> list[Value]:
    """The pointers, mask and operands of an access beside its tile, which share its layout."""
    if not isinstance(op, LoadOp | StoreOp | AtomicOp):
        return []
    return [value for value in op.operands if is_tile(value) and value is not tile]
