"""Axis facts of addresses, of what lies there, and of assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.analysis import axis_arithmetic as transfer
from tilewright.analysis.axis_integers import widened
from tilewright.analysis.runs import Axes, Run, made, power, unit_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import conversion, memory, misc, view
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.predicates import DivByAttr, SameElementsAttr
from tilewright.ir.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.analysis.axis import AxisFacts
    from tilewright.analysis.solver import Rule
    from tilewright.ir.operation import Operation


def _bitcast(at: AxisFacts, op: conversion.BitcastOp) -> Axes:
    """The same numbers, if both are numbers; pointers to others run by other steps."""
    a, type = at.of(op.source), op.result.type
    if isinstance(element_of(type), FloatType) or isinstance(element_of(op.source.type), FloatType):
        return transfer.pointwise(a)
    return _with_unit(a, unit_of(type))


def _with_unit(a: Axes, unit: int) -> Axes:
    """The same numbers in another unit; runs of another unit are none."""
    if unit == a.unit:
        return a
    dims = [Run(1, a.divisor, run.constancy) for run in a.dims]
    return Axes(tuple(dims), a.divisor, unit)


def _int_to_ptr(at: AxisFacts, op: conversion.IntToPtrOp | conversion.PtrToIntOp) -> Axes:
    """The same numbers, which run by single bytes."""
    return _with_unit(at.of(op.operands[0]), unit_of(op.results[0].type))


def _addptr(at: AxisFacts, op: memory.AddPtrOp) -> Axes:
    """Offsets are signed, and as wide as addresses."""
    return transfer.moved(at.of(op.pointers), widened(at, op.offsets, True), op.in_bytes)


def _load(at: AxisFacts, op: memory.LoadOp) -> Any:
    """Unordered loads from equal addresses give equal values."""
    if op.semantic is not MemSemantic.WEAK or op.volatile:
        return None
    sources = [value for value in (op.pointers, op.mask, op.other) if value is not None]
    if op.mask is not None and op.other is None:
        return None
    facts = transfer.pointwise(*[at.of(value) for value in sources])
    return (Axes(facts.dims, 1, unit_of(op.result.type)),)


def _assume(at: AxisFacts, op: misc.AssumeOp) -> Axes:
    """An assumption holds."""
    # Programs begin with many of these: no detour by the fields.
    a, assumption = at.of(op.operands[0]), op.attributes["predicate"]
    if isinstance(assumption, DivByAttr):
        return _divisible(a, assumption)
    if isinstance(assumption, SameElementsAttr):
        return _constant_runs(a, assumption.values)
    return a


def _constant_runs(a: Axes, lengths: Sequence[int]) -> Axes:
    """Blocks of equal elements; those of extent zero say nothing."""
    dims = [
        Run(run.contiguity, run.divisibility, max(run.constancy, power(length or 1)))
        for run, length in zip(a.dims, lengths, strict=True)
    ]
    return Axes(tuple(dims), a.divisor, a.unit)


def _divisible(a: Axes, assumption: DivByAttr) -> Axes:
    """All elements, or the first of each run of a length, which is contiguous."""
    if not a.dims:
        return a if a.divisor >= assumption.divisor else Axes((), assumption.divisor, a.unit)
    if assumption.every is None or assumption.along is None:
        return made(a.dims, max(a.divisor, assumption.divisor), a.unit)
    length, along = power(assumption.every or 1), assumption.along
    run = a.dims[along]
    start = (
        assumption.divisor
        if length == assumption.every
        else min(assumption.divisor, length * a.unit)
    )
    if run.contiguity > length:
        new = Run(run.contiguity, max(run.divisibility, start), run.constancy)
    else:
        new = Run(length, max(a.start(along, length), start), run.constancy)
    return made((*a.dims[:along], new, *a.dims[along + 1 :]), a.divisor, a.unit)


def _make_memref(at: AxisFacts, op: view.MakeMemrefOp) -> Axes:
    """The address is that of the first element."""
    return Axes((), at.of(op.base).divisor)


MEMORY_RULES: Final[Mapping[type[Operation], Rule]] = {
    conversion.BitcastOp: _bitcast,
    conversion.IntToPtrOp: _int_to_ptr,
    conversion.PtrToIntOp: _int_to_ptr,
    memory.AddPtrOp: _addptr,
    memory.LoadOp: _load,
    misc.AssumeOp: _assume,
    view.MakeMemrefOp: _make_memref,
}
