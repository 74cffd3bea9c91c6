"""Folds and rules of conversions between element types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
from tilewright.dialects.cuda_tile.enums import Overflow
from tilewright.dialects.cuda_tile.simplify.constants import elementwise, is_signed, width
from tilewright.dialects.cuda_tile.simplify.floats import ROUNDINGS, format_of
from tilewright.dialects.cuda_tile.simplify.integers import PROMISES
from tilewright.ir.rules import rule
from tilewright.support.floats import widens
from tilewright.support.numerics import conversion

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


def fold_extension(op: ExtIOp, constants: Constants) -> Folded:
    """Compute on constants."""
    if None in constants:
        return None
    source, result = width(op.source.type), width(op.result.type)
    signed = is_signed(op.signedness)
    return elementwise(
        lambda a: conversion.extend(a, source, result, signed=signed), op.result.type, constants
    )


def fold_truncation(op: TruncIOp, constants: Constants) -> Folded:
    """Compute on constants; what was extended from the type is itself again."""
    extension = op.source.defined_by(ExtIOp)
    if extension is not None and extension.source.type is op.result.type:
        return extension.source
    if None in constants:
        return None
    source, result = width(op.source.type), width(op.result.type)
    promises = PROMISES[op.overflow]

    def truncate(a: int) -> int | None:
        for signed in promises:
            if conversion.truncate_overflows(a, source, result, signed=signed):
                return None
        return conversion.truncate(a, result)

    return elementwise(truncate, op.result.type, constants)


def fold_bitcast(op: BitcastOp, constants: Constants) -> Folded:
    """Keep the bits of constants; a cast to the type that it had before does nothing."""
    if op.source.type is op.result.type:
        return op.source
    inner = op.source.defined_by(BitcastOp)
    if inner is not None and inner.source.type is op.result.type:
        return inner.source
    return elementwise(lambda a: a, op.result.type, constants)


def fold_float_to_float(op: FToFOp, constants: Constants) -> Folded:
    """Compute on constants; what was widened from the type is itself again."""
    if (inner := op.source.defined_by(FToFOp)) is not None and _undoes(op, inner):
        return inner.source
    rounding = ROUNDINGS.get(op.rounding_mode)
    if None in constants or rounding is None:
        return None
    source, result = format_of(op.source.type), format_of(op.result.type)
    return elementwise(
        lambda a: conversion.float_to_float(a, source, result, rounding),
        op.result.type,
        constants,
    )


def _undoes(op: FToFOp, inner: FToFOp) -> bool:
    """Whether a conversion leads back from where another one, which was exact, led to."""
    if inner.source.type is not op.result.type:
        return False
    narrow, wide = format_of(op.result.type), format_of(op.source.type)
    # The small formats clip infinity and change NaN: these do not come back.
    return not conversion.saturates(narrow) and widens(narrow, wide)


def fold_float_to_int(op: FToIOp, constants: Constants) -> Folded:
    """Compute on constants; what does not fit is undefined, and stays."""
    if None in constants:
        return None
    source, bits = format_of(op.source.type), width(op.result.type)
    signed, saturating = is_signed(op.signedness), op.saturating
    if bits == 1 and not saturating:
        return elementwise(lambda a: conversion.float_to_bool(a, source), op.result.type, constants)
    return elementwise(
        lambda a: conversion.float_to_int(a, source, bits, signed=signed, saturating=saturating),
        op.result.type,
        constants,
    )


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
    """A conversion of addresses that leads back to the type it came from does nothing."""
    if op.source.type is op.result.type:
        return op.source
    source = op.source.defining_op()
    if isinstance(source, IntToPtrOp | PtrToIntOp | PtrToPtrOp):
        return source.source if source.source.type is op.result.type else None
    return None


@rule(ExtIOp)
def extension_of_extension(op: ExtIOp, build: Rewriter) -> Replacement:
    """`exti (exti x)` becomes one `exti`, if the inner one has settled what the outer copies.

    Both read the integer alike, or the inner one has put a zero where the sign would be.
    """
    inner = op.source.defined_by(ExtIOp)
    if inner is None:
        return None
    if inner.signedness is not op.signedness and is_signed(inner.signedness):
        return None
    build.fuse(inner)
    return build.create(
        ExtIOp, source=inner.source, signedness=inner.signedness, types=[op.result.type]
    )


@rule(TruncIOp)
def truncation_of_extension(op: TruncIOp, build: Rewriter) -> Replacement:
    """`trunci (exti x)` becomes the one of the two that still has something to do."""
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
    """`trunci (trunci x)` becomes one `trunci`, with the promise that both of them make."""
    inner = op.source.defined_by(TruncIOp)
    if inner is None:
        return None
    build.fuse(inner)
    promise = op.overflow if op.overflow is inner.overflow else Overflow.NONE
    return build.create(TruncIOp, source=inner.source, overflow=promise, types=[op.result.type])


@rule(BitcastOp)
def bitcast_of_bitcast(op: BitcastOp, build: Rewriter) -> Replacement:
    """`bitcast (bitcast x)` becomes one `bitcast`: the bits are the same all along."""
    if (inner := op.source.defined_by(BitcastOp)) is None:
        return None
    build.set_operands(op, (inner.source,))
    return op


@rule(PtrToPtrOp)
def pointer_of_pointer(op: PtrToPtrOp, build: Rewriter) -> Replacement:
    """`ptr_to_ptr (ptr_to_ptr x)` becomes one `ptr_to_ptr`: the address is the same."""
    if (inner := op.source.defined_by(PtrToPtrOp)) is None:
        return None
    build.set_operands(op, (inner.source,))
    return op


FOLDS: Final[Folds] = {
    ExtIOp: fold_extension,
    TruncIOp: fold_truncation,
    BitcastOp: fold_bitcast,
    FToFOp: fold_float_to_float,
    FToIOp: fold_float_to_int,
    IToFOp: fold_int_to_float,
    **dict.fromkeys((IntToPtrOp, PtrToIntOp, PtrToPtrOp), fold_pointer),
}
RULES: Final[Rules] = (
    extension_of_extension,
    truncation_of_extension,
    truncation_of_truncation,
    bitcast_of_bitcast,
    pointer_of_pointer,
)
