"""Conversions: widths, shapes, and the table of rounding modes between float types."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import conversion as c
from tilewright.dialects.cuda_tile.enums import Overflow, Rounding, Signedness
from tilewright.ir.traits import Effects

SIGNED = {"signedness": Signedness.SIGNED}
MODES = {
    "N": Rounding.NEAREST_EVEN,
    "Z": Rounding.ZERO,
    "-": Rounding.NEGATIVE_INF,
    "+": Rounding.POSITIVE_INF,
    "W": Rounding.NEAREST_AWAY,
}
FLOATS = "f16 bf16 f32 f64 tf32 f8E4M3FN f8E5M2 f8E8M0FNU f4E2M1FN fnv8E5M3FNU".split()
# What tileirdisasm 13.4 accepts: a row for each source, a column for each result.
CONVERSIONS = """
    .      NZ     NZ-+W  NZ-+W  NZ-+W  N  N  Z+  N  N
    NZ     .      NZ-+W  NZ-+W  NZ-+W  N  N  Z+  N  N
    NZ     NZ     .      NZ-+W  NZW    N  N  Z+  N  N
    NZ     NZ     NZ-+   .      NZ     N  N  Z+  N  N
    NZ     NZ     NZ-+W  NZ-+W  .      N  N  Z+  N  N
    NZ-+W  NZ-+W  NZ-+W  NZ-+W  NZ-+W  .  N  Z+  N  N
    NZ-+W  NZ-+W  NZ-+W  NZ-+W  NZ-+W  N  .  Z+  N  N
    NZ     NZ     NZ     NZ-+W  NZ     N  N  .   N  N
    NZ-+W  NZ-+W  NZ-+W  NZ-+W  NZ-+W  N  N  Z+  .  N
    NZ     NZ-+W  NZ-+W  NZ-+W  NZ-+W  N  N  Z+  N  .
"""
LEGAL = [
    (source, result, legal)
    for source, row in zip(FLOATS, CONVERSIONS.strip().splitlines(), strict=True)
    for result, legal in zip(FLOATS, row.split(), strict=True)
    if source != result
]


@pytest.mark.requirement("R1-015")
@each_case(("source", "result", "legal"), LEGAL)
def test_float_conversion_has_the_modes_of_its_types(problems, source, result, legal):
    for mode in Rounding:
        actual = problems(c.FToFOp, f"4x{source}", results=f"4x{result}", rounding_mode=mode)
        assert (actual == []) == (mode in [MODES[key] for key in legal])


def test_float_conversion_says_which_modes_there_are(problems):
    assert problems(c.FToFOp, "4xf32", results="4xf8E8M0FNU") == [
        "expected rounding mode zero or positive_inf, got nearest_even, to convert f32 to f8E8M0FNU"
    ]


@each_case("element", FLOATS)
def test_float_conversion_changes_the_type(problems, element):
    assert problems(c.FToFOp, f"4x{element}", results=f"4x{element}") == [
        f"expected a conversion to another type than {element}, got the same"
    ]


@pytest.mark.requirement("R1-015")
def test_bitcast_keeps_the_width(problems):
    for source, result in [("f32", "i32"), ("f8E5M2", "i8"), ("bf16", "f16"), ("tf32", "tf32")]:
        assert problems(c.BitcastOp, f"4x{source}", results=f"4x{result}") == []
    assert problems(c.BitcastOp, "4xf32", results="4xi64") == [
        "expected elements of 32 bits like those of f32, got i64 of 64"
    ]
    assert problems(c.BitcastOp, "4xtf32", results="4xi32") == [
        "expected elements of 19 bits like those of tf32, got i32 of 32"
    ]
    actual = problems(c.BitcastOp, "4xi4", results="4xf4E2M1FN")
    assert actual[0].endswith("but got '!cuda_tile.tile<4xi4>'")


@pytest.mark.requirement("R1-015", "R1-050")
def test_integers_widen_and_narrow(problems):
    for signedness in Signedness:
        assert problems(c.ExtIOp, "4xi4", results="4xi8", signedness=signedness) == []
    for overflow in Overflow:
        assert problems(c.TruncIOp, "4xi8", results="4xi4", overflow=overflow) == []
    for result in ("i32", "i8"):
        assert problems(c.ExtIOp, "4xi32", results=f"4x{result}", **SIGNED) == [
            f"expected elements wider than i32, got {result}"
        ]
    for result in ("i32", "i64"):
        assert problems(c.TruncIOp, "4xi32", results=f"4x{result}") == [
            f"expected elements narrower than i32, got {result}"
        ]


@pytest.mark.requirement("R1-015")
@pytest.mark.parametrize("element", FLOATS)
def test_floats_and_integers(problems, element):
    for integer in ("i1", "i8", "i16", "i32", "i64"):
        assert problems(c.FToIOp, f"4x{element}", results=f"4x{integer}", **SIGNED) == []
        expected = (
            ["expected another float type than f8E8M0FNU, which `ftof` can convert to it"]
            if element == "f8E8M0FNU"
            else []
        )
        assert problems(c.IToFOp, f"4x{integer}", results=f"4x{element}", **SIGNED) == expected


def test_floats_and_integers_round_in_one_way(problems):
    for mode in set(Rounding) - {Rounding.NEAREST_INT_TO_ZERO}:
        actual = problems(c.FToIOp, "f32", results="i32", rounding_mode=mode, **SIGNED)
        assert actual == [f"expected rounding mode nearest_int_to_zero, got {mode.keyword}"]
    for mode in set(Rounding) - {Rounding.NEAREST_EVEN}:
        actual = problems(c.IToFOp, "i32", results="f32", rounding_mode=mode, **SIGNED)
        assert actual == [f"expected rounding mode nearest_even, got {mode.keyword}"]


@pytest.mark.requirement("R1-015")
def test_pointers(problems):
    assert problems(c.IntToPtrOp, "4xi64", results="4xptr<f32>") == []
    assert problems(c.PtrToIntOp, "4xptr<f32>", results="4xi64") == []
    assert problems(c.PtrToPtrOp, "4xptr<f32>", results="4xptr<i8>") == []
    assert problems(c.IntToPtrOp, "4xi32", results="4xptr<f32>") == [
        "operand #0 must be tile of i64, but got '!cuda_tile.tile<4xi32>'"
    ]
    assert problems(c.PtrToIntOp, "4xptr<f32>", results="4xi32") == [
        "result #0 must be tile of i64, but got '!cuda_tile.tile<4xi32>'"
    ]
    assert problems(c.PtrToPtrOp, "4xptr<f32>", results="4xi64") == [
        "result #0 must be tile of pointers, but got '!cuda_tile.tile<4xi64>'"
    ]


@each_case(
    ("kind", "source", "result", "fields"),
    [
        (c.BitcastOp, "f32", "i32", {}),
        (c.ExtIOp, "i8", "i32", SIGNED),
        (c.TruncIOp, "i32", "i8", {}),
        (c.FToFOp, "f32", "f16", {}),
        (c.FToIOp, "f32", "i32", SIGNED),
        (c.IToFOp, "i32", "f32", SIGNED),
        (c.IntToPtrOp, "i64", "ptr<i8>", {}),
        (c.PtrToIntOp, "ptr<i8>", "i64", {}),
        (c.PtrToPtrOp, "ptr<i8>", "ptr<f32>", {}),
    ],
)
def test_shape_stays(problems, kind, source, result, fields):
    assert kind.effects is Effects.PURE
    assert problems(kind, f"4x2x{source}", results=f"4x2x{result}", **fields) == []
    assert problems(kind, f"4x2x{source}", results=f"8x{result}", **fields) == [
        "expected source and result to have the same shape, got 4x2 and 8"
    ]


def test_saturation_is_new():
    assert c.FToIOp.saturating.since == (13, 4)
    assert list(c.FToIOp.schema.inherent) == ["signedness", "rounding_mode", "saturating"]
