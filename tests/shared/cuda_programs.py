"""All CUDA C++ programs that are run on the emulator and on a GPU."""

from __future__ import annotations

import concurrent_programs
import control_programs
import data_programs
import float_programs
import integer_programs
from program_table import PROGRAMS, Program

# Each module registers its programs.
MODULES = (
    data_programs, integer_programs, float_programs, concurrent_programs, control_programs,
)  # fmt: skip
SM_90A = {"hopper", "halves", "async.sm_90a"}


def all_programs() -> list[Program]:
    """Every program."""
    return PROGRAMS


def source(file: str) -> str:
    """Return the CUDA C++ source of a PTX file."""
    return f"{file.split('.')[0]}.cu"


def architecture(file: str) -> str:
    """Return the architecture that nvcc compiled a PTX file for."""
    return "sm_90a" if file in SM_90A else "sm_80"
