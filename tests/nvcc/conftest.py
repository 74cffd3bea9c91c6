"""nvcc with this compiler, and the programs that it compiles."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import tilewright
from tilewright.driver.nvcc.toolkit import Nvcc, find_nvcc
from tilewright.support.diagnostics import Unsupported

PROGRAMS = Path(__file__).parent / "programs"
OPTIONS = ["--enable-tile", "-std=c++20", "-arch=sm_90"]


class Built(NamedTuple):
    """What nvcc makes of a program."""

    bytecode: bytes
    cubin: bytes


@cache
def missing(name: str) -> str:
    """Why nvcc cannot compile a program here; empty if it can."""
    try:
        nvcc = find_nvcc()
    except Unsupported as error:
        return str(error)
    if shutil.which("g++") is None:
        return "nvcc needs a host compiler: g++"
    if needs_cccl(name) and not has_cccl(nvcc):
        return "cuda_fp16.h needs the headers of CCCL (PyPI: nvidia-cuda-cccl)"
    return ""


def needs_cccl(name: str) -> bool:
    text = (PROGRAMS / f"{name}.cu").read_text()
    return any(f"<{header}.h>" in text for header in ("cuda_fp16", "cuda_bf16", "cuda_fp8"))


def has_cccl(nvcc: Nvcc) -> bool:
    root = Path(nvcc.folder).parent
    targets = [root, *root.glob("targets/*")]
    return any((each / "include" / "cccl" / "nv" / "target").exists() for each in targets)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory):
    """Compile a program by nvcc and our compiler, once for each process."""
    folder = tmp_path_factory.mktemp("built")

    @cache
    def build(name: str) -> Built:
        if reason := missing(name):
            pytest.skip(reason)
        cubin = folder / f"{name}.cubin"
        options = [*OPTIONS, "-lineinfo", "--tilecubin", "--keep", "--keep-dir", folder]
        done = tilewright.nvcc([*options, PROGRAMS / f"{name}.cu", "-o", cubin], capture=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return Built((folder / f"{name}.tilebc").read_bytes(), cubin.read_bytes())

    return build


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run nvcc on a program in an empty folder; returns the process."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *options: str):
        if reason := missing(name):
            pytest.skip(reason)
        return tilewright.nvcc([*OPTIONS, PROGRAMS / f"{name}.cu", *options], capture=True)

    return run
