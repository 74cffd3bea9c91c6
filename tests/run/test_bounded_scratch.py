"""Operations that would stage more than shared memory holds: they take iterations, or registers."""

from __future__ import annotations

import numpy as np
import pytest
from repeats import keep_first
from scratch_programs import aggregated, kernel, whole

import tilewright
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_BYTES
from tilewright.driver.compile import Compilation, target
from tilewright.driver.settings import Settings
from tilewright.ir.attributes import IntegerAttr


def scratch_bytes(text: str) -> int:
    """The shared memory of a kernel for sm_80, as planned."""
    compilation = Compilation(tilewright.read(text), Settings(target("sm_80")))
    compilation.lower("nv_tileas")
    (function,) = [op for op in compilation.module.walk() if isinstance(op, FuncOp)]
    bytes = function.attributes[SCRATCH_BYTES]
    assert isinstance(bytes, IntegerAttr)
    return bytes.value


# For each k, rows of A and columns of B take 48 KiB, all that a block of sm_80 has, and 128.
@pytest.mark.parametrize("shape", keep_first(map(pytest.param, [(8192, 2, 2, 1), (1024, 4, 8, 2)])))
def test_threads_hold_the_operands_of_many_small_dots(shape: tuple[int, int, int, int]) -> None:
    batch, m, n, k = shape
    views = [
        whole(name, extents, "f32")
        for name, extents in (("a", (batch, m, k)), ("b", (batch, k, n)), ("c", (batch, m, n)))
    ]
    a, b, c = (each.tile_type for each in views)
    dot = f"%none = constant <f32: 0.0> : {c}\n%d = mmaf %x0, %x1, %none : {a}, {b}, {c}"
    random = np.random.default_rng(0)
    left = random.integers(-4, 5, (batch, m, k)).astype(np.float32)
    right = random.integers(-4, 5, (batch, k, n)).astype(np.float32)
    result = np.full((batch, m, n), np.nan, np.float32)
    arguments = [left, right, result]
    tilewright.execute(kernel(views, dot, ["%d"]), "k", 1, arguments, on="emulator", arch="sm_80")
    np.testing.assert_array_equal(result, left @ right)


def test_the_totals_of_a_scan_take_iterations() -> None:
    """One slot of 8 bytes for each 128 elements of 12 sources would be 24 KiB."""
    assert scratch_bytes(aggregated("scan", ["f64"] * 12, (32768,))) <= 2 * 16 * 1024


# Of 16 elements, a thread has four totals for each source: of 64 bytes, each takes an iteration.
@pytest.mark.parametrize("limit", [16 * 1024, 64])
def test_warps_scan_their_totals_in_iterations(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.plans.scratch.LIMIT", limit)
    elements, shape = ["i64", "f32", "i64"], (2048,)
    given = [np.arange(2048).astype(dtype) % 9 for dtype in (np.int64, np.float32, np.int64)]
    results = [np.zeros_like(each) for each in given]
    text = aggregated("scan", elements, shape)
    tilewright.execute(text, "k", 1, [*given, *results], on="emulator", check=True)
    for source, result in zip(given, results, strict=True):
        np.testing.assert_array_equal(result, np.cumsum(source))


@pytest.mark.parametrize("limit", [16 * 1024, 256])
def test_warps_exchange_lines_of_five_bytes_in_iterations(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes of a line are those of all sources together, and no power of two."""
    monkeypatch.setattr("tilewright.layout.pieces.LIMIT", limit)
    shape = (32, 256)
    first = np.arange(32 * 256, dtype=np.float32).reshape(shape) % 7
    second = (first + 1).astype(np.int8)
    result, other = np.full(shape[1], np.nan, np.float32), np.zeros(shape[1], np.int8)
    text = aggregated("reduce", ["f32", "i8"], shape)
    tilewright.execute(text, "k", 1, [first, second, result, other], on="emulator", check=True)
    np.testing.assert_array_equal(result, first.sum(axis=0))
    np.testing.assert_array_equal(other, second.sum(axis=0, dtype=np.int8))


def test_warps_exchange_many_sources_one_after_another() -> None:
    """Slots of 8 bytes for each of 64 sources, 32 lines and 4 warps would be 64 KiB."""
    shape = (4, 32)
    random = np.random.default_rng(0)
    given = [random.integers(-99, 100, shape).astype(np.float64) for _ in range(64)]
    text = aggregated("reduce", ["f64"] * 64, shape)
    assert scratch_bytes(text) <= 2 * 16 * 1024
    results = [[np.full(shape[1], np.nan) for _ in given] for _ in range(2)]
    tilewright.execute(text, "k", 1, [*given, *results[0]], on="cpu")
    arguments = [*given, *results[1]]
    tilewright.execute(text, "k", 1, arguments, on="emulator", arch="sm_80", check=True)
    np.testing.assert_array_equal(results[0], np.sum(given, axis=1))
    np.testing.assert_array_equal(results[1], results[0])


# Of 64 bytes, each source takes an exchange of its own in each of several iterations.
def test_sources_of_several_sizes_take_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.layout.pieces.LIMIT", 64)
    monkeypatch.setattr("tilewright.plans.scratch.LIMIT", 64)
    elements, shape = ["i64", "f32", "i8", "i64"], (32, 256)
    types = (np.int64, np.float32, np.int8, np.int64)
    given = [
        np.arange(32 * 256).reshape(shape).astype(type) % (n + 5) for n, type in enumerate(types)
    ]
    results = [np.zeros(shape[1], type) for type in types]
    text = aggregated("reduce", elements, shape)
    tilewright.execute(text, "k", 1, [*given, *results], on="emulator", check=True)
    for source, result in zip(given, results, strict=True):
        np.testing.assert_array_equal(result, source.sum(axis=0, dtype=source.dtype))
