"""Dots of every type and many shapes, compiled and run on the emulator."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import ml_dtypes
import numpy as np
import pytest
from matrix_programs import DTYPES, Addresses, dot_program
from repeats import keep, keep_first

import tilewright

TYPES = [
    ("f16", "f16"),
    ("f16", "f32"),
    ("bf16", "f32"),
    ("tf32", "f32"),
    ("f32", "f32"),
    ("f64", "f64"),
    ("f8E4M3FN", "f16"),
    ("f8E5M2", "f32"),
]
SHAPES = [
    ((1,), 1, 1, 1),
    ((1,), 2, 2, 2),
    ((1,), 8, 2, 4),
    ((1,), 1, 1, 32),
    ((1,), 64, 16, 32),
    ((1,), 16, 128, 16),
    ((4,), 8, 16, 32),
    ((2,), 1, 8, 16),
    ((8,), 16, 8, 1),
]
"""Batch, M, N, K; a batch of one stands for none."""


def check(
    batch: tuple[int, ...],
    m: int,
    n: int,
    k: int,
    types: tuple[str, str],
    arch: str,
    how: str = "",
    hint: str = "",
    addresses: Addresses = "unaligned",
) -> None:
    """Compare with NumPy on small integers, which accumulate exactly in every order."""
    element, accumulator = types
    outer = batch if batch != (1,) else ()
    random = np.random.default_rng(m * n + k)
    a, b, c = (
        random.integers(-2, 3, shape).astype(DTYPES[kind])
        for shape, kind in (
            ((*outer, m, k), element),
            ((*outer, k, n), element),
            ((*outer, m, n), accumulator),
        )
    )
    wide = [x.astype(np.float64) for x in (a, b, c)]
    if how:
        sides = zip((a, b), how.split(), strict=True)
        wide[:2] = [
            x.view(np.uint8 if s == "unsigned" else np.int8).astype(np.float64) for x, s in sides
        ]
    expected = (wide[0] @ wide[1] + wide[2]).astype(DTYPES[accumulator])
    text = dot_program(a.shape, b.shape, element, accumulator, how, hint, addresses)
    if addresses == "k_major":
        b = b.swapaxes(-1, -2).copy()
    tilewright.execute(text, "k", 1, [a, b, c], "emulator", check=True, arch=arch)
    np.testing.assert_array_equal(c, expected)


ARCHES = ("sm_80", "sm_90")
SOME_FLOATS = [
    (("f16", "f16"), "sm_80", SHAPES[::2]),
    (("f64", "f64"), "sm_80", SHAPES[1::2]),
    (("bf16", "f32"), "sm_90", SHAPES[::3]),
]
"""What `make test` tries."""


@pytest.mark.parametrize(
    ("types", "arch", "shapes"),
    keep([*SOME_FLOATS, *product(TYPES, ARCHES, [SHAPES])], SOME_FLOATS.__contains__),
)
def test_floats(types: tuple[str, str], arch: str, shapes: list[Any]) -> None:
    for batch, m, n, k in shapes:
        check(batch, m, n, k, types, arch)


LINES = [
    ((1,), 1, 512, 4),
    ((2,), 16, 128, 16),
    ((1,), 256, 16, 16),
    ((4,), 64, 8, 4),
    ((1,), 16, 256, 16),
    ((4,), 8, 64, 8),
    ((1,), 512, 4, 8),
]
"""Shapes of which each thread computes whole columns or rows in f32."""


@pytest.mark.parametrize("shape", keep_first(map(pytest.param, LINES), 4), ids=str)
@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize("addresses", keep(get_args(Addresses), "aligned".__eq__))
def test_threads_with_whole_lines(
    shape: tuple[tuple[int, ...], int, int, int], arch: str, addresses: Addresses
) -> None:
    check(*shape, ("f32", "f32"), arch, addresses=addresses)


SIGNS = [f"{a} {b}" for a, b in product(("signed", "unsigned"), repeat=2)]
SOME_SIGNS = [
    ("signed signed", "sm_80", SHAPES[1:6:2]),
    ("signed unsigned", "sm_80", SHAPES[2:6:2]),
    ("unsigned signed", "sm_90", SHAPES[3:5]),
]
"""What `make test` tries."""


@pytest.mark.parametrize(
    ("how", "arch", "shapes"),
    keep([*SOME_SIGNS, *product(SIGNS, ARCHES, [SHAPES[1:6]])], SOME_SIGNS.__contains__),
)
def test_int8_of_either_sign(how: str, arch: str, shapes: list[Any]) -> None:
    for batch, m, n, k in shapes:
        check(batch, m, n, k, ("i8", "i32"), arch, how)


BY_WARPS = [(("f16", "f32"), 1), (("f32", "f32"), 8), (("f64", "f64"), 2)]
"""What `make test` tries."""


@pytest.mark.parametrize(
    ("types", "warps"),
    keep(product([types for types, _ in BY_WARPS], [1, 2, 4, 8, 16]), BY_WARPS.__contains__),
)
@pytest.mark.sampled(2)
def test_any_number_of_warps(types: tuple[str, str], warps: int) -> None:
    hint = f"optimization_hints=<sm_90 = {{num_worker_warps_per_cta = {warps}}}>"
    for batch, m, n, k in ((1,), 32, 16, 32), ((1,), 8, 8, 64), ((4,), 16, 16, 16):
        check(batch, m, n, k, types, "sm_90", hint=hint)


@pytest.mark.parametrize(
    ("m", "n", "k", "types"),
    [
        (128, 128, 32, ("f16", "f32")),
        (128, 128, 64, ("f32", "f32")),
        (128, 64, 64, ("f32", "f32")),
        (64, 64, 512, ("f32", "f32")),
        (256, 64, 64, ("f8E4M3FN", "f32")),
    ],
)
@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize("addresses", get_args(Addresses))
@pytest.mark.sampled(1)
def test_large_tiles_reuse_a_small_shared_buffer(
    m: int, n: int, k: int, types: tuple[str, str], arch: str, addresses: Addresses
) -> None:
    check((1,), m, n, k, types, arch, addresses=addresses)


@pytest.mark.parametrize("addresses", ["aligned", "k_major"])
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.sampled(3)
def test_operands_of_vectorized_loads(types: tuple[str, str], addresses: Addresses) -> None:
    for batch, m, n, k in SHAPES[4:7]:
        check(batch, m, n, k, types, "sm_90", addresses=addresses)


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_padding_along_k_is_not_multiplied(element: str) -> None:
    """Infinities of one index along K are not multiplied by zeros of another."""
    a = np.ones((8, 2), DTYPES[element])
    b = np.ones((2, 8), DTYPES[element])
    a[0, 1], b[1, 3] = np.inf, -np.inf
    c = np.zeros((8, 8), np.float32)
    text = dot_program(a.shape, b.shape, element, "f32")
    expected = a.astype(np.float64) @ b.astype(np.float64)
    tilewright.execute(text, "k", 1, [a, b, c], "emulator", check=True, arch="sm_90")
    np.testing.assert_array_equal(c, expected)


def loaded(name: str, count: int, element: str) -> str:
    """Load `count` elements through a pointer."""
    pointers, tile = f"tile<{count}xptr<{element}>>", f"tile<{count}x{element}>"
    return f"""%{name}i = iota : tile<{count}xi32>
        %{name}1 = reshape %{name}p : tile<ptr<{element}>> -> tile<1xptr<{element}>>
        %{name}n = broadcast %{name}1 : tile<1xptr<{element}>> -> {pointers}
        %{name}q = offset %{name}n, %{name}i : {pointers}, tile<{count}xi32> -> {pointers}
        %{name}f, %{name}t = load_ptr_tko weak %{name}q : {pointers} -> {tile}, token
        """


SCALES = {"f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f8E4M3FN": ml_dtypes.float8_e4m3fn}
BLOCKS = [("f8E8M0FNU", 32), ("f8E8M0FNU", 16), ("f8E4M3FN", 16)]


@pytest.mark.parametrize(
    ("scale", "block", "arch"),
    keep(
        [(*each, arch) for each in BLOCKS for arch in ("sm_80", "sm_100")],
        lambda case: case[2] == "sm_100" or case[0] == "f8E4M3FN",
    ),
)
def test_scaled_fp4(scale: str, block: int, arch: str) -> None:
    """Powers of two as scales: multiplications and accumulation are exact."""
    m, n, k = 16, 8, 64
    dtype = SCALES[scale]
    s, t = f"{m}x{k // block}x{scale}", f"{k // block}x{n}x{scale}"
    text = "".join(
        loaded(name, count, element)
        for name, count, element in (
            ("a", m * k // 2, "i8"),
            ("b", k * n // 2, "i8"),
            ("s", m * k // block, "i8"),
            ("t", n * k // block, "i8"),
            ("c", m * n, "f32"),
        )
    )
    text += f"""%a4 = unpack %af : tile<{m * k // 2}xi8> -> tile<{m * k}xf4E2M1FN>
        %b4 = unpack %bf : tile<{k * n // 2}xi8> -> tile<{k * n}xf4E2M1FN>
        %a = reshape %a4 : tile<{m * k}xf4E2M1FN> -> tile<{m}x{k}xf4E2M1FN>
        %b = reshape %b4 : tile<{k * n}xf4E2M1FN> -> tile<{k}x{n}xf4E2M1FN>
        %s8 = bitcast %sf : tile<{m * k // block}xi8> -> tile<{m * k // block}x{scale}>
        %t8 = bitcast %tf : tile<{n * k // block}xi8> -> tile<{n * k // block}x{scale}>
        %s = reshape %s8 : tile<{m * k // block}x{scale}> -> tile<{s}>
        %t = reshape %t8 : tile<{n * k // block}x{scale}> -> tile<{t}>
        %c = reshape %cf : tile<{m * n}xf32> -> tile<{m}x{n}xf32>
        %r = mmaf_scaled %a, %b, %c, %s, %t : tile<{m}x{k}xf4E2M1FN>, tile<{k}x{n}xf4E2M1FN>, \
tile<{m}x{n}xf32>, tile<{s}>, tile<{t}>
        %f = reshape %r : tile<{m}x{n}xf32> -> tile<{m * n}xf32>
        %w = store_ptr_tko weak %cq, %f : tile<{m * n}xptr<f32>>, tile<{m * n}xf32> -> token
        """
    pointers = ", ".join(f"%{name}p: tile<ptr<i8>>" for name in "abst")
    text = (
        f"cuda_tile.module @m {{ entry @k({pointers}, %cp: tile<ptr<f32>>) {{ {text} return }} }}"
    )
    random = np.random.default_rng(block)
    a, b = (random.integers(0, 256, size // 2).astype(np.uint8) for size in (m * k, k * n))
    p, q = (
        (2.0 ** random.integers(-2, 3, shape)).astype(dtype)
        for shape in ((m, k // block), (k // block, n))
    )
    c = random.integers(-4, 5, (m, n)).astype(np.float32)
    wide_a = _fp4_values(a).reshape(m, k) * p.astype(np.float64).repeat(block, axis=1)
    wide_b = _fp4_values(b).reshape(k, n) * q.astype(np.float64).repeat(block, axis=0)
    expected = (wide_a @ wide_b + c).astype(np.float32)
    arguments = [a.view(np.int8), b.view(np.int8), p.view(np.int8), q.view(np.int8), c]
    tilewright.execute(text, "k", 1, arguments, "emulator", check=True, arch=arch)
    np.testing.assert_array_equal(c, expected)


def _fp4_values(packed: Any) -> Any:
    """Decode two f4E2M1FN values from each byte, the first in the low bits."""
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    bits = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)
    return np.where(bits & 8, -1.0, 1.0) * values[bits & 7]
