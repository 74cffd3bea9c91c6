"""Hints never break a program: a few kernels under extreme hints, through ptxas."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest
from hint_sweep import VALUES, Outcome, Row, attempt, covering_rows, read_kernel, with_hints
from repeats import keep_first

from tilewright.ir.operation import Operation

KERNELS = Path(__file__).parent.parent / "run" / "kernels"
# In the order of VALUES: occupancy, CTAs of a cluster, warps, latency, TMA.
EXTREMES: dict[str, Row] = {
    "most": (32, 4, 8, 10, 1),
    "crowded": (32, 1, 4, 1, 0),
    "cluster": (1, 4, 8, 1, 1),
    "half": (16, 2, 4, 10, None),
}


def gemm(rows: int, columns: int) -> Operation:
    """The kernel of the issue with a C7602: f16 with an f32 accumulator."""
    text = f"""
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %o: tile<ptr<f32>>, %n: tile<i32>) {{
  %va = make_tensor_view %a, shape = [{rows}, 4096], strides = [4096, 1] : tensor_view<{rows}x4096xf16, strides=[4096,1]>
  %vb = make_tensor_view %b, shape = [4096, {columns}], strides = [{columns}, 1] : tensor_view<4096x{columns}xf16, strides=[{columns},1]>
  %vo = make_tensor_view %o, shape = [{rows}, {columns}], strides = [{columns}, 1] : tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>
  %pa = make_partition_view %va : partition_view<tile=({rows}x64), tensor_view<{rows}x4096xf16, strides=[4096,1]>>
  %pb = make_partition_view %vb : partition_view<tile=(64x{columns}), tensor_view<4096x{columns}xf16, strides=[{columns},1]>>
  %po = make_partition_view %vo : partition_view<tile=({rows}x{columns}), tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %start = constant <f32: 0.0> : tile<{rows}x{columns}xf32>
  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<{rows}x{columns}xf32>) {{
    %x, %t0 = load_view_tko weak %pa[%zero, %i] : partition_view<tile=({rows}x64), tensor_view<{rows}x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<{rows}x64xf16>, token
    %y, %t1 = load_view_tko weak %pb[%i, %zero] : partition_view<tile=(64x{columns}), tensor_view<4096x{columns}xf16, strides=[{columns},1]>>, tile<i32> -> tile<64x{columns}xf16>, token
    %next = mmaf %x, %y, %acc : tile<{rows}x64xf16>, tile<64x{columns}xf16>, tile<{rows}x{columns}xf32>
    continue %next : tile<{rows}x{columns}xf32>
  }}
  %t2 = store_view_tko weak %sum, %po[%zero, %zero] : tile<{rows}x{columns}xf32>, partition_view<tile=({rows}x{columns}), tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>>, tile<i32> -> token
  return
}}
"""  # noqa: E501
    kernel = read_kernel("gemm", text)
    assert kernel is not None
    return kernel.module


def kernel_of(name: str) -> Operation:
    kernel = read_kernel(name, (KERNELS / f"{name}.mlir").read_bytes())
    assert kernel is not None
    return kernel.module


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("hints", keep_first(EXTREMES))
@pytest.mark.parametrize("name", ["attention", "gemm_types", "layer_norm", "scan", "split_k"])
def test_kernels_compile_under_extreme_hints(name: str, hints: str) -> None:
    outcome = attempt(with_hints(kernel_of(name), EXTREMES[hints]), "sm_90", {})
    assert outcome.kind == "cubin", outcome.why


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize(
    ("rows", "columns", "occupancy"), keep_first([(128, 256, 2), (128, 128, 4), (128, 256, 32)], 2)
)
def test_accumulators_are_worth_more_than_occupancy(
    rows: int, columns: int, occupancy: int
) -> None:
    hints: Row = (occupancy, 1, None, None, None)
    outcome = attempt(with_hints(gemm(rows, columns), hints), "sm_90", {})
    assert outcome == Outcome("cubin", relaxed=frozenset({"RemarkOccupancyRelaxed"}))


def test_rows_cover_all_pairs_of_values() -> None:
    rows = covering_rows(1)
    for first, second in combinations(range(len(VALUES)), 2):
        pairs = {(row[first], row[second]) for row in rows}
        values = list(VALUES.values())
        assert pairs == set(product(values[first], values[second]))
    # The combinations of all values are 486.
    assert len(rows) < 30
