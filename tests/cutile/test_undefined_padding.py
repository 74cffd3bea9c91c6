"""Checked runs report reductions and dots over undefined padding, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.reference.errors import ExecutionError, Fault

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
cutile = pytest.importorskip("tilewright.cutile")

ConstInt = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def reduce_rows(x, y, rows: ConstInt, columns: ConstInt):
    tile = ct.load(x, (ct.bid(0), 0), (rows, columns))
    ct.store(y, (ct.bid(0),), ct.sum(tile * 2, axis=1))


@ct.kernel
def reduce_padded(x, y, rows: ConstInt, columns: ConstInt):
    tile = ct.load(x, (ct.bid(0), 0), (rows, columns), padding_mode=ZERO)
    ct.store(y, (ct.bid(0),), ct.sum(tile, axis=1))


@ct.kernel
def reduce_masked(x, y, rows: ConstInt, columns: ConstInt):
    tile = ct.load(x, (ct.bid(0), 0), (rows, columns))
    inside = ct.arange(columns, dtype=ct.int32)[None, :] < x.shape[1]
    ct.store(y, (ct.bid(0),), ct.sum(ct.where(inside, tile, 0.0), axis=1))


@ct.kernel
def copies(x, y, rows: ConstInt, columns: ConstInt):
    ct.store(y, (ct.bid(0), 0), ct.exp(ct.load(x, (ct.bid(0), 0), (rows, columns))))


@ct.kernel
def accumulate(x, y, rows: ConstInt, columns: ConstInt):
    ct.store(y, (0, 0), ct.cumsum(ct.load(x, (0, 0), (rows, columns)), axis=1))


@ct.kernel
def reduce_in_a_loop(x, y, rows: ConstInt, columns: ConstInt):
    result = ct.zeros((rows,), dtype=ct.float32)
    for step in range(ct.num_tiles(x, 1, (rows, columns))):
        result = result + ct.sum(ct.load(x, (0, step), (rows, columns)), axis=1)
    ct.store(y, (0,), result)


@ct.kernel
def dots(x, y, z, rows: ConstInt, columns: ConstInt):
    zero = ct.zeros((rows, rows), dtype=ct.float32)
    a = ct.load(x, (0, 0), (rows, columns))
    b = ct.load(y, (0, 0), (columns, rows), padding_mode=ZERO)
    ct.store(z, (0, 0), ct.mma(a, b, zero))


@ct.kernel
def adds(x, y, size: ConstInt):
    ct.atomic_add(y, 0, ct.sum(ct.load(x, (0,), (size,))))


def run(kernel: Any, *arguments: Any, grid: int = 1) -> None:
    cutile.launch(grid, kernel, arguments, check=True)


def report(kernel: Any, *arguments: Any) -> str:
    with pytest.raises(ExecutionError) as caught:
        run(kernel, *arguments)
    assert caught.value.fault is Fault.UNDEFINED
    return str(caught.value)


def numbers(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def test_reductions_over_undefined_padding_are_reported() -> None:
    text = report(reduce_rows, numbers(8, 12), np.zeros(8, np.float32), 8, 16)
    assert "error: ct.sum: combines elements in bounds with undefined ones" in text
    assert "note: ct.load: leaves elements out of bounds undefined" in text
    assert "note: ct.store: stores the result" in text


def test_reductions_in_a_loop_are_reported_at_the_sum() -> None:
    text = report(reduce_in_a_loop, numbers(8, 20), np.zeros(8, np.float32), 8, 16)
    assert "error: ct.sum: combines" in text


def test_scans_are_reported_after_the_padding_only() -> None:
    y = np.zeros((8, 12), np.float32)
    run(accumulate, numbers(8, 12), y, 8, 16)
    assert "ct.cumsum: combines" in report(
        accumulate, numbers(8, 12), np.zeros((8, 16), np.float32), 8, 16
    )


def test_dots_over_undefined_padding_are_reported() -> None:
    text = report(dots, numbers(16, 12), numbers(12, 16), np.zeros((16, 16), np.float32), 16, 16)
    assert "error: ct.mma: combines" in text


def test_atomic_operands_are_reported() -> None:
    text = report(adds, numbers(12), np.zeros(1, np.float32), 16)
    assert "note: ct.atomic_add: stores the result" in text


@pytest.mark.parametrize("kernel", [reduce_padded, reduce_masked], ids=["padded", "masked"])
def test_defined_reductions_are_correct(kernel: Any) -> None:
    x, y = numbers(8, 12), np.zeros(8, np.float32)
    run(kernel, x, y, 8, 16)
    np.testing.assert_allclose(y, x.sum(axis=1), rtol=1e-5)


def test_reductions_of_rows_out_of_bounds_are_not_stored() -> None:
    x, y = numbers(6, 16), np.zeros(6, np.float32)
    run(reduce_rows, x, y, 4, 16, grid=2)
    np.testing.assert_allclose(y, 2 * x.sum(axis=1), rtol=1e-5)


def test_elementwise_results_out_of_bounds_are_not_stored() -> None:
    x, y = numbers(6, 12), np.zeros((6, 12), np.float32)
    run(copies, x, y, 4, 16, grid=2)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-5)


def test_rows_of_a_dot_out_of_bounds_are_not_stored() -> None:
    x, y, z = numbers(12, 16), numbers(16, 16), np.zeros((12, 16), np.float32)
    run(dots, x, y, z, 16, 16)
    np.testing.assert_allclose(z, x @ y, rtol=1e-4, atol=1e-4)


def test_runs_without_checks_are_unchanged() -> None:
    y = np.zeros(8, np.float32)
    cutile.launch(1, reduce_rows, (numbers(8, 12), y, 8, 16))
    assert np.isfinite(y).all()
