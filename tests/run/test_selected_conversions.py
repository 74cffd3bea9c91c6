"""Elements that a select chooses and a conversion narrows, on the emulator."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_programs import View

import tilewright

VALUES = [0.0, -0.0, 1.0, 65519.0, 65520.0, -1e30, 1e-8, 2.0**-25, 3 * 2.0**-26, np.inf, np.nan]
"""Ties, overflow and subnormal results among them."""
SIZE, FIRST = 256, 3


def program(element: str) -> str:
    """`y[i] = i >= first ? x[i] : 0` in a narrower type."""
    x = View("x", (SIZE,), (1,), (SIZE,), "f32")
    y = View("y", (SIZE,), (1,), (SIZE,), element)
    return f"""
!x = !cuda_tile.{x.type}
!y = !cuda_tile.{y.type}
cuda_tile.module @m {{
  entry @k(%xp: tile<ptr<f32>>, %yp: tile<ptr<{element}>>, %first: tile<i32>) {{
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : {x.tile_type}
    %i = iota : tile<{SIZE}xi32>
    %first1 = reshape %first : tile<i32> -> tile<1xi32>
    %firsts = broadcast %first1 : tile<1xi32> -> tile<{SIZE}xi32>
    %mask = cmpi greater_than_or_equal %i, %firsts, signed : tile<{SIZE}xi32> -> tile<{SIZE}xi1>
    {x.text()}{y.text()}
    %a, %t0 = load_view_tko weak %xv[%zero] : !x, tile<i32> -> {x.tile_type}, token
    %b = select %mask, %a, %none : tile<{SIZE}xi1>, {x.tile_type}
    %c = ftof %b : {x.tile_type} -> {y.tile_type}
    %t1 = store_view_tko weak %c, %yv[%zero] : {y.tile_type}, !y, tile<i32> -> token
    return
  }}
}}"""


def as_f32(bits: np.ndarray, element: str) -> np.ndarray:
    """The numbers of 16 bits each; all NaNs are equal."""
    if element == "f16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_pairs_are_converted_after_the_select(element: str) -> None:
    text = program(element)
    random = np.random.default_rng(0).standard_normal(SIZE - len(VALUES)) * 1000
    x = np.concatenate([VALUES, random]).astype(np.float32)
    results = [np.zeros(SIZE, np.uint16) for _ in range(2)]
    for on, result in zip(("emulator", "cpu"), results, strict=True):
        tilewright.execute(text, "k", 1, [x, result, np.int32(FIRST)], on=on, check=True)
    emulated, expected = (as_f32(result, element) for result in results)
    np.testing.assert_array_equal(emulated, expected)
    if element == "f16":
        with np.errstate(over="ignore"):
            rounded = x.astype(np.float16)
        np.testing.assert_array_equal(expected, np.where(np.arange(SIZE) >= FIRST, rounded, 0))
    ptx = tilewright.compile(text, "sm_90", emit="ptx").ptx
    assert f"cvt.rn.{element}x2.f32" in ptx
    assert f"cvt.rn.{element}.f32" not in ptx
