"""CUDA Tile C++: what nvcc makes of it with our `tileiras`, run against NumPy.

The Tile IR of each program is in a file, since nvcc takes a second; tests compare some with nvcc.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tile_cpp_fixtures
import tile_cpp_tools
from repeats import keep_every
from tile_cpp_cases import CASES, Case, check

import tilewright
from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.disassembly import disassemble
from tilewright.driver.nvcc.toolkit import find_nvcc
from tilewright.driver.signatures import kernels_of
from tilewright.emit.note import own_note, read_note
from tilewright.support.kernel_names import choose_kernel

PROGRAMS = (
    "elementwise", "reduce", "shapes", "softmax", "dot_half", "dot_fp8", "dot_wide", "dot_integer",
    "atomics", "gather", "scan", "matmul", "local_arrays", "control_flow",
)  # fmt: skip
"""Those that are run against NumPy; one of four in `make test`, the others in `make test-all`."""
SPECIAL = ("print", "assert")


def copied(case: Case) -> list[Any]:
    return [each.copy() if isinstance(each, np.ndarray) else each for each in case.arguments]


def fixture(program: str) -> str:
    """The Tile IR that nvcc makes of a program."""
    return (tile_cpp_fixtures.FIXTURES / f"{program}.mlir").read_text()


def cases_of(program: str) -> list[Case]:
    return [case for case in (make() for make in CASES.values()) if case.program == program]


@pytest.mark.parametrize("program", keep_every((*PROGRAMS, *SPECIAL), 8))
@pytest.mark.sampled(1)
def test_fixtures_are_what_nvcc_makes(build, program: str) -> None:
    built = build(program)
    assert read_note(built.cubin) == own_note()
    if find_nvcc().version == (13, 4):
        # Otherwise tools/tile_cpp_fixtures.py has not run since the program was changed.
        made = disassemble(read_bytecode(built.bytecode, program))
        # A failed assertion names the file as nvcc was given it.
        assert made.replace(f"{tile_cpp_tools.PROGRAMS}/", "") == fixture(program)


@pytest.mark.parametrize("program", keep_every(PROGRAMS, 4))
@pytest.mark.sampled(2)
def test_kernels_against_numpy(program: str) -> None:
    for case in cases_of(program):
        for device, checked in (("cpu", case.is_ordered), ("emulator", True)):
            arguments = copied(case)
            tilewright.execute(
                fixture(program), case.entry, case.grid, arguments, device, check=checked
            )
            check(case, arguments)


@pytest.mark.parametrize("program", [path.stem for path in tile_cpp_fixtures.programs()])
def test_fixtures_are_programs(program: str) -> None:
    """They parse, verify, and have the kernels that are launched."""
    module = tilewright.read(tile_cpp_fixtures.FIXTURES / f"{program}.mlir")
    names = [kernel.sym_name for kernel in kernels_of(module)]
    assert names
    for case in cases_of(program):
        assert choose_kernel(names, case.entry) in names


def test_every_program_is_run() -> None:
    programs = {make().program for make in CASES.values()}
    assert programs == {*PROGRAMS, "assert"}


def test_output_of_kernels() -> None:
    for device in ("cpu", "emulator"):
        said: list[str] = []
        tilewright.execute(fixture("print"), "show", 1, [5, 1.25], device, write=said.append)
        assert "".join(said) == "n = 5, x =  1.25%\n3 more\n"


def test_assertions() -> None:
    program = fixture("assert")
    [case] = cases_of("assert")
    for device in ("cpu", "emulator"):
        arguments = copied(case)
        tilewright.execute(program, case.entry, 1, arguments, device, check=True)
        check(case, arguments)
        with pytest.raises(tilewright.Error, match=r"assert\.cu:8: n > 0 && n <= 16 failed"):
            tilewright.execute(program, None, 1, [arguments[0], 17], device)
