"""Operands of dots by wgmma: fragments of A in registers, and tiles in shared memory.

A tile is stored where it is computed, and remains until its last dot. In an innermost loop, stages
hold the tiles of several iterations: all tiles that it computes are stored as long as it runs. So
two loops, one after the other, share the memory for their tiles, but not for those from before
both; likewise in a loop around them, as that of a persistent kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.analysis.contiguous_dimension import contiguous_dimension
from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.analysis.slices import closure
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import ExpandDimsOp, PermuteOp, ViewOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.wgmma import batched, best_operand_smem, left_fragments
from tilewright.layout.word_exchange import word_exchange
from tilewright.target.tensor_cores import EITHER_MAJOR_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.dialects.nv_tileaa.matrix import DotOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


def operand_placements(op: DotOp, a: Layout, b: Layout) -> tuple[Layout, Layout]:
    """Where wgmma reads A and B in shared memory, given the layouts that they are loaded in.

    Of the majors that wgmma supports, the one that threads can write in wider accesses.
    """
    bytes = pointee_bytes(element_of(op.a.type))
    left = best_operand_smem(batched(a), bytes).placement
    right = best_operand_smem(batched(b).permute((0, 2, 1)), bytes).placement
    return left.reshape(a.shape), right.permute((0, 2, 1)).reshape(b.shape)


def register_operand(op: DotOp, a: Layout, warps: int) -> Layout | None:
    """The fragments that A of wgmma stays in registers in, given its layout; None if it does not.

    It does where threads need nothing, or little, that others have; and where element-wise
    operations lie between a load and the dot, or a transposition that wgmma cannot do: the load is
    read from its stage in fragments then.
    """
    fragments = becomes_fragments(op, a, warps)
    if fragments is None and loaded_source(op) is not None:
        return _fragments(op, warps)
    return fragments


def loaded_source(op: DotOp) -> Value | None:
    """The loaded tile that A of wgmma is computed from beside the dot, by element-wise operations;
    or by a transposition that wgmma cannot do. None if there is none."""
    is_k_major = contiguous_dimension(op.a) == len(shape(op.a.type)) - 1
    is_transposed = pointee_bytes(element_of(op.a.type)) != EITHER_MAJOR_BYTES and not is_k_major
    return _loaded_tile(op.a, op.parent, permuted=is_transposed)


def becomes_fragments(op: DotOp, layout: Layout, warps: int) -> Layout | None:
    """The fragments of A in registers, if a tile in a layout becomes them without memory.

    Threads have what they need, or of 8-bit elements some lanes of a warp exchange a few words.
    """
    fragments = _fragments(op, warps)
    if transfer(layout, fragments).move <= Move.REGISTERS:
        return fragments
    is_byte = pointee_bytes(element_of(op.a.type)) == 1
    return fragments if is_byte and word_exchange(layout, fragments) is not None else None


def _fragments(op: DotOp, warps: int) -> Layout:
    bits = 8 * pointee_bytes(element_of(op.a.type))
    return left_fragments(shape(op.a.type), shape(op.c.type), bits, warps)


def _loaded_tile(tile: Value, block: Block | None, *, permuted: bool) -> Value | None:
    """The tile that is loaded in a block, of which element-wise operations make another; or
    permutations of its elements if `permuted`."""

    def sources(value: Value) -> Iterator[Value]:
        op = value.defining_op()
        if op is None or op.parent is not block:
            return
        if is_elementwise(op) or (permuted and isinstance(op, PermuteOp | ViewOp)):
            yield from dict.fromkeys(filter(is_tile, op.operands))

    reached = (_reshaped(source) for value in closure([tile], sources) for source in sources(value))
    loads = (each for each in reached if isinstance(each.defining_op(), LoadOp | TileLoadOp))
    return next(loads, None)


def _reshaped(tile: Value) -> Value:
    """The tile that reshapes of leading dimensions make another of, which a stage is read as."""
    while isinstance(op := tile.defining_op(), ViewOp | ExpandDimsOp):
        if shape(op.source.type)[-2:] != shape(tile.type)[-2:]:
            break
        tile = op.source
    return tile


class Span(NamedTuple):
    """The operations during which a tile is stored, by their numbers in program order."""

    start: int
    end: int


class OperandMemory:
    """The operands of dots in shared memory, of which those that are live together must fit."""

    __slots__ = ("_limit", "_numbers", "_spans")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers: dict[Operation, int] = {}
        self._spans: dict[Value, Span] = {}

    def fits(self, dot: DotOp, operands: Iterable[Value], limit: int = 0) -> bool:
        """Whether operands of a dot fit beside all that are stored at the same time.

        A higher limit holds from then on if they do.
        """
        if not self._numbers:
            kernel = next(op for op in dot.ancestors() if isinstance(op, FuncOp))
            self._numbers = {op: number for number, op in enumerate(kernel.walk())}
        limit = max(self._limit, limit)
        tiles = {_stored_tile(operand) for operand in operands}
        spans = self._spans | {tile: self._span(tile, dot) for tile in tiles}
        starts = {span.start for span in spans.values()}
        live = [
            [tile for tile, span in spans.items() if span.start <= start <= span.end]
            for start in starts
        ]
        fits = all(sum(stored_bytes(tile.type) for tile in tiles) <= limit for tiles in live)
        self._limit = limit if fits else self._limit
        return fits

    def add(self, dot: DotOp, operands: Iterable[Value]) -> None:
        """Store operands of a dot, too."""
        for tile in map(_stored_tile, operands):
            self._spans[tile] = self._span(tile, dot)

    def _span(self, value: Value, dot: DotOp) -> Span:
        block = value.parent_block
        around = None if block is None else block.parent_op
        while around is not None and around.loop_body is None:
            around = around.parent_op
        if around is not None and not _has_loops(around):
            return Span(self._numbers[around], self._last(around))
        op = value.defining_op()
        start = 0 if op is None else self._last(op) + 1
        # A loop in which the tile is not computed reads it again and again.
        user = next(each for each in (dot, *dot.ancestors()) if each.parent is block)
        earlier = self._spans.get(value, Span(start, start))
        return Span(min(start, earlier.start), max(self._last(user), earlier.end))

    def _last(self, op: Operation) -> int:
        """The number of the last operation inside of an operation, or of itself."""
        return self._numbers[op] + sum(1 for _ in op.walk()) - 1


def _has_loops(loop: Operation) -> bool:
    """Whether other loops are inside of a loop."""
    return any(op.loop_body is not None for op in loop.walk() if op is not loop)


def _stored_tile(operand: Value) -> Value:
    """The tile that is stored for an operand: one for all that differ in shape or order only.

    Keys that are values as well are an example. Instructions read 16-bit elements in either order.
    """
    if pointee_bytes(element_of(operand.type)) != EITHER_MAJOR_BYTES:
        return operand
    while isinstance(op := operand.defining_op(), ViewOp | ExpandDimsOp | PermuteOp):
        operand = op.source
    return operand
