"""Kernels with the number of warps that a hint asks for: 1, 2, 4, 8, 16 or 32 of them."""

from __future__ import annotations

import copy
import re
from itertools import product
from pathlib import Path

import pytest
from programs import parse_runs, problems
from repeats import keep

import tilewright

FOLDER = Path(__file__).parent
ENTRY = re.compile(r"(entry @\w+\([^{]*?\)) (?:optimization_hints=<[^>]*> )?\{")
THREADS = re.compile(r"\.reqntid (\d+)")


def hinted(path: str, warps: int) -> str:
    """A program of this folder, all kernels of which ask for a number of warps."""
    hint = f"optimization_hints=<sm_90 = {{num_worker_warps_per_cta = {warps}}}>"
    text, count = ENTRY.subn(rf"\1 {hint} {{", (FOLDER / path).read_text())
    assert count
    return text


WARPS = (1, 2, 4, 8, 16, 32)
TRIED = {"kernels/softmax.mlir": (1, 32), "kernels/gemm.mlir": (2, 16), "memory/once.mlir": (4, 8)}
"""The numbers of warps that `make test` tries a program with."""


@pytest.mark.parametrize(
    ("path", "warps"), keep(product(TRIED, WARPS), lambda case: case[1] in TRIED[case[0]])
)
def test_results(path: str, warps: int) -> None:
    text = hinted(path, warps)
    run = parse_runs(text)[0]
    before = run.values()
    after = copy.deepcopy(before)
    module = tilewright.read(text)
    arguments = list(after.values())
    tilewright.execute(module, run.entry, run.grid, arguments, "emulator", check=True, arch="sm_90")
    assert list(problems(run, before, after)) == []


@pytest.mark.parametrize("warps", WARPS)
def test_threads(warps: int) -> None:
    ptx = tilewright.compile(hinted("kernels/vector_add.mlir", warps), "sm_90", emit="ptx").ptx
    assert {int(number) for number in THREADS.findall(ptx)} == {32 * warps}


def test_a_producer_needs_threads_of_its_own() -> None:
    """A block has at most 1024 threads: with 32 warps that compute, none is left to copy."""
    made = tilewright.compile(hinted("kernels/persistent_gemm.mlir", 32), "sm_90", emit="ptx")
    assert {int(number) for number in THREADS.findall(made.ptx)} == {1024}
