"""CUDA C++ programs, compiled by nvcc, against NumPy; the sources are beside the PTX."""

from __future__ import annotations

import functools
import math
import pathlib
import shutil
import struct
import subprocess
from typing import Any

import numpy as np
import pytest
from each_case import each_case

from tilewright.ptxsim import Counters, Module
from tilewright.support.diagnostics import UserError

PTX = pathlib.Path(__file__).parents[2] / "ptx"
RNG = np.random.default_rng(42)


@functools.cache
def text(name: str) -> str:
    return (PTX / f"{name}.ptx").read_text()


def launch(
    file: str, kernel: str, grid: Any, block: Any, args: list[Any], **options: Any
) -> Counters:
    return Module(text(file), f"{file}.ptx").launch(kernel, grid, block, args, **options)


def test_saxpy() -> None:
    x, y = (RNG.normal(size=1000).astype(np.float32) for _ in range(2))
    expected = (np.float64(2.5) * x + y).astype(np.float32)
    launch("basics", "saxpy", 4, 256, [x, y, 2.5, 1000])
    np.testing.assert_array_equal(y, expected)


def test_grid_stride_sum() -> None:
    x = RNG.integers(-(2**31), 2**31, 5000).astype(np.int32)
    y = np.zeros(192, np.int64)
    launch("basics", "grid_stride_sum", 3, 64, [x, y, len(x)])
    padded = np.concatenate((x.astype(np.int64), np.zeros(192 - len(x) % 192, np.int64)))
    np.testing.assert_array_equal(y, padded.reshape(-1, 192).sum(axis=0))


def test_structures_by_value() -> None:
    x, y = RNG.normal(size=100), np.zeros(100)
    affine = struct.pack("<f4xd3i4x", 1.5, 0.25, 1, 2, 3)
    launch("basics", "by_value", 1, 128, [affine, x, y, 100])
    expected = 1.5 * x + 0.25 + np.arange(100) % 3 + 1
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-15)


def test_double_functions() -> None:
    x = np.concatenate((RNG.normal(size=200), RNG.uniform(-1e6, 1e6, 50), [0.0, 1e-300, 700.0]))
    y = np.zeros((len(x), 4))
    launch("basics", "functions", 2, 128, [x, y, len(x)])
    with np.errstate(over="ignore"):
        expected = [np.exp(x), np.sin(x), np.log(np.abs(x) + 1), np.abs(x) ** 0.3]
    for at, exact in enumerate(expected):
        # CUDA documents at most 1 ulp for exp and log, 2 for sin and pow; NumPy has half of one.
        np.testing.assert_array_max_ulp(y[:, at], exact, maxulp=2)


def test_single_functions() -> None:
    x = RNG.normal(size=300).astype(np.float32)
    y = np.zeros((300, 4), np.float32)
    launch("basics", "single_functions", 3, 128, [x, y, 300])
    wide = x.astype(np.float64)
    scaled = (x * np.float32(1000)).astype(np.float64)
    root = np.sqrt(np.abs(x) + np.float32(0.5))
    expected = [np.exp(wide), np.cos(scaled), np.tanh(wide), 1 / root.astype(np.float64)]
    for at, exact in enumerate(expected):
        np.testing.assert_array_max_ulp(y[:, at], exact.astype(np.float32), maxulp=3)


def test_integer_intrinsics() -> None:
    x = RNG.integers(0, 2**32, 256).astype(np.uint32)
    y = np.zeros((256, 6), np.uint32)
    launch("basics", "integers", 1, 256, [x, y, 256])
    for i, row in enumerate(y.tolist()):
        a, b = int(x[i]), int(x[(i + 1) % 256]) | 1
        signed_a, signed_b = (v - 2**32 if v >> 31 else v for v in (a, b))
        quotient = abs(signed_a) // abs(signed_b) * (1 if (signed_a < 0) == (signed_b < 0) else -1)
        data = (b << 32 | a).to_bytes(8, "little")
        expected = [
            a // b + a % b,
            int(f"{a:032b}"[::-1], 2) ^ b.bit_count(),
            (a * b >> 32) + 32 - a.bit_length(),
            (b << 32 | a) << (a & 31) >> 32,
            int.from_bytes(bytes(data[k] for k in (5, 1, 7, 3)), "little"),
            quotient + (a * b >> 13),
        ]
        assert row == [value % 2**32 for value in expected]


def test_reduction() -> None:
    x = RNG.integers(-50, 50, 1000).astype(np.float32)
    y = np.zeros(4, np.float32)
    launch("cooperation", "reduce", 4, 256, [x, y, 1000])
    padded = np.concatenate((x, np.zeros(24, np.float32)))
    np.testing.assert_array_equal(y, padded.reshape(4, 256).sum(axis=1))


@pytest.mark.parametrize("seed", [0, 1])
def test_scan(seed: int) -> None:
    x = RNG.integers(0, 100, (3, 128)).astype(np.int32)
    y = np.zeros_like(x)
    launch("cooperation", "scan", 3, 128, [x, y], shared=2 * 128 * 4, seed=seed)
    np.testing.assert_array_equal(y, np.cumsum(x, axis=1))


def test_transpose() -> None:
    x = RNG.normal(size=(50, 70)).astype(np.float32)
    y = np.zeros((70, 50), np.float32)
    launch("cooperation", "transpose", (3, 2), (32, 8), [x, y, 50, 70])
    np.testing.assert_array_equal(y, x.T)


def test_histogram() -> None:
    x = RNG.integers(0, 256, 3000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    launch("cooperation", "histogram", 3, 128, [x, bins, 3000])
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=256))


def test_gemm_in_tiles() -> None:
    a = RNG.integers(-9, 9, (33, 40)).astype(np.float32)
    b = RNG.integers(-9, 9, (40, 29)).astype(np.float32)
    c = np.zeros((33, 29), np.float32)
    launch("cooperation", "gemm", (2, 3), (16, 16), [a, b, c, 33, 29, 40])
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("seed", [0, 7])
def test_a_list_guarded_by_a_lock(seed: int) -> None:
    entries, length = np.zeros(100, np.int32), np.zeros(1, np.int32)
    launch("cooperation", "locked_list", 4, 32, [entries, length], seed=seed)
    expected = [block * 1000 + thread for block in range(4) for thread in range(0, 32, 3)]
    assert length[0] == len(expected)
    assert sorted(entries[: length[0]].tolist()) == expected


def test_the_last_block_reduces() -> None:
    x = RNG.integers(0, 100, (6, 64)).astype(np.int32)
    partials, result = np.zeros(6, np.int32), np.zeros(1, np.int32)
    launch("cooperation", "last_block_sums", 6, 64, [x, partials, result])
    np.testing.assert_array_equal(partials, x.sum(axis=1))
    assert result[0] == x.sum()


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


def test_recursion() -> None:
    y = np.zeros(24, np.int32)
    launch("functions", "recursion", 1, 24, [y])
    assert y.tolist() == [ackermann(t // 8 % 3, t % 8) for t in range(24)]


def test_sorting_with_local_arrays() -> None:
    data = RNG.integers(-100, 100, (64, 8)).astype(np.int32)
    expected = np.sort(data, axis=1)
    launch("functions", "sort_small", 2, 32, [data])
    np.testing.assert_array_equal(data, expected)


def test_function_pointers() -> None:
    x = RNG.normal(size=96).astype(np.float32)
    y = np.zeros(96, np.float32)
    launch("functions", "pointers", 3, 32, [x, y])
    three, kind = np.float32(3), np.arange(96) % 3
    expected = np.select([kind == 0, kind == 1], [x + three, x * three], x - three)
    np.testing.assert_array_equal(y, expected)


def test_an_interpreter() -> None:
    # t; if t > 0, jump over negation; t * t - 7
    code = np.array([0, 5, 6, 2, 1, 0, 0, 3, 1, 7, 4], np.int32)
    y = np.zeros(32, np.int32)

    def expected(t: int) -> int:
        stack: list[int] = []
        pc = 0
        while pc < len(code):
            what = int(code[pc])
            if what == 0:
                stack.append(t)
            elif what == 1:
                pc += 1
                stack.append(int(code[pc]))
            elif what in (2, 3, 4):
                right, left = stack.pop(), stack.pop()
                stack.append([left + right, left * right, left - right][what - 2])
            elif what == 5:
                stack.append(stack[-1])
            elif what == 6:
                pc += int(code[pc + 1]) if stack.pop() > 0 else 1
            pc += 1
        return stack[0]

    launch("functions", "interpreter", 1, 32, [code, len(code), y])
    assert y.tolist() == [expected(t) for t in range(32)]


def test_collatz() -> None:
    x = np.arange(1, 301, dtype=np.uint32)
    steps = np.zeros(300, np.uint32)
    launch("functions", "collatz", 3, 128, [x, steps, 300])

    def count(v: int) -> int:
        steps = 0
        while v != 1:
            v, steps = (3 * v + 1 if v % 2 else v // 2), steps + 1
        return steps

    assert steps.tolist() == [count(int(v)) for v in x]


def test_printf() -> None:
    module = Module(text("functions"))
    name = module.upload(np.frombuffer(b"thread\0", np.uint8))
    counters = module.launch("greet", 1, 32, [name, 2.345])
    assert counters.output == [
        "thread 0:  2.35 123456789abc z%\n",
        "thread 1:  2.35 123456789abc z%\n",
    ]
    assert math.isclose(float(np.float32(2.345)), 2.345, rel_tol=1e-6)


@each_case(
    ("conversion", "problem"),
    [
        ("%n", "expected one of d i u o x X e E f F g G a A c p s %"),
        ("%99999999d", "expected a width and a precision of at most 4095"),
        ("%.99999999999999999999f", "expected a width and a precision of at most 4095"),
    ],
)
def test_formats_that_c_does_not_bound(conversion: str, problem: str) -> None:
    old, new = (", ".join(map(str, f"%s {end}".encode())) for end in ("%d", conversion))
    head = f"$str[24] = {{{old}"
    assert head in text("functions")
    ptx = text("functions").replace(head, f"$str[{22 + len(conversion)}] = {{{new}")
    module = Module(ptx)
    name = module.upload(np.frombuffer(b"thread\0", np.uint8))
    with pytest.raises(UserError) as caught:
        module.launch("greet", 1, 32, [name, 2.345])
    subject = f"vprintf: conversion '{conversion}' at character 4 of the format"
    assert f"{subject}: {problem}" in str(caught.value)


@each_case("address", [5, 1 << 40, 1 << 62])
def test_printf_of_a_string_that_is_nowhere(address: int) -> None:
    with pytest.raises(UserError, match=f"reads a byte at {address:#x}, where no memory is"):
        launch("functions", "greet", 1, 32, [address, 2.345])


def test_assertions() -> None:
    launch("functions", "checked", 1, 4, [np.array([1, 2, 3, 4], np.int32)])
    with pytest.raises(UserError) as caught:
        launch("functions", "checked", 1, 4, [np.array([1, 2, 0, 4], np.int32)])
    assert "assertion 'x[threadIdx.x] > 0' fails at functions.cu:" in str(caught.value)
    assert "thread (2, 0, 0)" in caught.value.render()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("name", ["basics", "cooperation", "functions"])
@pytest.mark.sampled(1)
def test_nvcc_reproduces_the_ptx(name: str, tmp_path: pathlib.Path) -> None:
    """Compile with the same version of nvcc; another one may generate different code."""
    out = tmp_path / "out.ptx"
    command = ["nvcc", "-O3", "-arch=sm_90a", "-ptx", f"{name}.cu", "-o", str(out)]
    subprocess.run(command, check=True, cwd=PTX)
    made, kept = out.read_text(), text(name)
    if made.splitlines()[:8] != kept.splitlines()[:8]:
        pytest.skip("another version of nvcc")
    assert made == kept
