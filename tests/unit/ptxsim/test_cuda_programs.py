"""CUDA C++ programs, compiled by nvcc, against NumPy; sources and PTX are in tests/ptx."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cuda_programs import all_programs, architecture, source
from program_table import PTX, Program, check
from repeats import keep_first

from tilewright.ptxsim import Counters, Module

# nvcc puts a hash of the path into the names of internal symbols.
PATH_HASH = re.compile(r"(_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}")

FILES = sorted({program.file for program in all_programs()})
CONCURRENT = [each for each in all_programs() if each.file in ("concurrency", "async", "hopper")]


@functools.cache
def text(file: str) -> str:
    return (PTX / f"{file}.ptx").read_text()


def run(program: Program, seed: int = 0) -> Counters:
    args, expected = program.case()
    module = Module(text(program.file), f"{program.file}.ptx")
    shape = program.grid, program.block
    counters = module.launch(program.kernel, *shape, args, shared=program.shared, seed=seed)
    check(args, expected)
    return counters


@pytest.mark.parametrize("program", all_programs(), ids=lambda program: program.name)
def test_results(program: Program) -> None:
    assert run(program).output == list(program.output)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("program", CONCURRENT, ids=lambda program: program.name)
@pytest.mark.sampled(12)
def test_other_interleavings(program: Program, seed: int) -> None:
    run(program, seed)


def test_there_are_enough_programs() -> None:
    kernels = {(source(program.file), program.kernel) for program in all_programs()}
    assert len(kernels) >= 80


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("file", keep_first(FILES, 1))
def test_nvcc_reproduces_the_ptx(file: str, tmp_path: Path) -> None:
    """Compile with the same version of nvcc; another one may generate different code."""
    out = tmp_path / "out.ptx"
    options = ["-O3", "-std=c++17", f"-arch={architecture(file)}", "-ptx", source(file)]
    subprocess.run(["nvcc", *options, "-o", str(out)], check=True, cwd=PTX)
    made = out.read_text()
    if made.splitlines()[:8] != text(file).splitlines()[:8]:
        pytest.skip("another version of nvcc")
    assert PATH_HASH.sub(r"\1", made) == PATH_HASH.sub(r"\1", text(file))
