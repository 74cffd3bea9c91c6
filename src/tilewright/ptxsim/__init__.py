"""The PTX emulator: runs kernels on machines without a GPU."""

from tilewright.ptxsim.machine import Buffer, Counters, Module

__all__ = ["Buffer", "Counters", "Module"]
