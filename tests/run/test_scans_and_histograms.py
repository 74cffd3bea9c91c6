"""Exclusive scans and histograms of many shapes and types, compiled and run on the emulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from repeats import keep

import tilewright

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
SUM = ("nv_tileaa.addi", 0)
SCANS = [
    ((1,), 0, "i32", *SUM),
    ((4,), 0, "i8", *SUM),
    ((32,), 0, "i16", "nv_tileaa.xori", 0),
    ((64,), 0, "i64", *SUM),
    ((256,), 0, "i1", "nv_tileaa.ori", False),
    ((512,), 0, "f16", "nv_tileaa.maxf", -np.inf),
    ((4096,), 0, "i32", *SUM),
    ((2048,), 0, "f64", "nv_tileaa.addf", 0.0),
    ((1, 8), 0, "i32", *SUM),
    ((8, 16), 0, "i32", *SUM),
    ((8, 16), 1, "f32", "nv_tileaa.addf", 0.0),
    ((512, 4), 0, "i32", "arith.maxsi", -(2**31)),
    ((2, 256), 1, "i64", *SUM),
    ((16, 128), 1, "i8", "nv_tileaa.andi", -1),
    ((4, 64, 2), 1, "i32", *SUM),
    ((2, 4, 128), 2, "f32", "nv_tileaa.addf", 0.0),
    ((256, 2, 2), 0, "i16", *SUM),
]
"""Shape, axis, element, combining operation and its identity."""
REPEATED_SCANS = [
    ((4,), 0, "i8"),
    ((64,), 0, "i64"),
    ((8, 16), 0, "i32"),
    ((2, 256), 1, "i64"),
    ((2, 4, 128), 2, "f32"),
    ((256, 2, 2), 0, "i16"),
]
"""Those that have the threads of another one, with other types or fewer elements."""
SPELLED = {"i1": "false", "f16": "0xFC00 : f16"}
"""Booleans have no type in text, and infinities are bits."""
COMBINED: dict[str, Any] = {
    "nv_tileaa.addi": np.add,
    "nv_tileaa.addf": np.add,
    "nv_tileaa.xori": np.bitwise_xor,
    "nv_tileaa.ori": np.logical_or,
    "nv_tileaa.andi": np.bitwise_and,
    "arith.maxsi": np.maximum,
    "nv_tileaa.maxf": np.maximum,
}


def extents(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def access(name: str, shape: tuple[int, ...], element: str) -> tuple[str, str, str]:
    """View a tensor of one tile at a pointer; return the text, the view type, the tile type."""
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    memory = f"!nv_tileaa.memref<{extents(shape)}x{element}, strides = {strides}>"
    tiles = f"!nv_tileaa.tiled_view<tile = {list(shape)}, source = {memory}>"
    text = (
        f"%{name}m = nv_tileaa.make_memref %{name}p : !nv_tileaa.ptr<{element}> -> {memory}\n"
        f"%{name}v = nv_tileaa.block_tile %{name}m : {tiles}\n"
    )
    return text, tiles, f"tensor<{extents(shape)}x{element}>"


def load(name: str, shape: tuple[int, ...], element: str) -> str:
    text, tiles, tile = access(name, shape, element)
    zeros, types = ", ".join(["%z"] * len(shape)), ", ".join(["i32"] * len(shape))
    return text + (
        f"%{name}, %{name}t = nv_tileaa.tiled_load weak %{name}v[{zeros}] "
        f": {types} of {tiles} -> {tile}\n"
    )


def store(value: str, name: str, shape: tuple[int, ...], element: str) -> str:
    text, tiles, tile = access(name, shape, element)
    zeros, types = ", ".join(["%z"] * len(shape)), ", ".join(["i32"] * len(shape))
    return text + (
        f"%{name}t = nv_tileaa.tiled_store weak {value}, %{name}v[{zeros}] "
        f": {tile}, {types} of {tiles}\n"
    )


def kernel(pointers: dict[str, str], body: str, warps: int) -> str:
    arguments = ", ".join(f"%{n}p: !nv_tileaa.ptr<{element}>" for n, element in pointers.items())
    return (
        f"gpu.module @kernels {{\nnv_tileaa.func @k({arguments}) "
        f"attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_warps = {warps}>}} {{\n"
        f"%z = arith.constant 0 : i32\n{body}nv_tileaa.return\n}}\n}}"
    )


def scan(
    name: str, shape: tuple[int, ...], axis: int, element: str, op: str, identity: Any, how: str
) -> str:
    tile = f"tensor<{extents(shape)}x{element}>"
    typed = SPELLED.get(element) or f"{identity} : {element}"
    return f"""%{name} = nv_tileaa.scan %x {{axis = {axis} : i32, inclusive = false, {how}
      identities = [{typed}]}} : {tile} -> {tile} {{
    ^bb0(%a: {element}, %b: {element}):
      %c = {op} %a, %b : {element}
      nv_tileaa.yield %c : {element}
    }}
    """


def scanned(op: str, x: Any, axis: int, identity: Any) -> Any:
    """Compute an exclusive scan with NumPy."""
    first = np.full_like(np.take(x, [0], axis), identity)
    rest = COMBINED[op].accumulate(x, axis=axis, dtype=x.dtype)
    return np.concatenate([first, np.delete(rest, -1, axis)], axis)


def numbers(shape: tuple[int, ...], element: str, seed: int) -> Any:
    """Return small integers, which accumulate exactly in every order."""
    random = np.random.default_rng(seed)
    return random.integers(0 if element == "i1" else -2, 2, shape).astype(DTYPES[element])


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize("warps", keep([1, 4, 8], (4).__eq__))
@pytest.mark.parametrize(
    ("shape", "axis", "element", "op", "identity"),
    keep(SCANS, lambda case: case[:3] not in REPEATED_SCANS),
)
def test_exclusive_scans(
    shape: tuple[int, ...], axis: int, element: str, op: str, identity: Any, warps: int, arch: str
) -> None:
    body = load("x", shape, element)
    body += scan("s", shape, axis, element, op, identity, "")
    body += scan("r", shape, axis, element, op, identity, "reverse, ")
    body += store("%s", "f", shape, element) + store("%r", "b", shape, element)
    x = numbers(shape, element, warps)
    forth, back = np.zeros_like(x), np.zeros_like(x)
    text = kernel(dict.fromkeys(("x", "f", "b"), element), body, warps)
    tilewright.execute(text, "k", 1, [x, forth, back], "emulator", check=True, arch=arch)
    np.testing.assert_array_equal(forth, scanned(op, x, axis, identity))
    reversed_ = scanned(op, np.flip(x, axis), axis, identity)
    np.testing.assert_array_equal(back, np.flip(reversed_, axis))


PAIR = """%s, %m = nv_tileaa.scan %x, %y {axis = 0 : i32, inclusive = false, HOW
      identities = [7 : i32, 0xFF800000 : f32]}
      : tensor<1024xi32>, tensor<1024xf32> -> tensor<1024xi32>, tensor<1024xf32> {
    ^bb0(%a: i32, %b: i32, %c: f32, %d: f32):
      %e = nv_tileaa.addi %a, %b : i32
      %f = nv_tileaa.maxf %c, %d : f32
      nv_tileaa.yield %e, %f : i32, f32
    }
    """


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize("reverse", [False, True])
def test_two_tiles_at_once(*, reverse: bool, arch: str) -> None:
    """The identity is the first result, and is not combined with any element."""
    line = (1024,)
    body = load("x", line, "i32") + load("y", line, "f32")
    body += PAIR.replace("HOW", "reverse, " if reverse else "")
    body += store("%s", "f", line, "i32") + store("%m", "b", line, "f32")
    text = kernel({"x": "i32", "y": "f32", "f": "i32", "b": "f32"}, body, 4)
    x, y = numbers(line, "i32", 1), np.random.default_rng(2).normal(size=line).astype(np.float32)
    added, most = np.zeros_like(x), np.zeros_like(y)
    tilewright.execute(text, "k", 1, [x, y, added, most], "emulator", check=True, arch=arch)
    step = -1 if reverse else 1
    expected = (
        scanned("nv_tileaa.addi", x[::step], 0, 7),
        scanned("nv_tileaa.maxf", y[::step], 0, -np.inf),
    )
    np.testing.assert_array_equal(added, expected[0][::step])
    np.testing.assert_array_equal(most, expected[1][::step])


COUNTS = [
    ((1,), "i32", 1),
    ((2,), "i64", 16),
    ((64,), "i1", 1),
    ((64,), "i1", 8),
    ((512,), "i8", 64),
    ((512,), "i8", 512),
    ((1024,), "i16", 256),
    ((4096,), "i32", 32),
    ((16, 32), "i32", 1024),
    ((4, 8, 64), "i64", 128),
    ((256,), "i32", 8192),
    ((1024,), "i64", 16384),
]
"""Shape and element of the source, and the number of bins."""


def counted(x: Any, bins: int) -> Any:
    """Compute a histogram of unsigned numbers with NumPy."""
    wide = x.astype(np.uint8) if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")
    inside = wide[wide < bins].astype(np.int64)
    return np.bincount(inside, minlength=bins).astype(np.int32)


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize("warps", keep([1, 4, 8], (4).__eq__))
@pytest.mark.parametrize(("shape", "element", "bins"), COUNTS)
def test_histograms(shape: tuple[int, ...], element: str, bins: int, warps: int, arch: str) -> None:
    body = load("x", shape, element)
    tile = f"tensor<{extents(shape)}x{element}>"
    body += f"%h = nv_tileaa.histogram %x : {tile} -> tensor<{bins}xi32>\n"
    body += store("%h", "y", (bins,), "i32")
    dtype = DTYPES[element]
    low, high = (0, 2) if element == "i1" else (-bins // 4, bins + bins // 4 + 1)
    if element != "i1":
        low, high = max(low, np.iinfo(dtype).min), min(high, np.iinfo(dtype).max)
    x = np.random.default_rng(bins).integers(low, high, shape).astype(dtype)
    y = np.full(bins, -1, np.int32)
    text = kernel({"x": element, "y": "i32"}, body, warps)
    tilewright.execute(text, "k", 1, [x, y], "emulator", check=True, arch=arch)
    np.testing.assert_array_equal(y, counted(x, bins))


LOOP = """%one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %none = arith.constant dense<0> : tensor<64xi32>
    %counts, %last = scf.for %i = %z to %four step %one
        iter_args(%sum = %none, %rest = %x) -> (tensor<64xi32>, tensor<256xi32>) : i32 {
      %h = nv_tileaa.histogram %rest : tensor<256xi32> -> tensor<64xi32>
      %g = nv_tileaa.histogram %h : tensor<64xi32> -> tensor<64xi32>
      %more = nv_tileaa.addi %h, %g : tensor<64xi32>
      %next = nv_tileaa.addi %sum, %more : tensor<64xi32>
      %ones = nv_tileaa.splat %one : i32 -> tensor<256xi32>
      %less = nv_tileaa.subi %rest, %ones : tensor<256xi32>
      scf.yield %next, %less : tensor<64xi32>, tensor<256xi32>
    }
    """


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
def test_histograms_of_histograms_in_a_loop(arch: str) -> None:
    """Bins of one histogram are cleared for the next after all threads have read them."""
    body = load("x", (256,), "i32") + LOOP + store("%counts", "y", (64,), "i32")
    x = np.random.default_rng(3).integers(0, 80, 256).astype(np.int32)
    y = np.zeros(64, np.int32)
    text = kernel({"x": "i32", "y": "i32"}, body, 4)
    tilewright.execute(text, "k", 1, [x, y], "emulator", check=True, arch=arch)
    steps = [counted(x - step, 64) for step in range(4)]
    np.testing.assert_array_equal(y, sum(each + counted(each, 64) for each in steps))


def test_one_number_is_counted_once() -> None:
    """A scalar is in every thread of the block."""
    body = "%h = nv_tileaa.histogram %z : i32 -> tensor<4xi32>\n" + store("%h", "y", (4,), "i32")
    y = np.zeros(4, np.int32)
    text = kernel({"y": "i32"}, body, 4)
    tilewright.execute(text, "k", 1, [y], "emulator", check=True, arch="sm_90")
    np.testing.assert_array_equal(y, [1, 0, 0, 0])
