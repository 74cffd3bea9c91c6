"""Conversions between element types."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import conversion as d
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.ir.types import F4E2M1FN
from tilewright.reference.batch import Batch
from tilewright.reference.integer import check_overflow
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics import conversion
from tilewright.reference.tile import ADDRESS, Array, element, integer, pointee, wrap


@meaning(d.BitcastOp)
def bitcast(op: d.BitcastOp, at: Batch) -> Array:
    """The same bits, read as another type."""
    return conversion.bitcast(at[op.source], element(op.result))


@meaning(d.ExtIOp)
def exti(op: d.ExtIOp, at: Batch) -> Array:
    """The same integer in more bits."""
    signed = op.signedness is Signedness.SIGNED
    return conversion.extend(
        at[op.source], element(op.source), element(op.result), is_signed=signed
    )


@meaning(d.TruncIOp)
def trunci(op: d.TruncIOp, at: Batch) -> Array:
    """The low bits."""
    check_overflow(op, at, op.overflow, at[op.source])
    return wrap(at[op.source], element(op.result))


@meaning(d.FToFOp)
def ftof(op: d.FToFOp, at: Batch) -> Array:
    """The same number in another type, rounded."""
    types = element(op.source), element(op.result)
    return conversion.float_to_float(at[op.source], *types, op.rounding_mode)


@meaning(d.FToIOp)
def ftoi(op: d.FToIOp, at: Batch) -> Array:
    """The integer part. What does not fit is undefined without `saturating`: it saturates too."""
    signed = op.signedness is Signedness.SIGNED
    source, types = at[op.source], (element(op.source), integer(op.result))
    found = conversion.float_to_int(source, *types, is_signed=signed)
    if op.saturating or at.machine.checker is None:
        return found
    fits = conversion.fits_integer(source, *types, is_signed=signed)
    return at.machine.checker.defined(op, at, found, fits, "converts what does not fit")


@meaning(d.IToFOp)
def itof(op: d.IToFOp, at: Batch) -> Array:
    """The nearest number of a float type."""
    signed = op.signedness is Signedness.SIGNED
    return conversion.int_to_float(at[op.source], element(op.result), is_signed=signed)


@meaning(d.IntToPtrOp)
def int_to_ptr(op: d.IntToPtrOp, at: Batch) -> Array:
    """Integers as addresses."""
    addresses = at[op.source].view(ADDRESS)
    return addresses << np.uint64(pointee(op.result) is F4E2M1FN)


@meaning(d.PtrToIntOp)
def ptr_to_int(op: d.PtrToIntOp, at: Batch) -> Array:
    """Addresses as integers."""
    return (at[op.source] >> np.uint64(pointee(op.source) is F4E2M1FN)).view(np.int64)


@meaning(d.PtrToPtrOp)
def ptr_to_ptr(op: d.PtrToPtrOp, at: Batch) -> Array:
    """The same addresses, of another type."""
    addresses = at[op.source] >> np.uint64(pointee(op.source) is F4E2M1FN)
    return addresses << np.uint64(pointee(op.result) is F4E2M1FN)
