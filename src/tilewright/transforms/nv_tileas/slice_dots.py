"""Slicing of dots, so that fewer registers of a thread are live.

A dot by `mma.sync` takes its operands in registers. Read as a whole, a tile of A and B would take
more registers than a thread has, or hold back the first instruction until the last fragment is
loaded. So it is sliced along K, with the element-wise operations between a stage and the dot:
operands are read from their stage when they are multiplied.

The promotion `accumulator += (a @ b) * scale` of a loop over K takes registers for two tiles: the
accumulator, and the dot that starts at zero. Where both exceed the registers of a thread, the dot
is computed slice by slice along M or N: the element-wise operations that follow it are sliced, too,
so that a slice of the dot is dead before the next is issued. It needs dots by wgmma that wait for
themselves, with the sliced operand in a stage of a pipeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction, mma_instruction
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import CatOp, ExtractSliceOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I32
from tilewright.layout.linear import REGISTER, unpack
from tilewright.plans.mma import is_promoted, starts_at_zero
from tilewright.schedule.limits import DOT_SLICES, RESULT_SLICES
from tilewright.schedule.liveness_with_layouts import tile_registers
from tilewright.schedule.registers import registers_for_tiles
from tilewright.schedule.resources import kernel_registers
from tilewright.transforms.generic.dce import erase_with_sources
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.tile.unrolled import Part, UnrolledParts, uniform_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

MATRIX_DIMS: Final = 2


class SliceDots(KernelPass):
    """Multiply operands from stages by slices of K, and large results by slices of M or N."""

    name = "slice-dots"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        limit = kernel_registers(function)
        for dot in [inner for inner in function.walk() if isinstance(inner, DotOp)]:
            if dot.atom.holds_warps:
                _slice_operands(dot)
            elif limit is not None and (chain := _Chain.of(dot)) is not None:
                _slice_result(chain, registers_for_tiles(limit))


def _slice_operands(dot: DotOp) -> None:
    """Replace a dot by one for each slice of K, if it reads both operands from stages."""
    instruction = mma_instruction(dot)
    assert instruction is not None
    rank, k = len(shape(dot.a.type)), shape(dot.a.type)[-1]
    step = max(instruction.shape[2], k // DOT_SLICES)
    if k <= step:
        return
    operands = ((dot.a, rank - 1), (dot.b, rank - MATRIX_DIMS))
    parts = UnrolledParts(until=dot)
    if not all(parts.can_build(operand, Part(axis, 0, step)) for operand, axis in operands):
        return
    build = Builder(InsertPoint.before(dot), dot.location)
    accumulator = dot.c
    for start in range(0, k, step):
        pair = [parts.build(each, Part(axis, start, step), build) for each, axis in operands]
        made = build.insert(dot.like([*pair, accumulator], [dot.result.type]))
        accumulator = made.results[0]
    dot.result.replace_all_uses_with(accumulator)
    erase_with_sources(dot, also=(ConsumerReadOp,))


class _Chain(NamedTuple):
    """A dot, and the element-wise operations on its result up to the only one that others use."""

    dot: DotOp
    loop: ForOp
    ops: Sequence[Operation]
    """In program order; the last one's result is that of the chain."""

    @staticmethod
    def of(dot: DotOp) -> _Chain | None:
        """The chain of a dot; None if there is none, or the dot cannot be sliced."""
        loop = dot.parent_op
        instruction = async_instruction(dot)
        if instruction is None or not isinstance(loop, ForOp) or dot.asynchronous:
            return None
        if is_promoted(dot, instruction) or not starts_at_zero(dot):
            return None
        if not _are_kept_apart(dot, loop):
            return None
        ops: list[Operation] = []
        values = {dot.result}
        op = dot.next
        while op is not None:
            if any(value in values for value in op.operands):
                if not _is_sliceable(op):
                    break
                ops.append(op)
                values.add(op.results[0])
            op = op.next
        # The first one that no other of the chain uses is the last.
        while ops:
            inner = {dot.result, *(each.results[0] for each in ops[:-1])}
            users = {user for value in inner for user in value.users}
            if users <= set(ops):
                return _Chain(dot, loop, ops)
            ops.pop()
        return None

    @property
    def result(self) -> Value:
        """The result of the last operation."""
        return self.ops[-1].results[0]

    def others(self) -> list[Value]:
        """The tiles that the chain combines the result of the dot with."""
        own = {self.dot.result, *(op.results[0] for op in self.ops)}
        tiles = [v for op in self.ops for v in op.operands if is_tile(v) and v not in own]
        return list(dict.fromkeys(tiles))

    def live(self, slices: int) -> int:
        """An estimate of the registers that are live, if the dot is sliced.

        The result has the registers of tiles whose last use is in the chain.
        """
        carried = sum(tile_registers(value) for value in self.loop.carried if is_tile(value))
        users = set(self.ops)
        dying = sum(tile_registers(tile) for tile in self.others() if set(tile.users) <= users)
        added = max(0, tile_registers(self.result) - dying)
        return carried + tile_registers(self.dot.result) // slices + (added if slices > 1 else 0)


def _are_kept_apart(dot: DotOp, loop: ForOp) -> bool:
    """Whether each user combines a dot with a tile that a loop carries, not unrolled completely.

    Slices share registers, and ptxas takes what is computed from a register for equal before and
    after wgmma overwrites it (`wgmma-in-place` of docs/ptxas-defects.md), unless another operand
    differs: each carried element has a register of its own.
    """
    carried = {value for value in loop.carried if is_tile(value)}
    is_combined = all(carried & set(user.operands) for user in dot.result.users)
    return is_combined and constant_of(loop.upper_bound) is None


def _is_sliceable(op: Operation) -> bool:
    return is_elementwise(op) and is_pure(op) and len(op.results) == 1 and is_tile(op.results[0])


def _slice_result(chain: _Chain, limit: int) -> None:
    """Replace a chain by slices that registers count, if their operand is in a stage until the end.

    That operand is sliced along the same dimension, as A is M by K and B is K by N.
    """
    dot, last, parts = chain.dot, chain.ops[-1], _slices(chain, limit)
    tiles = [dot.result, *chain.others(), *(op.results[0] for op in chain.ops)]
    if len(parts) < 2 or not all(parts[0].exists(tile.type) for tile in tiles):
        return
    is_rows = parts[0].axis == len(shape(dot.result.type)) - MATRIX_DIMS
    operand, sources = dot.a if is_rows else dot.b, UnrolledParts(until=last)
    if not in_shared_memory(operand) or not sources.can_build(operand, parts[0]):
        return
    first = Builder(InsertPoint.before(dot), dot.location)
    rest = Builder(InsertPoint.before(last), last.location)
    results: list[Value] = []
    registers = uniform_part(dot.c, parts[0].type(dot.c.type), first)
    for part in parts:
        build = rest if part.start else first
        read = sources.build(operand, part, build)
        pair = (read, dot.b) if is_rows else (dot.a, read)
        # It is computed in the registers of the slice before, which nothing uses later.
        made = build.insert(dot.like([*pair, registers], [registers.type]))
        made.overwrites = True
        registers = made.result
        results.append(_combined(chain, part, registers, rest))
    chain.result.replace_all_uses_with(_joined(results, parts[0], chain.result.type, rest))
    for op in reversed(chain.ops):
        op.erase()
    erase_with_sources(dot, also=(ConsumerReadOp,))


def _slices(chain: _Chain, limit: int) -> list[Part]:
    """As few slices as it takes for the registers to suffice; none if these are too many.

    They are along the dimension that the last registers of the result count.
    """
    count = 1
    while chain.live(count) > limit:
        count *= 2
        if count > RESULT_SLICES:
            return []
    layout = layout_of(chain.dot.result)
    last, rank = unpack(layout.vectors(REGISTER)[-1], layout.shape), len(layout.shape)
    for axis in range(rank - MATRIX_DIMS, rank):
        if last[axis]:
            extent = layout.shape[axis] // count
            return [Part(axis, number * extent, extent) for number in range(count) if extent]
    return []


def _combined(chain: _Chain, part: Part, result: Value, build: Builder) -> Value:
    """The element-wise operations on a slice of the dot."""
    values: dict[Value, Value] = {chain.dot.result: result}
    for op in chain.ops:
        operands = [
            (values.get(v) or _extracted(v, part, build)) if is_tile(v) else v for v in op.operands
        ]
        made = build.insert(op.like(operands, [part.type(op.results[0].type)]))
        values[op.results[0]] = made.results[0]
    return values[chain.result]


def _joined(parts: Sequence[Value], first: Part, whole: Type, build: Builder) -> Value:
    """The tile that consists of parts."""
    while len(parts) > 1:
        first = first._replace(extent=2 * first.extent)
        types = [first.type(whole)]
        parts = [
            build.create(CatOp, lhs=a, rhs=b, axis=first.axis, types=types).result
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def _extracted(tile: Value, part: Part, build: Builder) -> Value:
    """A part of a tile in registers."""
    indices = [
        constant(build, part.start // part.extent if dim == part.axis else 0, I32)
        for dim in range(len(shape(tile.type)))
    ]
    types = [part.type(tile.type)]
    return build.create(ExtractSliceOp, source=tile, indices=indices, types=types).result
