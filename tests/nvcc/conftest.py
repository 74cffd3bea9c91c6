"""nvcc with this compiler, and the programs that it compiles."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from tile_cpp_tools import missing_nvcc

import tilewright

PROGRAMS = Path(__file__).parent / "programs"
OPTIONS = ["--enable-tile", "-std=c++20", "-arch=sm_90"]


class Built(NamedTuple):
    """What nvcc makes of a program."""

    bytecode: bytes
    cubin: bytes


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory):
    """Compile a program by nvcc and our compiler, once for each process."""
    folder = tmp_path_factory.mktemp("built")

    @cache
    def build(name: str) -> Built:
        if reason := missing_nvcc(PROGRAMS / f"{name}.cu"):
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
        if reason := missing_nvcc(PROGRAMS / f"{name}.cu"):
            pytest.skip(reason)
        return tilewright.nvcc([*OPTIONS, PROGRAMS / f"{name}.cu", *options], capture=True)

    return run
