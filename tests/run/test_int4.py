"""Programs on 4-bit elements in memory, for GPUs with and without 4-bit mma."""

from __future__ import annotations

import copy
from itertools import product
from pathlib import Path
from typing import Final

import ml_dtypes
import numpy as np
import pytest
from programs import Run, parse_runs, problems
from repeats import keep

import tilewright

FLOAT = "f4E2M1FN"
PROGRAMS = Path(__file__).parent / "view" / "nibbles.mlir"


@pytest.mark.parametrize("run", parse_runs(PROGRAMS.read_text()), ids=lambda run: run.entry)
def test_programs_for_blackwell(run: Run) -> None:
    before = run.values()
    after = copy.deepcopy(before)
    tilewright.execute(
        PROGRAMS.read_text(), run.entry, run.grid, list(after.values()), "emulator",
        check=True, arch="sm_100",
    )  # fmt: skip
    assert list(problems(run, before, after)) == []


def viewed(name: str, tensor: str, strides: str, tile: str, makes: str) -> str:
    """Create a view of the tensor at a pointer."""
    type = f"tensor_view<{tensor}, strides=[{strides}]>"
    return f"""%{name}t = make_tensor_view %{name}, {makes}{type}
      %{name}v = make_partition_view %{name}t : partition_view<tile=({tile}), {type}>
      """


def scaled_dot(m: int, n: int, k: int, tile_k: int, block: int, scale: str) -> str:
    """Compute `c = a @ b` in 16x8 tiles, operands with a scale per block; b is column-major."""
    row, column = f"{m}x{k}x{FLOAT}", f"{k}x{n}x{FLOAT}"
    parts = tile_k // block
    views = {
        "a": (row, "?,1", f"16x{tile_k}",
              f"shape = [{m}, {k}], strides = [%lda, 1] : tile<i32> -> "),
        "b": (column, f"1,{k}", f"{tile_k}x8", f"shape = [{k}, {n}], strides = [1, {k}] : "),
        "s": (f"{m}x{k // block}x{scale}", f"{k // block},1", f"16x{parts}",
              f"shape = [{m}, {k // block}], strides = [{k // block}, 1] : "),
        "q": (f"{k // block}x{n}x{scale}", f"{n},1", f"{parts}x8",
              f"shape = [{k // block}, {n}], strides = [{n}, 1] : "),
        "c": (f"{m}x{n}xf32", f"{n},1", "16x8", f"shape = [{m}, {n}], strides = [{n}, 1] : "),
    }  # fmt: skip
    made = "".join(viewed(name, *parts) for name, parts in views.items())
    types = {
        name: f"partition_view<tile=({tile}), tensor_view<{tensor}, strides=[{strides}]>>"
        for name, (tensor, strides, tile, _) in views.items()
    }
    tiles = {
        name: f"tile<{tile}x{tensor.split('x')[2]}>" for name, (tensor, _, tile, _) in views.items()
    }
    indices = {"a": "%x, %d", "b": "%d, %y", "s": "%x, %d", "q": "%d, %y"}
    loads = "".join(
        f"%{name}x, %{name}k = load_view_tko weak %{name}v[{at}] : {types[name]}, tile<i32> "
        f"-> {tiles[name]}, token\n      "
        for name, at in indices.items()
    )
    pointers = ", ".join(f"%{name}: tile<ptr<{FLOAT}>>" for name in "ab")
    scales = ", ".join(f"%{name}: tile<ptr<{scale}>>" for name in "sq")
    return f"""cuda_tile.module @m {{
    entry @k({pointers}, {scales}, %c: tile<ptr<f32>>, %stride: tile<i32>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %lda = assume div_by<32>, %stride : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %end = constant <i32: {k // tile_k}> : tile<i32>
      %none = constant <f32: 0.0> : tile<16x8xf32>
      {made}%r = for %d in (%zero to %end, step %one) : tile<i32> iter_values(%t = %none) -> ({tiles["c"]}) {{
      {loads}%u = mmaf_scaled %ax, %bx, %t, %sx, %qx :
        {tiles["a"]}, {tiles["b"]}, {tiles["c"]}, {tiles["s"]}, {tiles["q"]}
      continue %u : {tiles["c"]}
      }}
      %w = store_view_tko weak %r, %cv[%x, %y] : {tiles["c"]}, {types["c"]}, tile<i32> -> token
      return
    }} }}"""  # noqa: E501


SCALES: Final = {
    "f8E4M3FN": (16, ml_dtypes.float8_e4m3fn),
    "f8E8M0FNU": (32, ml_dtypes.float8_e8m0fnu),
}
EMULATED: Final = (("f8E4M3FN", "sm_100"), ("f8E8M0FNU", "sm_80"), ("f8E8M0FNU", "sm_120"))
"""What `make test` emulates."""


@pytest.mark.parametrize(
    ("scale", "arch"),
    keep(
        product(SCALES, (None, "sm_80", "sm_100", "sm_120")),
        lambda case: case[1] is None or case in EMULATED,
    ),
)
def test_scaled_dot_of_operands_in_memory(scale: str, arch: str | None) -> None:
    """Scales are powers of two, so multiplications and accumulation are exact."""
    block, dtype = SCALES[scale]
    m, n, k = 32, 16, 128
    random = np.random.default_rng(block)
    # Rows of a are farther apart than they are long.
    a, b = (
        random.integers(0, 256, (m, 96), np.uint8),
        random.integers(0, 256, (n, k // 2), np.uint8),
    )
    p, q = (
        (2.0 ** random.integers(-2, 3, shape)).astype(dtype)
        for shape in ((m, k // block), (k // block, n))
    )
    c = np.zeros((m, n), np.float32)
    wide_a = fp4_values(a)[:, :k] * p.astype(np.float64).repeat(block, axis=1)
    wide_b = fp4_values(b).T * q.astype(np.float64).repeat(block, axis=0)
    arguments = [a.view(np.int8), b.view(np.int8), p, q, c, 192]
    text = scaled_dot(m, n, k, 64, block, scale)
    on = "cpu" if arch is None else "emulator"
    tilewright.execute(text, "k", (2, 2), arguments, on, check=True, arch=arch)
    np.testing.assert_array_equal(c, (wide_a @ wide_b).astype(np.float32))


def fp4_values(packed: np.ndarray) -> np.ndarray:
    """Decode the f4E2M1FN values of an array of bytes with ml_dtypes."""
    patterns = np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(packed), -1)
    return patterns.astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float64)


def test_memcheck_sees_views_at_no_address() -> None:
    text = f"""cuda_tile.module @m {{ entry @k(%n: tile<i64>, %out: tile<ptr<{FLOAT}>>) {{
      %i = constant <i32: 0> : tile<i32>
      %p = int_to_ptr %n : tile<i64> -> tile<ptr<{FLOAT}>>
      {viewed("p", f"8x{FLOAT}", "1", "8", "shape = [8], strides = [1] : ")}
      {viewed("out", f"8x{FLOAT}", "1", "8", "shape = [8], strides = [1] : ")}
      %x, %t = load_view_tko weak %pv[%i] :
        partition_view<tile=(8), tensor_view<8x{FLOAT}, strides=[1]>>, tile<i32> -> tile<8x{FLOAT}>, token
      %u = store_view_tko weak %x, %outv[%i] : tile<8x{FLOAT}>,
        partition_view<tile=(8), tensor_view<8x{FLOAT}, strides=[1]>>, tile<i32> -> token
      return }} }}"""  # noqa: E501
    with pytest.raises(tilewright.UserError, match="of a view at a null or misaligned address"):
        tilewright.execute(
            text, "k", 1, [0, np.zeros(4, np.int8)], "emulator",
            check=True, arch="sm_90", sanitize=True,
        )  # fmt: skip
