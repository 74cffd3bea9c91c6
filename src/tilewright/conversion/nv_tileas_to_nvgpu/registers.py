"""What the registers of a thread are made of: constants, bits of floats, scalars out of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.casts import BitcastOp
from tilewright.dialects.arith.comparison import SelectOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import width_of, with_element
from tilewright.dialects.vector.elements import FromElementsOp, ToElementsOp
from tilewright.ir.types import IntegerType, VectorType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def everywhere(build: Builder, pattern: int, type: Type) -> Value:
    """A constant of a type, all of whose elements have these bits."""
    bits = pattern % (1 << width_of(type))
    return build.create(ConstantOp, value=literal([bits], type), types=[type]).result


def bitcast(build: Builder, value: Value, type: Type) -> Value:
    """The same bits as another type of that width."""
    if value.type is type:
        return value
    return build.create(BitcastOp, source=value, types=[type]).result


def bits_of(build: Builder, value: Value) -> Value:
    """Floats as integers."""
    return bitcast(build, value, with_element(value.type, IntegerType(width_of(value.type))))


def chosen(build: Builder, condition: Value, yes: Value, no: Value) -> Value:
    """One of two, element by element."""
    return build.create(SelectOp, condition=condition, true_value=yes, false_value=no).result


def one_by_one(
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
