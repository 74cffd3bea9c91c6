"""Conversion of types, and the casts between old and new ones."""

from __future__ import annotations

import toy

from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.type_converter import Converted, TypeConverter
from tilewright.ir.types import (
    F16,
    F32,
    F64,
    I1,
    I32,
    I64,
    INDEX,
    FloatType,
    IndexType,
    IntegerType,
    TupleType,
)


def test_the_latest_callback_answers_first() -> None:
    types = TypeConverter()
    types.keep(Type)
    types.add(IntegerType, lambda t: I64)
    types.add(IntegerType, lambda t: I32 if t.width < 32 else None)
    assert types.convert(I1) == (I32,)
    assert types.convert(I64) == (I64,)
    assert types.convert(F32) == (F32,)


def test_unknown_types_cannot_be_converted() -> None:
    types = TypeConverter()
    types.keep(IntegerType)
    assert types.convert(F32) is None
    assert types.convert_all([I32, F32]) is None
    assert not types.is_legal_type(F32)


def test_one_type_may_become_several_or_none() -> None:
    types = TypeConverter()
    types.keep(Type)
    types.add(TupleType, lambda t: [u for e in t.elements for u in types.convert(e) or ()])
    pair = TupleType((I32, TupleType((F32, I1))))
    assert types.convert(pair) == (I32, F32, I1)
    assert types.convert(TupleType(())) == ()
    assert types.convert_all([pair, I64, TupleType(())]) == [I32, F32, I1, I64]


def test_answers_are_remembered_until_a_callback_is_added() -> None:
    asked: list[Type] = []

    def convert(type: FloatType) -> Converted:
        asked.append(type)
        return F32

    types = TypeConverter()
    types.add(FloatType, convert)
    assert types.convert(F64) == types.convert(F64) == (F32,)
    assert asked == [F64]
    types.add(FloatType, lambda t: F16)
    assert types.convert(F64) == (F16,)


def test_legality_of_operations_covers_all_their_types() -> None:
    types = TypeConverter()
    types.keep(IntegerType)
    types.add(IndexType, lambda t: I64)
    _, build = toy.module()
    good, bad = toy.source(build, I32), toy.source(build, INDEX)
    assert types.is_legal(toy.use(build, good))
    assert not types.is_legal(toy.use(build, good, bad))
    assert not types.is_legal(toy.use(build, types=[INDEX]))
    body, inside = toy.block_of([INDEX])
    inside.create(toy.YieldOp)
    assert not types.is_legal(build.create(toy.LoopOp, body=body, types=[]))


def test_materialisations_are_asked_latest_first() -> None:
    types = TypeConverter()
    types.add_source(lambda build, wanted, values: toy.use(build, *values, types=wanted))
    types.add_source(lambda build, wanted, values: None)
    types.add_argument(lambda build, wanted, values: values[0])
    block = Block([I32])
    build = Builder(InsertPoint(block))
    value = toy.source(build, I64)
    made = types.to_source(build, (F32,), (value,))
    assert made is not None
    assert [v.type for v in made] == [F32]
    assert types.to_source(build, (I32,), block.args) == block.args
    assert types.to_target(build, (F32,), (value,)) is None


def test_a_callback_for_values_answers_by_the_value() -> None:
    """Two values of one type may be converted to different types."""
    _, build = toy.module()
    first, second, other = toy.source(build), toy.source(build), toy.source(build, F32)
    types = TypeConverter()
    types.keep(Type)
    assert types.convert_value(first) == (I32,)
    types.add_for_values(IntegerType, lambda value: I64 if value is first else ())
    assert types.convert_value(first) == (I64,)
    assert types.convert_value(second) == ()
    assert types.convert_value(other) == (F32,)
    assert types.convert_values([first, second, other]) == [I64, F32]
    # The type alone does not decide the conversion of its values.
    assert types.convert(I32) is None
    assert not types.is_legal_type(I32)


def test_a_value_without_an_answer_cannot_be_converted() -> None:
    _, build = toy.module()
    value = toy.source(build)
    types = TypeConverter()
    types.keep(Type)
    types.add_for_values(IntegerType, lambda _: None)
    assert types.convert_value(value) is None
    assert types.convert_values([value]) is None
