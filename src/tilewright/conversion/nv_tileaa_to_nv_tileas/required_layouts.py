"""The layouts that each operation requires of its operands, and those of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import source_layout
from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import matrix_source
from tilewright.conversion.nv_tileaa_to_nv_tileas.wgmma_operands import (
    operand_placements,
    register_operand,
)
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import aggregate, misc, shape, view
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.multimem import AnyMultimemOp
from tilewright.dialects.nv_tileaa.queue import ExecuteOp, PluginOp
from tilewright.dialects.nv_tileas.attributes import Atom, LayoutAttr
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.symbol_table import resolve
from tilewright.ir.types import memory_bits
from tilewright.layout.fma_smem import placement
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.layout.packing import BYTE, packed, packing_source, unpacked
from tilewright.layout.parts import beside
from tilewright.layout.scans import scan_layout
from tilewright.layout.spread import spread
from tilewright.layout.wgmma import batched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


PRINTED_BY_ONE_THREAD: Final = 64
"""The most elements of a tile that one thread prints."""


class RegisterConvertible(NamedTuple):
    """Any layout whose conversion to this one stays within the registers of each thread."""

    layout: Layout


OperandLayout: TypeAlias = "Layout | RegisterConvertible | None"


class OperandLayouts(NamedTuple):
    """A layout for each operand and result; `None` for scalars, and where any will do."""

    operands: Sequence[OperandLayout]
    results: Sequence[Layout | None]


def operand_layouts(op: Operation, assignment: LayoutAssignment) -> OperandLayouts:
    """The layouts that an operation requires, given the layouts of all classes."""
    access = assignment.accesses.get(op)
    if access is not None:
        return _access(op, access.layout)
    rule = _RULES.get(type(op))
    if rule is not None:
        return rule(op, assignment)
    results = _class_layouts(op.results, assignment)
    if not is_elementwise(op):
        return OperandLayouts([None for _ in op.operands], results)
    shared = next((layout for layout in results if layout is not None), None)
    return OperandLayouts([shared if is_tile(value) else None for value in op.operands], results)


def _class_layouts(values: Iterable[Value], assignment: LayoutAssignment) -> list[Layout | None]:
    """The layouts of the classes of tiles; None for scalars."""
    return [assignment.layout(value) if is_tile(value) else None for value in values]


def _access(op: Operation, layout: Layout) -> OperandLayouts:
    """All tiles in the layout of the access; an index of a gather or scatter, in the layout of its
    dimension."""
    operands: list[OperandLayout] = [layout if is_tile(v) else None for v in op.operands]
    if isinstance(op, view.GatherLoadOp | view.ScatterStoreOp | AnyMultimemOp):
        first = op.operands.index(op.indices[0])
        for dimension, index in enumerate(op.indices):
            if is_tile(index):
                operands[first + dimension] = RegisterConvertible(_slice_along(layout, dimension))
    return OperandLayouts(operands, [layout if is_tile(value) else None for value in op.results])


def _slice_along(layout: Layout, dimension: int) -> Layout:
    """The layout without all other dimensions."""
    for other in range(len(layout.shape) - 1, -1, -1):
        layout = layout if other == dimension else layout.drop(other)
    return layout


def _reduce(op: aggregate.ReduceOp, assignment: LayoutAssignment) -> OperandLayouts:
    assigned = [v for v in op.sources if not assignment.classes.is_rematerializable(v)]
    source = assignment.layout((assigned or op.sources)[0])
    result = source.drop(op.axis).distinct_registers()
    results = [result if is_tile(value) else None for value in op.results]
    return OperandLayouts([source for _ in op.sources], results)


def _scan(op: aggregate.ScanOp, assignment: LayoutAssignment) -> OperandLayouts:
    extent = extents(op.sources[0].type)
    layout = scan_layout(extent, op.axis, assignment.warps).layout
    return OperandLayouts([layout for _ in op.sources], [layout for _ in op.results])


def _dot(op: DotOp, assignment: LayoutAssignment) -> OperandLayouts:
    atom, a, b, accumulator, _ = assignment.dots[op]
    if atom is Atom.WGMMA:
        a, b = operand_placements(op, assignment.layout(op.a), assignment.layout(op.b))
        fragments = register_operand(op, assignment.layout(op.a), assignment.warps)
        a = a if fragments is None else fragments
    elif a is None and b is not None:
        a = _placement(op.a, 2, assignment)
    elif b is None and a is not None:
        b = _placement(op.b, 1, assignment)
    scales = [None] * (len(op.operands) - 3)
    return OperandLayouts([a, b, accumulator, *scales], [accumulator])


def _placement(operand: Value, k_dimension: int, assignment: LayoutAssignment) -> Layout | None:
    """Where an FMA dot reads one operand in shared memory, if threads hold the other.

    All dots that take it read the same memory. One that is computed in any layout has no tile that
    could be stored once: each dot stages it.
    """
    source = matrix_source(operand)
    if assignment.classes.is_rematerializable(source):
        return None
    layout = assignment.layout(source)
    return placement(batched(layout), k_dimension).reshape(layout.shape)


def operand_values(op: Operation, assignment: LayoutAssignment) -> Sequence[Value]:
    """The operands of an operation; of an FMA dot, the one matrix that a whole batch has."""
    if not isinstance(op, DotOp) or assignment.dots[op].atom is not Atom.FMA:
        return op.operands
    return [matrix_source(op.a), matrix_source(op.b), *op.operands[2:]]


def _cat(op: shape.CatOp, assignment: LayoutAssignment) -> OperandLayouts:
    part = assignment.layout(op.lhs)
    return OperandLayouts([part, part], [beside(part, extents(op.result.type))])


def _extract_slice(op: shape.ExtractSliceOp, assignment: LayoutAssignment) -> OperandLayouts:
    whole = beside(assignment.layout(op.result), extents(op.source.type))
    operands = [RegisterConvertible(whole), *(None for _ in op.indices)]
    return OperandLayouts(operands, _class_layouts(op.results, assignment))


def _insert_slice(op: shape.InsertSliceOp, assignment: LayoutAssignment) -> OperandLayouts:
    part = assignment.layout(op.source)
    whole = beside(part, extents(op.result.type))
    return OperandLayouts([part, whole, *(None for _ in op.indices)], [whole])


def _pack(op: shape.PackOp, assignment: LayoutAssignment) -> OperandLayouts:
    """Sub-byte elements in the thread that owns their byte in the result."""
    bits = memory_bits(element_of(op.source.type))
    if bits < BYTE:
        result = assignment.layout(op.result)
        return OperandLayouts([unpacked(result, bits)], [result])
    source = _packable(op.source, assignment)
    return OperandLayouts([source], [packed(source, bits)])


def _packable(tile: Value, assignment: LayoutAssignment) -> Layout:
    return packing_source(extents(tile.type), memory_bits(element_of(tile.type)), assignment.warps)


def _unpack(op: shape.UnpackOp, assignment: LayoutAssignment) -> OperandLayouts:
    """Sub-byte elements in the thread that owns their byte in the source."""
    bits = memory_bits(element_of(op.result.type))
    if bits < BYTE:
        source = assignment.layout(op.source)
        return OperandLayouts([source], [unpacked(source, bits)])
    result = _packable(op.result, assignment)
    return OperandLayouts([RegisterConvertible(packed(result, bits))], [result])


def _print(op: misc.PrintOp, assignment: LayoutAssignment) -> OperandLayouts:
    """Small tiles are replicated in every thread, of which one prints them."""
    return OperandLayouts([_printed(value, assignment) for value in op.operands], [None])


def _printed(value: Value, assignment: LayoutAssignment) -> Layout | None:
    if not is_tile(value) or count(value.type) > PRINTED_BY_ONE_THREAD:
        return None
    even = spread(extents(value.type), assignment.warps)
    registers = [1 << bit for bit in range(log2(count(value.type)))]
    replicated = [0] * len(even.vectors(LANE)), [0] * len(even.vectors(WARP))
    bases = zip((REGISTER, LANE, WARP), (registers, *replicated), strict=True)
    return Layout(list(bases), extents(value.type))


def _rearranged(op: shape.Rearrangement, assignment: LayoutAssignment) -> OperandLayouts:
    source = source_layout(op, assignment.layout(op.result))
    return OperandLayouts([RegisterConvertible(source)], _class_layouts(op.results, assignment))


def _loop(op: ForOp | WhileOp, assignment: LayoutAssignment) -> OperandLayouts:
    """Each operand in the layout of the value of the loop that it initializes."""
    if isinstance(op, ForOp):
        entries = [*op.operands[:3], *op.carried]
    else:
        entries = [*op.before.block.args]
    results = _class_layouts(op.results, assignment)
    return OperandLayouts(_class_layouts(entries, assignment), results)


def _terminator(op: YieldOp | ConditionOp, assignment: LayoutAssignment) -> OperandLayouts:
    return OperandLayouts(_class_layouts(_successor_values(op), assignment), [])


def _successor_values(end: YieldOp | ConditionOp) -> list[Value]:
    """The value that each operand of a terminator is passed on to."""
    outer = end.parent_op
    if isinstance(end, ConditionOp):
        assert isinstance(outer, WhileOp)
        return [end.condition, *outer.after.block.args]
    if isinstance(outer, WhileOp):
        return [*outer.before.block.args]
    assert isinstance(outer, ForOp | IfOp)
    return [*outer.results]


def _execute(op: ExecuteOp, assignment: LayoutAssignment) -> OperandLayouts:
    """The layouts that the plugin declares; any where it declares none."""
    inputs, outputs = plugin_layouts(op)
    results = _class_layouts(op.results, assignment)
    for number, declared in enumerate(outputs):
        if isinstance(declared, LayoutAttr):
            results[number] = declared.layout
    operands = [each.layout if isinstance(each, LayoutAttr) else None for each in inputs]
    return OperandLayouts(operands or [None for _ in op.operands], results)


def plugin_of(op: ExecuteOp) -> PluginOp:
    """The plugin that an operation executes."""
    plugin = resolve(SymbolRefAttr(op.plugin), op)
    assert isinstance(plugin, PluginOp)
    return plugin


def plugin_layouts(op: ExecuteOp) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    """The layouts of inputs and outputs: those of the execution, else those of the plugin."""
    plugin = plugin_of(op)
    inputs = op.input_layouts if op.input_layouts is not None else plugin.input_layouts
    outputs = op.output_layouts if op.output_layouts is not None else plugin.output_layouts
    return inputs or (), outputs or ()


_RULES: Final[dict[type[Operation], Callable[[Any, LayoutAssignment], OperandLayouts]]] = {
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
    YieldOp: _terminator,
    ConditionOp: _terminator,
}
"""The rules of all operations but memory accesses and element-wise ones."""
