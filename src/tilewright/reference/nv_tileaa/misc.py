"""Assumptions, printing, and operations without run-time effect."""

from __future__ import annotations

from typing import Any

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import misc as d
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.ir.values import Value
from tilewright.reference.access import NO_TOKEN, Token
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.misc import check_assumption, write_tiles


@evaluator(d.AssumeOp)
def assume(op: d.AssumeOp, at: Batch) -> Any:
    """Check an assumption, and return its value."""
    if not _is_constant(op.value):
        check_assumption(op, at, op.value, op.predicate)
    return at[op.value]


def _is_constant(value: Value) -> bool:
    splat = value.defined_by(SplatOp)
    scalar = value if splat is None else splat.source
    return scalar.defined_by(ConstantOp) is not None


@evaluator(d.PrintOp)
def print_(op: d.PrintOp, at: Batch) -> Token:
    """Print in every block, one after the other."""
    write_tiles(at, op.format, op.arguments)
    return at.get(op.token) or NO_TOKEN


@evaluator(d.MessageOp, d.MarkForReuseOp)
def nothing(op: d.MessageOp | d.MarkForReuseOp, at: Batch) -> None:
    """Ignore hints to the compiler."""


@evaluator(d.OptimizationBarrierOp)
def optimization_barrier(op: d.OptimizationBarrierOp, at: Batch) -> Any:
    """Forward the values."""
    values = tuple(at[value] for value in op.values)
    return values[0] if len(values) == 1 else values
