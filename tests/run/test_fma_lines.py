"""FMA dots whose threads have whole lines of the result, compiled and run on the emulator."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matrix_programs import View, whole
from numpy.typing import NDArray
from repeats import keep
from scheduled_loops import lowered_as_far_as

import tilewright
from tilewright.dialects.nv_tileas.attributes import in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp

Array = NDArray[np.float32]


def random(*shape: int) -> Array:
    """Small integers, which accumulate exactly in every order."""
    return np.random.default_rng(len(shape)).integers(-3, 4, shape).astype(np.float32)


def program(views: list[View], body: str) -> str:
    """A kernel with an argument for each view."""
    pointers = ", ".join(f"%{each.name}p: tile<ptr<f32>>" for each in views)
    texts = "".join(each.text() for each in views)
    return (
        f"cuda_tile.module @m {{ entry @k({pointers}) {{\n%z = constant <i32: 0> : tile<i32>\n"
        f"%one = constant <i32: 1> : tile<i32>\n{texts}{body}return\n}} }}"
    )


def loaded(view: View, name: str, *indices: str) -> str:
    """The load of a tile of a view."""
    at = ", ".join(indices or ["%z"] * len(view.tile))
    types = f"{view.type}, tile<i32> -> {view.tile_type}, token"
    return f"%{name}, %{name}token = load_view_tko weak %{view.name}v[{at}] : {types}\n"


def stored(view: View, name: str) -> str:
    """The store of a tile to a view."""
    at = ", ".join(["%z"] * len(view.tile))
    types = f"{view.tile_type}, {view.type}, tile<i32> -> token"
    return f"%{name}stored = store_view_tko weak %{name}, %{view.name}v[{at}] : {types}\n"


def run(text: str, arrays: list[Array], arch: str, opt_level: int = 3) -> None:
    tilewright.execute(text, "k", 1, arrays, "emulator", check=True, arch=arch, opt_level=opt_level)


def f32(*shape: int) -> str:
    return f"tile<{'x'.join(map(str, shape))}xf32>"


COMPLEX = (2, 16, 256, 16)
"""Batch, M, N and K of a multiplication of complex matrices, whose elements are pairs in memory."""


def complex_dots() -> str:
    """`y[b] = w @ x[b]` of complex numbers, as in a discrete Fourier transform."""
    batch, m, n, k = COMPLEX
    w = whole("w", (m, k, 2), "f32", "aligned")
    x = whole("x", (batch, k, 2 * n), "f32", "aligned")
    y = whole("y", (batch, m, 2 * n), "f32", "aligned")
    body = loaded(w, "w") + loaded(x, "x")
    body += f"%pairs = reshape %x : {x.tile_type} -> {f32(batch, k * n, 2)}\n"
    for part, index in (("r", "%z"), ("i", "%one")):
        body += (
            f"%w{part}0 = extract %w[%z, %z, {index}] : {w.tile_type} -> {f32(m, k, 1)}\n"
            f"%w{part}1 = reshape %w{part}0 : {f32(m, k, 1)} -> {f32(1, m, k)}\n"
            f"%w{part} = broadcast %w{part}1 : {f32(1, m, k)} -> {f32(batch, m, k)}\n"
            f"%x{part}0 = extract %pairs[%z, %z, {index}] : "
            f"{f32(batch, k * n, 2)} -> {f32(batch, k * n, 1)}\n"
            f"%x{part} = reshape %x{part}0 : {f32(batch, k * n, 1)} -> {f32(batch, k, n)}\n"
        )
    types = ", ".join((f32(batch, m, k), f32(batch, k, n), f32(batch, m, n)))
    body += f"%zeros = constant <f32: 0.0> : {f32(batch, m, n)}\n"
    for a in "ri":
        for b in "ri":
            body += f"%{a}{b} = mmaf %w{a}, %x{b}, %zeros : {types}\n"
    flat = f32(batch, m * n, 1)
    body += (
        f"%re = subf %rr, %ii : {f32(batch, m, n)}\n%im = addf %ri, %ir : {f32(batch, m, n)}\n"
        f"%re1 = reshape %re : {f32(batch, m, n)} -> {flat}\n"
        f"%im1 = reshape %im : {f32(batch, m, n)} -> {flat}\n"
        f"%both = cat %re1, %im1 dim = 2 : {flat}, {flat} -> {f32(batch, m * n, 2)}\n"
        f"%y = reshape %both : {f32(batch, m * n, 2)} -> {y.tile_type}\n{stored(y, 'y')}"
    )
    return program([w, x, y], body)


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize("opt_level", keep([0, 2, 3], (0, 3).__contains__))
def test_complex_dots(arch: str, opt_level: int) -> None:
    batch, m, n, k = COMPLEX
    w, x = random(m, k, 2), random(batch, k, 2 * n)
    y = np.zeros((batch, m, 2 * n), np.float32)
    run(complex_dots(), [w, x, y], arch, opt_level=opt_level)
    pairs = x.reshape(batch, k, n, 2)
    expected = (w[..., 0] + 1j * w[..., 1]) @ (pairs[..., 0] + 1j * pairs[..., 1])
    numbers = y.reshape(batch, m, n, 2)
    np.testing.assert_array_equal(numbers[..., 0] + 1j * numbers[..., 1], expected)


def test_complex_dots_wait_once_for_shared_memory() -> None:
    """Each thread loads every element of W once, four at a time, for two columns of two tiles."""
    _, m, _, k = COMPLEX
    ptx = tilewright.compile(complex_dots(), "sm_90", emit="ptx").ptx
    assert len(re.findall(r"\bbar\.sync\b", ptx)) == 1
    assert len(re.findall(r"\bld\.shared\b", ptx)) == 2 * m * k // 4
    assert len(re.findall(r"\bld\.shared\.v4\b", ptx)) == 2 * m * k // 4


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize(("m", "n", "k"), [(16, 256, 16), (256, 8, 16)])
def test_tiles_of_a_loop_along_k(m: int, n: int, k: int, arch: str) -> None:
    steps = 5
    a = View("a", (m, steps * k), (steps * k, 1), (m, k), "f32")
    b = View("b", (steps * k, n), (n, 1), (k, n), "f32")
    c = whole("c", (m, n), "f32", "aligned")
    types = f"{a.tile_type}, {b.tile_type}, {c.tile_type}"
    body = (
        f"%zeros = constant <f32: 0.0> : {c.tile_type}\n"
        f"%steps = constant <i32: {steps}> : tile<i32>\n"
        f"%c = for %p in (%z to %steps, step %one) : tile<i32> "
        f"iter_values(%acc = %zeros) -> ({c.tile_type}) {{\n"
        f"{loaded(a, 'x', '%z', '%p')}{loaded(b, 'y', '%p', '%z')}"
        f"%next = mmaf %x, %y, %acc : {types}\ncontinue %next : {c.tile_type}\n}}\n{stored(c, 'c')}"
    )
    left, right, result = random(m, steps * k), random(steps * k, n), random(m, n)
    run(program([a, b, c], body), [left, right, result], arch)
    np.testing.assert_array_equal(result, left @ right)


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
def test_a_matrix_that_is_computed_in_every_layout(arch: str) -> None:
    b = whole("b", (16, 256), "f32", "aligned")
    c = whole("c", (16, 256), "f32", "aligned")
    types = f"{f32(16, 16)}, {b.tile_type}, {c.tile_type}"
    body = (
        f"{loaded(b, 'b')}%a = constant <f32: 2.0> : {f32(16, 16)}\n"
        f"%zeros = constant <f32: 0.0> : {c.tile_type}\n%c = mmaf %a, %b, %zeros : {types}\n"
    )
    right, result = random(16, 256), np.zeros((16, 256), np.float32)
    run(program([b, c], body + stored(c, "c")), [right, result], arch)
    np.testing.assert_array_equal(result, np.full((16, 16), 2, np.float32) @ right)


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 16), (16, 256, 16)])
def test_one_matrix_for_a_whole_batch(m: int, n: int, k: int, arch: str) -> None:
    batch = 4
    a = whole("a", (1, m, k), "f32", "aligned")
    b = whole("b", (batch, k, n), "f32", "aligned")
    c = whole("c", (batch, m, n), "f32", "aligned")
    types = f"{f32(batch, m, k)}, {b.tile_type}, {c.tile_type}"
    body = (
        f"{loaded(a, 'matrix')}{loaded(b, 'b')}%zeros = constant <f32: 0.0> : {c.tile_type}\n"
        f"%a = broadcast %matrix : {a.tile_type} -> {f32(batch, m, k)}\n"
        f"%c = mmaf %a, %b, %zeros : {types}\n{stored(c, 'c')}"
    )
    left, right, result = random(1, m, k), random(batch, k, n), random(batch, m, n)
    run(program([a, b, c], body), [left, right, result], arch)
    np.testing.assert_array_equal(result, left @ right)


@pytest.mark.exhaustive
def test_more_matrices_than_shared_memory_is_for() -> None:
    """Of 18 matrices of 1 KiB, 16 stay in shared memory; the dots of others stage both operands."""
    count = 18
    a = View("a", (16 * count, 16), (16, 1), (16, 16), "f32")
    b, c = (whole(name, (16, 256), "f32", "aligned") for name in "bc")
    types = f"{a.tile_type}, {b.tile_type}, {c.tile_type}"
    body = loaded(b, "b") + f"%c0 = constant <f32: 0.0> : {c.tile_type}\n"
    for number in range(count):
        body += f"%i{number} = constant <i32: {number}> : tile<i32>\n"
        body += loaded(a, f"a{number}", f"%i{number}", "%z")
    for number in range(count):
        body += f"%c{number + 1} = mmaf %a{number}, %b, %c{number} : {types}\n"
    text = program([a, b, c], body + stored(c, f"c{count}"))
    left, right, result = random(16 * count, 16), random(16, 256), random(16, 256)
    run(text, [left, right, result], "sm_80")
    np.testing.assert_array_equal(result, left.reshape(count, 16, 16).sum(0) @ right)
    dots = [op for op in lowered_as_far_as("promote-dots", text).walk() if isinstance(op, DotOp)]
    in_shared = [in_shared_memory(op.a) for op in dots]
    assert in_shared == [True] * 16 + [False] * 2
