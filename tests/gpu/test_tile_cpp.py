"""Kernels in CUDA Tile C++ on a GPU, from the Tile IR that nvcc makes of them.

A machine with a GPU may have no nvcc: `tools/tile_cpp_fixtures.py` wrote the Tile IR.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tile_cpp_cases import CASES, check

import tilewright

pytestmark = pytest.mark.gpu

FIXTURES = Path(__file__).parents[1] / "nvcc" / "tile_ir"


@pytest.mark.parametrize("name", CASES)
def test_kernels_against_numpy(name: str) -> None:
    case = CASES[name]()
    tilewright.execute(
        FIXTURES / f"{case.program}.mlir", case.entry, case.grid, case.arguments, "gpu"
    )
    check(case, case.arguments)


def test_output_of_kernels() -> None:
    said: list[str] = []
    tilewright.execute(FIXTURES / "print.mlir", "show", 1, [5, 1.25], "gpu", write=said.append)
    assert "".join(said) == "n = 5, x =  1.25%\n3 more\n"


def test_all_optimization_levels() -> None:
    for level in range(4):
        case = CASES["matmul-f16"]()
        program = FIXTURES / "matmul.mlir"
        tilewright.execute(program, case.entry, case.grid, case.arguments, "gpu", opt_level=level)
        check(case, case.arguments)


def test_an_assertion_that_holds() -> None:
    """One that does not ends the process's use of the GPU: tests/gpu/test_processes.py."""
    x = np.full(16, 2, np.float32)
    tilewright.execute(FIXTURES / "assert.mlir", "reciprocal", 1, [x, 16], "gpu")
    assert x.tolist() == [0.5] * 16
