from __future__ import annotations

from typing import Any

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.vector.elements import ExtractOp, FromElementsOp, InsertOp, ToElementsOp
from tilewright.dialects.vector.folds import FOLDS
from tilewright.dialects.vector.shapes import BroadcastOp, ShapeCastOp
from tilewright.driver.registry import context
from tilewright.ir.attributes import DenseElementsAttr, IntegerAttr, Type
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rules import constant_of
from tilewright.ir.types import DYNAMIC, F32, I32, INDEX, VectorType
from tilewright.ir.values import Value
from tilewright.text.parser import parse_attribute

V4 = VectorType((4,), I32)
V22 = VectorType((2, 2), I32)


def constant(text: str) -> Value:
    value = parse_attribute(text, context())
    return create_op(ConstantOp, value=value, types=[value.type]).result  # pyrefly: ignore[missing-attribute]


def unknown(type: Type) -> Value:
    return Block([type]).args[0]


def fold(kind: type[Operation], types: Any = None, **fields: Any) -> Any:
    op = create_op(kind, types=types, **fields)
    return FOLDS[kind](op, tuple(constant_of(value) for value in op.operands))


def test_elements_of_constants() -> None:
    numbers = constant("dense<[[1, 2], [3, 4]]> : vector<2x2xi32>")
    assert fold(ExtractOp, source=numbers, static_position=(1, 0)) is IntegerAttr(3, I32)
    assert fold(ExtractOp, source=numbers, static_position=(1,)) is None
    same = constant("dense<7> : vector<2x2xi32>")
    part = fold(ExtractOp, source=same, static_position=(1,))
    assert part is DenseElementsAttr((7).to_bytes(4, "little"), VectorType((2,), I32))


def test_elements_of_built_vectors() -> None:
    values = [unknown(I32) for _ in range(4)]
    made = create_op(FromElementsOp, elements=values, types=[V4]).result
    assert fold(ExtractOp, source=made, static_position=(2,)) is values[2]
    assert fold(ToElementsOp, source=made) == tuple(values)
    index = unknown(INDEX)
    anywhere = {"static_position": (DYNAMIC,), "dynamic_position": [index]}
    assert fold(ExtractOp, source=made, **anywhere) is None
    repeated = create_op(BroadcastOp, source=values[0], types=[V4]).result
    assert fold(ExtractOp, source=repeated, **anywhere) is values[0]
    changed = create_op(InsertOp, value=values[1], dest=made, static_position=(3,)).result
    assert fold(ExtractOp, source=changed, static_position=(3,)) is values[1]
    assert fold(ExtractOp, source=changed, static_position=(2,)) is None


def test_to_elements_and_from_elements_cancel() -> None:
    source = unknown(V4)
    parts = create_op(ToElementsOp, source=source).results
    assert fold(FromElementsOp, [V4], elements=parts) is source
    assert fold(FromElementsOp, [V4], elements=parts[::-1]) is None
    assert fold(FromElementsOp, [V22], elements=parts) is None


def test_vectors_of_constants() -> None:
    numbers = [constant(f"{number} : i32") for number in (1, 2, 3, 4)]
    made = fold(FromElementsOp, [V22], elements=numbers)
    assert made is parse_attribute("dense<[[1, 2], [3, 4]]> : vector<2x2xi32>", context())
    parts = fold(ToElementsOp, source=constant("dense<5> : vector<4xi32>"))
    assert parts == [IntegerAttr(5, I32)] * 4


def test_shapes() -> None:
    numbers = constant("dense<[1, 2, 3, 4]> : vector<4xi32>")
    cast = fold(ShapeCastOp, [V22], source=numbers)
    assert cast is parse_attribute("dense<[[1, 2], [3, 4]]> : vector<2x2xi32>", context())
    source = unknown(V4)
    there = create_op(ShapeCastOp, source=source, types=[V22]).result
    assert fold(ShapeCastOp, [V4], source=there) is source
    half = constant("1.5 : f32")
    splat = fold(BroadcastOp, [VectorType((8,), F32)], source=half)
    assert splat is parse_attribute("dense<1.5> : vector<8xf32>", context())
