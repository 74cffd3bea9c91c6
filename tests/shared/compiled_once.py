"""Kernels that several tests run on other arguments, each compiled once."""

from __future__ import annotations

from functools import cache

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.support.tensor_map_parameters import KERNEL


def compile_anew(
    text: str, arch: str = "sm_90", schedule: str = "", tensor_maps: str = KERNEL
) -> tilewright.CompiledModule:
    """PTX of a program, for tests that change the compiler."""
    module = read_runnable(text, "kernel.mlir")
    return tilewright.compile(module, arch, emit="ptx", schedule=schedule, tensor_maps=tensor_maps)


compiled = cache(compile_anew)
"""The same for tests that do not, however many they are."""
