"""Tiles made of scalars and of other tiles: registers of a thread, put together anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import parity
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import coordinate
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread, thread_vectors
from tilewright.conversion.nv_tileas_to_nvgpu.types import thread_bits
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.comparison import SelectOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import AddIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas import shape
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.vector.shapes import BroadcastOp, ShuffleOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32, IntegerType, VectorType
from tilewright.layout.linear import REGISTER, log2
from tilewright.layout.transfer import transfer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


@converts(shape.SplatOp)
def splat(op: shape.SplatOp, new: shape.SplatOp, build: ConversionBuilder) -> Result:
    """The scalar in every register."""
    types = build.types.convert(op.result.type)
    return build.create(BroadcastOp, source=new.source, types=types)


@converts(shape.MakeRangeOp)
def make_range(op: shape.MakeRangeOp, new: shape.MakeRangeOp, build: ConversionBuilder) -> Result:
    """The coordinates themselves."""
    element = element_of(op.result.type)
    assert isinstance(element, IntegerType)
    numbers = coordinate(op, build, layout_of(op.result), 0).vector(build)
    count = numbers.type.shape if isinstance(numbers.type, VectorType) else ()
    type = VectorType(count, element)
    if element.width != I32.width:
        kind = TruncIOp if element.width < I32.width else ExtUIOp
        numbers = build.create(kind, source=numbers, types=[type]).result
    if not op.start:
        return numbers
    start = build.create(ConstantOp, value=literal([op.start], type), types=[type]).result
    return build.create(AddIOp, lhs=numbers, rhs=start)


@converts(ConstantOp)
def constant(op: ConstantOp, new: ConstantOp, build: ConversionBuilder) -> Result:
    """A constant of equal elements is one for every register."""
    if not isinstance(op.value, DenseElementsAttr) or not op.value.is_splat:
        return build.reject("expected a constant of equal elements")
    types = build.types.convert(op.result.type)
    if types is None:
        return build.reject("expected a tile with a layout")
    value = literal([thread_bits(op.value.elements()[0], op.result.type)], types[0])
    return build.create(ConstantOp, value=value, types=types)


def picked(build: ConversionBuilder, vector: Value, order: list[int]) -> Value:
    """A vector of some registers of another, in an order of their own."""
    assert isinstance(vector.type, VectorType)
    if order == list(range(vector.type.shape[0])):
        return vector
    type = VectorType((len(order),), vector.type.element)
    return build.create(ShuffleOp, v1=vector, v2=vector, mask=order, types=[type]).result


def joined(build: ConversionBuilder, vectors: Sequence[Value]) -> Value:
    """Vectors of one type, as many as a power of two, one behind the other."""
    parts = list(vectors)
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [_concatenated(build, low, high) for low, high in pairs]
    return parts[0]


def _concatenated(build: ConversionBuilder, low: Value, high: Value) -> Value:
    assert isinstance(low.type, VectorType)
    count = 2 * low.type.shape[0]
    type = VectorType((count,), low.type.element)
    return build.create(ShuffleOp, v1=low, v2=high, mask=list(range(count)), types=[type]).result


def within_threads(
    op: Operation, build: ConversionBuilder, vector: Value, source: Layout, wanted: Layout
) -> Value:
    """The registers of a tile in another layout for which every thread has what it needs.

    Register `r` of the result is register `c[r] ^ f(thread)` of the source, for constants `c`
    and a linear `f`: where a bit of `f` is set, the registers trade places; then `c` picks.
    """
    origin = transfer(source, wanted).origin
    count = source.extent(REGISTER)
    chosen = [vector & (count - 1) for vector in thread_vectors(origin)]
    vector = traded(op, build, vector, chosen)
    constants = [origin.packed(register=r) & (count - 1) for r in range(wanted.extent(REGISTER))]
    return picked(build, vector, constants)


def traded(op: Operation, build: ConversionBuilder, vector: Value, chosen: Sequence[int]) -> Value:
    """A vector whose registers trade places, by the exclusive or of what each thread bit says."""
    assert isinstance(vector.type, VectorType)
    count = vector.type.shape[0]
    for bit in range(log2(count)):
        mask = sum(1 << number for number, each in enumerate(chosen) if each >> bit & 1)
        if mask:
            swapped = picked(build, vector, [r ^ 1 << bit for r in range(count)])
            odd = parity(build, thread(op, build), mask)
            vector = build.create(
                SelectOp, condition=odd, true_value=swapped, false_value=vector
            ).result
    return vector


@converts(shape.ViewOp, shape.ExpandDimsOp, shape.BroadcastOp, shape.PermuteOp)
def rearrangement(
    op: shape.Rearrangement, new: shape.Rearrangement, build: ConversionBuilder
) -> Result:
    """Every thread has what it needs, in one register or another."""
    wanted = op.led_back(layout_of(op.result))
    return within_threads(op, build, new.source, layout_of(op.source), wanted)


PATTERNS: Final[Patterns] = (splat, make_range, constant, rearrangement)
