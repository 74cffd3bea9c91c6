"""Dots by mma.sync with columns in another order than the default, run on the emulator."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from matrix_programs import DTYPES, View, whole
from numpy.typing import NDArray
from repeats import keep, keep_first
from scheduled_loops import lowered_as_far_as

import tilewright
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.layout.transfer import Move, transfer

INNER: Final = 16
"""The extent of the columns of a first dot that are not K of a second one."""


class Chain(NamedTuple):
    """Two dots: K of the second lies along the columns of the result of the first.

    `y[b, i, g, h] = sum(w[i, f] * sum(v[h, e] * x[b, e, f, g] for e) for f)`
    """

    element: str
    accumulator: str
    m: int = 16
    k: int = 16
    batch: int = 2
    pairs: bool = False
    """Whether x is the first part of pairs in memory, and y of pairs that are stored."""

    @property
    def views(self) -> list[View]:
        """The tensors v, w, x and y."""
        batch, m, k, wide = self.batch, self.m, self.k, 2 if self.pairs else 1
        return [
            whole("v", (1, m, k), self.element, "aligned"),
            whole("w", (1, m, k), self.element, "aligned"),
            whole("x", (batch, k, k * INNER * wide), self.element, "aligned"),
            whole("y", (batch, m, INNER * m * wide), self.accumulator, "aligned"),
        ]

    def arrays(self) -> list[NDArray[Any]]:
        """Small integers, which accumulate exactly."""
        random = np.random.default_rng(len(self.element))
        arrays = [random.integers(-1, 2, view.tile) for view in self.views]
        types = [DTYPES[view.element] for view in self.views]
        return [array.astype(type) for array, type in zip(arrays, types, strict=True)]

    def expected(self, arrays: list[NDArray[Any]]) -> NDArray[Any]:
        """The result of the second dot."""
        v, w, x = (array.astype(np.float64) for array in arrays[:3])
        x = x.reshape(self.batch, self.k, self.k, INNER, -1)[..., 0]
        first = np.einsum("he,befg->bfgh", v[0], x)
        return np.einsum("if,bfgh->bigh", w[0], first).reshape(self.batch, self.m, -1)

    def tile(self, *shape: int, element: str = "") -> str:
        """The type of a tile."""
        return f"tile<{'x'.join(map(str, shape))}x{element or self.element}>"

    def dot(self, name: str, a: str, b: str, columns: int) -> str:
        """A dot that starts at zero."""
        batch, m, k = self.batch, self.m, self.k
        c = self.tile(batch, m, columns, element=self.accumulator)
        zero = "0" if self.element == "i8" else "0.0"
        op, signs = ("mmai", "signed signed ") if self.element == "i8" else ("mmaf", "")
        types = f"{self.tile(batch, m, k)}, {self.tile(batch, k, columns)}, {c}"
        return (
            f"%{name}zero = constant <{self.accumulator}: {zero}> : {c}\n"
            f"%{name}a = broadcast %{a} : {self.tile(1, m, k)} -> {self.tile(batch, m, k)}\n"
            f"%{name} = {op} %{name}a, %{b}, %{name}zero {signs}: {types}\n"
        )

    def narrowed(self, name: str, source: str, *shape: int) -> str:
        """Accumulators as operands of a dot."""
        types = f"{self.tile(*shape, element=self.accumulator)} -> {self.tile(*shape)}"
        if self.element == self.accumulator:
            negated = f"%{name}n = negf %{source} : {self.tile(*shape)}\n"
            return f"{negated}%{name} = negf %{name}n : {self.tile(*shape)}\n"
        op = "trunci" if self.element == "i8" else "ftof"
        return f"%{name} = {op} %{source} : {types}\n"

    def text(self) -> str:
        """The program."""
        batch, m, k = self.batch, self.m, self.k
        views = self.views
        body = "".join(view.text() for view in views)
        for view in views[:3]:
            types = f"{view.type}, tile<i32> -> {view.tile_type}, token"
            name = view.name
            body += f"%{name}0, %{name}t0 = load_view_tko weak %{name}v[%z, %z, %z] : {types}\n"
        x, y = views[2:]
        flat, columns = self.tile(batch, k * k * INNER, 1), k * INNER
        if self.pairs:
            pair = self.tile(batch, k * k * INNER, 2)
            body += f"%x1 = reshape %x0 : {x.tile_type} -> {pair}\n"
            body += f"%x2 = extract %x1[%z, %z, %z] : {pair} -> {flat}\n"
            body += f"%x3 = reshape %x2 : {flat} -> {self.tile(batch, k, columns)}\n"
        body += self.dot("first", "v0", "x3" if self.pairs else "x0", columns)
        body += self.narrowed("operand", "first", batch, m, columns)
        apart, moved = self.tile(batch, m, k, INNER), self.tile(batch, k, INNER, m)
        body += (
            f"%apart = reshape %operand : {self.tile(batch, m, columns)} -> {apart}\n"
            f"%permuted = permute %apart [0, 2, 3, 1] : {apart} -> {moved}\n"
            f"%right = reshape %permuted : {moved} -> {self.tile(batch, k, INNER * m)}\n"
        )
        body += self.dot("second", "w0", "right", INNER * m)
        stored, result = "second", self.tile(batch, m, INNER * m, element=self.accumulator)
        if self.pairs:
            line = self.tile(batch, m * INNER * m, 1, element=self.accumulator)
            pair = self.tile(batch, m * INNER * m, 2, element=self.accumulator)
            body += (
                f"%line = reshape %second : {result} -> {line}\n"
                f"%pair = cat %line, %line dim = 2 : {line}, {line} -> {pair}\n"
                f"%y0 = reshape %pair : {pair} -> {y.tile_type}\n"
            )
            stored = "y0"
        types = f"{y.tile_type}, {y.type}, tile<i32> -> token"
        body += f"%done = store_view_tko weak %{stored}, %yv[%z, %z, %z] : {types}\n"
        pointers = ", ".join(f"%{each.name}p: tile<ptr<{each.element}>>" for each in views)
        return (
            f"cuda_tile.module @m {{ entry @k({pointers}) {{\n"
            f"%z = constant <i32: 0> : tile<i32>\n{body}return\n}} }}"
        )


CHAINS: Final = [
    Chain("f16", "f16", pairs=True),
    Chain("f16", "f32"),
    Chain("bf16", "f32", batch=1, pairs=True),
    Chain("tf32", "f32", pairs=True),
    Chain("f64", "f64", m=8),
    Chain("i8", "i32", k=32),
    Chain("f16", "f16", m=8, k=16),
    Chain("f16", "f16"),
    Chain("f16", "f32", batch=4, pairs=True),
    Chain("f16", "f16", k=32, pairs=True),
]


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize("chain", keep_first(map(pytest.param, CHAINS), 7), ids=str)
@pytest.mark.sampled(4)
def test_chained_dots(chain: Chain, arch: str) -> None:
    arrays = chain.arrays()
    tilewright.execute(chain.text(), "k", 1, arrays, "emulator", check=True, arch=arch)
    actual = arrays[3].astype(np.float64)
    actual = actual.reshape(chain.batch, chain.m, INNER * chain.m, -1)
    for number in range(actual.shape[-1]):
        np.testing.assert_array_equal(actual[..., number], chain.expected(arrays))


@pytest.mark.parametrize("opt_level", keep([0, 1, 2], (0).__eq__))
def test_other_levels(opt_level: int) -> None:
    chain = Chain("f16", "f16", pairs=True)
    arrays = chain.arrays()
    how = {"arch": "sm_90", "opt_level": opt_level}
    tilewright.execute(chain.text(), "k", 1, arrays, "emulator", check=True, **how)
    actual = arrays[3].astype(np.float64).reshape(chain.batch, chain.m, -1, 2)
    np.testing.assert_array_equal(actual[..., 1], chain.expected(arrays))


def exchanges(chain: Chain) -> list[tuple[int, ...]]:
    """The shapes of the tiles that threads exchange."""
    module = lowered_as_far_as("convert-tileaa-to-tileas", chain.text())
    converts = [op for op in module.walk() if isinstance(op, ConvertLayoutOp)]
    layouts = [(layout_of(op.source), layout_of(op.result)) for op in converts]
    return [one.shape for one, two in layouts if transfer(one, two).move > Move.REGISTERS]


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_only_matrices_are_exchanged(element: str) -> None:
    """X is loaded as B, the result of one dot is B of the other, and is stored as it is."""
    chain = Chain(element, "f16" if element == "f16" else "f32", pairs=True)
    assert exchanges(chain) == [(1, 16, 16), (1, 16, 16)]


def test_dots_in_default_order() -> None:
    """Fewer rows than an instruction has are don't-care rows: no thread could hold them as B."""
    module = lowered_as_far_as("convert-tileaa-to-tileas", Chain("f16", "f16", m=8).text())
    dots = [op for op in module.walk() if isinstance(op, DotOp)]
    assert [layout_of(op.c).vectors("lane")[:2] for op in dots] == [(2, 4), (2, 4)]
