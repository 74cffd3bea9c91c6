"""Conversions between element types."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import conversion as d
from tilewright.reference.batch import Batch
from tilewright.reference.conversion import as_addresses, as_bytes, tile_integer
from tilewright.reference.integer import check_overflow
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics import conversion
from tilewright.reference.nv_tileaa.enums import PROMISES, ROUNDINGS, is_signed
from tilewright.reference.tile import ADDRESS, Array, Pointer, element, pointee, wrap


@meaning(d.BitcastOp)
def bitcast(op: d.BitcastOp, at: Batch) -> Array:
    """The same bits, read as another type; addresses stay where they are."""
    source = at[op.source]
    if isinstance(element(op.source), Pointer):
        return as_addresses(as_bytes(source, pointee(op.source)), pointee(op.result))
    return conversion.bitcast(source, element(op.result))


@meaning(d.ExtIOp)
def exti(op: d.ExtIOp, at: Batch) -> Array:
    """The same integer in more bits."""
    types, signed = (element(op.source), element(op.result)), is_signed(op.signedness)
    return conversion.extend(at[op.source], *types, is_signed=signed)


@meaning(d.TruncIOp)
def trunci(op: d.TruncIOp, at: Batch) -> Array:
    """The low bits."""
    check_overflow(op, at, PROMISES[op.overflow], at[op.source])
    return wrap(at[op.source], element(op.result))


@meaning(d.FpToFpOp)
def fp_to_fp(op: d.FpToFpOp, at: Batch) -> Array:
    """The same number in another type, rounded."""
    types, mode = (element(op.source), element(op.result)), ROUNDINGS[op.rounding_mode]
    return conversion.float_to_float(at[op.source], *types, mode)


@meaning(d.FToIOp)
def ftoi(op: d.FToIOp, at: Batch) -> Array:
    """The integer part. What does not fit is undefined without `saturating`: it saturates too."""
    signed = is_signed(op.signedness)
    return tile_integer(op, at, op.source, is_signed=signed, is_saturating=op.saturating)


@meaning(d.IntToPtrOp)
def int_to_ptr(op: d.IntToPtrOp, at: Batch) -> Array:
    """Integers as addresses."""
    return as_addresses(at[op.source].view(ADDRESS), pointee(op.result))


@meaning(d.PtrToIntOp)
def ptr_to_int(op: d.PtrToIntOp, at: Batch) -> Array:
    """Addresses as integers."""
    return as_bytes(at[op.source], pointee(op.source)).view("i8")
