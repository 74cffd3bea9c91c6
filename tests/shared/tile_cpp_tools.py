"""nvcc for tests of CUDA Tile C++, and what it needs to be installed."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import tilewright
from tilewright.driver.nvcc.toolkit import Nvcc, find_nvcc
from tilewright.support.diagnostics import Unsupported

PROGRAMS = Path(__file__).parents[1] / "nvcc" / "programs"
OPTIONS = ("--enable-tile", "-std=c++20", "-arch=sm_90")


def run_nvcc(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run nvcc with our compiler on a program of the tests; skips the test if it cannot."""
    program = PROGRAMS / f"{name}.cu"
    if reason := missing_nvcc(program):
        pytest.skip(reason)
    return tilewright.nvcc([*OPTIONS, program, *options], capture=True)


@cache
def missing_nvcc(program: Path | None = None) -> str:
    """Why nvcc cannot compile CUDA Tile C++, or a program, here; empty if it can."""
    try:
        nvcc = find_nvcc()
    except Unsupported as error:
        return str(error)
    if shutil.which("g++") is None:
        return "nvcc needs a host compiler: g++"
    if program is not None and needs_cccl(program) and not has_cccl(nvcc):
        return "cuda_fp16.h needs the headers of CCCL (PyPI: nvidia-cuda-cccl)"
    return ""


def needs_cccl(program: Path) -> bool:
    text = program.read_text()
    return any(f"<{header}.h>" in text for header in ("cuda_fp16", "cuda_bf16", "cuda_fp8"))


def has_cccl(nvcc: Nvcc) -> bool:
    root = Path(nvcc.folder).parent
    targets = [root, *root.glob("targets/*")]
    return any((each / "include" / "cccl" / "nv" / "target").exists() for each in targets)
