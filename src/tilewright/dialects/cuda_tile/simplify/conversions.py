"""Folds and rules of element type conversions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import elementwise
from tilewright.dialects.cuda_tile.conversion import (
    BitcastOp,
    ExtIOp,
    FToFOp,
    FToIOp,
    IntToPtrOp,
    IToFOp,
    PtrToIntOp,
    PtrToPtrOp,
    TruncIOp,
)
from tilewright.dialects.cuda_tile.enums import Overflow, Signedness
from tilewright.dialects.cuda_tile.simplify.constants import is_signed, width
from tilewright.dialects.cuda_tile.simplify.floats import ROUNDINGS
from tilewright.dialects.cuda_tile.simplify.integers import NO_WRAP
from tilewright.dialects.folding.conversions import (
    ConversionFolds,
    ConversionOps,
    merge_bitcasts,
    merge_extensions,
)
from tilewright.dialects.folding.floats import format_of
from tilewright.ir.rules import rule
from tilewright.support.numerics import conversion

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


def fold_int_to_float(op: IToFOp, constants: Constants) -> Folded:
    """Compute on constants."""
    if None in constants:
        return None
    bits, result = width(op.source.type), format_of(op.result.type)
    signed = is_signed(op.signedness)
    return elementwise(
        lambda a: conversion.int_to_float(a, bits, result, signed=signed),
        op.result.type,
        constants,
    )


def fold_pointer(op: IntToPtrOp | PtrToIntOp | PtrToPtrOp, constants: Constants) -> Folded:
    """Drop a pointer conversion to its own type, or one that undoes another."""
    if op.source.type is op.result.type:
        return op.source
    source = op.source.defining_op()
    if isinstance(source, IntToPtrOp | PtrToIntOp | PtrToPtrOp):
        return source.source if source.source.type is op.result.type else None
    return None


@rule(TruncIOp)
def truncation_of_extension(op: TruncIOp, build: Rewriter) -> Replacement:
    """`trunci (exti x)` becomes a single `exti` or `trunci`."""
    inner = op.source.defined_by(ExtIOp)
    if inner is None or inner.source.type is op.result.type:
        return None
    build.fuse(inner)
    types = [op.result.type]
    if width(inner.source.type) < width(op.result.type):
        return build.create(ExtIOp, source=inner.source, signedness=inner.signedness, types=types)
    return build.create(TruncIOp, source=inner.source, types=types)


@rule(TruncIOp)
def truncation_of_truncation(op: TruncIOp, build: Rewriter) -> Replacement:
    """`trunci (trunci x)` becomes one `trunci`, with the overflow flag if both have the same."""
    inner = op.source.defined_by(TruncIOp)
    if inner is None:
        return None
    build.fuse(inner)
    overflow = op.overflow if op.overflow is inner.overflow else Overflow.NONE
    return build.create(TruncIOp, source=inner.source, overflow=overflow, types=[op.result.type])


@rule(PtrToPtrOp)
def pointer_of_pointer(op: PtrToPtrOp, build: Rewriter) -> Replacement:
    """`ptr_to_ptr (ptr_to_ptr x)` becomes one `ptr_to_ptr`."""
    if (inner := op.source.defined_by(PtrToPtrOp)) is None:
        return None
    build.set_operands(op, (inner.source,))
    return op


def _no_wrap(op: TruncIOp) -> Iterable[bool]:
    return NO_WRAP[op.overflow]


_OPS: Final = ConversionOps(
    extend=ExtIOp,
    truncate=TruncIOp,
    bitcast=BitcastOp,
    float_to_float=FToFOp,
    float_to_int=FToIOp,
    signed=Signedness.SIGNED,
    no_wrap=_no_wrap,
    roundings=ROUNDINGS,
)
FOLDS: Final[Folds] = {
    **ConversionFolds(_OPS).folds(),
    IToFOp: fold_int_to_float,
    **dict.fromkeys((IntToPtrOp, PtrToIntOp, PtrToPtrOp), fold_pointer),
}
RULES: Final[Rules] = (
    merge_extensions(ExtIOp, Signedness.SIGNED),
    truncation_of_extension,
    truncation_of_truncation,
    merge_bitcasts(BitcastOp),
    pointer_of_pointer,
)
