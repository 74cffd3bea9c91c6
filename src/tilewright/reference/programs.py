"""The outer structure of programs, at every level that can run: kernels and global arrays."""

from __future__ import annotations

from tilewright.dialects.cuda_tile.structure import EntryOp, GlobalOp, ModuleOp
from tilewright.dialects.nv_tileaa import structure as nv_tileaa
from tilewright.ir.operation import Operation

Kernel = EntryOp | nv_tileaa.FuncOp
Global = GlobalOp | nv_tileaa.GlobalOp


def kernels(program: Operation) -> list[Kernel]:
    """The kernels that the host can launch."""
    if isinstance(program, ModuleOp):
        return list(program.entries())
    functions = [op for op in program.walk() if isinstance(op, nv_tileaa.FuncOp)]
    return [function for function in functions if function.is_kernel]


def cta_count(kernel: Kernel) -> int:
    """The number of CTAs that run each program of a kernel, and share its tiles."""
    if isinstance(kernel, nv_tileaa.FuncOp) and kernel.is_distributed:
        return kernel.cluster_size
    return 1


def global_arrays(program: Operation) -> list[Global]:
    """The global arrays of a program."""
    return [op for op in program.walk() if isinstance(op, Global)]
