"""Conversions between element types."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import conversion as d
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import F4E2M1FN, I1
from tilewright.ir.values import Value
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.integer import check_overflow
from tilewright.reference.numerics import conversion
from tilewright.reference.tile import ADDRESS, Array, element, integer, pointee, wrap


@evaluator(d.BitcastOp)
def bitcast(op: d.BitcastOp, at: Batch) -> Array:
    """Reinterpret the bits as another type."""
    return conversion.bitcast(at[op.source], element(op.result))


@evaluator(d.ExtIOp)
def exti(op: d.ExtIOp, at: Batch) -> Array:
    """Sign- or zero-extend integers."""
    signed = op.signedness is Signedness.SIGNED
    return conversion.extend(
        at[op.source], element(op.source), element(op.result), is_signed=signed
    )


@evaluator(d.TruncIOp)
def trunci(op: d.TruncIOp, at: Batch) -> Array:
    """Truncate to the low bits."""
    check_overflow(op, at, op.overflow, at[op.source])
    return wrap(at[op.source], element(op.result))


@evaluator(d.FToFOp)
def ftof(op: d.FToFOp, at: Batch) -> Array:
    """Convert between float types with rounding."""
    types = element(op.source), element(op.result)
    return conversion.float_to_float(at[op.source], *types, op.rounding_mode)


@evaluator(d.FToIOp)
def ftoi(op: d.FToIOp, at: Batch) -> Array:
    """Truncate to an integer. Out-of-range values saturate, also without `saturating`."""
    signed = op.signedness is Signedness.SIGNED
    return tile_integer(op, at, op.source, is_signed=signed, is_saturating=op.saturating)


def tile_integer(
    op: Operation, at: Batch, value: Value, *, is_signed: bool, is_saturating: bool
) -> Array:
    """Truncate to an integer; for i1 test for nonzero, as NVIDIA's compiler does."""
    if element(op.results[0]) is I1 and not is_saturating:
        return conversion.float_to_bool(at[value], element(value))
    return converted_to_integer(op, at, value, is_signed=is_signed, is_defined=is_saturating)


def converted_to_integer(
    op: Operation, at: Batch, value: Value, *, is_signed: bool, is_defined: bool
) -> Array:
    """Truncate to an integer; a checker reports values out of range unless they are defined."""
    source, types = at[value], (element(value), integer(op.results[0]))
    result = conversion.float_to_int(source, *types, is_signed=is_signed)
    if is_defined or at.machine.checker is None:
        return result
    fits = conversion.fits_integer(source, *types, is_signed=is_signed)
    return at.machine.checker.defined(op, at, result, fits, "converts a value out of range")


@evaluator(d.IToFOp)
def itof(op: d.IToFOp, at: Batch) -> Array:
    """Convert to the nearest float."""
    signed = op.signedness is Signedness.SIGNED
    return conversion.int_to_float(at[op.source], element(op.result), is_signed=signed)


@evaluator(d.IntToPtrOp)
def int_to_ptr(op: d.IntToPtrOp, at: Batch) -> Array:
    """Convert integers to addresses."""
    return as_addresses(at[op.source].view(ADDRESS), pointee(op.result))


def as_addresses(bytes: Array, pointee: Type) -> Array:
    """Convert byte addresses to pointers, which count nibbles for f4E2M1FN."""
    return bytes << np.uint64(pointee is F4E2M1FN)


def as_bytes(addresses: Array, pointee: Type) -> Array:
    """Convert pointers to byte addresses."""
    return addresses >> np.uint64(pointee is F4E2M1FN)


@evaluator(d.PtrToIntOp)
def ptr_to_int(op: d.PtrToIntOp, at: Batch) -> Array:
    """Convert addresses to integers."""
    return as_bytes(at[op.source], pointee(op.source)).view(np.int64)


@evaluator(d.PtrToPtrOp)
def ptr_to_ptr(op: d.PtrToPtrOp, at: Batch) -> Array:
    """Convert pointers to another pointee type."""
    return as_addresses(as_bytes(at[op.source], pointee(op.source)), pointee(op.result))
