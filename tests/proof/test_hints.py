"""Hints never break a program: a few kernels under extreme hints, through ptxas."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest
from gemm_text import KLoop, kernel, zeros
from hint_sweep import VALUES, Outcome, Row, attempt, covering_rows, read_kernel, with_hints
from matrix_programs import View
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
    a = View("a", (rows, 4096), (4096, 1), (rows, 64), "f16", aligned=False)
    b = View("b", (4096, columns), (columns, 1), (64, columns), "f16", aligned=False)
    c = View("c", (rows, columns), (columns, 1), (rows, columns), "f32", aligned=False)
    loop = KLoop(a, b, c.tile_type).text()
    body = f"{zeros(c.tile_type)}\n{loop}\n{c.store('%sum')}"
    read = read_kernel("gemm", kernel([a, b, c], body, arguments="%n: tile<i32>"))
    assert read is not None
    return read.module


def kernel_of(name: str) -> Operation:
    read = read_kernel(name, (KERNELS / f"{name}.mlir").read_bytes())
    assert read is not None
    return read.module


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("hints", keep_first(EXTREMES))
@pytest.mark.parametrize(
    "name", keep_first(["attention", "layer_norm", "scan", "split_k", "gemm_types"], 4)
)
def test_kernels_compile_under_extreme_hints(name: str, hints: str) -> None:
    outcome = attempt(with_hints(kernel_of(name), EXTREMES[hints]), "sm_90", {})
    assert outcome.kind == "cubin", outcome.why


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize(
    ("rows", "columns", "occupancy"), keep_first([(128, 256, 2), (128, 128, 4), (128, 256, 32)])
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
