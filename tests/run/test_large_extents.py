"""Views with extents, coordinates and strides beyond what TMA has bits for.

No memory is that large: a view starts so far before its array that the rows that are accessed are
in it. Expected results are those of the reference executor, and of NumPy.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from compiled_once import compiled
from repeats import keep_first

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

Array = np.ndarray[Any, Any]
ROWS: Final = 192
"""Of A and C in memory: three tiles."""
K: Final = 64
"""Two tiles."""
COLUMNS: Final = 32
UNTOUCHED: Final = 99
TMA: Final = "cp.async.bulk.tensor"
BOTH: Final = "agents=1,tma-stores=1"


class Gemm(NamedTuple):
    """C = A · B for tiles of 64 rows, whose indices, sizes and strides have one type."""

    type: str = "i64"
    rows: str = "?, ?"
    """Bounds of the number of rows that the program assumes."""
    tiles: str = "?, ?"
    """Bounds of the indices of tiles that it assumes."""
    stride: int = K
    """Of A; -1: it is an argument."""
    strides: str = "?, ?"
    """Bounds of the argument that it assumes."""

    @property
    def text(self) -> str:
        """The program; it computes the tiles of C from a first one to a last one."""
        t = f"tile<{self.type}>"
        stride = "%stride" if self.stride < 0 else str(self.stride)
        a = f"tensor_view<?x{K}xf16, strides=[{stride.replace('%stride', '?')},1]>"
        b = f"tensor_view<{K}x{COLUMNS}xf16, strides=[{COLUMNS},1]>"
        c = f"tensor_view<?x{COLUMNS}xf32, strides=[{COLUMNS},1]>"
        av = f"partition_view<tile=(64x32), padding_value = zero, {a}>"
        bv = f"partition_view<tile=(32x{COLUMNS}), padding_value = zero, {b}>"
        cv = f"partition_view<tile=(64x{COLUMNS}), {c}>"
        x, y, z = "tile<64x32xf16>", f"tile<32x{COLUMNS}xf16>", f"tile<64x{COLUMNS}xf32>"
        return f"""
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f32>>, %a_skip: tile<i64>,
           %c_skip: tile<i64>, %m0: {t}, %stride0: {t}, %first0: {t}, %last0: {t}) {{
    %a0 = offset %p, %a_skip : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
    %c0 = offset %r, %c_skip : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
    %a16 = assume div_by<16>, %a0 : tile<ptr<f16>>
    %b16 = assume div_by<16>, %q : tile<ptr<f16>>
    %c16 = assume div_by<16>, %c0 : tile<ptr<f32>>
    %m = assume bounded<{self.rows}>, %m0 : {t}
    %stride1 = assume bounded<{self.strides}>, %stride0 : {t}
    %stride = assume div_by<16>, %stride1 : {t}
    %first = assume bounded<{self.tiles}>, %first0 : {t}
    %last = assume bounded<{self.tiles}>, %last0 : {t}
    %at = make_tensor_view %a16, shape = [%m, {K}], strides = [{stride}, 1] : {t} -> {a}
    %bt = make_tensor_view %b16, shape = [{K}, {COLUMNS}], strides = [{COLUMNS}, 1] : {b}
    %ct = make_tensor_view %c16, shape = [%m, {COLUMNS}], strides = [{COLUMNS}, 1] : {t} -> {c}
    %av = make_partition_view %at : {av}
    %bv = make_partition_view %bt : {bv}
    %cv = make_partition_view %ct : {cv}
    %zero = constant <{self.type}: 0> : {t}
    %one = constant <{self.type}: 1> : {t}
    %two = constant <{self.type}: 2> : {t}
    %none = constant <f32: 0.0> : {z}
    for unsigned %i in (%first to %last, step %one) : {t} {{
      %sum = for %j in (%zero to %two, step %one) : {t} iter_values(%acc = %none) -> ({z}) {{
        %x, %tx = load_view_tko weak %av[%i, %j] : {av}, {t} -> {x}, token
        %y, %ty = load_view_tko weak %bv[%j, %zero] : {bv}, {t} -> {y}, token
        %d = mmaf %x, %y, %acc : {x}, {y}, {z}
        continue %d : {z}
      }}
      %tz = store_view_tko weak %sum, %cv[%i, %zero] : {z}, {cv}, {t} -> token
      continue
    }}
    return
  }}
}}"""

    def run(
        self, m: int, first: int = 0, tiles: int = 3, stride: int = K, schedule: str = "agents=1"
    ) -> str:
        """Check the tiles from a first one on, of views with `m` rows; returns the PTX."""
        module = read_runnable(self.text, "kernel.mlir")
        made = compiled(self.text, schedule=schedule)
        arguments = self._arguments(m, first, tiles, stride)
        run_ptx(made.ptx, module, "k", (1, 1, 1), arguments, check=True, seed=1)
        a, b, c = self._arguments(m, first, tiles, stride)[:3]
        wide = a.astype(np.float32) @ b.astype(np.float32)
        stored = min(64 * tiles, m - 64 * first)
        c[:stored] = wide[:stored]
        np.testing.assert_array_equal(arguments[2], c)
        reference = self._arguments(m, first, tiles, stride)
        tilewright.execute(module, "k", (1, 1, 1), reference)
        np.testing.assert_array_equal(reference[2], c)
        return made.ptx

    def _arguments(self, m: int, first: int, tiles: int, stride: int) -> list[Any]:
        numbers, width = np.random.default_rng(5), int(self.type[1:])
        a = numbers.integers(-2, 3, (ROWS, K)).astype(np.float16)
        b = numbers.integers(-2, 3, (K, COLUMNS)).astype(np.float16)
        c: Array = np.full((ROWS, COLUMNS), UNTOUCHED, np.float32)
        sizes = [_signed(each, width) for each in (m, stride, first, first + tiles)]
        return [a, b, c, -64 * first * stride, -64 * first * COLUMNS, *sizes]


def _signed(number: int, width: int) -> int:
    """The signed integer with the bits of an unsigned one."""
    return (number + (1 << width - 1)) % (1 << width) - (1 << width - 1)


@pytest.mark.parametrize(("type", "m", "first"), keep_first([
    ("i64", (1 << 32) + 64, 0),
    ("i64", (1 << 32) + 64, (1 << 26) - 2),
    ("i64", (1 << 31) + 40, (1 << 25) - 1),
    ("i64", 1 << 40, 1 << 30),
    ("i32", (1 << 31) + 40, (1 << 25) - 1),
    ("i32", (1 << 32) - 24, (1 << 26) - 3),
], 5))  # fmt: skip
@pytest.mark.parametrize("schedule", keep_first([BOTH, "agents=1"]))
def test_rows_that_coordinates_may_not_reach(type: str, m: int, first: int, schedule: str) -> None:
    """Nothing bounds the extents, so threads copy."""
    assert TMA not in Gemm(type).run(m, first, schedule=schedule)


@pytest.mark.parametrize(("gemm", "m", "first"), [
    (Gemm("i32", rows="0, ?"), (1 << 31) - 24, (1 << 25) - 3),
    (Gemm("i32", rows="0, ?"), (1 << 31) - 24, (1 << 25) - 2),
    (Gemm("i32", rows="0, ?"), (1 << 30) + 40, (1 << 24) - 1),
    (Gemm("i64", rows="0, 2147483648"), 1 << 31, (1 << 25) - 2),
    (Gemm("i64", tiles="0, 33554431"), (1 << 32) + 64, 0),
    (Gemm("i64", tiles="0, 33554431"), (1 << 32) + 64, (1 << 25) - 4),
    (Gemm("i32", tiles="0, 33554431"), (1 << 32) - 24, (1 << 25) - 4),
], ids=["last", "beyond", "middle", "all", "saturated", "saturated-last", "i32"])  # fmt: skip
@pytest.mark.parametrize("schedule", keep_first([BOTH, "agents=1"]))
def test_rows_that_coordinates_reach(gemm: Gemm, m: int, first: int, schedule: str) -> None:
    """The extents are at most 2**31, or else the tiles end there; tiles may be beyond."""
    assert TMA in gemm.run(m, first, schedule=schedule)


LIMIT: Final = 1 << 39
"""Elements of f16 that a stride of a tensor map has not."""


@pytest.mark.parametrize(("gemm", "stride", "is_tma"), [
    (Gemm("i64", rows="0, 64", stride=-1), LIMIT, False),
    (Gemm("i64", rows="0, 64", stride=-1, strides=f"0, {LIMIT}"), LIMIT, False),
    (Gemm("i64", rows="0, 64", stride=-1, strides=f"0, {LIMIT - 1}"), LIMIT - 16, True),
    (Gemm("i64", rows="0, 64", stride=LIMIT), LIMIT, False),
    (Gemm("i64", rows="0, 64", stride=LIMIT - 16), LIMIT - 16, True),
    (Gemm("i32", rows="0, ?", stride=-1), (1 << 32) - 16, True),
], ids=["unknown", "limit", "below", "static", "static-below", "i32"])  # fmt: skip
def test_strides(gemm: Gemm, stride: int, is_tma: bool) -> None:
    """Of a view with one row, so that memory need not have another."""
    assert (TMA in gemm.run(1, tiles=1, stride=stride)) == is_tma
