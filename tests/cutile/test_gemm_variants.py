"""The GEMM variants of `benchmarks/variant_cases.py` on small operands, against NumPy in f32."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
cutile = pytest.importorskip("tilewright.cutile")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import gemm_variants  # noqa: E402
from cuda.tile.compilation import export_kernel  # noqa: E402
from variant_arrays import NumpyArrays  # noqa: E402
from variant_cases import VARIANTS, Variant  # noqa: E402
from variant_launches import Launch  # noqa: E402

from tilewright.cutile.signatures import Arguments  # noqa: E402
from tilewright.driver.emulate import emulate  # noqa: E402

TOLERANCE = 5e-3
"""As a fraction of the largest element: a little more than the rounding of bf16."""


def interpreted(launch: Launch) -> None:
    """Run the Tile IR of a kernel, and look for races and uninitialised memory."""
    cutile.launch(launch.grid, launch.kernel, launch.arguments, check=True)


def emulated(launch: Launch) -> None:
    """Run the PTX of a kernel for sm_90."""
    given, code = Arguments(launch.kernel, launch.arguments), BytesIO()
    export_kernel(
        launch.kernel,
        [given.signature],
        code,
        output_format="tileir_bytecode",
        bytecode_version="13.4",
    )
    module, name = tilewright.read(code.getvalue()), given.signature.symbol
    emulate(module, name, launch.grid, given.parameters, arch="sm_90")


def check(variant: Variant, run: Callable[[Launch], None]) -> None:
    launch = variant.build(NumpyArrays(), *variant.small, variant.dtype)
    expected: Any = launch.expected()
    assert np.abs(expected).max() > 0
    run(launch)
    difference = np.abs(launch.result.astype(np.float32) - expected).max()
    assert difference <= TOLERANCE * np.abs(expected).max()


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_result(variant: Variant) -> None:
    check(variant, interpreted)


@pytest.mark.sampled(12)
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
