"""nvcc with this compiler, and the programs that it compiles."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from tile_cpp_tools import run_nvcc


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
        cubin = folder / f"{name}.cubin"
        options = ["-lineinfo", "--tilecubin", "--keep", "--keep-dir", str(folder)]
        done = run_nvcc(name, *options, "-o", str(cubin))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return Built((folder / f"{name}.tilebc").read_bytes(), cubin.read_bytes())

    return build


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run nvcc on a program in an empty folder; returns the process."""
    monkeypatch.chdir(tmp_path)

    return run_nvcc
