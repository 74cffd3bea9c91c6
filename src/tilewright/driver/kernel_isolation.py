"""Programs with one kernel of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.reference.programs import kernels

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation


def keep_kernel(program: Operation, name: str) -> Operation:
    """Clone a program without its other kernels, so that they are not compiled."""
    copy = program.clone()
    for other in kernels(copy):
        if other.sym_name != name:
            other.erase()
    return copy
