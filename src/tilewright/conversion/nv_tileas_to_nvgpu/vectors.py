"""The vector of a thread's registers: constants, casts, permutations, scalars out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.casts import BitcastOp
from tilewright.dialects.arith.comparison import SelectOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import width_of, with_element
from tilewright.dialects.vector.elements import FromElementsOp, ToElementsOp
from tilewright.dialects.vector.shapes import ShuffleOp
from tilewright.ir.conversion import ConversionBuilder
from tilewright.ir.types import IntegerType, VectorType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def as_vector(build: ConversionBuilder, value: Value) -> Value:
    """A scalar as a vector of one element; a vector is itself."""
    if isinstance(value.type, VectorType):
        return value
    type = VectorType((1,), value.type)
    return build.create(FromElementsOp, elements=[value], types=[type]).result


def elements(build: ConversionBuilder, vector: Value) -> Sequence[Value]:
    """The elements of a vector; a scalar is its only element."""
    if not isinstance(vector.type, VectorType):
        return (vector,)
    types = [vector.type.element] * vector.type.shape[0]
    return build.create(ToElementsOp, source=vector, types=types).elements


def splat_constant(build: Builder, pattern: int, type: Type) -> Value:
    """A constant of which every element has these bits."""
    bits = pattern % (1 << width_of(type))
    return build.create(ConstantOp, value=literal([bits], type), types=[type]).result


def bitcast(build: Builder, value: Value, type: Type) -> Value:
    """Reinterpret bits as another type of the same width."""
    if value.type is type:
        return value
    return build.create(BitcastOp, source=value, types=[type]).result


def as_integers(build: Builder, value: Value) -> Value:
    """Reinterpret floats as integers."""
    return bitcast(build, value, with_element(value.type, IntegerType(width_of(value.type))))


def select(build: Builder, condition: Value, true_value: Value, false_value: Value) -> Value:
    """`arith.select`."""
    return build.create(
        SelectOp, condition=condition, true_value=true_value, false_value=false_value
    ).result


def map_elements(
    build: Builder, compute: Callable[[Sequence[Value]], Value], *vectors: Value
) -> Value:
    """Apply an operation that only scalars have to every element."""
    type = vectors[0].type
    if not isinstance(type, VectorType):
        return compute(vectors)
    columns = [
        build.create(ToElementsOp, source=vector, types=[_element(vector)] * type.shape[0]).elements
        for vector in vectors
    ]
    results = [compute(scalars) for scalars in zip(*columns, strict=True)]
    vector_type = with_element(type, results[0].type)
    return build.create(FromElementsOp, elements=results, types=[vector_type]).result


def _element(vector: Value) -> Type:
    assert isinstance(vector.type, VectorType)
    return vector.type.element


def select_registers(build: ConversionBuilder, vector: Value, order: list[int]) -> Value:
    """A vector of the elements of another one with these indices."""
    assert isinstance(vector.type, VectorType)
    if order == list(range(vector.type.shape[0])):
        return vector
    type = VectorType((len(order),), vector.type.element)
    return build.create(ShuffleOp, v1=vector, v2=vector, mask=order, types=[type]).result


def concatenate(build: ConversionBuilder, vectors: Sequence[Value]) -> Value:
    """Concatenate vectors of one type; their number is a power of two."""
    parts = list(vectors)
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [_concatenate_pair(build, low, high) for low, high in pairs]
    return parts[0]


def _concatenate_pair(build: ConversionBuilder, low: Value, high: Value) -> Value:
    assert isinstance(low.type, VectorType)
    count = 2 * low.type.shape[0]
    type = VectorType((count,), low.type.element)
    return build.create(ShuffleOp, v1=low, v2=high, mask=list(range(count)), types=[type]).result
