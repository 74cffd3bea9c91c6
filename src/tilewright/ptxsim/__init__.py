"""The PTX emulator: runs kernels on machines without a GPU."""

from tilewright.ptxsim.counters import Counters
from tilewright.ptxsim.machine import Buffer, Module

__all__ = ["Buffer", "Counters", "Module"]
