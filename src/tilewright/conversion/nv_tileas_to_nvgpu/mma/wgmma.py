"""dot by `wgmma`: B in shared memory, A there or in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.ranges import Ranges
from tilewright.conversion.nv_tileas_to_nvgpu.context import is_crowded
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import add, as_value
from tilewright.conversion.nv_tileas_to_nvgpu.mma.mma_sync import UNSIGNED_BYTE
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_buffer
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    enclosing_function,
    thread_basis,
    uniform_thread_id,
)
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import concatenate, select_registers
from tilewright.dialects.arith.casts import ExtUIOp, IndexCastOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.floating import AddFOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.cute_nvgpu.threads import NanosleepOp
from tilewright.dialects.cute_nvgpu.wgmma import (
    WgmmaCommitOp,
    WgmmaDescriptorOp,
    WgmmaFenceOp,
    WgmmaIssueOp,
    WgmmaWaitOp,
)
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nvvm.arithmetic import OpaqueOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I1, I32, I64, INDEX, TF32
from tilewright.layout.fragments import wgmma_left
from tilewright.layout.linear import REGISTER, log2, unpack
from tilewright.layout.swizzle import CHUNK
from tilewright.layout.wgmma import batched, instruction_columns
from tilewright.plans.mma import (
    PROMOTED_COLUMNS,
    PROMOTION_INTERVAL,
    WgmmaDotPlan,
    is_carried,
    is_promoted,
    is_read_elsewhere,
)
from tilewright.plans.tensor_maps import SWIZZLES
from tilewright.schedule.liveness_with_layouts import is_invariant, loop_around
from tilewright.target.arch import WARP_SIZE
from tilewright.target.tensor_cores import WARPGROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.layout.wgmma import OperandSmem


@converts(DotOp)
def warpgroup_dot(op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
    """Issue the wgmmas, and wait for the accumulators unless the dot is asynchronous."""
    plan = WgmmaDotPlan.of(op)
    if plan is None:
        return build.reject("expected a dot by wgmma")
    a_type = _operand_type(plan.instruction.a, op.a)
    b_type = _operand_type(plan.instruction.b, op.b)
    a_operand = (
        RegisterOperand(op, build, plan, new.a, a_type)
        if plan.left is None
        else SharedOperand(op, build, plan, plan.left, new.a, a_type, row=1)
    )
    b_operand = SharedOperand(op, build, plan, plan.right, new.b, b_type, row=2)
    wgmma = _Wgmma(build, plan, a_operand, b_operand)
    if is_promoted(op, plan.instruction):
        tiles = _accumulator_tiles(op, build, new.c, PROMOTED_COLUMNS)
        reuse = is_carried(op, Ranges(enclosing_function(op)))
        results = wgmma.promoted(tiles, reuse=reuse, whole=op.promoted)
        return concatenate(build, results)
    tiles = _accumulator_tiles(op, build, new.c)
    if op.asynchronous:
        return concatenate(build, wgmma.issue(tiles, reset=op.overwrites))
    apart = not op.overwrites and is_read_elsewhere(op)
    return concatenate(build, wgmma.native(tiles, apart=apart, reset=op.overwrites))


@converts(DotWaitOp)
def dot_wait(op: DotWaitOp, new: DotWaitOp, build: ConversionBuilder) -> Result:
    """Wait for the groups of earlier dots: each dot commits one."""
    if op.late:
        zero = build.create(ConstantOp, value=IntegerAttr(0, I32), types=[I32]).result
        # ptxas hoists a wait across arithmetic (`hoisted-wait` of docs/ptxas-defects.md), but not
        # across this.
        build.create(NanosleepOp, duration=zero)
    tied = [new.accumulator, *new.held]
    wait = build.create(
        WgmmaWaitOp,
        pending=op.pending,
        accumulators=tied,
        types=[value.type for value in tied],
    )
    return wait.outputs[0]


def _operand_type(ptx_type: str, operand: Value) -> Type:
    """The element type of an operand of the instruction."""
    special: dict[str, Type] = {"tf32": TF32, "u8": UNSIGNED_BYTE}
    return special.get(ptx_type, element_of(operand.type))


class _AccumulatorTile(NamedTuple):
    """A thread's accumulator of one instruction."""

    accumulator: Value
    origin: tuple[int, int, int]
    """Its first coordinates for the first warpgroup: batch, row, column."""


def _accumulator_tiles(
    op: DotOp, build: ConversionBuilder, accumulator: Value, max_columns: int | None = None
) -> list[_AccumulatorTile]:
    """The accumulators of a warpgroup's instructions: contiguous registers each."""
    layout = layout_of(op.c)
    columns = instruction_columns(layout)
    assert columns is not None
    count = (columns if max_columns is None else min(columns, max_columns)) // 2
    tiles: list[_AccumulatorTile] = []
    for first in range(0, layout.extent(REGISTER), count):
        origin = _batch_row_column(layout, layout.packed(register=first))
        registers = list(range(first, first + count))
        tiles.append(_AccumulatorTile(select_registers(build, accumulator, registers), origin))
    return tiles


def _batch_row_column(layout: Layout, index: int) -> tuple[int, int, int]:
    """The batch, row and column of an element of the accumulator."""
    *batch, row, column = unpack(index, layout.shape)
    return (batch[0] if batch else 0, row, column)


class SharedOperand:
    """A or B in shared memory, and its matrix descriptors."""

    __slots__ = ("_build", "_descriptor", "_offset", "_op", "_row", "_size", "memory", "type")

    def __init__(
        self,
        op: DotOp,
        build: ConversionBuilder,
        plan: WgmmaDotPlan,
        memory: OperandSmem,
        offset: Value,
        type: Type,
        *,
        row: int,
    ) -> None:
        self._op, self._build, self._offset = op, build, offset
        self.memory, self.type, self._size = memory, type, plan.element
        self._row = row
        """The dimension of the accumulator that the rows of this operand are."""
        self._descriptor: Value | None = None

    def at(self, origin: tuple[int, int, int], k: int, steps: int) -> Value:
        """The matrix descriptor for an accumulator tile from `k` on."""
        build, row = self._build, self._row
        if self._descriptor is None:
            self._descriptor = self._first(row)
        units = self.memory.start((origin[0], origin[row], k), self._size)
        return as_value(build, add(build, self._descriptor, units, I64), I64)

    def _first(self, row: int) -> Value:
        """The descriptor for the warpgroup's first accumulator tile.

        The warpgroup's part of the address is added before the other fields are packed: ptxas may
        drop the upper half when a dynamic value is added to the packed fields
        (`descriptor-upper-half` of docs/ptxas-defects.md).
        """
        op, build = self._op, self._build
        buffer, _ = scratch_buffer(op, build)
        layout = layout_of(op.c)
        images = [_batch_row_column(layout, vector) for vector in thread_basis(layout)]
        # The threads of a warpgroup share its descriptor: their id bits contribute nothing.
        inner = log2(WARPGROUP * WARP_SIZE)
        starts = [self.memory.start((at[0], at[row], 0), self._size) for at in images[inner:]]
        vectors = [0] * inner + [start * CHUNK for start in starts]
        thread_part = apply_linear(build, uniform_thread_id(op, build), vectors)
        byte = as_value(build, add(build, thread_part, self._offset))
        if self._is_recomputed():
            wide = build.create(ExtUIOp, source=byte, types=[I64]).result
            byte = build.create(OpaqueOp, arg=wide, repeated=True, types=[I64]).res
        fields = self.memory.descriptor
        return build.create(
            WgmmaDescriptorOp,
            tensor=buffer,
            indices=[build.create(IndexCastOp, source=byte, types=[INDEX]).result],
            swizzle=SWIZZLES[fields.span],
            leading_byte_offset=fields.leading,
            stride_byte_offset=fields.stride,
        ).result

    def _is_recomputed(self) -> bool:
        """Whether a loop computes descriptors anew, instead of keeping those that do not change."""
        loop, tile = loop_around(self._op), self._op.operands[self._row - 1]
        return loop is not None and is_invariant(tile, loop) and is_crowded(loop, self._build)


class RegisterOperand:
    """A in registers: fragments of 64 rows, by instruction."""

    __slots__ = ("_build", "_fragment", "_register_of", "_vector", "type")

    def __init__(
        self, op: DotOp, build: ConversionBuilder, plan: WgmmaDotPlan, vector: Value, type: Type
    ) -> None:
        self._build, self._vector, self.type = build, vector, type
        self._fragment = wgmma_left(8 * plan.element)
        layout = batched(layout_of(op.a))
        registers = range(layout.extent(REGISTER))
        self._register_of = {layout.at(register=number): number for number in registers}

    def at(self, origin: tuple[int, int, int], k: int, steps: int) -> Value:
        """The registers of `steps` instructions for an accumulator tile, from `k` on."""
        batch, row, _ = origin
        registers: list[int] = []
        for step in range(steps):
            first = k + step * self._fragment.shape[1]
            for number in range(self._fragment.extent(REGISTER)):
                down, along = self._fragment.at(register=number)
                registers.append(self._register_of[batch, row + down, first + along])
        return select_registers(self._build, self._vector, registers)


class _Wgmma:
    """The instructions of a dot along K."""

    __slots__ = ("_a", "_b", "_build", "_plan", "_run")

    def __init__(
        self,
        build: ConversionBuilder,
        plan: WgmmaDotPlan,
        a: SharedOperand | RegisterOperand,
        b: SharedOperand,
    ) -> None:
        self._build, self._plan = build, plan
        self._a, self._b = a, b
        runs = [each.memory.run for each in (a, b) if isinstance(each, SharedOperand)]
        self._run = min(runs)

    def _k_offsets(self) -> range:
        """The K offset of each run of instructions."""
        *_, k = self._b.memory.shape
        return range(0, k, self._run * self._plan.instruction.shape[2])

    def native(
        self, tiles: Sequence[_AccumulatorTile], *, apart: bool, reset: bool
    ) -> Sequence[Value]:
        """Accumulate over all of K in the instruction."""
        return self._wait(self._issue_all(tiles, apart=apart, reset=reset))

    def issue(self, tiles: Sequence[_AccumulatorTile], *, reset: bool) -> Sequence[Value]:
        """Start to accumulate over all of K, as one group."""
        results = self._issue_all(tiles, apart=False, reset=reset)
        self._build.create(WgmmaCommitOp)
        return results

    def _issue_all(
        self, tiles: Sequence[_AccumulatorTile], *, apart: bool, reset: bool
    ) -> Sequence[Value]:
        first = self._operands(tiles[0], 0)
        accumulate = self._false() if reset else None
        fenced = self._fence([tile.accumulator for tile in tiles], apart=apart)
        runs = self._k_offsets()
        return [
            self._issue_runs(accumulator, tile, runs, accumulate, None if number else first)
            for number, (accumulator, tile) in enumerate(zip(fenced, tiles, strict=True))
        ]

    def promoted(
        self, tiles: Sequence[_AccumulatorTile], *, reuse: bool, whole: bool
    ) -> Sequence[Value]:
        """Accumulate from zero over the `whole` of K, or intervals, and add to the accumulators.

        Reusing the registers of partial accumulators (`reuse`) saves ptxas from spills, but it
        merges two of them where both are added to the same value (`wgmma-in-place`).
        """
        build = self._build
        assert whole or self._run * self._plan.instruction.shape[2] <= PROMOTION_INTERVAL
        runs = list(self._k_offsets())
        intervals = [runs] if whole else [[k] for k in runs]
        type = tiles[0].accumulator.type
        zero = partial = build.create(ConstantOp, value=literal([0], type), types=[type]).result
        results: list[Value] = []
        for tile in tiles:
            accumulator = tile.accumulator
            for interval in intervals:
                first = self._operands(tile, interval[0])
                accumulate = self._false()
                (partial,) = self._fence([partial if reuse else zero])
                partial = self._issue_runs(partial, tile, interval, accumulate, first)
                (partial,) = self._wait([partial])
                accumulator = build.create(AddFOp, lhs=accumulator, rhs=partial).result
            results.append(accumulator)
        return results

    def _fence(self, accumulators: Sequence[Value], *, apart: bool = False) -> Sequence[Value]:
        types = [value.type for value in accumulators]
        fence = self._build.create(
            WgmmaFenceOp, accumulators=accumulators, apart=apart, types=types
        )
        return fence.outputs

    def _wait(self, accumulators: Sequence[Value]) -> Sequence[Value]:
        types = [value.type for value in accumulators]
        self._build.create(WgmmaCommitOp)
        return self._build.create(
            WgmmaWaitOp, pending=0, accumulators=accumulators, types=types
        ).outputs

    def _issue_runs(
        self,
        accumulator: Value,
        tile: _AccumulatorTile,
        runs: Sequence[int],
        accumulate: Value | None,
        first: tuple[Value, Value] | None,
    ) -> Value:
        """Issue runs of instructions at offsets along K.

        The operands of the `first` precede the fence: inline PTX of a wgmma directly after its
        fence includes it. Those of the others do not, since they would take registers.
        """
        for number, k in enumerate(runs):
            operands = first if first and not number else self._operands(tile, k)
            accumulator = self._issue(accumulator, operands, None if number else accumulate)
        return accumulator

    def _false(self) -> Value:
        """For the first run of instructions, which overwrites the accumulator."""
        return self._build.create(ConstantOp, value=IntegerAttr(0, I1), types=[I1]).result

    def _operands(self, tile: _AccumulatorTile, k: int) -> tuple[Value, Value]:
        """A and B of a run of instructions from `k` on."""
        return self._a.at(tile.origin, k, self._run), self._b.at(tile.origin, k, self._run)

    def _issue(
        self, accumulator: Value, operands: tuple[Value, Value], accumulate: Value | None
    ) -> Value:
        """Issue a run of instructions along K."""
        build, a, b = self._build, self._a, self._b
        memory = a.memory if isinstance(a, SharedOperand) else None
        several = self._run > 1
        return build.create(
            WgmmaIssueOp,
            a=operands[0],
            b=operands[1],
            accumulator=accumulator,
            accumulate=accumulate,
            a_type=a.type,
            b_type=b.type,
            steps=self._run,
            a_step=memory.step if several and memory is not None else 0,
            b_step=b.memory.step if several else 0,
            transpose_a=memory is not None and memory.descriptor.across,
            transpose_b=b.memory.descriptor.across,
            types=[accumulator.type],
        ).result


PATTERNS: Final[Patterns] = (warpgroup_dot, dot_wait)
