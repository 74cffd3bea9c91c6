"""The GEMM variants of `benchmarks/variant_cases.py` on small operands, against NumPy in f32."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import gemm_variants
from cutile_launches import emulated, interpreted
from variant_arrays import NumpyArrays
from variant_cases import VARIANTS, Variant

TOLERANCE = 5e-3
"""As a fraction of the largest element: a little more than the rounding of bf16."""


def check(variant: Variant, run: Callable[[Any, Any, Any], None]) -> None:
    launch = variant.build(NumpyArrays(), *variant.small, variant.dtype)
    expected: Any = launch.expected()
    assert np.abs(expected).max() > 0
    run(launch.grid, launch.kernel, launch.arguments)
    difference = np.abs(launch.result.astype(np.float32) - expected).max()
    assert difference <= TOLERANCE * np.abs(expected).max()


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_result(variant: Variant) -> None:
    check(variant, interpreted)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_compiled_result(variant: Variant) -> None:
    check(variant, emulated)


def test_names_are_unique() -> None:
    names = [name for name, _, _ in gemm_variants.cases("")]
    assert len(names) == len(set(names))


def test_times_of_another_run() -> None:
    output = (
        "raster 4096x4096x4096 128x128x64 (chosen) 211.5 us 650 TFLOP/s, differs by 0.0003\n"
        "swiglu 4096x4096x4096 128x128x64 (chosen) rejected: no registers left\n"
    )
    assert gemm_variants.times_of(output) == {"raster 4096x4096x4096 128x128x64": 211.5}
