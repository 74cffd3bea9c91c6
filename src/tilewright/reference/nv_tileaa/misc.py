"""Promises, printing, and what means nothing when it runs."""

from __future__ import annotations

from typing import Any

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import misc as d
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.ir.values import Value
from tilewright.reference.access import NO_TOKEN, Token
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
from tilewright.reference.misc import check_promise, write_tiles


@meaning(d.AssumeOp)
def assume(op: d.AssumeOp, at: Batch) -> Any:
    """The value itself, of which the promise must hold."""
    if not _is_constant(op.value):
        check_promise(op, at, op.value, op.predicate)
    return at[op.value]


def _is_constant(value: Value) -> bool:
    splat = value.defined_by(SplatOp)
    scalar = value if splat is None else splat.source
    return scalar.defined_by(ConstantOp) is not None


@meaning(d.PrintOp)
def print_(op: d.PrintOp, at: Batch) -> Token:
    """Prints in every block, one after the other."""
    write_tiles(at, op.format, op.arguments)
    return at.get(op.token) or NO_TOKEN


@meaning(d.MessageOp, d.MarkForReuseOp)
def nothing(op: d.MessageOp | d.MarkForReuseOp, at: Batch) -> None:
    """Told to the compiler alone."""


@meaning(d.OptimizationBarrierOp)
def optimization_barrier(op: d.OptimizationBarrierOp, at: Batch) -> Any:
    """The values themselves."""
    found = tuple(at[value] for value in op.values)
    return found[0] if len(found) == 1 else found
