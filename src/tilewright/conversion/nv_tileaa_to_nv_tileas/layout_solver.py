"""Layout solver: one layout for each class of tiles.

A class takes the layout with the greatest weight among the preferences of its members. It takes
that of a heavier class across a reshape if its accesses stay coalesced. A class without preferences
takes the layout that propagates to it through shape operations; one that none reaches is
distributed evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.elementwise import is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import in_layout, is_narrowed
from tilewright.conversion.nv_tileaa_to_nv_tileas.dot_accesses import (
    accumulator_access,
    adopt_lines,
)
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import aggregate, shape
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.view import TileStoreOp
from tilewright.ir.types import memory_bits
from tilewright.layout.packing import BYTE, unpacked
from tilewright.layout.parts import beside, inside
from tilewright.layout.spread import spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import MemoryAccess
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_constraints import (
        LayoutClasses,
        LayoutConstraints,
    )
    from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import MmaSelection
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class LayoutAssignment(NamedTuple):
    """The layouts of all tiles of a kernel, and the instructions of its accesses and dots."""

    warps: int
    classes: LayoutClasses
    layouts: dict[Value, Layout]
    """The layout of each class, by its leader."""
    accesses: dict[Operation, MemoryAccess]
    dots: Mapping[Operation, MmaSelection]

    def layout(self, value: Value) -> Layout:
        """The layout of a tile's class; a rematerializable one is distributed evenly."""
        leader = self.classes.leader_of(value)
        return spread(extents(value.type), self.warps) if leader is None else self.layouts[leader]

    def assigned(self, value: Value) -> Layout | None:
        """The layout of a tile's class, if it has one already."""
        leader = self.classes.leader_of(value)
        return None if leader is None else self.layouts.get(leader)

    def assign(self, value: Value, layout: Layout) -> None:
        """Let the class of a tile have a layout."""
        leader = self.classes.leader_of(value)
        assert leader is not None
        self.layouts[leader] = layout


def solve_layouts(constraints: LayoutConstraints) -> LayoutAssignment:
    """Assign a layout to each class of tiles."""
    warps, classes, preferences, accesses, dots, shape_ops = constraints
    layouts = {
        leader: max(weights, key=lambda layout: weights[layout])
        for leader, weights in preferences.items()
    }
    assignment = LayoutAssignment(warps, classes, layouts, dict(accesses), dots)
    _adopt_layouts(constraints, layouts)
    _share_accesses(assignment)
    _store_accumulators(assignment)
    # One propagation may enable another: repeat until nothing changes.
    while any([_propagate(op, assignment) for op in shape_ops]):
        pass
    for leader in classes.leaders():
        if leader not in layouts:
            layouts[leader] = spread(extents(leader.type), warps)
    if any(dot.lines for dot in dots.values()):
        adopt_lines(assignment)
    return assignment


def _adopt_layouts(constraints: LayoutConstraints, layouts: dict[Value, Layout]) -> None:
    """Let a class take the layout of a heavier one across a reshape.

    Only where its accesses stay coalesced: narrower vectors cost less than a conversion.
    """
    classes = constraints.classes
    weights = {leader: max(each.values()) for leader, each in constraints.preferences.items()}
    for op in constraints.shape_ops:
        if not isinstance(op, shape.ViewOp | shape.ExpandDimsOp) or not is_tile(op.results[0]):
            continue
        source, result = classes.leader_of(op.source), classes.leader_of(op.results[0])
        if source is None or result is None or not {source, result} <= weights.keys():
            continue
        if weights[source] < weights[result]:
            lighter, layout = source, backward(op, layouts[result])
        else:
            lighter, layout = result, forward(op, layouts[source])
        if layout is not None and _suits_accesses(constraints, lighter, layout):
            layouts[lighter] = layout


def _suits_accesses(constraints: LayoutConstraints, leader: Value, layout: Layout) -> bool:
    """Whether only accesses prefer layouts for a class, and all are coalesced in this one."""
    accesses, leader_of = constraints.accesses.values(), constraints.classes.leader_of
    members = [access for access in accesses if leader_of(access.tile) is leader]
    preferred = {access.layout for access in members}
    return constraints.preferences[leader].keys() <= preferred and all(
        is_narrowed(access, layout, constraints.warps) for access in members
    )


def _share_accesses(assignment: LayoutAssignment) -> None:
    """Let all accesses of a class use its layout: narrower vectors cost less than a conversion."""
    accesses = assignment.accesses
    known = {(access.layout, access.dim) for access in accesses.values()}
    for op, access in accesses.items():
        layout = assignment.assigned(access.tile)
        if layout is None:
            continue
        if (layout, access.dim) in known or is_narrowed(access, layout, assignment.warps):
            shared = in_layout(access, layout)
            accesses[op] = access if shared.vector < access.least else shared


def _store_accumulators(assignment: LayoutAssignment) -> None:
    """Store the accumulators of wgmma without a layout conversion, if that is as fast."""
    dots = assignment.dots.values()
    accumulators = {dot.accumulator for dot in dots if dot.atom.asynchronous}
    for op, access in assignment.accesses.items() if accumulators else ():
        if not isinstance(op, TileStoreOp):
            continue
        maker = op.tile.defining_op()
        # A last reshape is free.
        source = maker.source if isinstance(maker, shape.ViewOp | shape.ExpandDimsOp) else op.tile
        layout = assignment.assigned(source)
        direct = accumulator_access(access, layout) if layout in accumulators else None
        if direct is not None:
            assignment.accesses[op] = direct
            assignment.assign(op.tile, direct.layout)


def _propagate(op: Operation, assignment: LayoutAssignment) -> bool:
    """Propagate a layout between the source and the result of a shape operation, if one is open."""
    source, result = op.operands[0], op.results[0]
    if not is_tile(result) or assignment.classes.is_rematerializable(source):
        return False
    source_layout, result_layout = assignment.assigned(source), assignment.assigned(result)
    if source_layout is not None and result_layout is None:
        layout, reached = forward(op, source_layout), result
    elif source_layout is None and result_layout is not None:
        layout, reached = backward(op, result_layout), source
    else:
        return False
    if layout is not None:
        assignment.assign(reached, layout)
    return layout is not None


def forward(op: Operation, layout: Layout) -> Layout | None:
    """The layout of the result that a source in a layout has without conversion, if any."""
    target = extents(op.results[0].type)
    match op:
        case shape.ViewOp() | shape.ExpandDimsOp():
            return layout.reshape(target)
        case shape.PermuteOp():
            return layout.permute(op.order)
        case aggregate.ReduceOp():
            return layout.drop(op.axis).distinct_registers()
        case shape.CatOp():
            return beside(layout, target)
        case shape.UnpackOp() if (bits := memory_bits(element_of(op.result.type))) < BYTE:
            return unpacked(layout, bits)
        case _:
            return None


def backward(op: Operation, layout: Layout) -> Layout | None:
    """The layout of the source that a result in a layout takes without conversion, if any."""
    match op:
        case shape.BroadcastOp():
            return source_layout(op, layout).distinct_registers()
        case shape.Rearrangement():
            return source_layout(op, layout)
        case shape.CatOp():
            return inside(layout, extents(op.lhs.type))
        case shape.PackOp() if (bits := memory_bits(element_of(op.source.type))) < BYTE:
            return unpacked(layout, bits)
        case _:
            return None


def source_layout(op: Operation, layout: Layout) -> Layout:
    """The layout of the source of a shape operation that a result in a layout corresponds to."""
    source = extents(op.operands[0].type)
    match op:
        case shape.PermuteOp():
            return layout.permute([op.order.index(dim) for dim in range(len(op.order))])
        case shape.BroadcastOp():
            return layout.resize(source)
        case _:
            return layout.reshape(source)
