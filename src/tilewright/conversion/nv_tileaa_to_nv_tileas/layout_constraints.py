"""Constraint collection: the layouts that memory accesses and dots prefer, with their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.elementwise import is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import coalesced
from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_classes import (
    REARRANGEMENTS,
    LayoutClasses,
)
from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import select_all
from tilewright.conversion.nv_tileaa_to_nv_tileas.wgmma_accesses import operand_access
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import aggregate, shape
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.plans.accesses import accessed
from tilewright.schedule.limits import ASSUMED_TRIPS, DOT_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import MemoryAccess
    from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import MmaSelection
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.target.arch import Arch

HELD_WEIGHT: Final = 1
"""An operand that threads hold in registers: less than any access of it, which would not be
coalesced in the layout of the dot."""

SHAPE_OPS: Final = (
    *REARRANGEMENTS,
    aggregate.ReduceOp,
    shape.CatOp,
    shape.PackOp,
    shape.UnpackOp,
)
"""Operations through which a layout propagates from one class to another."""

Preferences = dict["Value", dict["Layout", int]]
"""By the leader of each layout class, the layouts that its members prefer and their weights."""


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
    for op in kernel.walk():
        if isinstance(op, DotOp):
            layout = dots[op].accumulator
            _prefer(preferences, classes, op, op.result, layout, DOT_WEIGHT)
            if dots[op].lines:
                for operand, held in ((op.a, dots[op].a), (op.b, dots[op].b)):
                    if held is not None:
                        _prefer(preferences, classes, op, operand, held, HELD_WEIGHT)
        tile = accessed(op)
        if tile is not None and is_tile(tile):
            facts = facts or AxisFacts(kernel)
            access = coalesced(op, tile, warps, facts)
            if op.results and dots:
                access = operand_access(tile, access, dots, warps)
            accesses[op] = access
            for value in (tile, *_beside(op, tile)):
                weight = register_bytes(element_of(value.type))
                _prefer(preferences, classes, op, value, access.layout, weight)
    shape_ops = [op for op in kernel.walk() if isinstance(op, SHAPE_OPS)]
    return LayoutConstraints(warps, classes, preferences, accesses, dots, shape_ops)


def _beside(op: Operation, tile: Value) -> list[Value]:
    """The pointers, mask and operands of an access beside its tile, which share its layout."""
    if not isinstance(op, LoadOp | StoreOp | AtomicOp):
        return []
    return [value for value in op.operands if is_tile(value) and value is not tile]


def _prefer(
    preferences: Preferences,
    classes: LayoutClasses,
    op: Operation,
    tile: Value,
    layout: Layout,
    weight: int,
) -> None:
    """Add the preference of an operation for the layout of a tile, by its size and loop depth."""
    if classes.is_rematerializable(tile):
        return
    loops = sum(isinstance(outer, ForOp | WhileOp) for outer in op.ancestors())
    weights = preferences.setdefault(classes.of(tile), {})
    cost = count(tile.type) * weight * ASSUMED_TRIPS**loops
    weights[layout] = weights.get(layout, 0) + cost
