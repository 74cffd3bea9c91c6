"""Conversions between element types."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import conversion as d
from tilewright.reference.batch import Batch
from tilewright.reference.conversion import as_addresses, as_bytes, tile_integer
from tilewright.reference.evaluators import evaluator
from tilewright.reference.integer import check_overflow
from tilewright.reference.numerics import conversion
from tilewright.reference.nv_tileaa.enums import OVERFLOW_FLAGS, ROUNDINGS, is_signed
from tilewright.reference.tile import ADDRESS, Array, Pointer, element, pointee, wrap


@evaluator(d.BitcastOp)
def bitcast(op: d.BitcastOp, at: Batch) -> Array:
    """Reinterpret the bits as another type; addresses are unchanged."""
    source = at[op.source]
    if isinstance(element(op.source), Pointer):
        return as_addresses(as_bytes(source, pointee(op.source)), pointee(op.result))
    return conversion.bitcast(source, element(op.result))


@evaluator(d.ExtIOp)
def exti(op: d.ExtIOp, at: Batch) -> Array:
    """Sign- or zero-extend."""
    types, signed = (element(op.source), element(op.result)), is_signed(op.signedness)
    return conversion.extend(at[op.source], *types, is_signed=signed)


@evaluator(d.TruncIOp)
def trunci(op: d.TruncIOp, at: Batch) -> Array:
    """Truncate to the low bits."""
    check_overflow(op, at, OVERFLOW_FLAGS[op.overflow], at[op.source])
    return wrap(at[op.source], element(op.result))


@evaluator(d.FpToFpOp)
def fp_to_fp(op: d.FpToFpOp, at: Batch) -> Array:
    """Convert between float types with rounding."""
    types, mode = (element(op.source), element(op.result)), ROUNDINGS[op.rounding_mode]
    return conversion.float_to_float(at[op.source], *types, mode)


@evaluator(d.FToIOp)
def ftoi(op: d.FToIOp, at: Batch) -> Array:
    """Truncate to an integer. Out-of-range values saturate, also without `saturating`."""
    signed = is_signed(op.signedness)
    return tile_integer(op, at, op.source, is_signed=signed, is_saturating=op.saturating)


@evaluator(d.IntToPtrOp)
def int_to_ptr(op: d.IntToPtrOp, at: Batch) -> Array:
    """Convert integers to addresses."""
    return as_addresses(at[op.source].view(ADDRESS), pointee(op.result))


@evaluator(d.PtrToIntOp)
def ptr_to_int(op: d.PtrToIntOp, at: Batch) -> Array:
    """Convert addresses to integers."""
    return as_bytes(at[op.source], pointee(op.source)).view("i8")
