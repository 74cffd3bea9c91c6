"""Part A: elementwise arithmetic, comparisons, math functions and conversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import converted
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import Renaming
from tilewright.dialects.arith.attributes import (
    NO_FAST_MATH,
    CmpFPredicate,
    CmpIPredicate,
    FastMathAttr,
)
from tilewright.dialects.arith.integer import MinSIOp, MinUIOp
from tilewright.dialects.cuda_tile import bitwise, conversion, floating, integer
from tilewright.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    Rounding,
    Signedness,
)
from tilewright.dialects.nv_tileaa import conversion as new_conversion
from tilewright.dialects.nv_tileaa import floating as new_floating
from tilewright.dialects.nv_tileaa import functions
from tilewright.dialects.nv_tileaa import integer as new_integer
from tilewright.ir.conversion import transfer_pattern, transfers

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.conversion_pattern import ConversionPattern
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.ir.values import Value

SAME: Final[Mapping[type[Operation], type[Operation]]] = {
    integer.AbsIOp: new_integer.AbsIOp,
    integer.NegIOp: new_integer.NegIOp,
    integer.AddIOp: new_integer.AddIOp,
    integer.SubIOp: new_integer.SubIOp,
    integer.MulIOp: new_integer.MulIOp,
    integer.MulhiIOp: new_integer.MulHiUIOp,
    integer.RemIOp: new_integer.RemIOp,
    integer.ShLIOp: new_integer.ShLIOp,
    integer.ShRIOp: new_integer.ShRIOp,
    bitwise.AndIOp: new_integer.AndIOp,
    bitwise.OrIOp: new_integer.OrIOp,
    bitwise.XOrIOp: new_integer.XOrIOp,
    floating.AbsFOp: new_floating.AbsFOp,
    floating.NegFOp: new_floating.NegFOp,
    floating.AddFOp: new_floating.AddFOp,
    floating.SubFOp: new_floating.SubFOp,
    floating.MulFOp: new_floating.MulFOp,
    floating.DivFOp: new_floating.DivFOp,
    floating.SqrtOp: new_floating.SqrtOp,
    floating.RemFOp: new_floating.RemFOp,
    floating.MaxFOp: new_floating.MaxFOp,
    floating.MinFOp: new_floating.MinFOp,
    floating.CeilOp: new_floating.CeilOp,
    floating.FloorOp: new_floating.FloorOp,
    floating.Atan2Op: functions.Atan2Op,
    floating.FPowFOp: functions.FPowFOp,
    floating.FPowIOp: functions.FPowIOp,
    conversion.BitcastOp: new_conversion.BitcastOp,
    conversion.PtrToPtrOp: new_conversion.BitcastOp,
    conversion.ExtIOp: new_conversion.ExtIOp,
    conversion.FToFOp: new_conversion.FpToFpOp,
    conversion.IntToPtrOp: new_conversion.IntToPtrOp,
    conversion.PtrToIntOp: new_conversion.PtrToIntOp,
}
"""Operations with a counterpart that has the same operands and attributes."""

DIVISION: Final = Renaming(integer.DivIOp, new_integer.DivIOp, {"rounding": "rounding_mode"})

_FUNCTIONS: Final[Mapping[type[Operation], type[Operation]]] = {
    floating.Exp2Op: functions.Exp2Op,
    floating.ExpOp: functions.ExpOp,
    floating.LogOp: functions.LogOp,
    floating.Log2Op: functions.Log2Op,
    floating.SinOp: functions.SinOp,
    floating.CosOp: functions.CosOp,
    floating.TanOp: functions.TanOp,
    floating.SinHOp: functions.SinHOp,
    floating.CosHOp: functions.CosHOp,
    floating.TanHOp: functions.TanHOp,
}

_APPROXIMATE: Final = FastMathAttr("afn")

_INTEGER_PREDICATES: Final[Mapping[ComparisonPredicate, tuple[str, bool]]] = {
    ComparisonPredicate.EQUAL: ("EQ", False),
    ComparisonPredicate.NOT_EQUAL: ("NE", False),
    ComparisonPredicate.LESS_THAN: ("LT", True),
    ComparisonPredicate.LESS_THAN_OR_EQUAL: ("LE", True),
    ComparisonPredicate.GREATER_THAN: ("GT", True),
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: ("GE", True),
}
"""arith's mnemonic of a predicate, and whether it depends on the signedness."""


def integer_predicate(predicate: ComparisonPredicate, signedness: Signedness) -> CmpIPredicate:
    """Return arith's predicate of an integer comparison."""
    mnemonic, has_sign = _INTEGER_PREDICATES[predicate]
    sign = "S" if signedness is Signedness.SIGNED else "U"
    return CmpIPredicate[f"{sign}{mnemonic}" if has_sign else mnemonic]


def float_predicate(predicate: ComparisonPredicate, ordering: ComparisonOrdering) -> CmpFPredicate:
    """Return arith's predicate of a float comparison."""
    order = "O" if ordering is ComparisonOrdering.ORDERED else "U"
    return CmpFPredicate[f"{order}{_INTEGER_PREDICATES[predicate][0]}"]


@transfers(integer.CmpIOp)
def cmpi(op: integer.CmpIOp, operands: Sequence[Value], types: TypeConverter) -> Operation:
    """Lower to `nv_tileaa.cmpi`, whose predicate includes the signedness."""
    attributes = converted(op, left_out=("comparison_predicate", "signedness"))
    attributes["predicate"] = integer_predicate(op.comparison_predicate, op.signedness)
    return _made(new_integer.CmpIOp, op, operands, attributes, types)


@transfers(floating.CmpFOp)
def cmpf(op: floating.CmpFOp, operands: Sequence[Value], types: TypeConverter) -> Operation:
    """Lower to `nv_tileaa.cmpf`, whose predicate includes the ordering."""
    attributes: dict[str, Attribute] = {
        "predicate": float_predicate(op.comparison_predicate, op.comparison_ordering),
        "fastmath": NO_FAST_MATH,
        **converted(op, left_out=("comparison_predicate", "comparison_ordering")),
    }
    return _made(new_floating.CmpFOp, op, operands, attributes, types)


def _made(
    kind: type[Operation],
    op: Operation,
    operands: Sequence[Value],
    attributes: dict[str, Attribute],
    types: TypeConverter,
) -> Operation:
    """Create an operation whose result is a tile, a type that always converts."""
    results = types.convert(op.results[0].type) or ()
    return kind(operands, results, attributes, (), op.location)


def _function(old: type[Operation], kind: type[Operation]) -> ConversionPattern:
    def make(op: Operation, operands: Sequence[Value], types: TypeConverter) -> Operation:
        attributes = {"fastmath": NO_FAST_MATH, **converted(op, left_out=("rounding_mode",))}
        if op.attributes.get("rounding_mode") is Rounding.APPROX:
            flags = attributes["fastmath"]
            assert isinstance(flags, FastMathAttr)
            attributes["fastmath"] = flags | _APPROXIMATE
        return _made(kind, op, operands, attributes, types)

    return transfer_pattern((old,), make, f"{old.name} to {kind.name}")


FUNCTIONS: Final = tuple([_function(old, kind) for old, kind in _FUNCTIONS.items()])
"""Math functions; an approximate rounding mode becomes the fast-math flag `afn`."""


@transfers(conversion.FToIOp)
def ftoi(op: conversion.FToIOp, operands: Sequence[Value], types: TypeConverter) -> Operation:
    """Lower to `nv_tileaa.ftoi`, without the rounding mode, which has only one value."""
    attributes = converted(op, left_out=("rounding_mode",))
    return _made(new_conversion.FToIOp, op, operands, attributes, types)


def by_sign(
    op: Operation,
    operands: Sequence[Value],
    kinds: tuple[type[Operation], type[Operation]],
    types: TypeConverter,
) -> Operation:
    """Create the signed or the unsigned one of two operations, by the attribute `signedness`."""
    is_signed = op.attributes["signedness"] is Signedness.SIGNED
    attributes = converted(op, left_out=("signedness", "rounding_mode"))
    return _made(kinds[0] if is_signed else kinds[1], op, operands, attributes, types)


@transfers(integer.MinIOp)
def mini(op: integer.MinIOp, operands: Sequence[Value], types: TypeConverter) -> Operation:
    """Lower to `arith.minsi` or `arith.minui`."""
    return by_sign(op, operands, (MinSIOp, MinUIOp), types)
