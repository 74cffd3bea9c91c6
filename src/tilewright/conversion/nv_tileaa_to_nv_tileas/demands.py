"""In which layouts an operation takes its tiles, and in which it gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tilewright.conversion.nv_tileaa_to_nv_tileas.classes import is_elementwise, is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.counterparts import led_back
from tilewright.conversion.nv_tileaa_to_nv_tileas.plugins import plugin_layouts
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import aggregate, misc, shape, view
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.queue import ExecuteOp
from tilewright.dialects.nv_tileas.attributes import LayoutAttr
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from tilewright.ir.types import memory_bits
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.layout.packing import BYTE, packed, packing_source, unpacked
from tilewright.layout.parts import beside
from tilewright.layout.scans import scan_layout
from tilewright.layout.spread import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.assign import Assignment
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


PRINTED_AT_ONCE: Final = 64
"""Tiles of so many elements are printed by one thread."""


class Held(NamedTuple):
    """Any layout in which every thread holds what it would in this one."""

    layout: Layout


class Demands(NamedTuple):
    """A layout for each operand and result; `None` for scalars, and where any will do."""

    operands: Sequence[Layout | Held | None]
    results: Sequence[Layout | None]


def demands(op: Operation, assignment: Assignment) -> Demands:
    """What an operation asks of its tiles."""
    access = assignment.accesses.get(op)
    if access is not None:
        return _access(op, access.layout)
    special = _SPECIAL.get(type(op))
    if special is not None:
        return special(op, assignment)
    results = _given(op, assignment)
    if not is_elementwise(op):
        return Demands([None for _ in op.operands], results)
    one = next((layout for layout in results if layout is not None), None)
    return Demands([one if is_tile(value) else None for value in op.operands], results)


def _given(op: Operation, assignment: Assignment) -> list[Layout | None]:
    """The results in the layouts of their classes."""
    return [assignment.layout(value) if is_tile(value) else None for value in op.results]


def _access(op: Operation, layout: Layout) -> Demands:
    """Everything in the layout of the access; indices of rows where the rows are."""
    operands: list[Layout | Held | None] = [layout if is_tile(v) else None for v in op.operands]
    if isinstance(op, view.GatherLoadOp | view.ScatterStoreOp):
        first = op.operands.index(op.indices[0])
        for dimension, index in enumerate(op.indices):
            if is_tile(index):
                operands[first + dimension] = Held(_only(layout, dimension))
    return Demands(operands, [layout if is_tile(value) else None for value in op.results])


def _only(layout: Layout, dimension: int) -> Layout:
    for other in range(len(layout.shape) - 1, -1, -1):
        layout = layout if other == dimension else layout.drop(other)
    return layout


def _reduce(op: aggregate.ReduceOp, assignment: Assignment) -> Demands:
    fixed = [v for v in op.sources if not assignment.classes.is_flexible(v)]
    source = assignment.layout((fixed or op.sources)[0])
    rest = source.drop(op.axis).distinct_registers()
    given = [rest if is_tile(value) else None for value in op.results]
    return Demands([source for _ in op.sources], given)


def _scan(op: aggregate.ScanOp, assignment: Assignment) -> Demands:
    extent = extents(op.sources[0].type)
    layout = scan_layout(extent, op.axis, assignment.warps).layout
    return Demands([layout for _ in op.sources], [layout for _ in op.results])


def _dot(op: DotOp, assignment: Assignment) -> Demands:
    found = assignment.products[op]
    scales = [None] * (len(op.operands) - 3)
    return Demands([found.left, found.right, found.total, *scales], [found.total])


def _cat(op: shape.CatOp, assignment: Assignment) -> Demands:
    part = assignment.layout(op.lhs)
    return Demands([part, part], [beside(part, extents(op.result.type))])


def _extract_slice(op: shape.ExtractSliceOp, assignment: Assignment) -> Demands:
    whole = beside(assignment.layout(op.result), extents(op.source.type))
    return Demands([Held(whole), *(None for _ in op.indices)], _given(op, assignment))


def _insert_slice(op: shape.InsertSliceOp, assignment: Assignment) -> Demands:
    part = assignment.layout(op.source)
    whole = beside(part, extents(op.result.type))
    return Demands([part, whole, *(None for _ in op.indices)], [whole])


def _pack(op: shape.PackOp, assignment: Assignment) -> Demands:
    """Small elements where their bytes are wanted."""
    bits = memory_bits(element_of(op.source.type))
    if bits < BYTE:
        result = assignment.layout(op.result)
        return Demands([unpacked(result, bits)], [result])
    source = _packable(op.source, assignment)
    return Demands([source], [packed(source, bits)])


def _unpack(op: shape.UnpackOp, assignment: Assignment) -> Demands:
    """Small elements where their bytes are."""
    bits = memory_bits(element_of(op.result.type))
    if bits < BYTE:
        source = assignment.layout(op.source)
        return Demands([source], [unpacked(source, bits)])
    result = _packable(op.result, assignment)
    return Demands([Held(packed(result, bits))], [result])


def _print(op: misc.PrintOp, assignment: Assignment) -> Demands:
    """Small tiles in every thread, of which one prints them."""
    return Demands([_printed(value, assignment) for value in op.operands], [None])


def _printed(value: Value, assignment: Assignment) -> Layout | None:
    if not is_tile(value) or count(value.type) > PRINTED_AT_ONCE:
        return None
    whole = spread(extents(value.type), assignment.warps)
    alone = [1 << bit for bit in range(log2(count(value.type)))]
    everywhere = [0] * len(whole.vectors(LANE)), [0] * len(whole.vectors(WARP))
    spots = zip((REGISTER, LANE, WARP), (alone, *everywhere), strict=True)
    return Layout(list(spots), extents(value.type))


def _rearranged(op: shape.Rearrangement, assignment: Assignment) -> Demands:
    wanted = led_back(op, assignment.layout(op.result))
    return Demands([Held(wanted)], _given(op, assignment))


def _loop(op: ForOp | WhileOp, assignment: Assignment) -> Demands:
    entries = [_target(each, assignment) for each in _entries(op)]
    return Demands(entries, _given(op, assignment))


def _end(op: YieldOp | ConditionOp, assignment: Assignment) -> Demands:
    return Demands([_target(each, assignment) for each in _targets(op)], [])


def _target(value: Value, assignment: Assignment) -> Layout | None:
    return assignment.layout(value) if is_tile(value) else None


def _entries(op: ForOp | WhileOp) -> list[Value]:
    """For each operand of a loop, what the loop takes it as."""
    if isinstance(op, ForOp):
        return [*op.operands[:3], *op.carried]
    return [*op.before.block.args]


def _targets(end: YieldOp | ConditionOp) -> list[Value]:
    """For each operand of an end, what it becomes."""
    outer = end.parent_op
    if isinstance(end, ConditionOp):
        assert isinstance(outer, WhileOp)
        return [end.condition, *outer.after.block.args]
    if isinstance(outer, WhileOp):
        return [*outer.before.block.args]
    assert isinstance(outer, ForOp | IfOp)
    return [*outer.results]


def _packable(tile: Value, assignment: Assignment) -> Layout:
    return packing_source(extents(tile.type), memory_bits(element_of(tile.type)), assignment.warps)


def _execute(op: ExecuteOp, assignment: Assignment) -> Demands:
    """The layouts that the plugin asks for; where it names none, any."""
    inputs, outputs = plugin_layouts(op)
    results = _given(op, assignment)
    for number, wanted in enumerate(outputs):
        if isinstance(wanted, LayoutAttr):
            results[number] = wanted.layout
    operands = [each.layout if isinstance(each, LayoutAttr) else None for each in inputs]
    return Demands(operands or [None for _ in op.operands], results)


_SPECIAL: Final[dict[type[Operation], Callable[[Any, Assignment], Demands]]] = {
    DotOp: _dot,
    aggregate.ReduceOp: _reduce,
    aggregate.ScanOp: _scan,
    shape.CatOp: _cat,
    shape.ExtractSliceOp: _extract_slice,
    shape.InsertSliceOp: _insert_slice,
    shape.PackOp: _pack,
    shape.UnpackOp: _unpack,
    shape.ViewOp: _rearranged,
    shape.ExpandDimsOp: _rearranged,
    shape.BroadcastOp: _rearranged,
    shape.PermuteOp: _rearranged,
    misc.PrintOp: _print,
    ExecuteOp: _execute,
    ForOp: _loop,
    WhileOp: _loop,
    YieldOp: _end,
    ConditionOp: _end,
}
"""All but memory accesses and element-wise operations."""
