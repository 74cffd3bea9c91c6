"""Matrix multiplication: shapes, accumulators, scales."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import mma as m
from tilewright.dialects.cuda_tile.enums import Signedness

FACTORS = ["f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2"]
# What tileirdisasm 13.4 accepts.
ACCUMULATORS = {
    "f8E4M3FN": {"f16", "f32"},
    "f8E5M2": {"f16", "f32"},
    "f16": {"f16", "f32"},
    "bf16": {"f32"},
    "tf32": {"f32"},
    "f32": {"f32"},
    "f64": {"f64"},
}
BLOCKS = {
    ("f8E4M3FN", "f8E8M0FNU"): {32},
    ("f8E5M2", "f8E8M0FNU"): {32},
    ("f4E2M1FN", "f8E4M3FN"): {16},
    ("f4E2M1FN", "f8E8M0FNU"): {16, 32},
    ("f4E2M1FN", "fnv8E5M3FNU"): {16, 32},
}
SIGNS = {"signedness_lhs": Signedness.SIGNED, "signedness_rhs": Signedness.UNSIGNED}


@pytest.mark.requirement("R1-014")
@each_case("acc", ["f16", "f32", "f64"])
@each_case("element", FACTORS)
def test_accumulators(problems, element, acc):
    actual = problems(m.MmaFOp, f"16x32x{element}", f"32x8x{element}", f"16x8x{acc}")
    expected = " or ".join(sorted(ACCUMULATORS[element]))
    wrong = f"expected acc of {expected} for lhs of {element}, got {acc}"
    assert actual == ([] if acc in ACCUMULATORS[element] else [wrong])


def test_other_elements(problems):
    for element in ("f8E8M0FNU", "f4E2M1FN", "i8"):
        actual = problems(m.MmaFOp, f"16x32x{element}", f"32x8x{element}", "16x8xf32")
        assert actual[0] == (
            "operand #0 must be tile of f16, bf16, f32, f64, tf32, f8E4M3FN or f8E5M2, "
            f"but got '!cuda_tile.tile<16x32x{element}>'"
        )
    assert problems(m.MmaFOp, "16x32xf16", "32x8xf16", "16x8xbf16")[0] == (
        "operand #2 must be tile of f16, f32 or f64, but got '!cuda_tile.tile<16x8xbf16>'"
    )


def test_both_sides_have_one_element_type(problems):
    assert problems(m.MmaFOp, "16x32xf16", "32x8xbf16", "16x8xf32") == [
        "expected lhs and rhs to have the same element type, got f16 and bf16"
    ]


def test_result_is_like_the_accumulator(problems):
    assert problems(m.MmaFOp, "16x32xf16", "32x8xf16", "16x8xf32", results="16x8xf16") == [
        "expected acc and result to have the same type"
    ]


@pytest.mark.parametrize(
    ("kind", "element", "acc", "fields"),
    [(m.MmaFOp, "f16", "f32", {}), (m.MmaIOp, "i8", "i32", SIGNS)],
)
class TestShapes:
    def test_matrices_and_batches(self, problems, kind, element, acc, fields):
        for batch in ("", "4x"):
            operands = [f"{batch}16x32x{element}", f"{batch}32x8x{element}", f"{batch}16x8x{acc}"]
            assert problems(kind, *operands, **fields) == []

    @pytest.mark.parametrize(
        ("lhs", "rhs", "accumulator", "ranks"),
        [
            ("16x", "32x8x", "16x8x", "1, 2, 2"),
            ("16x32x", "", "16x8x", "2, 0, 2"),
            ("16x32x", "32x8x", "1x16x8x", "2, 2, 3"),
            ("1x1x16x32x", "1x1x32x8x", "1x1x16x8x", "4, 4, 4"),
        ],
    )
    def test_rank(self, problems, kind, element, acc, fields, lhs, rhs, accumulator, ranks):
        actual = problems(kind, lhs + element, rhs + element, accumulator + acc, **fields)
        assert actual == [
            f"expected lhs, rhs and acc of rank 2, or all of rank 3, got ranks {ranks}"
        ]

    @pytest.mark.parametrize(
        ("lhs", "rhs", "accumulator", "problem"),
        [
            ("16x32x", "16x8x", "16x8x", "rhs of shape 32x8, got 16x8"),
            ("16x32x", "32x8x", "32x8x", "acc of shape 16x8, got 32x8"),
            ("16x32x", "32x8x", "16x16x", "acc of shape 16x8, got 16x16"),
            ("4x16x32x", "2x32x8x", "4x16x8x", "rhs of shape 4x32x8, got 2x32x8"),
            ("4x16x32x", "4x32x8x", "2x16x8x", "acc of shape 4x16x8, got 2x16x8"),
        ],
    )
    def test_extents(self, problems, kind, element, acc, fields, lhs, rhs, accumulator, problem):
        actual = problems(kind, lhs + element, rhs + element, accumulator + acc, **fields)
        assert actual == [f"expected {problem}"]


@pytest.mark.requirement("R1-014")
def test_integer_elements(problems):
    assert problems(m.MmaIOp, "16x32xi16", "32x8xi16", "16x8xi32", **SIGNS)[0] == (
        "operand #0 must be tile of i8, but got '!cuda_tile.tile<16x32xi16>'"
    )
    assert problems(m.MmaIOp, "16x32xi8", "32x8xi8", "16x8xi64", **SIGNS)[0] == (
        "operand #2 must be tile of i32, but got '!cuda_tile.tile<16x8xi64>'"
    )


def scaled(element, scale, block, k=128, batch=""):
    return (
        f"{batch}16x{k}x{element}",
        f"{batch}{k}x8x{element}",
        f"{batch}16x8xf32",
        f"{batch}16x{k // block}x{scale}",
        f"{batch}{k // block}x8x{scale}",
    )


@each_case("block", [8, 16, 32, 64])
@each_case("scale", ["f8E4M3FN", "f8E8M0FNU", "fnv8E5M3FNU"])
@each_case("element", ["f8E4M3FN", "f8E5M2", "f4E2M1FN"])
def test_blocks_that_share_a_scale(problems, element, scale, block):
    is_legal = block in BLOCKS.get((element, scale), ())
    for batch in ("", "2x"):
        actual = problems(m.MmaFScaledOp, *scaled(element, scale, block, batch=batch))
        assert (actual == []) == is_legal


def test_scale_diagnostics(problems):
    assert problems(m.MmaFScaledOp, *scaled("f8E5M2", "f8E4M3FN", 32)) == [
        "expected scales of f8E8M0FNU for elements of f8E5M2, got f8E4M3FN"
    ]
    assert problems(m.MmaFScaledOp, *scaled("f4E2M1FN", "f8E8M0FNU", 8)) == [
        "expected 16 or 32 elements of f4E2M1FN for each scale of f8E8M0FNU, got 128 for 16"
    ]


@each_case(
    ("position", "operand", "expected"),
    [
        (3, "32x4xf8E8M0FNU", "expected lhs_scale of shape 16x4, got 32x4"),
        (4, "4x16xf8E8M0FNU", "expected rhs_scale of shape 4x8, got 4x16"),
        (4, "8x8xf8E8M0FNU", "expected rhs_scale of shape 4x8, got 8x8"),
        (3, "4xf8E8M0FNU", "expected lhs_scale of rank 2, got 1"),
        (4, "4xf8E8M0FNU", "expected rhs_scale of shape 4x8, got 4"),
        (
            4,
            "4x8xf8E4M3FN",
            "expected lhs_scale and rhs_scale to have the same element type, "
            "got f8E8M0FNU and f8E4M3FN",
        ),
        (2, "16x16xf32", "expected acc of shape 16x8, got 16x16"),
    ],
)
def test_shapes_of_scales(problems, position, operand, expected):
    operands = list(scaled("f8E5M2", "f8E8M0FNU", 32))
    operands[position] = operand
    assert problems(m.MmaFScaledOp, *operands) == [expected]


def test_more_scales_than_elements(problems):
    operands = ("16x2xf4E2M1FN", "2x8xf4E2M1FN", "16x8xf32", "16x4xf8E8M0FNU", "4x8xf8E8M0FNU")
    assert problems(m.MmaFScaledOp, *operands) == [
        "expected 16 or 32 elements of f4E2M1FN for each scale of f8E8M0FNU, got 2 for 4"
    ]


@pytest.mark.requirement("R4-035")
def test_name(make):
    op = make(m.MmaFOp, "16x32xf16", "32x8xf16", "16x8xf32")
    assert list(op.result_names("tileiras")) == [(0, "mm")]
    assert list(op.result_names("public")) == []


def test_versions():
    assert [kind.since for kind in (m.MmaFOp, m.MmaIOp, m.MmaFScaledOp)] == [
        (13, 1), (13, 1), (13, 3),
    ]  # fmt: skip
    assert m.MmaFOp.fast_acc.since == (13, 3)
    assert list(m.MmaIOp.schema.inherent) == ["signedness_lhs", "signedness_rhs"]
