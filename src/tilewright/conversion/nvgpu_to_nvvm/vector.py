"""vector to LLVM: every vector is one of all its elements, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.elementwise import (
    fast_math,
    joined,
    lanes,
    result_type,
)
from tilewright.conversion.nvgpu_to_nvvm.numbers import Number, as_value, constant, dot
from tilewright.conversion.nvgpu_to_nvvm.types import extent_of
from tilewright.dialects.llvm import arithmetic
from tilewright.dialects.llvm import memory as llvm_memory
from tilewright.dialects.llvm.aggregate import ExtractElementOp, InsertElementOp, ShuffleVectorOp
from tilewright.dialects.llvm.constants import ConstantOp, PoisonOp
from tilewright.dialects.llvm.conversion import BitcastOp as LLVMBitcastOp
from tilewright.dialects.llvm.intrinsics import floats, integers, reductions
from tilewright.dialects.memref.layout import row_major
from tilewright.dialects.vector import elements, memory, shapes
from tilewright.dialects.vector.attributes import CombiningKind
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import DYNAMIC, I32, I64, FloatType, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def vector_of(value: Value) -> VectorType:
    """The type of a value that is a vector."""
    assert isinstance(value.type, VectorType)
    return value.type


def _pick(build: ConversionBuilder, source: Value, mask: Sequence[int]) -> Value:
    """Some elements of a vector, by number."""
    if list(mask) == list(range(vector_of(source).shape[0])):
        return source
    unused = build.create(PoisonOp, types=[source.type]).res
    return build.create(ShuffleVectorOp, v1=source, v2=unused, mask=list(mask)).res


def _replace(build: ConversionBuilder, target: Value, part: Value, places: Sequence[int]) -> Value:
    """A vector with the elements of another one at some places."""
    size, count = vector_of(target).shape[0], len(places)
    last = vector_of(part).shape[0] - 1
    widened = _pick(build, part, [min(lane, last) for lane in range(size)])
    mask = list(range(size))
    for lane in range(count):
        mask[places[lane]] = size + lane
    return build.create(ShuffleVectorOp, v1=target, v2=widened, mask=mask).res


def _place(
    type: VectorType, static: Sequence[int], dynamic: Sequence[Value], build: ConversionBuilder
) -> Number:
    """The number of the first element of a part."""
    rest = iter(dynamic)
    position: list[Number] = [next(rest) if p == DYNAMIC else p for p in static]
    strides = row_major(type.shape)[: len(position)]
    return dot(build, 0, zip(position, strides, strict=True))


@converts(elements.ExtractOp)
def extract(op: elements.ExtractOp, new: elements.ExtractOp, build: ConversionBuilder) -> Result:
    """An element, or a part that is a vector itself."""
    place = _place(vector_of(op.source), op.static_position, new.dynamic_position, build)
    if not isinstance(op.result.type, VectorType):
        at = constant(build, place, I64) if isinstance(place, int) else place
        return build.create(ExtractElementOp, vector=new.source, position=at)
    if not isinstance(place, int):
        return build.reject("expected a constant position of a part")
    return _pick(build, new.source, range(place, place + extent_of(op.result.type)))


@converts(elements.InsertOp)
def insert(op: elements.InsertOp, new: elements.InsertOp, build: ConversionBuilder) -> Result:
    """An element, or a part that is a vector itself, becomes another."""
    place = _place(vector_of(op.dest), op.static_position, new.dynamic_position, build)
    if not isinstance(op.value.type, VectorType):
        at = as_value(build, place)
        return build.create(InsertElementOp, vector=new.dest, value=new.value, position=at)
    if not isinstance(place, int):
        return build.reject("expected a constant position of a part")
    return _replace(build, new.dest, new.value, range(place, place + extent_of(op.value.type)))


@converts(elements.FromElementsOp)
def from_elements(
    op: elements.FromElementsOp, new: elements.FromElementsOp, build: ConversionBuilder
) -> Result:
    """A vector of scalars."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector that LLVM has, got '{op.result.type}'")
    return joined(build, new.elements, type)


@converts(elements.ToElementsOp)
def to_elements(
    op: elements.ToElementsOp, new: elements.ToElementsOp, build: ConversionBuilder
) -> Result:
    """All elements."""
    return lanes(build, new.source)


@converts(elements.FmaOp)
def fma(op: elements.FmaOp, new: elements.FmaOp, build: ConversionBuilder) -> Result:
    """Products and sums, rounded once."""
    return build.create(floats.FMAOp, a=new.lhs, b=new.rhs, c=new.acc)


_REDUCTIONS: Final[Mapping[CombiningKind, tuple[type[Operation], type[Operation]]]] = {
    CombiningKind.ADD: (reductions.ReduceAddOp, arithmetic.AddOp),
    CombiningKind.MUL: (reductions.ReduceMulOp, arithmetic.MulOp),
    CombiningKind.AND: (reductions.ReduceAndOp, arithmetic.AndOp),
    CombiningKind.OR: (reductions.ReduceOrOp, arithmetic.OrOp),
    CombiningKind.XOR: (reductions.ReduceXorOp, arithmetic.XorOp),
    CombiningKind.MINUI: (reductions.ReduceUMinOp, integers.UMinOp),
    CombiningKind.MINSI: (reductions.ReduceSMinOp, integers.SMinOp),
    CombiningKind.MAXUI: (reductions.ReduceUMaxOp, integers.UMaxOp),
    CombiningKind.MAXSI: (reductions.ReduceSMaxOp, integers.SMaxOp),
    CombiningKind.MINNUMF: (reductions.ReduceFMinOp, floats.MinNumOp),
    CombiningKind.MAXNUMF: (reductions.ReduceFMaxOp, floats.MaxNumOp),
    CombiningKind.MINIMUMF: (reductions.ReduceFMinimumOp, floats.MinimumOp),
    CombiningKind.MAXIMUMF: (reductions.ReduceFMaximumOp, floats.MaximumOp),
}
"""What reduces a vector, and what combines the result with an accumulator."""


@converts(elements.ReductionOp)
def reduction(
    op: elements.ReductionOp, new: elements.ReductionOp, build: ConversionBuilder
) -> Result:
    """All elements as one."""
    if isinstance(op.result.type, FloatType) and op.kind in (CombiningKind.ADD, CombiningKind.MUL):
        return _ordered(op, new, build)
    whole, pair = _REDUCTIONS[op.kind]
    (found,) = build.create(whole, operand=new.source).results
    return found if new.acc is None else build.create(pair, lhs=found, rhs=new.acc)


def _ordered(
    op: elements.ReductionOp, new: elements.ReductionOp, build: ConversionBuilder
) -> Result:
    """Sums and products of floats go one by one, unless the flags allow any order."""
    adds = op.kind is CombiningKind.ADD
    kind = arithmetic.FAddOp if adds else arithmetic.FMulOp
    first, *rest = lanes(build, new.source)
    if new.acc is not None:
        first, rest = new.acc, [first, *rest]
    for element in rest:
        first = build.create(kind, lhs=first, rhs=element, fastmath=fast_math(op.fastmath)).res
    return first


@converts(memory.LoadOp)
def load(op: memory.LoadOp, new: memory.LoadOp, build: ConversionBuilder) -> Result:
    """Elements that lie one behind the other."""
    type = result_type(op, build)
    if type is None or _rank(op.result) > 1:
        return build.reject(f"expected a vector of one dimension, got '{op.result.type}'")
    buffer = Buffer.of(op.base, build)
    return build.create(
        llvm_memory.LoadOp,
        addr=buffer.element_address(new.indices, build),
        alignment=op.alignment or _bytes(buffer.element),
        nontemporal=op.nontemporal,
        types=[type],
    )


@converts(memory.StoreOp)
def store(op: memory.StoreOp, new: memory.StoreOp, build: ConversionBuilder) -> Result:
    """Elements that lie one behind the other get other values."""
    if _rank(op.value) > 1:
        return build.reject(f"expected a vector of one dimension, got '{op.value.type}'")
    buffer = Buffer.of(op.base, build)
    return build.create(
        llvm_memory.StoreOp,
        value=new.value,
        addr=buffer.element_address(new.indices, build),
        alignment=op.alignment or _bytes(buffer.element),
        nontemporal=op.nontemporal,
    )


def _rank(value: Value) -> int:
    return len(vector_of(value).shape)


def _bytes(type: Type) -> int:
    """What every address of an element is a multiple of."""
    width = getattr(type, "width", 8)
    return max(width // 8, 1)


@converts(shapes.BroadcastOp)
def broadcast(op: shapes.BroadcastOp, new: shapes.BroadcastOp, build: ConversionBuilder) -> Result:
    """Copies along new dimensions, and along those of one element."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector that LLVM has, got '{op.result.type}'")
    if not isinstance(op.source.type, VectorType):
        return _splat(build, new.source, type)
    wanted, found = vector_of(op.result).shape, op.source.type.shape
    strides = row_major(found)
    skipped = len(wanted) - len(found)
    mask = [
        sum(
            stride * (index if extent > 1 else 0)
            for index, stride, extent in zip(place[skipped:], strides, found, strict=True)
        )
        for place in product(*map(range, wanted))
    ]
    return _pick(build, new.source, mask)


def _splat(build: ConversionBuilder, value: Value, type: Type) -> Value:
    """The same value everywhere."""
    assert isinstance(type, VectorType)
    empty = build.create(PoisonOp, types=[type]).res
    first = constant(build, 0, I32)
    one = build.create(InsertElementOp, vector=empty, value=value, position=first).res
    mask = [0] * type.shape[0]
    return build.create(ShuffleVectorOp, v1=one, v2=empty, mask=mask).res


@converts(shapes.SplatOp)
def splat(op: shapes.SplatOp, new: shapes.SplatOp, build: ConversionBuilder) -> Result:
    """The same value everywhere."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector that LLVM has, got '{op.result.type}'")
    return _splat(build, new.input, type)


@converts(shapes.StepOp)
def step(op: shapes.StepOp, new: shapes.StepOp, build: ConversionBuilder) -> Result:
    """The numbers from zero on."""
    type = result_type(op, build)
    if not isinstance(type, VectorType):
        return build.reject(f"expected a vector that LLVM has, got '{op.result.type}'")
    data = b"".join([number.to_bytes(8, "little") for number in range(type.shape[0])])
    return build.create(ConstantOp, value=DenseElementsAttr(data, type), types=[type])


@converts(shapes.ShapeCastOp)
def shape_cast(op: shapes.ShapeCastOp, new: shapes.ShapeCastOp, build: ConversionBuilder) -> Result:
    """The same elements in the same order."""
    return new.source


@converts(shapes.BitcastOp)
def bitcast(op: shapes.BitcastOp, new: shapes.BitcastOp, build: ConversionBuilder) -> Result:
    """The same bits; rows stay rows."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector that LLVM has, got '{op.result.type}'")
    if new.source.type is type:
        return new.source
    return build.create(LLVMBitcastOp, arg=new.source, types=[type])


@converts(shapes.ShuffleOp)
def shuffle(op: shapes.ShuffleOp, new: shapes.ShuffleOp, build: ConversionBuilder) -> Result:
    """Rows of two vectors, by number; both are brought to one length first."""
    first, second = vector_of(op.operands[0]), vector_of(op.operands[1])
    row = extent_of(first) // (first.shape[0] if first.shape else 1)
    sizes = extent_of(first), extent_of(second)
    length = max(sizes)
    a, b = [
        _pick(build, value, [min(lane, size - 1) for lane in range(length)])
        for value, size in zip(new.operands, sizes, strict=True)
    ]
    numbers = [number * row + lane for number in op.mask for lane in range(row)]
    mask = [n if n < sizes[0] else n - sizes[0] + length for n in numbers]
    return build.create(ShuffleVectorOp, v1=a, v2=b, mask=mask)


def _slice(
    whole: VectorType, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> list[int]:
    """The numbers of the elements of a part."""
    left = whole.shape[len(sizes) :]
    strides = row_major(whole.shape)
    ranges = [
        *[
            range(start, start + size * step, step)
            for start, size, step in zip(offsets, sizes, steps, strict=True)
        ],
        *map(range, left),
    ]
    return [sum(i * s for i, s in zip(place, strides, strict=True)) for place in product(*ranges)]


def _numbers(attributes: Sequence[object]) -> list[int]:
    return [getattr(attribute, "value", 0) for attribute in attributes]


@converts(shapes.ExtractStridedSliceOp)
def extract_slice(
    op: shapes.ExtractStridedSliceOp, new: shapes.ExtractStridedSliceOp, build: ConversionBuilder
) -> Result:
    """A part of the elements."""
    sizes, steps = _numbers(op.sizes), _numbers(op.strides)
    mask = _slice(vector_of(op.source), _numbers(op.offsets), sizes, steps)
    return _pick(build, new.source, mask)


@converts(shapes.InsertStridedSliceOp)
def insert_slice(
    op: shapes.InsertStridedSliceOp, new: shapes.InsertStridedSliceOp, build: ConversionBuilder
) -> Result:
    """A part of the elements becomes another."""
    whole, part = vector_of(op.dest), vector_of(op.value)
    missing = len(whole.shape) - len(part.shape)
    sizes = [1] * missing + list(part.shape)
    steps = [1] * missing + _numbers(op.strides)
    places = _slice(whole, _numbers(op.offsets), sizes, steps)
    return _replace(build, new.dest, new.value, places)


PATTERNS: Final[Patterns] = (
    extract,
    insert,
    from_elements,
    to_elements,
    fma,
    reduction,
    load,
    store,
    broadcast,
    splat,
    step,
    shape_cast,
    bitcast,
    shuffle,
    extract_slice,
    insert_slice,
)
