"""gpu to NVVM: values that the lanes of a warp swap, and reductions of a warp."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nvgpu_to_nvvm.elementwise import scalar_of
from tilewright.conversion.nvgpu_to_nvvm.fragments import put_together, same_bits, taken_apart
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.arith import floating, integer
from tilewright.dialects.gpu import threads
from tilewright.dialects.gpu.attributes import AllReduceOperation, ShuffleMode
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.arithmetic import LShrOp, SubOp
from tilewright.dialects.llvm.conversion import TruncOp, ZExtOp
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.dialects.nvvm.attributes import ShflKind
from tilewright.dialects.nvvm.warp import ShflOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F32, I32, FloatType, IntegerType, VectorType
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

ALL_LANES: Final = -1
LAST_LANE: Final = 31

Swap = Callable[["Value"], "Value"]
"""What another lane has, for a register of 32 bits."""


def swapped(build: ConversionBuilder, value: Value, swap: Swap) -> Value:
    """A value of any type from another lane, in as many registers as it takes."""
    type = value.type
    if type in (I32, F32):
        return swap(value)
    width = _width(type)
    bits, whole = IntegerType(width), IntegerType(-(-width // I32.width) * I32.width)
    carried = same_bits(build, value, bits)
    if whole is not bits:
        carried = build.create(ZExtOp, arg=carried, types=[whole]).res
    found = _swapped_words(build, carried, whole, swap)
    if whole is not bits:
        found = build.create(TruncOp, arg=found, types=[bits]).res
    return same_bits(build, found, type)


def _swapped_words(build: ConversionBuilder, value: Value, whole: IntegerType, swap: Swap) -> Value:
    if whole is I32:
        return swap(value)
    words = VectorType((whole.width // I32.width,), I32)
    parts = taken_apart(build, same_bits(build, value, words), I32)
    return same_bits(build, put_together(build, list(map(swap, parts)), words), whole)


def _width(type: Type) -> int:
    """The bits of a number, or of all elements of a vector."""
    count = type.shape[0] if isinstance(type, VectorType) else 1
    return count * (bits_of(scalar_of(type)) or 0)


def from_lane(build: ConversionBuilder, value: Value, distance: int) -> Value:
    """The value of the lane whose number differs in one bit."""

    def swap(word: Value) -> Value:
        return build.create(
            ShflOp,
            kind=ShflKind.BFLY,
            thread_mask=constant(build, ALL_LANES, I32),
            val=word,
            offset=constant(build, distance, I32),
            mask_and_clamp=constant(build, LAST_LANE, I32),
        ).res

    return swapped(build, value, swap)


def from_first_lane(build: ConversionBuilder, value: Value) -> Value:
    """The value of lane 0."""

    def swap(word: Value) -> Value:
        return build.create(
            ShflOp,
            kind=ShflKind.IDX,
            thread_mask=constant(build, ALL_LANES, I32),
            val=word,
            offset=constant(build, 0, I32),
            mask_and_clamp=constant(build, LAST_LANE, I32),
        ).res

    return swapped(build, value, swap)


_MODES: Final = {
    ShuffleMode.XOR: ShflKind.BFLY,
    ShuffleMode.DOWN: ShflKind.DOWN,
    ShuffleMode.UP: ShflKind.UP,
    ShuffleMode.IDX: ShflKind.IDX,
}


@converts(threads.ShuffleOp)
def shuffle(op: threads.ShuffleOp, new: threads.ShuffleOp, build: ConversionBuilder) -> Result:
    """A value of another lane among the first `width`, and whether there is such a lane."""
    width, one = new.width, constant(build, 1, I32)
    size = constant(build, WARP_SIZE, I32)
    everybody = constant(build, ALL_LANES, I32)
    outside = build.create(SubOp, lhs=size, rhs=width).res
    mask = build.create(LShrOp, lhs=everybody, rhs=outside).res
    # Lanes look up to the last of the part, or down to its first.
    upward = op.mode is ShuffleMode.UP
    clamp = outside if upward else build.create(SubOp, lhs=width, rhs=one).res
    valid: list[Value] = []

    def swap(word: Value) -> Value:
        both = build.create(
            ShflOp,
            kind=_MODES[op.mode],
            thread_mask=mask,
            val=word,
            offset=new.offset,
            mask_and_clamp=clamp,
            with_validity=True,
        ).res
        found, is_valid = [
            build.create(ExtractValueOp, container=both, position=[n]).res for n in (0, 1)
        ]
        valid.append(is_valid)
        return found

    return [swapped(build, new.value, swap), valid[0]]


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


def combination(how: AllReduceOperation, type: Type) -> type[Operation] | None:
    """The operation that makes one value of two; nothing where there is none of their type."""
    element = scalar_of(type)
    if not isinstance(element, FloatType | IntegerType):
        return None
    return (_FLOAT if isinstance(element, FloatType) else _INTEGER).get(how)


def combined(build: ConversionBuilder, kind: type[Operation], lhs: Value, rhs: Value) -> Value:
    """Two values as one."""
    fields: dict[str, Any] = {"lhs": lhs, "rhs": rhs}
    return build.create(kind, **fields).results[0]


@converts(threads.SubgroupReduceOp)
def subgroup_reduce(
    op: threads.SubgroupReduceOp, new: threads.SubgroupReduceOp, build: ConversionBuilder
) -> Result:
    """Every lane ends with the values of all: each step swaps with a lane further away."""
    value, distance = new.value, op.cluster_stride
    kind = combination(op.op, value.type)
    if kind is None:
        return build.reject(f"expected numbers to combine, got '{op.value.type}'")
    end = distance * (op.cluster_size or WARP_SIZE // distance)
    while distance < end:
        value = combined(build, kind, value, from_lane(build, value, distance))
        distance *= 2
    return value


PATTERNS: Final[Patterns] = (shuffle, subgroup_reduce)
