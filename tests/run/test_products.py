"""Products of matrices of every type and many shapes, compiled and run on the emulator."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "i32": np.int32,
}
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
"""Batch, rows, columns, depth; a batch of one stands for none."""


def view(name: str, shape: tuple[int, ...], element: str) -> tuple[str, str, str]:
    """A tensor of one tile: how it is viewed, and its types."""
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    extents = "x".join(map(str, shape))
    tensor = f"tensor_view<{extents}x{element}, strides={strides}>".replace(", ", ",")
    tensor = tensor.replace(",strides", ", strides")
    tiles = f"partition_view<tile=({extents}), {tensor}>"
    text = (
        f"%{name}t = make_tensor_view %{name}p, shape = {list(shape)}, strides = {strides} "
        f": {tensor}\n%{name}v = make_partition_view %{name}t : {tiles}\n"
    )
    return text, tiles, f"tile<{extents}x{element}>"


def program(
    a: tuple[int, ...], b: tuple[int, ...], element: str, total: str, how: str, hint: str
) -> str:
    """`c = a @ b + c`."""
    shapes = {"a": (a, element), "b": (b, element), "c": ((*a[:-1], b[-1]), total)}
    body, types = "", {}
    where = ", ".join(["%z"] * len(a))
    for name, (shape, kind) in shapes.items():
        text, tiles, types[name] = view(name, shape, kind)
        body += text + (
            f"%{name}, %{name}r = load_view_tko weak %{name}v[{where}] "
            f": {tiles}, tile<i32> -> {types[name]}, token\n"
        )
    tiles = view("c", shapes["c"][0], total)[1]
    name, signs = ("mmai", how) if how else ("mmaf", "")
    body += (
        f"%s = {name} %a, %b, %c {signs} : {types['a']}, {types['b']}, {types['c']}\n"
        f"%w = store_view_tko weak %s, %cv[{where}] : {types['c']}, {tiles}, tile<i32> -> token\n"
    )
    pointers = ", ".join(f"%{n}p: tile<ptr<{kind}>>" for n, (_, kind) in shapes.items())
    return (
        f"cuda_tile.module @m {{ entry @k({pointers}) {hint} {{\n"
        f"%z = constant <i32: 0> : tile<i32>\n{body}return\n}} }}"
    )


def check(
    batch: tuple[int, ...],
    m: int,
    n: int,
    k: int,
    types: tuple[str, str],
    arch: str,
    how: str = "",
    hint: str = "",
) -> None:
    """Small integers, whose sums are exact in every order: the same numbers as NumPy's."""
    element, total = types
    outer = batch if batch != (1,) else ()
    random = np.random.default_rng(m * n + k)
    a, b, c = (
        random.integers(-2, 3, shape).astype(DTYPES[kind])
        for shape, kind in (
            ((*outer, m, k), element),
            ((*outer, k, n), element),
            ((*outer, m, n), total),
        )
    )
    wide = [x.astype(np.float64) for x in (a, b, c)]
    if how:
        sides = zip((a, b), how.split(), strict=True)
        wide[:2] = [x.view(np.uint8 if s == "unsigned" else np.int8) * 1.0 for x, s in sides]
    expected = (wide[0] @ wide[1] + wide[2]).astype(DTYPES[total])
    text = program(a.shape, b.shape, element, total, how, hint)
    tilewright.execute(text, "k", 1, [a, b, c], "emulator", check=True, arch=arch)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("types", TYPES)
def test_floats(types: tuple[str, str], arch: str) -> None:
    for batch, m, n, k in SHAPES:
        check(batch, m, n, k, types, arch)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("how", [f"{a} {b}" for a, b in product(("signed", "unsigned"), repeat=2)])
def test_bytes_of_either_sign(how: str, arch: str) -> None:
    for batch, m, n, k in SHAPES[1:6]:
        check(batch, m, n, k, ("i8", "i32"), arch, how)


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("types", [("f16", "f32"), ("f32", "f32"), ("f64", "f64")])
def test_any_number_of_warps(types: tuple[str, str], warps: int) -> None:
    hint = f"optimization_hints=<sm_90 = {{num_worker_warps_per_cta = {warps}}}>"
    for batch, m, n, k in ((1,), 64, 32, 32), ((1,), 8, 8, 64), ((4,), 16, 16, 16):
        check(batch, m, n, k, types, "sm_90", hint=hint)


@pytest.mark.parametrize(
    ("m", "n", "k", "types"),
    [
        (128, 128, 32, ("f16", "f32")),
        (128, 64, 64, ("f32", "f32")),
        (64, 64, 512, ("f32", "f32")),
        (256, 64, 64, ("f8E4M3FN", "f32")),
    ],
)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_large_tiles_go_through_little_shared_memory(
    m: int, n: int, k: int, types: tuple[str, str], arch: str
) -> None:
    check((1,), m, n, k, types, arch)


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_what_lies_beyond_the_depth_is_not_multiplied(element: str) -> None:
    """Infinities of one place along the depth do not meet zeros of another."""
    a = np.ones((8, 2), DTYPES[element])
    b = np.ones((2, 8), DTYPES[element])
    a[0, 1], b[1, 3] = np.inf, -np.inf
    c = np.zeros((8, 8), np.float32)
    text = program(a.shape, b.shape, element, "f32", "", "")
    expected = a.astype(np.float64) @ b.astype(np.float64)
    tilewright.execute(text, "k", 1, [a, b, c], "emulator", check=True, arch="sm_90")
    np.testing.assert_array_equal(c, expected)
