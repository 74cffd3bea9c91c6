"""`multimem`, in a multicast object with one GPU: the one that is emulated.

With a single GPU there is nothing to combine a loaded value with, so a multimem address behaves
like the global memory that it is bound to.
"""

from __future__ import annotations

from tilewright.ptxsim.instructions.atomic import atomic
from tilewright.ptxsim.instructions.data_movement import load, store
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.operation import Operation


@instruction("multimem.ld_reduce")
def load_reduce(op: Operation) -> Run:
    """`multimem.ld_reduce d, [a]`: combine the values of all GPUs."""
    if op.choice("add", "min", "max", "and", "or", "xor") is None:
        op.fail("expected an operation")
    op.ignore("acc::f16", "acc::f32")
    return load(op)


@instruction("multimem.st")
def store_to_all(op: Operation) -> Run:
    """`multimem.st [a], b`: store to all GPUs."""
    return store(op)


@instruction("multimem.red")
def reduce(op: Operation) -> Run:
    """`multimem.red [a], b`: atomically update memory of all GPUs."""
    return atomic(op)
