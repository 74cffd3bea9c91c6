"""vector to LLVM: every vector is flattened in row-major order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.elementwise import (
    build_vector,
    fast_math,
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
    """Return the type of a value that is a vector."""
    assert isinstance(value.type, VectorType)
    return value.type


def _pick(build: ConversionBuilder, source: Value, mask: Sequence[int]) -> Value:
    """Select elements of a vector by index."""
    if list(mask) == list(range(vector_of(source).shape[0])):
        return source
    unused = build.create(PoisonOp, types=[source.type]).res
    return build.create(ShuffleVectorOp, v1=source, v2=unused, mask=list(mask)).res


def _replace(build: ConversionBuilder, target: Value, part: Value, indices: Sequence[int]) -> Value:
    """Replace the elements at some indices by those of another vector."""
    size, count = vector_of(target).shape[0], len(indices)
    last = vector_of(part).shape[0] - 1
    widened = _pick(build, part, [min(lane, last) for lane in range(size)])
    mask = list(range(size))
    for lane in range(count):
        mask[indices[lane]] = size + lane
    return build.create(ShuffleVectorOp, v1=target, v2=widened, mask=mask).res


def _linear_index(
    type: VectorType, static: Sequence[int], dynamic: Sequence[Value], build: ConversionBuilder
) -> Number:
    """Compute the linear index of the first element at a position."""
    rest = iter(dynamic)
    position: list[Number] = [next(rest) if p == DYNAMIC else p for p in static]
    strides = row_major(type.shape)[: len(position)]
    return dot(build, 0, zip(position, strides, strict=True))


@converts(elements.ExtractOp)
def extract(op: elements.ExtractOp, new: elements.ExtractOp, build: ConversionBuilder) -> Result:
    """Lower `vector.extract` of an element or a subvector."""
    index = _linear_index(vector_of(op.source), op.static_position, new.dynamic_position, build)
    if not isinstance(op.result.type, VectorType):
        position = constant(build, index, I64) if isinstance(index, int) else index
        return build.create(ExtractElementOp, vector=new.source, position=position)
    if not isinstance(index, int):
        return build.reject("expected a constant position of a subvector")
    return _pick(build, new.source, range(index, index + extent_of(op.result.type)))


@converts(elements.InsertOp)
def insert(op: elements.InsertOp, new: elements.InsertOp, build: ConversionBuilder) -> Result:
    """Lower `vector.insert` of an element or a subvector."""
    index = _linear_index(vector_of(op.dest), op.static_position, new.dynamic_position, build)
    if not isinstance(op.value.type, VectorType):
        position = as_value(build, index)
        return build.create(InsertElementOp, vector=new.dest, value=new.value, position=position)
    if not isinstance(index, int):
        return build.reject("expected a constant position of a subvector")
    return _replace(build, new.dest, new.value, range(index, index + extent_of(op.value.type)))


@converts(elements.FromElementsOp)
def from_elements(
    op: elements.FromElementsOp, new: elements.FromElementsOp, build: ConversionBuilder
) -> Result:
    """Lower `vector.from_elements` to insertions."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.result.type}'")
    return build_vector(build, new.elements, type)


@converts(elements.ToElementsOp)
def to_elements(
    op: elements.ToElementsOp, new: elements.ToElementsOp, build: ConversionBuilder
) -> Result:
    """Lower `vector.to_elements` to extractions."""
    return lanes(build, new.source)


@converts(elements.FmaOp)
def fma(op: elements.FmaOp, new: elements.FmaOp, build: ConversionBuilder) -> Result:
    """Lower `vector.fma` to `llvm.fma`."""
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
"""The reduction of a vector, and the binary operation for the accumulator."""


@converts(elements.ReductionOp)
def reduction(
    op: elements.ReductionOp, new: elements.ReductionOp, build: ConversionBuilder
) -> Result:
    """Lower `vector.reduction` to an LLVM reduction; float add and mul in order."""
    if isinstance(op.result.type, FloatType) and op.kind in (CombiningKind.ADD, CombiningKind.MUL):
        return _ordered(op, new, build)
    reduce, combine = _REDUCTIONS[op.kind]
    (reduced,) = build.create(reduce, operand=new.source).results
    return reduced if new.acc is None else build.create(combine, lhs=reduced, rhs=new.acc)


def _ordered(
    op: elements.ReductionOp, new: elements.ReductionOp, build: ConversionBuilder
) -> Result:
    """Lower a float add or mul reduction to a sequential chain; flags may allow reassociation."""
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
    """Lower `vector.load` to a load of contiguous elements."""
    type = result_type(op, build)
    if type is None or _rank(op.result) > 1:
        return build.reject(f"expected a vector of one dimension, got '{op.result.type}'")
    buffer = Buffer.of(op.base, build)
    return build.create(
        llvm_memory.LoadOp,
        addr=buffer.element_address(new.indices, build),
        alignment=op.alignment or _natural_alignment(buffer.element),
        nontemporal=op.nontemporal,
        types=[type],
    )


@converts(memory.StoreOp)
def store(op: memory.StoreOp, new: memory.StoreOp, build: ConversionBuilder) -> Result:
    """Lower `vector.store` to a store of contiguous elements."""
    if _rank(op.value) > 1:
        return build.reject(f"expected a vector of one dimension, got '{op.value.type}'")
    buffer = Buffer.of(op.base, build)
    return build.create(
        llvm_memory.StoreOp,
        value=new.value,
        addr=buffer.element_address(new.indices, build),
        alignment=op.alignment or _natural_alignment(buffer.element),
        nontemporal=op.nontemporal,
    )


def _rank(value: Value) -> int:
    return len(vector_of(value).shape)


def _natural_alignment(type: Type) -> int:
    """Return the natural alignment of an element in bytes."""
    width = getattr(type, "width", 8)
    return max(width // 8, 1)


@converts(shapes.BroadcastOp)
def broadcast(op: shapes.BroadcastOp, new: shapes.BroadcastOp, build: ConversionBuilder) -> Result:
    """Lower `vector.broadcast` to a splat or a shuffle."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.result.type}'")
    if not isinstance(op.source.type, VectorType):
        return _splat(build, new.source, type)
    target, source = vector_of(op.result).shape, op.source.type.shape
    strides = row_major(source)
    skipped = len(target) - len(source)
    mask = [
        sum(
            stride * (index if extent > 1 else 0)
            for index, stride, extent in zip(coordinate[skipped:], strides, source, strict=True)
        )
        for coordinate in product(*map(range, target))
    ]
    return _pick(build, new.source, mask)


def _splat(build: ConversionBuilder, value: Value, type: Type) -> Value:
    """Splat a value by insertion and shuffle."""
    assert isinstance(type, VectorType)
    empty = build.create(PoisonOp, types=[type]).res
    first = constant(build, 0, I32)
    one = build.create(InsertElementOp, vector=empty, value=value, position=first).res
    mask = [0] * type.shape[0]
    return build.create(ShuffleVectorOp, v1=one, v2=empty, mask=mask).res


@converts(shapes.SplatOp)
def splat(op: shapes.SplatOp, new: shapes.SplatOp, build: ConversionBuilder) -> Result:
    """Lower `vector.splat`."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.result.type}'")
    return _splat(build, new.input, type)


@converts(shapes.StepOp)
def step(op: shapes.StepOp, new: shapes.StepOp, build: ConversionBuilder) -> Result:
    """Lower `vector.step` to a constant."""
    type = result_type(op, build)
    if not isinstance(type, VectorType):
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.result.type}'")
    data = b"".join([number.to_bytes(8, "little") for number in range(type.shape[0])])
    return build.create(ConstantOp, value=DenseElementsAttr(data, type), types=[type])


@converts(shapes.ShapeCastOp)
def shape_cast(op: shapes.ShapeCastOp, new: shapes.ShapeCastOp, build: ConversionBuilder) -> Result:
    """Fold `vector.shape_cast`: the flattened vectors are equal."""
    return new.source


@converts(shapes.BitcastOp)
def bitcast(op: shapes.BitcastOp, new: shapes.BitcastOp, build: ConversionBuilder) -> Result:
    """Lower `vector.bitcast` to `llvm.bitcast`."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a vector type that converts to LLVM, got '{op.result.type}'")
    if new.source.type is type:
        return new.source
    return build.create(LLVMBitcastOp, arg=new.source, types=[type])


@converts(shapes.ShuffleOp)
def shuffle(op: shapes.ShuffleOp, new: shapes.ShuffleOp, build: ConversionBuilder) -> Result:
    """Lower `vector.shuffle` to `llvm.shufflevector` after padding to equal lengths."""
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
    source: VectorType, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> list[int]:
    """Return the linear indices of the elements of a slice."""
    trailing = source.shape[len(sizes) :]
    strides = row_major(source.shape)
    ranges = [
        *[
            range(start, start + size * step, step)
            for start, size, step in zip(offsets, sizes, steps, strict=True)
        ],
        *map(range, trailing),
    ]
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in product(*ranges)]


def _numbers(attributes: Sequence[object]) -> list[int]:
    return [getattr(attribute, "value", 0) for attribute in attributes]


@converts(shapes.ExtractStridedSliceOp)
def extract_slice(
    op: shapes.ExtractStridedSliceOp, new: shapes.ExtractStridedSliceOp, build: ConversionBuilder
) -> Result:
    """Lower `vector.extract_strided_slice` to a shuffle."""
    sizes, steps = _numbers(op.sizes), _numbers(op.strides)
    mask = _slice(vector_of(op.source), _numbers(op.offsets), sizes, steps)
    return _pick(build, new.source, mask)


@converts(shapes.InsertStridedSliceOp)
def insert_slice(
    op: shapes.InsertStridedSliceOp, new: shapes.InsertStridedSliceOp, build: ConversionBuilder
) -> Result:
    """Lower `vector.insert_strided_slice` to a shuffle."""
    target, part = vector_of(op.dest), vector_of(op.value)
    missing = len(target.shape) - len(part.shape)
    sizes = [1] * missing + list(part.shape)
    steps = [1] * missing + _numbers(op.strides)
    indices = _slice(target, _numbers(op.offsets), sizes, steps)
    return _replace(build, new.dest, new.value, indices)


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
