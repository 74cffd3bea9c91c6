"""Conversions between element types: constants, and conversions that lead back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.literals import elementwise
from tilewright.dialects.elements import element_of, width_of
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.canonicalize.floating import ROUNDINGS, format_of
from tilewright.dialects.nv_tileaa.conversion import (
    BitcastOp,
    ExtIOp,
    FpToFpOp,
    FToIOp,
    IntToPtrOp,
    PtrToIntOp,
    TruncIOp,
)
from tilewright.dialects.nv_tileaa.types import PtrType
from tilewright.ir.rules import rule
from tilewright.support.floats import widens
from tilewright.support.numerics import conversion

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules


def fold_extension(op: ExtIOp, constants: Constants) -> Folded:
    """Compute on constants."""
    source, result = width_of(op.source.type), width_of(op.result.type)
    signed = op.signedness is Signedness.SIGNED
    return elementwise(
        lambda a: conversion.extend(a, source, result, signed=signed), op.result.type, constants
    )


def fold_truncation(op: TruncIOp, constants: Constants) -> Folded:
    """Compute on constants; what was extended from the type is itself again."""
    extension = op.source.defined_by(ExtIOp)
    if extension is not None and extension.source.type is op.result.type:
        return extension.source
    source, result = width_of(op.source.type), width_of(op.result.type)
    readings = [flag == "nsw" for flag in op.overflow.names]

    def truncate(a: int) -> int | None:
        for signed in readings:
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
    if isinstance(element_of(op.result.type), PtrType):
        return None
    return elementwise(lambda a: a, op.result.type, constants)


def fold_float_to_float(op: FpToFpOp, constants: Constants) -> Folded:
    """Compute on constants; what was widened from the type is itself again."""
    source, result = format_of(op.source.type), format_of(op.result.type)
    inner = op.source.defined_by(FpToFpOp)
    if inner is not None and inner.source.type is op.result.type:
        # The small formats clip infinity and change NaN: these do not come back.
        if not conversion.saturates(result) and widens(result, source):
            return inner.source
    rounding = ROUNDINGS.get(op.rounding_mode)
    if None in constants or rounding is None:
        return None
    return elementwise(
        lambda a: conversion.float_to_float(a, source, result, rounding), op.result.type, constants
    )


def fold_float_to_int(op: FToIOp, constants: Constants) -> Folded:
    """Compute on constants; what does not fit is undefined, and stays."""
    if None in constants:
        return None
    source, bits = format_of(op.source.type), width_of(op.result.type)
    signed, saturating = op.signedness is Signedness.SIGNED, op.saturating
    if bits == 1 and not saturating:
        return elementwise(lambda a: conversion.float_to_bool(a, source), op.result.type, constants)
    return elementwise(
        lambda a: conversion.float_to_int(a, source, bits, signed=signed, saturating=saturating),
        op.result.type,
        constants,
    )


def fold_address(op: IntToPtrOp | PtrToIntOp, constants: Constants) -> Folded:
    """An address that becomes an integer and an address of its type again, or the reverse."""
    source = op.source.defining_op()
    if not isinstance(source, IntToPtrOp | PtrToIntOp):
        return None
    return source.source if source.source.type is op.result.type else None


@rule(BitcastOp)
def bitcast_of_bitcast(op: BitcastOp, build: Rewriter) -> Replacement:
    """`bitcast (bitcast x)` becomes one `bitcast`: the bits are the same all along."""
    if (inner := op.source.defined_by(BitcastOp)) is None:
        return None
    build.set_operands(op, (inner.source,))
    return op


@rule(ExtIOp)
def extension_of_extension(op: ExtIOp, build: Rewriter) -> Replacement:
    """`exti (exti x)` becomes one `exti`, if the inner one has settled what the outer copies.

    Both read the integer alike, or the inner one has put a zero where the sign would be.
    """
    inner = op.source.defined_by(ExtIOp)
    if inner is None:
        return None
    if inner.signedness is not op.signedness and inner.signedness is Signedness.SIGNED:
        return None
    build.fuse(inner)
    return build.create(
        ExtIOp, source=inner.source, signedness=inner.signedness, types=[op.result.type]
    )


FOLDS: Final[Folds] = {
    ExtIOp: fold_extension,
    TruncIOp: fold_truncation,
    BitcastOp: fold_bitcast,
    FpToFpOp: fold_float_to_float,
    FToIOp: fold_float_to_int,
    **dict.fromkeys((IntToPtrOp, PtrToIntOp), fold_address),
}
RULES: Final[Rules] = (bitcast_of_bitcast, extension_of_extension)
