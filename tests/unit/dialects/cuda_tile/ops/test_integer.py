"""Integer arithmetic and bitwise logic: types, signedness, overflow, rounding."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import bitwise as b
from tilewright.dialects.cuda_tile import integer as i
from tilewright.dialects.cuda_tile.enums import (
    ComparisonPredicate,
    Overflow,
    Rounding,
    Signedness,
)
from tilewright.ir.traits import Effects
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError

PLAIN = [i.AbsIOp, i.NegIOp, i.MulhiIOp, b.AndIOp, b.OrIOp, b.XOrIOp]
OVERFLOWING = [i.AddIOp, i.SubIOp, i.MulIOp, i.ShLIOp]
SIGNED = [i.DivIOp, i.RemIOp, i.MaxIOp, i.MinIOp, i.ShRIOp]
ALL = [*PLAIN, *OVERFLOWING, *SIGNED]


def fields_of(kind):
    return {"signedness": Signedness.SIGNED} if "signedness" in kind.schema.inherent else {}


@pytest.mark.requirement("R1-009")
@each_case("element", ["i1", "i8", "i16", "i32", "i64"])
@each_case("kind", ALL)
def test_takes_tiles_and_scalars_of_every_integer(problems, kind, element):
    for shape in ("", "16x", "4x8x"):
        operands = [shape + element] * len(kind.schema.operands)
        assert problems(kind, *operands, **fields_of(kind)) == []


@each_case("element", ["i4", "f32", "ptr<i8>"])
@each_case("kind", ALL)
def test_takes_no_other_elements(problems, kind, element):
    operands = [f"4x{element}"] * len(kind.schema.operands)
    assert problems(kind, *operands, **fields_of(kind))[0] == (
        "operand #0 must be tile of i1, i8, i16, i32 or i64, "
        f"but got '!cuda_tile.tile<4x{element}>'"
    )


@each_case("kind", [k for k in ALL if len(k.schema.operands) == 2])
def test_operands_and_result_have_one_type(problems, kind):
    names = [field.name for field in kind.schema.operands]
    expected = [f"expected {names[0]}, {names[1]} and result to have the same type"]
    assert problems(kind, "4xi32", "4xi64", **fields_of(kind)) == expected
    assert problems(kind, "4xi32", "4xi32", results="8xi32", **fields_of(kind)) == expected


@pytest.mark.requirement("R1-009", "R1-050")
@each_case("overflow", Overflow)
@each_case("kind", OVERFLOWING)
def test_overflow_flags(problems, kind, overflow):
    assert problems(kind, "4xi32", "4xi32", overflow=overflow) == []


@pytest.mark.requirement("R1-050")
def test_negation_is_signed(problems):
    for overflow in (Overflow.NONE, Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP):
        assert problems(i.NegIOp, "4xi32", overflow=overflow) == []
    assert problems(i.NegIOp, "4xi32", overflow=Overflow.NO_UNSIGNED_WRAP) == [
        "expected overflow none, no_signed_wrap or no_wrap, got no_unsigned_wrap"
    ]


@pytest.mark.requirement("R1-050")
@each_case("kind", SIGNED)
def test_signedness_must_be_said(problems, make, kind):
    for signedness in Signedness:
        assert problems(kind, "4xi32", "4xi32", signedness=signedness) == []
    op = make(kind, "4xi32", "4xi32", signedness=Signedness.SIGNED)
    del op.attributes["signedness"]
    with pytest.raises(UserError, match=f"'{kind.name}' op requires attribute 'signedness'"):
        verify(op)


def test_rounding_of_division(problems):
    signed = {"signedness": Signedness.SIGNED}
    for mode in (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF):
        assert problems(i.DivIOp, "4xi32", "4xi32", rounding=mode, **signed) == []
    for mode in set(Rounding) - {Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF}:
        assert problems(i.DivIOp, "4xi32", "4xi32", rounding=mode, **signed) == [
            f"expected rounding mode zero or negative_inf or positive_inf, got {mode.keyword}"
        ]


def test_rounding_of_unsigned_division(problems):
    unsigned = {"signedness": Signedness.UNSIGNED}
    assert problems(i.DivIOp, "i8", "i8", rounding=Rounding.POSITIVE_INF, **unsigned) == []
    assert problems(i.DivIOp, "i8", "i8", rounding=Rounding.NEGATIVE_INF, **unsigned) == [
        "expected signed division with rounding mode negative_inf, got unsigned"
    ]


@pytest.mark.requirement("R1-049")
@each_case("signedness", Signedness)
@each_case("predicate", ComparisonPredicate)
def test_comparison_carries_predicate_and_signedness(problems, make, predicate, signedness):
    fields = {"comparison_predicate": predicate, "signedness": signedness}
    assert problems(i.CmpIOp, "4xi8", "4xi8", results="4xi1", **fields) == []
    op = make(i.CmpIOp, "4xi8", "4xi8", results="4xi1", **fields)
    assert (op.comparison_predicate, op.signedness) == (predicate, signedness)


def test_comparison_types(problems):
    fields = {
        "comparison_predicate": ComparisonPredicate.EQUAL,
        "signedness": Signedness.SIGNED,
    }
    assert problems(i.CmpIOp, "4x2xi8", "4x2xi8", results="8xi1", **fields) == [
        "expected lhs and result to have the same shape, got 4x2 and 8"
    ]
    assert problems(i.CmpIOp, "4xi8", "4xi16", results="4xi1", **fields) == [
        "expected lhs and rhs to have the same type"
    ]


def test_only_division_must_not_be_speculated():
    assert {kind for kind in ALL if kind.effects is not Effects.PURE} == {i.DivIOp}
    assert i.DivIOp.effects is Effects.NONE


def test_operations_newer_than_the_first_version():
    assert {kind.since for kind in [*ALL, i.CmpIOp]} == {(13, 1)}
    assert i.NegIOp.overflow.since == (13, 2)


def test_attributes_in_the_order_of_bytecode():
    assert list(i.DivIOp.schema.inherent) == ["signedness", "rounding"]
    assert list(i.CmpIOp.schema.inherent) == ["comparison_predicate", "signedness"]
