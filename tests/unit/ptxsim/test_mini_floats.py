"""Formats of four to eight bits, against ml_dtypes; no GPU here has the narrowest ones."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case

from tilewright.ptxsim.mini_floats import MINI_FLOATS, Scale

TYPES: dict[str, Any] = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
FLAGS = [("e2m1x2", 8), ("e2m3x2", 16), ("e3m2x2", 16)]


def samples() -> np.ndarray:
    """Sample numbers of all magnitudes, and the midpoints between two numbers of the formats."""
    rng = np.random.default_rng(3)
    scale = 2.0 ** rng.integers(-20, 20, 3000)
    steps = np.arange(-600, 600) / 64
    return np.concatenate((rng.normal(size=3000) * scale, steps, [0.0, -0.0])).astype(np.float32)


@each_case("name", TYPES)
def test_every_pattern(name: str) -> None:
    format = MINI_FLOATS[name]
    patterns = np.arange(1 << format.bits, dtype=np.uint8)
    np.testing.assert_array_equal(
        format.decode(patterns), patterns.view(TYPES[name]).astype(np.float64)
    )


@each_case("name", TYPES)
def test_rounding(name: str) -> None:
    """Numbers that are too large become the largest one."""
    format = MINI_FLOATS[name]
    numbers = samples()
    inside = np.clip(numbers, -format.largest, format.largest)
    expected = inside.astype(TYPES[name]).view(np.uint8)
    np.testing.assert_array_equal(format.encode(numbers.astype(np.float64)), expected)
    largest = format.encode(np.array([np.inf, -np.inf, 1e30]))
    assert format.decode(largest).tolist() == [format.largest, -format.largest, format.largest]


def test_scales() -> None:
    scale = Scale()
    numbers = np.array([1.0, 1.5, 2.0, 3.9, 2.0**-127, 1e-45, 2.0**127, 3e38, 0.0, np.nan])
    down, up = scale.encode(numbers, "rz"), scale.encode(numbers, "rp")
    assert down.tolist() == [127, 127, 128, 128, 0, 0, 254, 254, 0, 255]
    assert up.tolist() == [127, 128, 128, 129, 0, 0, 254, 254, 0, 255]
    patterns = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(
        scale.decode(patterns), patterns.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    )


@pytest.mark.parametrize(("type", "bits"), FLAGS)
def test_pairs(run, type: str, bits: int) -> None:
    """The first operand goes to the upper half; and back again to f16."""
    numbers = samples()[-1024:]
    low, high = numbers[:512], numbers[512:]
    packed, back = np.zeros(512, f"u{bits // 8}"), np.zeros((512, 2), np.float16)
    body = f"""
    .reg .b8 %narrow; mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
    mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2;
    ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
    cvt.rn.satfinite.{type}.f32 {"%narrow" if bits == 8 else "%rs1"}, %f2, %f1;
    cvt.rn.f16x2.{type} %r2, {"%narrow" if bits == 8 else "%rs1"};
    ld.param.u64 %rd3, [p2]; mad.wide.u32 %rd3, %r1, {bits // 8}, %rd3;
    st.global.b{bits} [%rd3], {"%narrow" if bits == 8 else "%rs1"};
    ld.param.u64 %rd4, [p3]; mad.wide.u32 %rd4, %r1, 4, %rd4; st.global.b32 [%rd4], %r2; ret;
    """
    run(body, [low, high, packed, back], "u64 u64 u64 u64", block=512)
    format = MINI_FLOATS[type.removesuffix("x2")]
    codes = [format.encode(half.astype(np.float64)).astype(np.uint16) for half in (low, high)]
    np.testing.assert_array_equal(packed, codes[0] | codes[1] << (bits // 2))
    expected = np.stack([format.decode(code) for code in codes], axis=1)
    np.testing.assert_array_equal(back, expected.astype(np.float16))
