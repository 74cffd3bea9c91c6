"""Launches of kernels of cuTile Python without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from cuda.tile.compilation import export_kernel

import tilewright
import tilewright.cutile
from tilewright.cutile.signatures import Arguments
from tilewright.driver.emulate import emulate


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
