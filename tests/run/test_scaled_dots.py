"""Dots scaled by powers of two of any size: compiled, on the emulator, as on the executor."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from repeats import keep_first

import tilewright
from tilewright.ir.types import F32
from tilewright.testing.bounds import dot_tolerance
from tilewright.testing.compare import EXACT, Tolerance, array_difference

Array = NDArray[Any]
DTYPES: dict[str, Any] = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
SCALE, SCALES = "f8E8M0FNU", ml_dtypes.float8_e8m0fnu
BLOCK = 32
"""Elements that share a scale."""
TILE = 64
ONE = 127
"""The pattern of a scale of one."""


def program(m: int, n: int, k: int, element: str = "f8E4M3FN") -> str:
    """`c += (a * s) @ (b * t)`; each block computes a tile of at most 64 by 64 elements."""
    tm, tn, blocks = min(m, TILE), min(n, TILE), k // BLOCK
    parameters: list[str] = []
    body = "%x, %y, %w = get_tile_block_id : tile<i32> %z = constant <i32: 0> : tile<i32>"
    for name, type, shape, tile, index in (
        ("a", element, (m, k), (tm, k), "%x, %z"),
        ("b", element, (k, n), (k, tn), "%z, %y"),
        ("s", SCALE, (m, blocks), (tm, blocks), "%x, %z"),
        ("t", SCALE, (blocks, n), (blocks, tn), "%z, %y"),
        ("c", "f32", (m, n), (tm, tn), "%x, %y"),
    ):
        view = f"tensor_view<{shape[0]}x{shape[1]}x{type}, strides=[{shape[1]},1]>"
        part = f"partition_view<tile=({tile[0]}x{tile[1]}), {view}>"
        parameters.append(f"%{name}p: tile<ptr<{type}>>")
        body += f"""
    %{name}t = make_tensor_view %{name}p, shape = {list(shape)}, strides = [{shape[1]}, 1] : {view}
    %{name}v = make_partition_view %{name}t : {part}
    %{name}, %{name}k = load_view_tko weak %{name}v[{index}]
        : {part}, tile<i32> -> tile<{tile[0]}x{tile[1]}x{type}>, token"""
    result = f"tile<{tm}x{tn}xf32>"
    return f"""cuda_tile.module @m {{ entry @k({", ".join(parameters)}) {{
    {body}
    %r = mmaf_scaled %a, %b, %c, %s, %t : tile<{tm}x{k}x{element}>, tile<{k}x{tn}x{element}>,
        {result}, tile<{tm}x{blocks}x{SCALE}>, tile<{blocks}x{tn}x{SCALE}>
    %o = store_view_tko weak %r, %cv[%x, %y] : {result},
        partition_view<tile=({tm}x{tn}), tensor_view<{m}x{n}xf32, strides=[{n},1]>>,
        tile<i32> -> token
    return }} }}"""


def check(
    a: Array,
    b: Array,
    s: Array,
    t: Array,
    c: Array,
    arch: str = "sm_100",
    tolerance: Tolerance = EXACT,
) -> Array:
    """Compare with the executor, and return its result; scales are patterns."""
    (m, k), n = a.shape, b.shape[1]
    element = next(name for name, dtype in DTYPES.items() if a.dtype == dtype)
    text, grid = program(m, n, k, element), (max(m // TILE, 1), max(n // TILE, 1), 1)
    scales = [each.astype(np.uint8).view(SCALES) for each in (s, t)]
    expected, actual = c.copy(), c.copy()
    tilewright.execute(text, "k", grid, [a, b, *scales, expected])
    tilewright.execute(text, "k", grid, [a, b, *scales, actual], "emulator", arch=arch)
    assert array_difference(actual, expected, tolerance) is None
    return expected


def small_integers(random: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    return random.integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize("arch", keep_first(["sm_90", "sm_120", "sm_80", "sm_100"], 2))
def test_scales_beyond_the_exponents_of_bf16(arch: str) -> None:
    """2 * 2**127 is no bf16, but 64 terms of 2 * 2**127 * 2**-127 are 128."""
    a, b = np.full((16, 64), 2, DTYPES["f8E4M3FN"]), np.ones((64, 16), DTYPES["f8E4M3FN"])
    s, t = np.full((16, 2), ONE + 127), np.full((2, 16), ONE - 127)
    assert np.all(check(a, b, s, t, np.zeros((16, 16), np.float32), arch) == 128)


@pytest.mark.parametrize("element", keep_first(DTYPES))
def test_all_pairs_of_scales(element: str) -> None:
    """Also NaN, which is the last pattern, and dots that overflow or are subnormal."""
    random = np.random.default_rng(1)
    a, b = (small_integers(random, shape, DTYPES[element]) for shape in ((256, 32), (32, 256)))
    a[5::7], b[:, 3::7] = 0, 0
    patterns = np.arange(256)
    expected = check(a, b, patterns[:, None], patterns[None], np.zeros((256, 256), np.float32))
    assert np.count_nonzero(np.isinf(expected)) > 1000
    assert np.count_nonzero((np.abs(expected) < 2.0**-126) & (expected != 0)) > 1000
    assert np.count_nonzero(np.isnan(expected)) == 511


def test_an_accumulator_beside_any_scales() -> None:
    random = np.random.default_rng(2)
    dtype = DTYPES["f8E4M3FN"]
    a, b = (small_integers(random, shape, dtype) for shape in ((64, 32), (32, 64)))
    s, t = random.integers(0, 255, (64, 1)), random.integers(0, 255, (1, 64))
    with np.errstate(over="ignore"):
        c = np.ldexp(random.standard_normal((64, 64)), random.integers(-149, 127, (64, 64)))
    check(a, b, s, t, c.astype(np.float32))


@pytest.mark.parametrize("element", keep_first(DTYPES))
@pytest.mark.parametrize("seed", keep_first(range(4)))
def test_blocks_with_scales_of_any_size(element: str, seed: int) -> None:
    """Each block of K has its own; the scale of a term is moderate, those of its operands not."""
    random = np.random.default_rng(seed)
    k, blocks = 128, 4
    patterns = np.arange(256, dtype=np.uint8).view(DTYPES[element])
    numbers = patterns[np.isfinite(patterns.astype(np.float32))]
    a, b = (random.choice(numbers, shape) for shape in ((64, k), (k, 64)))
    size = random.integers(-118, 119, blocks)
    s = ONE + size[None] + random.integers(-8, 9, (64, blocks))
    t = ONE - size[:, None] + random.integers(-8, 9, (blocks, 64))
    c = random.standard_normal((64, 64)).astype(np.float32)
    wide = [
        each.astype(np.float64) * 2.0 ** (scales.repeat(BLOCK, axis) - ONE)
        for each, scales, axis in ((a, s, 1), (b, t, 0))
    ]
    check(a, b, s, t, c, tolerance=dot_tolerance(wide[0], wide[1], c, F32))


def test_special_elements() -> None:
    """Infinities and NaNs of fp8 under extreme scales."""
    dtype = DTYPES["f8E5M2"]
    a, b = np.ones((16, 32), dtype), np.ones((32, 16), dtype)
    a[0, 0], a[1, 1], a[2, 2], b[3, 0], b[0, 1] = np.inf, -np.inf, np.nan, 0, 0
    s, t = np.full((16, 1), 254), np.full((1, 16), 0)
    s[8:], t[:, 8:] = 0, 254
    check(a, b, s, t, np.zeros((16, 16), np.float32))
