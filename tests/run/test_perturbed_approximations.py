"""Results that are specified bit for bit do not depend on how a GPU approximates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright
from tilewright.driver.array_text import ELEMENTS
from tilewright.driver.emulate import compile_kernel, run_ptx
from tilewright.reference.tile import DTYPES
from tilewright.testing.compare import array_difference

SEEDS = range(1, 5)
COUNT = 128
"""One element of each thread."""
EXACT = {
    "divf": ("f16", "bf16", "f32", "f64"),
    "remf": ("f16", "bf16", "f32", "f64"),
    "sqrt": ("f16", "bf16", "f32", "f64"),
    "divi": ("i8", "i16", "i32", "i64"),
    "remi": ("i8", "i16", "i32", "i64"),
}
CASES = [(op, type) for op, types in EXACT.items() for type in types]


def program(op: str, type: str) -> str:
    """`z = op(x, y)`."""
    tile, view = f"tile<{COUNT}x{type}>", f"tensor_view<{COUNT}x{type}, strides=[1]>"
    part = f"partition_view<tile=({COUNT}), {view}>"
    loads = "".join(
        f"""
    %{name}t = make_tensor_view %{name}p, shape = [{COUNT}], strides = [1] : {view}
    %{name}v = make_partition_view %{name}t : {part}
    %{name}, %{name}k = load_view_tko weak %{name}v[%zero] : {part}, tile<i32> -> {tile}, token"""
        for name in "xyz"
    )
    operands = "%x" if op == "sqrt" else "%x, %y"
    how = " signed" if op.endswith("i") else " rounding<nearest_even>" if op != "remf" else ""
    return f"""cuda_tile.module @m {{
  entry @k(%xp: tile<ptr<{type}>>, %yp: tile<ptr<{type}>>, %zp: tile<ptr<{type}>>) {{
    %zero = constant <i32: 0> : tile<i32>{loads}
    %r = {op} {operands}{how} : {tile}
    %t = store_view_tko weak %r, %zv[%zero] : {tile}, {part}, tile<i32> -> token
    return
  }}
}}"""


def operands(op: str, type: str) -> list[NDArray[np.generic]]:
    """Numbers of all sizes, the second ones other than zero, and an array for the results.

    A remainder takes an iteration for some bits of the quotient, of which f64 may have 2000.
    """
    dtype = DTYPES[ELEMENTS[type]]
    random = np.random.default_rng(9)
    if type.startswith("i"):
        limits = np.iinfo(dtype)
        x, y = (random.integers(limits.min, limits.max, COUNT, dtype) for _ in range(2))
        return [x, np.where(np.abs(y) < 2, 7, y).astype(dtype), np.zeros_like(x)]
    most = {"f16": 14, "bf16": 120, "f32": 120, "f64": 200 if op == "remf" else 1000}[type]
    x, y = (
        np.ldexp(random.uniform(1, 2, COUNT), random.integers(-most, most, COUNT)).astype(dtype)
        for _ in range(2)
    )
    return [x, y, np.zeros_like(x)]


@pytest.mark.parametrize(("op", "type"), CASES)
def test_exact_results_under_all_seeds(op: str, type: str) -> None:
    module = tilewright.read(program(op, type))
    expected = operands(op, type)
    tilewright.execute(module, "k", 1, expected)
    ptx = compile_kernel(module, "k", "sm_90")
    for seed in SEEDS:
        actual = operands(op, type)
        run_ptx(ptx, module, "k", 1, actual, perturb=seed)
        assert array_difference(actual[2], expected[2]) is None
