"""Programs that are compiled once, and no further than a test needs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tilewright.driver.api import read_runnable
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation, target
from tilewright.driver.map_parameters import Maps
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.ir.operation import Operation
from tilewright.support.tensor_map_parameters import KERNEL
from tilewright.text.printer import print_op


class CompiledKernel(NamedTuple):
    """A program after one run of the lowering pipeline."""

    nv_tileas: str
    ptx: str
    map_parameters: Maps


def settings_of(arch: str, schedule: str, tensor_maps: str = KERNEL) -> Settings:
    """The options of a compilation."""
    return Settings(target(arch), schedule=parse_schedule(schedule), tensor_maps=tensor_maps)


def lowered_to(
    stage: str, program: str | Operation, arch: str = "sm_90", schedule: str = ""
) -> str:
    """A program as text at a stage, for tests that need no code."""
    module = read_runnable(program, "kernel.mlir") if isinstance(program, str) else program
    made = Compilation(module, settings_of(arch, schedule)).to(stage)
    assert isinstance(made, str)
    return made


def compile_anew(
    text: str, arch: str = "sm_90", schedule: str = "", tensor_maps: str = KERNEL
) -> CompiledKernel:
    """Nv_tileas and PTX of a program, for tests that change the compiler."""
    levels: dict[str, str] = {}

    def reach(level: str, module: Operation) -> None:
        if level == "nv_tileas":
            levels[level] = print_op(module)

    module = read_runnable(text, "kernel.mlir")
    settings = settings_of(arch, schedule, tensor_maps)
    compilation = Compilation(module, settings, Observers(reached=reach))
    compilation.to("ptx")
    return CompiledKernel(levels["nv_tileas"], compilation.ptx, compilation.map_parameters)


compiled = cache(compile_anew)
"""The same for tests that do not, however many they are."""
