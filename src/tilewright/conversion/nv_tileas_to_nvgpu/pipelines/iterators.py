"""Iterators of pipelines: a stage and a phase.

The low bit of the phase is the parity. The next bit is set once the iterator has wrapped around:
a parity alone does not tell the first pass over the stages from later ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import add, as_value, constant
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.integer import AndIOp, OrIOp, XOrIOp
from tilewright.dialects.nv_tileas.pipeline import CreateIteratorOp, IncIterOp
from tilewright.dialects.nv_tileas.types import IteratorType
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts

if TYPE_CHECKING:
    from tilewright.ir.values import Value

PARITY: Final = 1
WRAPPED: Final = 2


@converts(CreateIteratorOp)
def create_iterator(
    op: CreateIteratorOp, new: CreateIteratorOp, build: ConversionBuilder
) -> Result:
    """Stage 0, phase 0."""
    return [(constant(build, 0), constant(build, 0))]


@converts(IncIterOp)
def inc_iter(op: IncIterOp, new: IncIterOp, build: ConversionBuilder) -> Result:
    """The next stage; from the last one, the first stage in the next phase."""
    stage, phase = build.values(op.iterator)
    type = op.result.type
    assert isinstance(type, IteratorType)
    next_stage = as_value(build, add(build, stage, 1))
    if op.no_wrap:
        return [(next_stage, phase)]
    wraps = _compare(build, CmpIPredicate.EQ, next_stage, type.stages)
    flipped = build.create(XOrIOp, lhs=phase, rhs=constant(build, PARITY)).result
    next_phase = build.create(OrIOp, lhs=flipped, rhs=constant(build, WRAPPED)).result
    first = constant(build, 0)
    return [(_select(build, wraps, first, next_stage), _select(build, wraps, next_phase, phase))]


def parity_of(build: ConversionBuilder, phase: Value) -> Value:
    """The parity of a phase, 0 or 1."""
    return build.create(AndIOp, lhs=phase, rhs=constant(build, PARITY)).result


def earlier_stage(
    build: ConversionBuilder, stage: Value, phase: Value, steps: int, stages: int
) -> tuple[Value, Value]:
    """The stage some steps before, fewer than there are stages, and whether there is one."""
    within = _compare(build, CmpIPredicate.SGE, stage, steps)
    wrapped = _compare(build, CmpIPredicate.UGE, phase, WRAPPED)
    before = as_value(build, add(build, stage, -steps))
    around = as_value(build, add(build, stage, stages - steps))
    exists = build.create(OrIOp, lhs=within, rhs=wrapped).result
    return _select(build, within, before, around), exists


def _compare(build: ConversionBuilder, predicate: CmpIPredicate, a: Value, b: int) -> Value:
    return build.create(CmpIOp, predicate=predicate, lhs=a, rhs=constant(build, b)).result


def _select(build: ConversionBuilder, condition: Value, a: Value, b: Value) -> Value:
    return build.create(SelectOp, condition=condition, true_value=a, false_value=b).result


PATTERNS: Final[Patterns] = (create_iterator, inc_iter)
