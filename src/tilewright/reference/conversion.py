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
    return tile_integer(op, at, op.source, is_signed=signed, is_saturating=op.saturating)


def tile_integer(
    op: Operation, at: Batch, value: Value, *, is_signed: bool, is_saturating: bool
) -> Array:
    """The integer part; as one bit, whether there is anything but zero, as with NVIDIA's."""
    if element(op.results[0]) is I1 and not is_saturating:
        return conversion.float_to_bool(at[value], element(value))
    return converted_to_integer(op, at, value, is_signed=is_signed, is_defined=is_saturating)


def converted_to_integer(
    op: Operation, at: Batch, value: Value, *, is_signed: bool, is_defined: bool
) -> Array:
    """The integer part; a checker looks whether it fits, unless that is defined too."""
    source, types = at[value], (element(value), integer(op.results[0]))
    found = conversion.float_to_int(source, *types, is_signed=is_signed)
    if is_defined or at.machine.checker is None:
        return found
    fits = conversion.fits_integer(source, *types, is_signed=is_signed)
    return at.machine.checker.defined(op, at, found, fits, "converts what does not fit")


@meaning(d.IToFOp)
def itof(op: d.IToFOp, at: Batch) -> Array:
    """The nearest number of a float type."""
    signed = op.signedness is Signedness.SIGNED
    return conversion.int_to_float(at[op.source], element(op.result), is_signed=signed)


@meaning(d.IntToPtrOp)
def int_to_ptr(op: d.IntToPtrOp, at: Batch) -> Array:
    """Integers as addresses."""
    return as_addresses(at[op.source].view(ADDRESS), pointee(op.result))


def as_addresses(bytes: Array, pointee: Type) -> Array:
    """Addresses in bytes, as pointers to elements hold them."""
    return bytes << np.uint64(pointee is F4E2M1FN)


def as_bytes(addresses: Array, pointee: Type) -> Array:
    """Addresses that pointers to elements hold, in bytes."""
    return addresses >> np.uint64(pointee is F4E2M1FN)


@meaning(d.PtrToIntOp)
def ptr_to_int(op: d.PtrToIntOp, at: Batch) -> Array:
    """Addresses as integers."""
    return as_bytes(at[op.source], pointee(op.source)).view(np.int64)


@meaning(d.PtrToPtrOp)
def ptr_to_ptr(op: d.PtrToPtrOp, at: Batch) -> Array:
    """The same addresses, of another type."""
    return as_addresses(as_bytes(at[op.source], pointee(op.source)), pointee(op.result))
