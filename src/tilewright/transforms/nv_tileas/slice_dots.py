"""Slicing of dots along K, so that operands are read from their stage when they are multiplied.

A dot by `mma.sync` takes its operands in registers. Read as a whole, a tile of A and B would take
more registers than a thread has, or hold back the first instruction until the last fragment is
loaded. Element-wise operations between a stage and the dot are sliced with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import (
    Atom,
    in_shared_memory,
)
from tilewright.dialects.nv_tileas.matrix import DotOp, mma_instruction
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
)
from tilewright.dialects.nv_tileas.shape import ExpandDimsOp, PermuteOp, SplatOp, ViewOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.transforms.generic.dce import erase_with_sources
from tilewright.transforms.nv_tileas.tile_slices import (
    TileSlice,
    is_held,
    read_slice,
    source_slice,
)

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

MATRIX_DIMS: Final = 2
MAX_SLICES: Final = 8
"""More take longer to compile, and few registers less."""


class SliceDots(Pass):
    """Multiply operands that are read from a stage by slices of K."""

    name = "slice-dots"

    def run(self, op: Operation, sink: Sink) -> None:
        for dot in [inner for inner in op.walk() if isinstance(inner, DotOp)]:
            if dot.atom is Atom.MMA_SYNC:
                _slice(dot)


def _slice(dot: DotOp) -> None:
    """Replace a dot by one for each slice of K, if it reads both operands from stages."""
    instruction = mma_instruction(dot)
    assert instruction is not None
    rank, k = len(shape(dot.a.type)), shape(dot.a.type)[-1]
    step = max(instruction.shape[2], k // MAX_SLICES)
    if k <= step:
        return
    axes = (rank - 1, rank - MATRIX_DIMS)
    operands = (dot.a, dot.b)
    sliceable: set[tuple[Value, TileSlice]] = set()
    for operand, axis in zip(operands, axes, strict=True):
        if not _can_slice(operand, TileSlice(axis, 0, step), dot, sliceable):
            return
    build = Builder(InsertPoint.before(dot), dot.location)
    accumulator = dot.c
    made: dict[tuple[Value, TileSlice], Value] = {}
    for start in range(0, k, step):
        parts = [
            _sliced(build, operand, TileSlice(axis, start, step), made)
            for operand, axis in zip(operands, axes, strict=True)
        ]
        part_dot = build.insert(dot.like([*parts, accumulator], [dot.result.type]))
        accumulator = part_dot.results[0]
    dot.result.replace_all_uses_with(accumulator)
    erase_with_sources(dot, also=(ConsumerReadOp,))


def _can_slice(
    value: Value, part: TileSlice, dot: DotOp, sliceable: set[tuple[Value, TileSlice]]
) -> bool:
    """Whether a tile is computed from stages, by operations that can be sliced.

    `sliceable` has the parts of which that is known.
    """
    if (value, part) in sliceable:
        return True
    op = value.defining_op()
    if op is None or op.parent is not dot.parent or part.type(value.type) is None:
        return False
    match op:
        case ConsumerReadOp():
            is_whole = op.number is not None and op.at is None
            can = is_whole and not in_shared_memory(value) and is_held(op, dot)
        case ViewOp() | ExpandDimsOp() | PermuteOp():
            source = source_slice(op, part)
            can = source is not None and _can_slice(op.source, source, dot, sliceable)
        case _ if is_elementwise(op) and len(op.results) == 1:
            tiles = [operand for operand in op.operands if is_tile(operand)]
            can = bool(tiles) and all(
                _is_uniform(tile) or _can_slice(tile, part, dot, sliceable) for tile in tiles
            )
        case _:
            can = False
    if can:
        sliceable.add((value, part))
    return can


def _is_uniform(tile: Value) -> bool:
    """Whether all elements of a tile are the same value."""
    op = tile.defining_op()
    if isinstance(op, ConstantOp):
        return splat_of(op.value) is not None
    return isinstance(op, SplatOp)


def _sliced(
    build: Builder, value: Value, part: TileSlice, made: dict[tuple[Value, TileSlice], Value]
) -> Value:
    """A part of a tile; `made` has the parts that exist already."""
    if (value, part) not in made:
        made[value, part] = _make(build, value, part, made)
    return made[value, part]


def _make(
    build: Builder, value: Value, part: TileSlice, made: dict[tuple[Value, TileSlice], Value]
) -> Value:
    op, type = value.defining_op(), part.type(value.type)
    assert op is not None
    assert type is not None
    match op:
        case ConsumerReadOp():
            return read_slice(build, op, part)
        case ConstantOp() if isinstance(op.value, DenseElementsAttr):
            dense = DenseElementsAttr(op.value.data, type)
            return build.create(ConstantOp, value=dense, types=[type]).result
        case ViewOp() | ExpandDimsOp() | PermuteOp():
            source = source_slice(op, part)
            assert source is not None
            operands: list[Value] = [_sliced(build, op.source, source, made)]
        case SplatOp():
            operands = list(op.operands)
        case _:
            operands = [
                _sliced(build, each, part, made) if is_tile(each) else each for each in op.operands
            ]
    return build.insert(op.like(operands, [type])).results[0]
