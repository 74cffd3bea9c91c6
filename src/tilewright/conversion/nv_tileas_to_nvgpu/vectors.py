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
    """A scalar as a vector of one."""
    if isinstance(value.type, VectorType):
        return value
    type = VectorType((1,), value.type)
    return build.create(FromElementsOp, elements=[value], types=[type]).result


def elements(build: ConversionBuilder, vector: Value) -> Sequence[Value]:
    """The registers of a vector one by one; a scalar is one."""
    if not isinstance(vector.type, VectorType):
        return (vector,)
    types = [vector.type.element] * vector.type.shape[0]
    return build.create(ToElementsOp, source=vector, types=types).elements


def splat_constant(build: Builder, pattern: int, type: Type) -> Value:
    """A constant of a type, all of whose elements have these bits."""
    bits = pattern % (1 << width_of(type))
    return build.create(ConstantOp, value=literal([bits], type), types=[type]).result


def bitcast(build: Builder, value: Value, type: Type) -> Value:
    """The same bits as another type of that width."""
    if value.type is type:
        return value
    return build.create(BitcastOp, source=value, types=[type]).result


def as_integers(build: Builder, value: Value) -> Value:
    """Floats as integers."""
    return bitcast(build, value, with_element(value.type, IntegerType(width_of(value.type))))


def select(build: Builder, condition: Value, yes: Value, no: Value) -> Value:
    """One of two, element by element."""
    return build.create(SelectOp, condition=condition, true_value=yes, false_value=no).result


def map_elements(
    build: Builder, compute: Callable[[Sequence[Value]], Value], *vectors: Value
) -> Value:
    """What only scalars have, for every register."""
    type = vectors[0].type
    if not isinstance(type, VectorType):
        return compute(vectors)
    columns = [
        build.create(ToElementsOp, source=vector, types=[_element(vector)] * type.shape[0]).elements
        for vector in vectors
    ]
    made = [compute(scalars) for scalars in zip(*columns, strict=True)]
    whole = with_element(type, made[0].type)
    return build.create(FromElementsOp, elements=made, types=[whole]).result


def _element(vector: Value) -> Type:
    assert isinstance(vector.type, VectorType)
    return vector.type.element


def select_registers(build: ConversionBuilder, vector: Value, order: list[int]) -> Value:
    """A vector of some registers of another, in an order of their own."""
    assert isinstance(vector.type, VectorType)
    if order == list(range(vector.type.shape[0])):
        return vector
    type = VectorType((len(order),), vector.type.element)
    return build.create(ShuffleOp, v1=vector, v2=vector, mask=order, types=[type]).result


def concatenate(build: ConversionBuilder, vectors: Sequence[Value]) -> Value:
    """Vectors of one type, as many as a power of two, one behind the other."""
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
