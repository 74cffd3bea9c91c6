"""Float arithmetic: the modifiers that each element type supports."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import floating as f
from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    Rounding,
)
from tilewright.ir.traits import Effects

UNARY = [
    f.AbsFOp, f.NegFOp, f.CeilOp, f.FloorOp, f.SqrtOp, f.RsqrtOp, f.ExpOp, f.Exp2Op, f.LogOp,
    f.Log2Op, f.SinOp, f.CosOp, f.TanOp, f.SinHOp, f.CosHOp, f.TanHOp,
]  # fmt: skip
BINARY = [
    f.AddFOp, f.SubFOp, f.MulFOp, f.DivFOp, f.RemFOp, f.MaxFOp, f.MinFOp, f.Atan2Op, f.FPowFOp,
]  # fmt: skip
ALL = [*UNARY, *BINARY, f.FmaOp, f.CmpFOp, f.FPowIOp]
ROUNDED = {f.AddFOp: 2, f.SubFOp: 2, f.MulFOp: 2, f.DivFOp: 2, f.FmaOp: 3, f.SqrtOp: 1}
FLUSHED = {**ROUNDED, f.MaxFOp: 2, f.MinFOp: 2, f.Exp2Op: 1, f.RsqrtOp: 1}
IEEE = [Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF]


@pytest.mark.requirement("R1-009", "R1-010")
@each_case("element", ["f16", "bf16", "f32", "f64"])
@each_case("kind", UNARY + BINARY + [f.FmaOp])
def test_takes_tiles_and_scalars_of_every_base_float(problems, tile, kind, element):
    count = len(kind.schema.operands)
    for shape in ("", "16x", "4x8x"):
        assert problems(kind, *[shape + element] * count) == []


@each_case("element", ["tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "i32"])
@each_case("kind", UNARY + BINARY + [f.FmaOp])
def test_takes_no_other_elements(problems, kind, element):
    actual = problems(kind, *[f"4x{element}"] * len(kind.schema.operands))
    assert actual[0] == (
        f"operand #0 must be tile of f16, bf16, f32 or f64, but got '!cuda_tile.tile<4x{element}>'"
    )


@each_case("kind", BINARY)
def test_operands_and_result_have_one_type(problems, kind):
    names = [field.name for field in kind.schema.operands]
    expected = [f"expected {names[0]}, {names[1]} and result to have the same type"]
    assert problems(kind, "4xf32", "4xf16") == expected
    assert problems(kind, "4xf32", "8xf32") == expected
    assert problems(kind, "4xf32", "4xf32", results="8xf32") == expected


@pytest.mark.requirement("R1-009", "R4-021")
@each_case("kind", ROUNDED)
def test_every_ieee_rounding_mode(problems, kind):
    for mode in IEEE:
        assert problems(kind, *["4xf16"] * ROUNDED[kind], rounding_mode=mode) == []


@each_case("kind", ROUNDED)
def test_refuses_other_rounding_modes(problems, kind):
    allowed = {f.DivFOp: ["approx", "full"], f.SqrtOp: ["approx"]}.get(kind, [])
    for mode in set(Rounding) - set(IEEE):
        actual = problems(kind, *["4xf32"] * ROUNDED[kind], rounding_mode=mode)
        expected = " or ".join([known.keyword for known in IEEE] + allowed)
        is_known = mode.keyword in allowed
        wrong = [] if is_known else [f"expected rounding mode {expected}, got {mode.keyword}"]
        assert actual == wrong


@each_case("element", ["f16", "bf16", "f64"])
@each_case(
    ("kind", "mode"),
    [(f.DivFOp, "approx"), (f.DivFOp, "full"), (f.SqrtOp, "approx")],
)
def test_approximate_arithmetic_is_single_precision(problems, kind, mode, element):
    operands = [f"4x{element}"] * ROUNDED[kind]
    actual = problems(kind, *operands, rounding_mode=Rounding.from_keyword(mode))
    assert actual == [f"expected f32 elements with rounding mode {mode}, got {element}"]


@each_case("kind", FLUSHED)
def test_flush_to_zero_is_single_precision(problems, kind):
    count = FLUSHED[kind]
    assert problems(kind, *["4xf32"] * count, flush_to_zero=True) == []
    for element in ("f16", "bf16", "f64"):
        actual = problems(kind, *[f"4x{element}"] * count, flush_to_zero=True)
        assert actual == [f"expected f32 elements with flush_to_zero, got {element}"]


@pytest.mark.parametrize("kind", [f.ExpOp, f.TanHOp])
def test_precision_of_functions(problems, kind):
    assert problems(kind, "4xf16", rounding_mode=Rounding.FULL) == []
    assert problems(kind, "4xf32", rounding_mode=Rounding.APPROX) == []
    assert problems(kind, "4xf16", rounding_mode=Rounding.APPROX) == [
        "expected f32 elements with rounding mode approx, got f16"
    ]
    assert problems(kind, "4xf32", rounding_mode=Rounding.ZERO) == [
        "expected rounding mode full or approx, got zero"
    ]


def test_functions_are_precise_by_default(make):
    for kind in (f.ExpOp, f.TanHOp):
        assert make(kind, "4xf32").rounding_mode is Rounding.FULL
    assert make(f.SqrtOp, "4xf32").rounding_mode is Rounding.NEAREST_EVEN


@pytest.mark.requirement("R1-049")
@each_case("ordering", ComparisonOrdering)
@each_case("predicate", ComparisonPredicate)
def test_comparison_carries_predicate_and_ordering(problems, make, predicate, ordering):
    fields = {"comparison_predicate": predicate, "comparison_ordering": ordering}
    assert problems(f.CmpFOp, "4xf32", "4xf32", results="4xi1", **fields) == []
    op = make(f.CmpFOp, "4xf32", "4xf32", results="4xi1", **fields)
    assert (op.comparison_predicate, op.comparison_ordering) == (predicate, ordering)


def test_comparison_types(problems):
    fields = {
        "comparison_predicate": ComparisonPredicate.EQUAL,
        "comparison_ordering": ComparisonOrdering.ORDERED,
    }
    assert problems(f.CmpFOp, "4xf32", "4xf32", results="8xi1", **fields) == [
        "expected lhs and result to have the same shape, got 4 and 8"
    ]
    assert problems(f.CmpFOp, "4xf32", "4xf16", results="4xi1", **fields) == [
        "expected lhs and rhs to have the same type"
    ]
    assert problems(f.CmpFOp, "4xf32", "4xf32", results="4xi8", **fields) == [
        "result #0 must be tile of i1, but got '!cuda_tile.tile<4xi8>'"
    ]


def test_integer_exponent(problems):
    for element in ("i1", "i8", "i16", "i32"):
        assert problems(f.FPowIOp, "4xf64", f"4x{element}") == []
    assert problems(f.FPowIOp, "4xf64", "4xi64") == [
        "operand #1 must be tile of i1, i8, i16 or i32, but got '!cuda_tile.tile<4xi64>'"
    ]
    assert problems(f.FPowIOp, "4xf64", "i32") == [
        "expected source and exponent to have the same shape, got 4 and scalar"
    ]
    assert problems(f.FPowIOp, "4xf64", "4xi32", results="4xf32") == [
        "expected source and result to have the same type"
    ]


def test_every_operation_of_the_family_is_in_a_list():
    declared = {
        kind
        for kind in vars(f).values()
        if isinstance(kind, type) and issubclass(kind, TileOp) and "name" in vars(kind)
    }
    assert declared == set(ALL)


def test_all_are_pure():
    assert {kind.effects for kind in ALL} == {Effects.PURE}


def test_operations_newer_than_the_first_version():
    newer: dict[type[TileOp], tuple[int, int]] = {f.Atan2Op: (13, 2), f.FPowIOp: (13, 4)}
    for kind in ALL:
        assert kind.since == newer.get(kind, (13, 1))
    assert f.ExpOp.rounding_mode.since == (13, 3)
    assert f.TanHOp.rounding_mode.since == (13, 2)


def test_attributes_in_the_order_of_bytecode():
    for kind in (f.MaxFOp, f.MinFOp):
        assert list(kind.schema.inherent) == ["propagate_nan", "flush_to_zero"]
    for kind in ROUNDED:
        assert list(kind.schema.inherent) == ["rounding_mode", "flush_to_zero"]
    assert list(f.CmpFOp.schema.inherent) == ["comparison_predicate", "comparison_ordering"]
