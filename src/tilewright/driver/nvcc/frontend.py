"""Compile CUDA Tile C++ to Tile IR bytecode, by nvcc."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Final

from tilewright.driver.files import FileError, read_input
from tilewright.driver.nvcc.launch import run_tool
from tilewright.driver.nvcc.toolkit import find_nvcc
from tilewright.driver.termination import unwinding_on_termination
from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Sequence

OPTIONS: Final = ("--enable-tile", "-std=c++20", "--tilebc")
_STANDARD_ERROR: Final = 2
_STAND_IN: Final = b"__$dummy_kernel"
"""The kernel that nvcc writes for a file without kernels."""


def compile_cuda(path: str, arch: str, *, device_debug: bool = False) -> bytes:
    """Return the Tile IR bytecode of the kernels in a CUDA C++ file.

    nvcc's own diagnostics go to standard error as they are. Raises `tilewright.Error` if there are
    errors, or no nvcc that compiles CUDA Tile C++.
    """
    read_input(path)  # a file that cannot be read is reported as any other
    nvcc = find_nvcc()
    # Lines are for our diagnostics; variables, for a debugger, need unoptimized bytecode.
    debug = "-G" if device_debug else "-lineinfo"
    # A name that starts with a dash would be an option.
    source = os.path.join(".", path) if path.startswith("-") else path
    with unwinding_on_termination():
        return _bytecode([nvcc.path, *OPTIONS, "-arch", arch, debug, source], path)


def _bytecode(command: Sequence[str], path: str) -> bytes:
    try:
        with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
            output = os.path.join(folder, "kernels.tilebc")
            # Standard output may be that of the caller's cubin.
            code = run_tool([*command, "-o", output], stdout=_STANDARD_ERROR).returncode
            if code:
                how = f"exit code {code}" if code > 0 else f"signal {-code}"
                fail(f"nvcc does not compile '{path}': it ended with {how}")
            data, _ = read_input(output)
    except OSError as error:
        raise FileError(f"cannot make a temporary folder: {error.strerror}") from error
    if _STAND_IN in data:
        fail(f"expected CUDA Tile kernels (`__tile_global__`) in '{path}', found none")
    return data
