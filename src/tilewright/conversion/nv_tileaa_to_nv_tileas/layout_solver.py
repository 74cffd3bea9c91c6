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
from tilewright.conversion.nv_tileaa_to_nv_tileas.line_accesses import LineAccesses
from tilewright.conversion.nv_tileaa_to_nv_tileas.wgmma_accesses import accumulator_access
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import aggregate, shape
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.view import TileStoreOp
from tilewright.ir.types import memory_bits
from tilewright.layout.packing import BYTE, unpacked
from tilewright.layout.parts import beside, inside
from tilewright.layout.spread import spread
from tilewright.plans.accesses import accessed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import MemoryAccess
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_classes import LayoutClasses
    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_constraints import LayoutConstraints
    from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import MmaSelection
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

Layouts = dict["Value", "Layout"]
"""The layout of each class, by its leader."""


class LayoutAssignment(NamedTuple):
    """The layouts of all tiles of a kernel, and the instructions of its accesses and dots."""

    warps: int
    classes: LayoutClasses
    layouts: Mapping[Value, Layout]
    """The layout of each class, by its leader."""
    accesses: Mapping[Operation, MemoryAccess]
    dots: Mapping[Operation, MmaSelection]

    def layout(self, value: Value) -> Layout:
        """The layout of a tile's class; a rematerializable one is distributed evenly."""
        if self.classes.is_rematerializable(value):
            return spread(extents(value.type), self.warps)
        return self.layouts[self.classes.of(value)]


def solve_layouts(constraints: LayoutConstraints) -> LayoutAssignment:
    """Assign a layout to each class of tiles."""
    warps, classes, preferences, _, dots, shape_ops = constraints
    layouts: Layouts = {
        leader: max(weights, key=lambda layout: weights[layout])
        for leader, weights in preferences.items()
    }
    _adopt_layouts(constraints, layouts)
    accesses = _shared_accesses(constraints, layouts)
    _store_accumulators(constraints, layouts, accesses)
    # One propagation may enable another: repeat until nothing changes.
    while any([_propagate(op, classes, layouts) for op in shape_ops]):
        pass
    for leader in classes.leaders():
        if leader not in layouts:
            layouts[leader] = spread(extents(leader.type), warps)
    if any(dot.lines for dot in dots.values()):
        LineAccesses(classes, layouts, accesses).adopt()
    return LayoutAssignment(warps, classes, layouts, accesses, dots)


def _adopt_layouts(constraints: LayoutConstraints, layouts: Layouts) -> None:
    """Let a class take the layout of a heavier one across a reshape.

    Only where its accesses stay coalesced: narrower vectors cost less than a conversion.
    """
    _, classes, preferences, *_ = constraints
    weights = {leader: max(each.values()) for leader, each in preferences.items()}
    for op in constraints.shape_ops:
        if not isinstance(op, shape.ViewOp | shape.ExpandDimsOp) or not is_tile(op.results[0]):
            continue
        if classes.is_rematerializable(op.source):
            continue
        source, result = classes.of(op.source), classes.of(op.results[0])
        if source not in weights or result not in weights:
            continue
        if weights[source] < weights[result]:
            lighter, layout = source, backward(op, layouts[result])
        else:
            lighter, layout = result, forward(op, layouts[source])
        if layout is not None and _suits_accesses(constraints, lighter, layout):
            layouts[lighter] = layout


def _suits_accesses(constraints: LayoutConstraints, leader: Value, layout: Layout) -> bool:
    """Whether only accesses prefer layouts for a class, and all are coalesced in this one."""
    warps, classes, preferences, accesses, *_ = constraints
    members = [
        access
        for op, access in accesses.items()
        if (tile := accessed(op)) is not None
        and not classes.is_rematerializable(tile)
        and classes.of(tile) is leader
    ]
    preferred = {access.layout for access in members}
    return preferences[leader].keys() <= preferred and all(
        is_narrowed(access, layout, warps) for access in members
    )


def _shared_accesses(
    constraints: LayoutConstraints, layouts: Mapping[Value, Layout]
) -> dict[Operation, MemoryAccess]:
    """Let all accesses of a class use its layout: narrower vectors cost less than a conversion."""
    accesses = dict(constraints.accesses)
    known = {(access.layout, access.dim) for access in accesses.values()}
    for op, access in accesses.items():
        tile = accessed(op)
        if tile is None or constraints.classes.is_rematerializable(tile):
            continue
        layout = layouts[constraints.classes.of(tile)]
        if (layout, access.dim) in known or is_narrowed(access, layout, constraints.warps):
            shared = in_layout(access, layout)
            accesses[op] = access if shared.vector < access.least else shared
    return accesses


def _store_accumulators(
    constraints: LayoutConstraints, layouts: Layouts, accesses: dict[Operation, MemoryAccess]
) -> None:
    """Store the accumulators of wgmma without a layout conversion, if that is as fast."""
    dots = constraints.dots.values()
    accumulators = {dot.accumulator for dot in dots if dot.atom.asynchronous}
    for op, access in accesses.items() if accumulators else ():
        if not isinstance(op, TileStoreOp):
            continue
        layout = _stored_layout(op, constraints.classes, layouts)
        if layout is not None and layout in accumulators:
            direct = accumulator_access(access, op.tile, layout)
            if direct is not access:
                accesses[op] = direct
                layouts[constraints.classes.of(op.tile)] = direct.layout


def _stored_layout(
    op: TileStoreOp, classes: LayoutClasses, layouts: Mapping[Value, Layout]
) -> Layout | None:
    """The layout of a stored tile before its last reshape; nothing if it is not assigned yet."""
    source = op.tile
    reshape = source.defining_op()
    if isinstance(reshape, shape.ViewOp | shape.ExpandDimsOp):
        source = reshape.source
    if classes.is_rematerializable(source):
        return None
    return layouts.get(classes.of(source))


def _propagate(op: Operation, classes: LayoutClasses, layouts: Layouts) -> bool:
    """Propagate a layout between the source and the result of a shape operation, if one is open."""
    if not is_tile(op.results[0]) or classes.is_rematerializable(op.operands[0]):
        return False
    source, result = classes.of(op.operands[0]), classes.of(op.results[0])
    source_layout, result_layout = layouts.get(source), layouts.get(result)
    if source_layout is not None and result_layout is None:
        layout, leader = forward(op, source_layout), result
    elif source_layout is None and result_layout is not None:
        layout, leader = backward(op, result_layout), source
    else:
        return False
    if layout is not None:
        layouts[leader] = layout
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
    target = extents(op.operands[0].type)
    match op:
        case shape.ViewOp() | shape.ExpandDimsOp():
            return layout.reshape(target)
        case shape.PermuteOp():
            return layout.permute([op.order.index(dim) for dim in range(len(op.order))])
        case shape.BroadcastOp():
            return layout.resize(target).distinct_registers()
        case shape.CatOp():
            return inside(layout, target)
        case shape.PackOp() if (bits := memory_bits(element_of(op.source.type))) < BYTE:
            return unpacked(layout, bits)
        case _:
            return None
