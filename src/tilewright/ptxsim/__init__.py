"""The PTX emulator: runs kernels on machines without a GPU."""

from tilewright.ptxsim.counters import Counters
from tilewright.ptxsim.machine import CHECKS, OPTIONAL_CHECKS, Buffer, Module

__all__ = ["CHECKS", "OPTIONAL_CHECKS", "Buffer", "Counters", "Module"]
