"""Folds of casts: constants, and casts that undo each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.casts import (
    BitcastOp,
    CastOp,
    ExtFOp,
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    FPToUIOp,
    IndexCastOp,
    IndexCastUIOp,
    IndexConversion,
    SIToFPOp,
    TruncFOp,
    TruncIOp,
    UIToFPOp,
)
from tilewright.dialects.arith.float_folds import ROUNDINGS
from tilewright.dialects.arith.literals import Unary, elementwise, format_of
from tilewright.dialects.elements import width_of
from tilewright.support.bits import mask
from tilewright.support.floats import decode, encode
from tilewright.support.numerics import conversion

if TYPE_CHECKING:
    from tilewright.ir.rules import Constants, Folded, Folds


def fold_extension(op: ExtSIOp | ExtUIOp, constants: Constants) -> Folded:
    """Extend constants."""
    before, after = width_of(op.source.type), width_of(op.result.type)
    signed = isinstance(op, ExtSIOp)
    return elementwise(
        lambda a: conversion.extend(a, before, after, signed=signed), op.result.type, constants
    )


def fold_truncation(op: TruncIOp, constants: Constants) -> Folded:
    """Truncate constants; `trunci(ext(x))` to the type of `x` is `x`."""
    source = op.source.defining_op()
    if isinstance(source, ExtSIOp | ExtUIOp) and source.source.type is op.result.type:
        return source.source
    before, after = width_of(op.source.type), width_of(op.result.type)
    no_wrap = [flag == "nsw" for flag in op.overflow.names]

    def compute(a: int) -> int | None:
        for signed in no_wrap:
            if conversion.truncate_overflows(a, before, after, signed=signed):
                return None
        return conversion.truncate(a, after)

    return elementwise(compute, op.result.type, constants)


def fold_index_cast(op: IndexConversion, constants: Constants) -> Folded:
    """Convert constants; `index_cast(index_cast(x))` to the type of `x` is `x`."""
    source = op.source.defining_op()
    if source.__class__ is op.__class__ and isinstance(source, IndexConversion):
        narrow = width_of(source.source.type) <= width_of(source.result.type)
        if source.source.type is op.result.type and narrow:
            return source.source
    before, after = width_of(op.source.type), width_of(op.result.type)
    signed = isinstance(op, IndexCastOp)

    def compute(a: int) -> int:
        return conversion.extend(a, before, after, signed=signed) & mask(after)

    return elementwise(compute, op.result.type, constants)


def _float_resize(op: ExtFOp | TruncFOp) -> Unary | None:
    source, target = format_of(op.source.type), format_of(op.result.type)
    # The result of overflow in fp8 depends on the instruction.
    if source is None or target is None or (isinstance(op, TruncFOp) and target.width <= 8):
        return None
    rounding = ROUNDINGS[op.rounding if isinstance(op, TruncFOp) else None]
    return lambda a: encode(decode(a, source), target, rounding)


def fold_float_resize(op: ExtFOp | TruncFOp, constants: Constants) -> Folded:
    """Convert constants; `truncf(extf(x))` to the type of `x` is `x`."""
    inner = op.source.defined_by(ExtFOp)
    if isinstance(op, TruncFOp) and inner is not None and inner.source.type is op.result.type:
        return inner.source
    compute = _float_resize(op)
    return None if compute is None else elementwise(compute, op.result.type, constants)


def fold_from_integer(op: SIToFPOp | UIToFPOp, constants: Constants) -> Folded:
    """Convert integer constants to floats."""
    target = format_of(op.result.type)
    if target is None or target.width <= 8:
        return None
    width, signed = width_of(op.source.type), isinstance(op, SIToFPOp)
    return elementwise(
        lambda a: conversion.int_to_float(a, width, target, signed=signed),
        op.result.type,
        constants,
    )


def fold_to_integer(op: FPToSIOp | FPToUIOp, constants: Constants) -> Folded:
    """Convert float constants to integers, if in range."""
    source = format_of(op.source.type)
    if source is None:
        return None
    width, signed = width_of(op.result.type), isinstance(op, FPToSIOp)
    return elementwise(
        lambda a: conversion.float_to_int(a, source, width, signed=signed),
        op.result.type,
        constants,
    )


def fold_bitcast(op: CastOp, constants: Constants) -> Folded:
    """Reinterpret constants; `bitcast(bitcast(x))` to the type of `x` is `x`."""
    source, result = op.operands[0], op.results[0]
    if source.type is result.type:
        return source
    inner = source.defined_by(BitcastOp)
    if inner is not None and inner.source.type is result.type:
        return inner.source
    return elementwise(lambda a: a, result.type, constants)


CAST_FOLDS: Final[Folds] = {
    ExtSIOp: fold_extension,
    ExtUIOp: fold_extension,
    TruncIOp: fold_truncation,
    IndexCastOp: fold_index_cast,
    IndexCastUIOp: fold_index_cast,
    ExtFOp: fold_float_resize,
    TruncFOp: fold_float_resize,
    SIToFPOp: fold_from_integer,
    UIToFPOp: fold_from_integer,
    FPToSIOp: fold_to_integer,
    FPToUIOp: fold_to_integer,
    BitcastOp: fold_bitcast,
}
