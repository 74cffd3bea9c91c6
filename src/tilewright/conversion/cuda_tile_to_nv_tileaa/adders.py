"""Eight patterns with a function each to add them, so that other passes can use them alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.arithmetic import by_sign
from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import convert_predicate, converted
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import PatternSet, Renaming
from tilewright.dialects.arith.casts import SIToFPOp, UIToFPOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import MaxSIOp, MaxUIOp
from tilewright.dialects.cuda_tile import conversion, core, floating, integer, misc, structure
from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.nv_tileaa import conversion as new_conversion
from tilewright.dialects.nv_tileaa import floating as new_floating
from tilewright.dialects.nv_tileaa import functions
from tilewright.dialects.nv_tileaa import misc as new_misc
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.dialects.nv_tileaa.structure import GlobalOp
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr, StringAttr
from tilewright.ir.conversion import converts, transfers
from tilewright.ir.types import I1, IntegerType, TensorType
from tilewright.support.bits import to_signed

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import ConversionPattern, Made, Result
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.ir.values import Value


@transfers(integer.MaxIOp)
def maxi(op: integer.MaxIOp, operands: Sequence[Value], types: TypeConverter) -> Operation:
    """Lower to `arith.maxsi` or `arith.maxui`."""
    return by_sign(op, operands, (MaxSIOp, MaxUIOp), types)


@transfers(conversion.IToFOp)
def itof(op: conversion.IToFOp, operands: Sequence[Value], types: TypeConverter) -> Operation:
    """Lower to `arith.sitofp` or `arith.uitofp`, which round to nearest even."""
    return by_sign(op, operands, (SIToFPOp, UIToFPOp), types)


@transfers(core.ConstantOp)
def constant(op: core.ConstantOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to a scalar constant, a splat of one, or a dense constant."""
    value, splat_type = _literal(op.value)
    attributes = op.attributes.copy()
    attributes["value"] = value
    made = ConstantOp((), (value.type,), attributes, (), op.location)
    if splat_type is None:
        return made
    return made, SplatOp(made.results, (splat_type,), {}, (), op.location)


@lru_cache
def _literal(
    value: DenseElementsAttr,
) -> tuple[IntegerAttr | FloatAttr | DenseElementsAttr, TensorType | None]:
    """Return the attribute of a constant, and the tensor type if it is a splat."""
    type = value.type
    assert isinstance(type, TileType)
    shape, element = type.shape, type.element
    if not shape:
        return _scalar(value.elements()[0], element), None
    tensor = TensorType(shape, element)
    if value.is_splat:
        return _scalar(value.elements()[0], element), tensor
    return DenseElementsAttr(value.data, tensor), None


def _scalar(bits: int, element: Type) -> IntegerAttr | FloatAttr:
    if not isinstance(element, IntegerType):
        return FloatAttr(bits, element)
    return IntegerAttr(bits if element is I1 else to_signed(bits, element.width), element)


@transfers(misc.AssumeOp)
def assume(op: misc.AssumeOp, operands: Sequence[Value], types: TypeConverter) -> Operation:
    """Lower to `nv_tileaa.assume` with the converted predicate."""
    attributes = op.attributes.copy()
    # The hot path: every third operation of a typical program is an assumption.
    attributes["predicate"] = convert_predicate(attributes["predicate"])
    return new_misc.AssumeOp(operands, (operands[0].type,), attributes, (), op.location)


@converts(structure.GlobalOp)
def global_(op: structure.GlobalOp, new: structure.GlobalOp, build: ConversionBuilder) -> Result:
    """Lower to `nv_tileaa.global` of the same name and value."""
    attributes = converted(op, left_out=("symbol_visibility",))
    type = op.value.type
    assert isinstance(type, TileType)
    attributes["value"] = DenseElementsAttr(op.value.data, TensorType(type.shape, type.element))
    if op.symbol_visibility is SymbolVisibility.PRIVATE:
        attributes["sym_visibility"] = StringAttr("private")
    return build.insert(GlobalOp((), (), attributes, (), op.location))


TRUNCI: Final = Renaming(conversion.TruncIOp, new_conversion.TruncIOp)
RSQRT: Final = Renaming(floating.RsqrtOp, functions.RsqrtOp)
FMA: Final = Renaming(floating.FmaOp, new_floating.FmaOp)


def _adder(entry: ConversionPattern | Renaming) -> Callable[[PatternSet], None]:
    def add(patterns: PatternSet) -> None:
        patterns.add(entry)

    return add


add_trunci: Final = _adder(TRUNCI)
add_rsqrt: Final = _adder(RSQRT)
add_maxi: Final = _adder(maxi)
add_itof: Final = _adder(itof)
add_global: Final = _adder(global_)
add_fma: Final = _adder(FMA)
add_constant: Final = _adder(constant)
add_assume: Final = _adder(assume)

ADDERS: Final = (
    add_trunci,
    add_rsqrt,
    add_maxi,
    add_itof,
    add_global,
    add_fma,
    add_constant,
    add_assume,
)
"""Functions that add one pattern each."""
