"""gpu to NVVM: shuffles between the lanes of a warp, and warp reductions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import scalar_of
from tilewright.conversion.nvgpu_to_nvvm.fragments import (
    pack_registers,
    same_bits,
    unpack_registers,
)
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.arith import floating, integer
from tilewright.dialects.gpu import threads
from tilewright.dialects.gpu.attributes import AllReduceOperation, ShuffleMode
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.arithmetic import LShrOp, SubOp
from tilewright.dialects.llvm.conversion import TruncOp, ZExtOp
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.dialects.nvvm.attributes import ReduxKind, ShflKind
from tilewright.dialects.nvvm.warp import ReduxOp, ShflOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F32, I32, FloatType, IntegerType, VectorType
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

ALL_LANES: Final = -1
LAST_LANE: Final = 31

ShuffleWord = Callable[["Value"], "Value"]
"""A shuffle of one 32-bit register."""


def shuffled(build: ConversionBuilder, value: Value, shuffle_word: ShuffleWord) -> Value:
    """Shuffle a value of any type, as 32-bit registers."""
    type = value.type
    if type in (I32, F32):
        return shuffle_word(value)
    width = _width(type)
    bits, padded = IntegerType(width), IntegerType(-(-width // I32.width) * I32.width)
    integer = same_bits(build, value, bits)
    if padded is not bits:
        integer = build.create(ZExtOp, arg=integer, types=[padded]).res
    words = _shuffled_words(build, integer, padded, shuffle_word)
    if padded is not bits:
        words = build.create(TruncOp, arg=words, types=[bits]).res
    return same_bits(build, words, type)


def _shuffled_words(
    build: ConversionBuilder, value: Value, padded: IntegerType, shuffle_word: ShuffleWord
) -> Value:
    if padded is I32:
        return shuffle_word(value)
    words = VectorType((padded.width // I32.width,), I32)
    parts = unpack_registers(build, same_bits(build, value, words), I32)
    return same_bits(build, pack_registers(build, list(map(shuffle_word, parts)), words), padded)


def _width(type: Type) -> int:
    """Return the width of a scalar or of a whole vector, in bits."""
    count = type.shape[0] if isinstance(type, VectorType) else 1
    return count * (bits_of(scalar_of(type)) or 0)


def butterfly_shuffle(build: ConversionBuilder, value: Value, distance: int) -> Value:
    """Shuffle with the lane at an xor distance."""

    def shuffle_word(word: Value) -> Value:
        return build.create(
            ShflOp,
            kind=ShflKind.BFLY,
            thread_mask=constant(build, ALL_LANES, I32),
            val=word,
            offset=constant(build, distance, I32),
            mask_and_clamp=constant(build, LAST_LANE, I32),
        ).res

    return shuffled(build, value, shuffle_word)


def broadcast_first_lane(build: ConversionBuilder, value: Value) -> Value:
    """Broadcast the value of lane 0."""

    def shuffle_word(word: Value) -> Value:
        return build.create(
            ShflOp,
            kind=ShflKind.IDX,
            thread_mask=constant(build, ALL_LANES, I32),
            val=word,
            offset=constant(build, 0, I32),
            mask_and_clamp=constant(build, LAST_LANE, I32),
        ).res

    return shuffled(build, value, shuffle_word)


_MODES: Final = {
    ShuffleMode.XOR: ShflKind.BFLY,
    ShuffleMode.DOWN: ShflKind.DOWN,
    ShuffleMode.UP: ShflKind.UP,
    ShuffleMode.IDX: ShflKind.IDX,
}


@converts(threads.ShuffleOp)
def shuffle(op: threads.ShuffleOp, new: threads.ShuffleOp, build: ConversionBuilder) -> Result:
    """Lower `gpu.shuffle` to `shfl.sync` with its predicate."""
    width, one = new.width, constant(build, 1, I32)
    size = constant(build, WARP_SIZE, I32)
    all_lanes = constant(build, ALL_LANES, I32)
    outside = build.create(SubOp, lhs=size, rhs=width).res
    mask = build.create(LShrOp, lhs=all_lanes, rhs=outside).res
    # The clamp is the last lane of the segment, or for `up` its first.
    upward = op.mode is ShuffleMode.UP
    clamp = outside if upward else build.create(SubOp, lhs=width, rhs=one).res
    valid: list[Value] = []

    def shuffle_word(word: Value) -> Value:
        pair = build.create(
            ShflOp,
            kind=_MODES[op.mode],
            thread_mask=mask,
            val=word,
            offset=new.offset,
            mask_and_clamp=clamp,
            with_validity=True,
        ).res
        shuffled_word, is_valid = [
            build.create(ExtractValueOp, container=pair, position=[n]).res for n in (0, 1)
        ]
        valid.append(is_valid)
        return shuffled_word

    return [shuffled(build, new.value, shuffle_word), valid[0]]


_INTEGER: Final[Mapping[AllReduceOperation, type[Operation]]] = {
    AllReduceOperation.ADD: integer.AddIOp,
    AllReduceOperation.MUL: integer.MulIOp,
    AllReduceOperation.MINUI: integer.MinUIOp,
    AllReduceOperation.MINSI: integer.MinSIOp,
    AllReduceOperation.MAXUI: integer.MaxUIOp,
    AllReduceOperation.MAXSI: integer.MaxSIOp,
    AllReduceOperation.AND: integer.AndIOp,
    AllReduceOperation.OR: integer.OrIOp,
    AllReduceOperation.XOR: integer.XOrIOp,
}
_FLOAT: Final[Mapping[AllReduceOperation, type[Operation]]] = {
    AllReduceOperation.ADD: floating.AddFOp,
    AllReduceOperation.MUL: floating.MulFOp,
    AllReduceOperation.MINNUMF: floating.MinNumFOp,
    AllReduceOperation.MAXNUMF: floating.MaxNumFOp,
    AllReduceOperation.MINIMUMF: floating.MinimumFOp,
    AllReduceOperation.MAXIMUMF: floating.MaximumFOp,
}


_REDUX: Final[Mapping[AllReduceOperation, ReduxKind]] = {
    AllReduceOperation.ADD: ReduxKind.ADD,
    AllReduceOperation.AND: ReduxKind.AND,
    AllReduceOperation.OR: ReduxKind.OR,
    AllReduceOperation.XOR: ReduxKind.XOR,
    AllReduceOperation.MAXSI: ReduxKind.MAX,
    AllReduceOperation.MAXUI: ReduxKind.UMAX,
    AllReduceOperation.MINSI: ReduxKind.MIN,
    AllReduceOperation.MINUI: ReduxKind.UMIN,
}
"""The reductions of i32 that are one instruction."""


def combination(kind: AllReduceOperation, type: Type) -> type[Operation] | None:
    """Return the binary operation of a reduction, or `None` if the type has none."""
    element = scalar_of(type)
    if not isinstance(element, FloatType | IntegerType):
        return None
    return (_FLOAT if isinstance(element, FloatType) else _INTEGER).get(kind)


def combined(build: ConversionBuilder, kind: type[Operation], lhs: Value, rhs: Value) -> Value:
    """Combine two values."""
    fields: dict[str, Any] = {"lhs": lhs, "rhs": rhs}
    return build.create(kind, **fields).results[0]


@converts(threads.SubgroupReduceOp)
def subgroup_reduce(
    op: threads.SubgroupReduceOp, new: threads.SubgroupReduceOp, build: ConversionBuilder
) -> Result:
    """Lower to `redux.sync`; other types, and clusters of lanes, by a butterfly of shuffles."""
    value, distance = new.value, op.cluster_stride
    if value.type is I32 and op.cluster_size in (None, WARP_SIZE) and op.op in _REDUX:
        mask = constant(build, ALL_LANES, I32)
        return build.create(ReduxOp, kind=_REDUX[op.op], val=value, mask_and_clamp=mask)
    kind = combination(op.op, value.type)
    if kind is None:
        return build.reject(f"expected integers or floats to reduce, got '{op.value.type}'")
    end = distance * (op.cluster_size or WARP_SIZE // distance)
    while distance < end:
        value = combined(build, kind, value, butterfly_shuffle(build, value, distance))
        distance *= 2
    return value


PATTERNS: Final[Patterns] = (shuffle, subgroup_reduce)
