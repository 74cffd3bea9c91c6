"""arith to LLVM: scalars and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.block_constants import block_constant
from tilewright.conversion.nvgpu_to_nvvm.arith_division import DIVISIONS
from tilewright.conversion.nvgpu_to_nvvm.elementwise import (
    fast_math,
    is_llvm_float,
    overflow,
    result_type,
    scalar_of,
)
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith import casts, comparison, floating, integer
from tilewright.dialects.arith.attributes import RoundingMode
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal as integer_literal
from tilewright.dialects.llvm import arithmetic, conversion
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.constants import ConstantOp as LLVMConstantOp
from tilewright.dialects.llvm.constants import PoisonOp as LLVMPoisonOp
from tilewright.dialects.llvm.intrinsics import floats, integers
from tilewright.dialects.nvvm import arithmetic as rounded
from tilewright.dialects.nvvm.attributes import RoundingMode as Direction
from tilewright.dialects.ub import PoisonOp
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr
from tilewright.ir.builder import create_op
from tilewright.ir.conversion import (
    ConversionBuilder,
    ConversionPattern,
    Patterns,
    Result,
    converts,
    transfer_pattern,
    transfers,
)
from tilewright.ir.types import F32, TF32, IntegerType, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.ir.values import Value

_DIRECTIONS: Final = {
    RoundingMode.TO_NEAREST_EVEN: Direction.RN,
    RoundingMode.DOWNWARD: Direction.RM,
    RoundingMode.UPWARD: Direction.RP,
    RoundingMode.TOWARD_ZERO: Direction.RZ,
}


def literal(value: Attribute, type: Type) -> Attribute | None:
    """Convert the value of a constant to an LLVM type, or return `None`; fp8 becomes an integer."""
    match value:
        case IntegerAttr() if isinstance(type, IntegerType):
            return IntegerAttr(value.value, type)
        case FloatAttr() if isinstance(type, IntegerType):
            bits = value.bits - (value.bits >> (type.width - 1) << type.width)
            return IntegerAttr(bits, type)
        case FloatAttr():
            return value if value.type is type else None
        case DenseElementsAttr() if isinstance(type, VectorType):
            # An index takes eight bytes in a constant, as i64 does.
            return None if element_of(value) is TF32 else DenseElementsAttr(value.data, type)
        case _:
            return None


def element_of(value: DenseElementsAttr) -> Type:
    """Return the element type of a shaped constant."""
    shaped: Any = value.type
    return shaped.element


@converts(ConstantOp)
def constant(op: ConstantOp, new: ConstantOp, build: ConversionBuilder) -> Result:
    """Lower `arith.constant` to `llvm.mlir.constant`."""
    type = result_type(op, build)
    value = None if type is None else literal(op.value, type)
    if type is None or value is None:
        return build.reject(
            f"expected a constant type that converts to LLVM, got '{op.result.type}'"
        )
    if build.location is not op.location:
        # A value that a debugger knows by name has a constant of its own, which takes the name.
        return build.create(LLVMConstantOp, value=value, types=[type])
    return block_constant(build, LLVMConstantOp, value, type)


@converts(PoisonOp)
def poison(op: PoisonOp, new: PoisonOp, build: ConversionBuilder) -> Result:
    """Lower `ub.poison` to one `llvm.mlir.poison` for each converted type."""
    types = build.types.convert(op.result.type)
    if types is None:
        return build.reject(f"expected a type that converts to LLVM, got '{op.result.type}'")
    return [[build.create(LLVMPoisonOp, types=[type]).res for type in types]]


def _wrapping(op: Any) -> dict[str, Any]:
    return {"overflow": overflow(op.overflow)}


def _exact(op: Any) -> dict[str, Any]:
    return {"exact": op.is_exact}


def _plain(op: Any) -> dict[str, Any]:
    return {}


_INTEGERS: Final[Mapping[type[integer.BinaryInteger], tuple[type[Operation], Any]]] = {
    integer.AddIOp: (arithmetic.AddOp, _wrapping),
    integer.SubIOp: (arithmetic.SubOp, _wrapping),
    integer.MulIOp: (arithmetic.MulOp, _wrapping),
    integer.ShLIOp: (arithmetic.ShlOp, _wrapping),
    integer.DivSIOp: (arithmetic.SDivOp, _exact),
    integer.DivUIOp: (arithmetic.UDivOp, _exact),
    integer.ShRSIOp: (arithmetic.AShrOp, _exact),
    integer.ShRUIOp: (arithmetic.LShrOp, _exact),
    integer.RemSIOp: (arithmetic.SRemOp, _plain),
    integer.RemUIOp: (arithmetic.URemOp, _plain),
    integer.AndIOp: (arithmetic.AndOp, _plain),
    integer.OrIOp: (arithmetic.OrOp, _plain),
    integer.XOrIOp: (arithmetic.XorOp, _plain),
    integer.MaxSIOp: (integers.SMaxOp, _plain),
    integer.MaxUIOp: (integers.UMaxOp, _plain),
    integer.MinSIOp: (integers.SMinOp, _plain),
    integer.MinUIOp: (integers.UMinOp, _plain),
}
"""The LLVM operation for each binary integer operation, and the function for its attributes."""


def _integer(root: type[integer.BinaryInteger]) -> ConversionPattern:
    kind, extra = _INTEGERS[root]

    def make(op: Operation, operands: Sequence[Value], types: TypeConverter) -> Operation:
        lhs, rhs = operands
        return create_op(kind, lhs=lhs, rhs=rhs, location=op.location, **extra(op))

    return transfer_pattern((root,), make, f"{root.name} to {kind.name}")


@converts(integer.AddUIExtendedOp)
def add_extended(
    op: integer.AddUIExtendedOp, new: integer.AddUIExtendedOp, build: ConversionBuilder
) -> Result:
    """Lower `arith.addui_extended` to `llvm.intr.uadd.with.overflow`."""
    pair = build.create(integers.UAddWithOverflowOp, lhs=new.lhs, rhs=new.rhs).res
    return [build.create(ExtractValueOp, container=pair, position=[index]).res for index in (0, 1)]


@converts(integer.MulSIExtendedOp, integer.MulUIExtendedOp)
def mul_extended(
    op: integer.MulSIExtendedOp | integer.MulUIExtendedOp, new: Any, build: ConversionBuilder
) -> Result:
    """Lower `arith.mul*i_extended` to a multiplication of twice the width, and two truncations."""
    type = new.lhs.type
    scalar = scalar_of(type)
    assert isinstance(scalar, IntegerType)
    wide = IntegerType(2 * scalar.width)
    double = VectorType(type.shape, wide) if isinstance(type, VectorType) else wide
    widen = conversion.SExtOp if isinstance(op, integer.MulSIExtendedOp) else conversion.ZExtOp
    a, b = [build.create(widen, arg=value, types=[double]).res for value in (new.lhs, new.rhs)]
    wide_mul = build.create(arithmetic.MulOp, lhs=a, rhs=b).res
    width = integer_literal([scalar.width], double)
    shift = build.create(LLVMConstantOp, value=width, types=[double]).res
    upper = build.create(arithmetic.LShrOp, lhs=wide_mul, rhs=shift).res
    return [
        build.create(conversion.TruncOp, arg=half, types=[type]).res for half in (wide_mul, upper)
    ]


_FLOATS: Final[Mapping[type[floating.BinaryFloat], type[Operation]]] = {
    floating.AddFOp: arithmetic.FAddOp,
    floating.SubFOp: arithmetic.FSubOp,
    floating.MulFOp: arithmetic.FMulOp,
    floating.DivFOp: arithmetic.FDivOp,
    floating.MaximumFOp: floats.MaximumOp,
    floating.MinimumFOp: floats.MinimumOp,
    floating.MaxNumFOp: floats.MaxNumOp,
    floating.MinNumFOp: floats.MinNumOp,
}
_ROUNDED: Final[Mapping[type[floating.BinaryFloat], type[rounded.RoundedBinary]]] = {
    floating.AddFOp: rounded.AddFOp,
    floating.SubFOp: rounded.AddFOp,
    floating.MulFOp: rounded.MulFOp,
    floating.DivFOp: rounded.DivFOp,
}


def _float(root: type[floating.BinaryFloat]) -> ConversionPattern:
    kind = _FLOATS[root]

    def apply(op: Any, new: Any, build: ConversionBuilder) -> Result:
        if not is_llvm_float(op.lhs.type):
            return build.reject(f"expected a float type of LLVM, got '{op.lhs.type}'")
        mode = op.rounding if root in _ROUNDED else None
        if mode in (None, RoundingMode.TO_NEAREST_EVEN):
            return build.create(kind, lhs=new.lhs, rhs=new.rhs, fastmath=fast_math(op.fastmath))
        return _directed(op, new, build)

    return ConversionPattern((root,), apply, f"{root.name} to {kind.name}")


def _directed(
    op: floating.RoundedBinaryFloat, new: floating.RoundedBinaryFloat, build: ConversionBuilder
) -> Result:
    """Lower to an NVVM operation with a rounding mode, which f32 and f64 scalars have."""
    direction = None if op.rounding is None else _DIRECTIONS.get(op.rounding)
    if direction is None or str(op.result.type) not in ("f32", "f64"):
        return build.reject(f"expected a rounding mode of '{op.result.type}'")
    rhs = new.rhs
    if isinstance(op, floating.SubFOp):
        rhs = build.create(arithmetic.FNegOp, operand=rhs).res
    return build.create(_ROUNDED[type(op)], a=new.lhs, b=rhs, rnd=direction)


@converts(floating.DivFOp)
def fast_division(op: floating.DivFOp, new: floating.DivFOp, build: ConversionBuilder) -> Result:
    """Lower f32 division with `afn` to libdevice's fast division."""
    if "afn" not in op.fastmath or op.result.type is not F32:
        return None
    return Symbols(op, build).call("__nv_fast_fdividef", [new.lhs, new.rhs], F32)


@converts(floating.NegFOp)
def negation(op: floating.NegFOp, new: floating.NegFOp, build: ConversionBuilder) -> Result:
    """Lower `arith.negf` to `llvm.fneg`."""
    if not is_llvm_float(op.result.type):
        return build.reject(f"expected a float type of LLVM, got '{op.result.type}'")
    return build.create(arithmetic.FNegOp, operand=new.operand, fastmath=fast_math(op.fastmath))


@transfers(comparison.CmpIOp)
def compare_integers(
    op: comparison.CmpIOp, operands: Sequence[Value], types: TypeConverter
) -> Operation:
    """Lower `arith.cmpi` to `llvm.icmp` with the same predicate."""
    lhs, rhs = operands
    predicate = op.predicate
    return create_op(arithmetic.ICmpOp, predicate=predicate, lhs=lhs, rhs=rhs, location=op.location)


@converts(comparison.CmpFOp)
def compare_floats(
    op: comparison.CmpFOp, new: comparison.CmpFOp, build: ConversionBuilder
) -> Result:
    """Lower `arith.cmpf` to `llvm.fcmp` with the same predicate."""
    if not is_llvm_float(op.lhs.type):
        return build.reject(f"expected a float type of LLVM, got '{op.lhs.type}'")
    return build.create(
        arithmetic.FCmpOp,
        predicate=op.predicate,
        lhs=new.lhs,
        rhs=new.rhs,
        fastmath=fast_math(op.fastmath),
    )


@converts(comparison.SelectOp)
def select(op: comparison.SelectOp, new: comparison.SelectOp, build: ConversionBuilder) -> Result:
    """Lower `arith.select` to one `llvm.select` for each converted value."""
    pairs = zip(build.values(op.true_value), build.values(op.false_value), strict=True)
    condition = new.condition
    return [
        [
            build.create(arithmetic.SelectOp, condition=condition, true_value=a, false_value=b).res
            for a, b in pairs
        ]
    ]


_CASTS: Final[Mapping[type[casts.CastOp], type[Operation]]] = {
    casts.ExtSIOp: conversion.SExtOp,
    casts.ExtUIOp: conversion.ZExtOp,
    casts.TruncIOp: conversion.TruncOp,
    casts.ExtFOp: conversion.FPExtOp,
    casts.TruncFOp: conversion.FPTruncOp,
    casts.SIToFPOp: conversion.SIToFPOp,
    casts.UIToFPOp: conversion.UIToFPOp,
    casts.FPToSIOp: conversion.FPToSIOp,
    casts.FPToUIOp: conversion.FPToUIOp,
}


def _cast(root: type[casts.CastOp]) -> ConversionPattern:
    kind = _CASTS[root]

    def make(op: Any, operands: Sequence[Value], types: TypeConverter) -> Operation | None:
        if _cast_problem(op) is not None:
            return None
        converted = types.convert(op.result.type)
        return create_op(kind, arg=operands[0], types=converted, location=op.location)

    return transfer_pattern((root,), make, f"{root.name} to {kind.name}", _cast_problem)


def _cast_problem(op: Any) -> str | None:
    """Return why LLVM has no such cast, or `None`."""
    if not (_is_plain(op.source.type) and _is_plain(op.result.type)):
        return f"expected scalar types of LLVM, got '{op.source.type}'"
    if getattr(op, "rounding", None) not in (None, RoundingMode.TO_NEAREST_EVEN):
        return "expected rounding to nearest even"
    return None


def _is_plain(type: Type) -> bool:
    return isinstance(scalar_of(type), IntegerType) or is_llvm_float(type)


@converts(casts.IndexCastOp, casts.IndexCastUIOp)
def index_cast(
    op: casts.IndexConversion, new: casts.IndexConversion, build: ConversionBuilder
) -> Result:
    """Lower a cast between an integer and `index`, which has 64 bits."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a type that converts to LLVM, got '{op.result.type}'")
    source, target = scalar_of(new.source.type), scalar_of(type)
    assert isinstance(source, IntegerType)
    assert isinstance(target, IntegerType)
    if source is target:
        return new.source
    signed = isinstance(op, casts.IndexCastOp)
    widen = conversion.SExtOp if signed else conversion.ZExtOp
    kind = widen if source.width < target.width else conversion.TruncOp
    return build.create(kind, arg=new.source, types=[type])


@converts(casts.BitcastOp)
def bitcast(op: casts.BitcastOp, new: casts.BitcastOp, build: ConversionBuilder) -> Result:
    """Lower `arith.bitcast`; a no-op between fp8 and i8, which have the same converted type."""
    type = result_type(op, build)
    if type is None:
        return build.reject(f"expected a type that converts to LLVM, got '{op.result.type}'")
    if new.source.type is type:
        return new.source
    return build.create(conversion.BitcastOp, arg=new.source, types=[type])


PATTERNS: Final[Patterns] = (
    constant,
    poison,
    *map(_integer, _INTEGERS),
    *DIVISIONS,
    add_extended,
    mul_extended,
    fast_division,
    *map(_float, _FLOATS),
    negation,
    compare_integers,
    compare_floats,
    select,
    *map(_cast, _CASTS),
    index_cast,
    bitcast,
)
