"""Products of matrices by warpgroups: factors go to shared memory, where wgmma reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import add, as_value
from tilewright.conversion.nv_tileas_to_nvgpu.mma.mma_sync import UNSIGNED_BYTE
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import scratch_buffer
from tilewright.conversion.nv_tileas_to_nvgpu.shared_tile import SharedTile
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import concatenate, select_registers
from tilewright.dialects.arith.casts import IndexCastOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.floating import AddFOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.cute_nvgpu.attributes import ProxySpace
from tilewright.dialects.cute_nvgpu.threads import FenceProxyAsyncOp
from tilewright.dialects.cute_nvgpu.wgmma import (
    WgmmaCommitOp,
    WgmmaDescriptorOp,
    WgmmaFenceOp,
    WgmmaIssueOp,
    WgmmaWaitOp,
)
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nvgpu.attributes import Swizzle
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I1, I64, INDEX, TF32
from tilewright.layout.linear import REGISTER, log2, unpack
from tilewright.layout.swizzle import CHUNK
from tilewright.layout.warpgroups import instruction_columns, together
from tilewright.plans.accumulators import is_carried, is_read_elsewhere
from tilewright.plans.mma import WgmmaDotPlan, operand_layouts
from tilewright.target.arch import WARP_SIZE
from tilewright.target.tensor_cores import WARPGROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.layout.warpgroups import FactorMemory

PROMOTION_INTERVAL: Final = 128
"""So many products of bytes are summed up by the instruction, which keeps 14 bits of a sum; such
sums are then added in single precision."""


PROMOTED_COLUMNS: Final = 128
"""How many columns are so at a time: the registers for their sums come on top of the others."""


SWIZZLES: Final = {each.span: each for each in Swizzle}


@converts(DotOp)
def warpgroup_dot(op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
    """Write both factors, wait, multiply; wait for the sums."""
    plan = WgmmaDotPlan.of(op)
    if plan is None:
        return build.reject("expected a product of warpgroups")
    a, b = operand_layouts(op)
    left = WgmmaOperand(op, build, plan, plan.left, 0, _operand_type(plan.instruction.a, op.a))
    right = WgmmaOperand(
        op, build, plan, plan.right, plan.start, _operand_type(plan.instruction.b, op.b)
    )
    left.write(op.a, new.a, a)
    right.write(op.b, new.b, b)
    build.create(FenceProxyAsyncOp, space=ProxySpace.SHARED_CTA)
    build.create(BarrierOp)
    product = _Wgmma(build, plan, left, right)
    if is_promoted(op, plan):
        pieces = _accumulator_tiles(op, build, new.c, PROMOTED_COLUMNS)
        return concatenate(build, product.promoted(pieces, again=is_carried(op)))
    pieces = _accumulator_tiles(op, build, new.c)
    return concatenate(build, product.native(pieces, apart=is_read_elsewhere(op)))


def is_promoted(op: DotOp, plan: WgmmaDotPlan) -> bool:
    """Whether sums of the instruction have too few bits to go on with them."""
    return plan.instruction.a in ("e4m3", "e5m2") and not op.fast_acc


def _operand_type(spelled: str, factor: Value) -> Type:
    """The elements of a factor as the instruction takes them."""
    own: dict[str, Type] = {"tf32": TF32, "u8": UNSIGNED_BYTE}
    return own.get(spelled, element_of(factor.type))


class _AccumulatorTile(NamedTuple):
    """Sums of a thread that one instruction makes."""

    sums: Value
    place: tuple[int, int, int]
    """Where they begin for the first warpgroup: matrix, row, column."""


def _accumulator_tiles(
    op: DotOp, build: ConversionBuilder, sums: Value, most: int | None = None
) -> list[_AccumulatorTile]:
    """The sums of all pieces of a warpgroup: the registers of each follow each other."""
    total = layout_of(op.c)
    columns = instruction_columns(total)
    assert columns is not None
    count = (columns if most is None else min(columns, most)) // 2
    pieces: list[_AccumulatorTile] = []
    for first in range(0, total.extent(REGISTER), count):
        place = _matrix(total, total.packed(register=first))
        pieces.append(
            _AccumulatorTile(
                select_registers(build, sums, list(range(first, first + count))), place
            )
        )
    return pieces


def _matrix(total: Layout, packed: int) -> tuple[int, int, int]:
    """The matrix, row and column of a sum."""
    *batch, row, column = unpack(packed, total.shape)
    return (batch[0] if batch else 0, row, column)


class WgmmaOperand:
    """A or B in shared memory."""

    __slots__ = ("_build", "_descriptor", "_op", "_start", "memory", "size", "type")

    def __init__(
        self,
        op: DotOp,
        build: ConversionBuilder,
        plan: WgmmaDotPlan,
        memory: FactorMemory,
        start: int,
        type: Type,
    ) -> None:
        self._op, self._build, self._start = op, build, start
        self.memory, self.type, self.size = memory, type, plan.element
        self._descriptor: Value | None = None

    def write(self, tile: Value, vector: Value, rows: Layout) -> None:
        """Put what a thread has where it belongs; one holder of each element does."""
        op, build = self._op, self._build
        at_once = together(rows, self.memory, self.size)
        places = rows.then(self.memory.places)
        with predicated(build, is_owner(op, build, tile)):
            shares = SharedTile(op, build, places, at_once, self.size, further=self._start)
            shares.write(vector)

    def describe(self, row: int, place: tuple[int, int, int], depth: int) -> Value:
        """The descriptor of what the product of a piece takes from so far along K on.

        `row` says which coordinate of the sums the rows of this factor are.
        """
        build = self._build
        if self._descriptor is None:
            self._descriptor = self._first(row)
        units = self.memory.start((place[0], place[row], depth), self.size)
        return as_value(build, add(build, self._descriptor, units, I64), I64)

    def _first(self, row: int) -> Value:
        """The descriptor of what the warpgroup's first piece takes.

        Its own part of the address comes before the other fields: ptxas 13.0 loses the upper half
        of sums of those with what is not constant.
        """
        op, build = self._op, self._build
        buffer, start = scratch_buffer(op, build)
        total = layout_of(op.c)
        places = [_matrix(total, vector) for vector in thread_basis(total)]
        # The threads of a warpgroup share its descriptor: the bits of their numbers add nothing.
        inner = log2(WARPGROUP * WARP_SIZE)
        starts = [self.memory.start((at[0], at[row], 0), self.size) for at in places[inner:]]
        vectors = [0] * inner + [start * CHUNK for start in starts]
        own = apply_linear(build, thread_id(op, build), vectors)
        byte = as_value(build, add(build, own, start + self._start))
        fields = self.memory.descriptor
        return build.create(
            WgmmaDescriptorOp,
            tensor=buffer,
            indices=[build.create(IndexCastOp, source=byte, types=[INDEX]).result],
            swizzle=SWIZZLES[fields.span],
            leading_byte_offset=fields.leading,
            stride_byte_offset=fields.stride,
        ).result


class _Wgmma:
    """The instructions of a product along K."""

    __slots__ = ("_build", "_left", "_plan", "_right", "_run")

    def __init__(
        self, build: ConversionBuilder, plan: WgmmaDotPlan, left: WgmmaOperand, right: WgmmaOperand
    ) -> None:
        self._build, self._plan = build, plan
        self._left, self._right = left, right
        self._run = min(left.memory.run, right.memory.run)

    def _depths(self) -> range:
        """Where along K each run of instructions begins."""
        *_, depth = self._left.memory.shape
        return range(0, depth, self._run * self._plan.instruction.shape[2])

    def native(self, pieces: Sequence[_AccumulatorTile], *, apart: bool) -> Sequence[Value]:
        """The sums with all products, as the instruction adds them."""
        fenced = self._fenced([piece.sums for piece in pieces], apart=apart)
        done: list[Value] = []
        for sums, piece in zip(fenced, pieces, strict=True):
            for depth in self._depths():
                sums = self._issued(sums, piece, depth)
            done.append(sums)
        return self._waited(done)

    def promoted(self, pieces: Sequence[_AccumulatorTile], *, again: bool) -> Sequence[Value]:
        """The sums with all products, of which some are summed up before by themselves.

        Using the same registers for these again saves ptxas from spills, but it takes two of these
        sums for one where they are added to one number.
        """
        build = self._build
        assert self._run * self._plan.instruction.shape[2] <= PROMOTION_INTERVAL
        type = pieces[0].sums.type
        zero = some = build.create(ConstantOp, value=literal([0], type), types=[type]).result
        done: list[Value] = []
        for piece in pieces:
            sums = piece.sums
            for depth in self._depths():
                (some,) = self._fenced([some if again else zero])
                (some,) = self._waited([self._issued(some, piece, depth, anew=True)])
                sums = build.create(AddFOp, lhs=sums, rhs=some).result
            done.append(sums)
        return done

    def _fenced(self, sums: Sequence[Value], *, apart: bool = False) -> Sequence[Value]:
        types = [each.type for each in sums]
        fence = self._build.create(WgmmaFenceOp, accumulators=sums, apart=apart, types=types)
        return fence.outputs

    def _waited(self, sums: Sequence[Value]) -> Sequence[Value]:
        types = [each.type for each in sums]
        self._build.create(WgmmaCommitOp)
        return self._build.create(WgmmaWaitOp, pending=0, accumulators=sums, types=types).outputs

    def _issued(
        self, sums: Value, piece: _AccumulatorTile, depth: int, *, anew: bool = False
    ) -> Value:
        """The sums with the products of a run, or these alone."""
        build, left, right = self._build, self._left, self._right
        false = build.create(ConstantOp, value=IntegerAttr(0, I1), types=[I1]).result
        several = self._run > 1
        return build.create(
            WgmmaIssueOp,
            a=left.describe(1, piece.place, depth),
            b=right.describe(2, piece.place, depth),
            accumulator=sums,
            accumulate=false if anew else None,
            a_type=left.type,
            b_type=right.type,
            steps=self._run,
            a_step=left.memory.step if several else 0,
            b_step=right.memory.step if several else 0,
            transpose_a=left.memory.descriptor.across,
            transpose_b=right.memory.descriptor.across,
            types=[sums.type],
        ).result


PATTERNS: Final[Patterns] = (warpgroup_dot,)
