"""Dots with operands that are computed rather than loaded, run on the emulator."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray
from repeats import keep

import tilewright

M, N, K = 64, 32, 32
SCALAR: Final = 3.0
SHAPES: Final = {"a": (M, K), "b": (K, N)}


def loaded(name: str) -> str:
    """Load all of A or B."""
    rows, columns = SHAPES[name]
    tensor = f"tensor_view<{rows}x{columns}xf16, strides=[{columns},1]>"
    view = f"partition_view<tile=({rows}x{columns}), {tensor}>"
    return f"""
    %{name}p = assume div_by<16>, %p{name} : tile<ptr<f16>>
    %{name}t = make_tensor_view %{name}p, shape = [{rows}, {columns}], strides = [{columns}, 1]
        : {tensor}
    %{name}v = make_partition_view %{name}t : {view}
    %{name}, %{name}1 = load_view_tko weak %{name}v[%zero, %zero]
        : {view}, tile<i32> -> tile<{rows}x{columns}xf16>, token"""


def computed(name: str, kind: str) -> str:
    """Compute A or B: a constant, an argument in each element, or the number of the column."""
    rows, columns = SHAPES[name]
    tile = f"tile<{rows}x{columns}xf16>"
    if kind == "constant":
        return f"%{name} = constant <f16: 2.0> : {tile}"
    if kind == "scalar":
        return f"""
    %{name}1 = reshape %s : tile<f16> -> tile<1x1xf16>
    %{name} = broadcast %{name}1 : tile<1x1xf16> -> {tile}"""
    return f"""
    %{name}1 = iota : tile<{columns}xi32>
    %{name}2 = itof %{name}1 signed : tile<{columns}xi32> -> tile<{columns}xf16>
    %{name}3 = reshape %{name}2 : tile<{columns}xf16> -> tile<1x{columns}xf16>
    %{name} = broadcast %{name}3 : tile<1x{columns}xf16> -> {tile}"""


def values(name: str, kind: str) -> NDArray[Any]:
    """What `computed` computes."""
    row = {"constant": 2.0, "scalar": SCALAR, "ramp": np.arange(SHAPES[name][1])}[kind]
    return np.broadcast_to(np.asarray(row, np.float64), SHAPES[name])


KINDS: Final = ("constant", "scalar", "ramp")
ON_SM_80: Final = (("a", "constant"), ("b", "scalar"), ("ab", "ramp"))
"""What `make test` tries on sm_80."""


@pytest.mark.parametrize(
    ("which", "kind", "arch"),
    keep(
        product(("a", "b", "ab"), KINDS, ("sm_80", "sm_90")),
        lambda case: case[2] == "sm_90" or case[:2] in ON_SM_80,
    ),
)
def test_computed_operands(which: str, kind: str, arch: str) -> None:
    operands = "\n".join(computed(n, kind) if n in which else loaded(n) for n in "ab")
    c = f"tensor_view<{M}x{N}xf32, strides=[{N},1]>"
    view = f"partition_view<tile=({M}x{N}), {c}>"
    text = f"""
cuda_tile.module @m {{
  entry @k(%pa: tile<ptr<f16>>, %pb: tile<ptr<f16>>, %pc: tile<ptr<f32>>, %s: tile<f16>) {{
    %zero = constant <i32: 0> : tile<i32>
    {operands}
    %none = constant <f32: 0.0> : tile<{M}x{N}xf32>
    %c = mmaf %a, %b, %none : tile<{M}x{K}xf16>, tile<{K}x{N}xf16>, tile<{M}x{N}xf32>
    %ct = make_tensor_view %pc, shape = [{M}, {N}], strides = [{N}, 1] : {c}
    %cv = make_partition_view %ct : {view}
    %t = store_view_tko weak %c, %cv[%zero, %zero]
        : tile<{M}x{N}xf32>, {view}, tile<i32> -> token
    return
  }}
}}"""
    numbers = np.random.default_rng(1)
    in_memory = {n: numbers.integers(-3, 4, SHAPES[n]).astype(np.float16) for n in "ab"}
    actual = np.full((M, N), 99, np.float32)
    arguments = [in_memory["a"], in_memory["b"], actual, np.float16(SCALAR)]
    tilewright.execute(text, "k", 1, arguments, "emulator", check=True, arch=arch)
    a, b = (values(n, kind) if n in which else in_memory[n].astype(np.float64) for n in "ab")
    assert np.array_equal(actual, a @ b)
