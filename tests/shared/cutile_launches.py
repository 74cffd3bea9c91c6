"""Launches of kernels of cuTile Python without a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from cuda.tile.compilation import export_kernel

import tilewright
import tilewright.cutile
from tilewright.cutile.signatures import Arguments
from tilewright.driver.emulate import emulate

if TYPE_CHECKING:
    from variant_sizes import Variant


def interpreted(grid: int | Sequence[int], kernel: Any, arguments: Sequence[Any]) -> None:
    """Run the Tile IR of a kernel, and look for races and uninitialised memory."""
    tilewright.cutile.launch(grid, kernel, arguments, check=True)


def emulated(grid: int | Sequence[int], kernel: Any, arguments: Sequence[Any]) -> None:
    """Run the PTX of a kernel for sm_90."""
    given, code = Arguments(kernel, arguments), BytesIO()
    export_kernel(
        kernel, [given.signature], code, output_format="tileir_bytecode", bytecode_version="13.4"
    )
    module, name = tilewright.read(code.getvalue()), given.signature.symbol
    emulate(module, name, grid, given.parameters, arch="sm_90")


def check_variant(
    variant: Variant, run: Callable[[Any, Any, Any], None], tolerance: float | None = None
) -> None:
    """Compare the results of a variant's small size with those of NumPy.

    The tolerance is a fraction of the largest element; by default it is that on the GPU.
    """
    from variant_arrays import NumpyArrays  # noqa: PLC0415

    launch = variant.build(NumpyArrays(), *variant.small, variant.dtype)
    for step in launch.steps:
        run(step.grid, step.kernel, step.arguments)
    for result, expected in launch.compared():
        assert np.abs(expected).max() > 0
        difference = np.abs(result.astype(np.float32) - expected).max()
        assert difference <= (tolerance or launch.tolerance) * np.abs(expected).max()
