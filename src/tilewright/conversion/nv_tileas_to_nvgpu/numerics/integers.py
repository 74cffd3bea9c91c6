"""Integer arithmetic of nv_tileaa as that of arith and math."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nv_tileas_to_nvgpu.numerics.packed_bytes import (
    are_whole_words,
    shift_bytes_right,
)
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import map_elements
from tilewright.dialects.arith import casts, comparison, integer
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.math.ops import AbsIOp
from tilewright.dialects.nv_tileaa import conversion as tileaa_conversion
from tilewright.dialects.nv_tileaa import integer as tileaa
from tilewright.dialects.nv_tileaa.attributes import RoundingMode, Signedness
from tilewright.dialects.nv_tileaa.memory import AccessOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.shape import SelectOp
from tilewright.dialects.nv_tileas.pipeline import ProducerCopyOp
from tilewright.dialects.nv_tileas.shape import Rearrangement, SplatOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.conversion_builder import ConversionPattern
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I1, I8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

_SAME: Final[dict[type[Operation], type[Operation]]] = {
    tileaa.AddIOp: integer.AddIOp,
    tileaa.SubIOp: integer.SubIOp,
    tileaa.MulIOp: integer.MulIOp,
    tileaa.ShLIOp: integer.ShLIOp,
    tileaa.AndIOp: integer.AndIOp,
    tileaa.OrIOp: integer.OrIOp,
    tileaa.XOrIOp: integer.XOrIOp,
}
_COMBINED: Final = tileaa.AndIOp | tileaa.OrIOp | tileaa.XOrIOp
_BY_SIGN: Final[dict[type[Operation], tuple[type[Operation], type[Operation]]]] = {
    tileaa.RemIOp: (integer.RemUIOp, integer.RemSIOp),
    tileaa.ShRIOp: (integer.ShRUIOp, integer.ShRSIOp),
}
_DIVISIONS: Final[dict[tuple[RoundingMode, bool], type[Operation]]] = {
    (RoundingMode.ZERO, True): integer.DivSIOp,
    (RoundingMode.ZERO, False): integer.DivUIOp,
    (RoundingMode.NEGATIVE_INF, True): integer.FloorDivSIOp,
    (RoundingMode.NEGATIVE_INF, False): integer.DivUIOp,
    (RoundingMode.POSITIVE_INF, True): integer.CeilDivSIOp,
    (RoundingMode.POSITIVE_INF, False): integer.CeilDivUIOp,
}


def _binary(
    op: tileaa.BinaryInteger, new: tileaa.BinaryInteger, build: ConversionBuilder
) -> Result:
    """The operation of the same name, with its overflow flags."""
    kind = _SAME[type(op)]
    if _only_masks_accesses(op):
        return _conditions(build, kind, new)
    binary_op = build.create(kind, lhs=new.lhs, rhs=new.rhs)
    if isinstance(op, tileaa.OverflowingInteger) and op.overflow.bits:
        binary_op.attributes["overflowFlags"] = op.overflow
    return binary_op


def _conditions(
    build: ConversionBuilder,
    kind: type[Operation],
    new: tileaa.BinaryInteger | tileaa.CmpIOp,
    **attributes: Any,
) -> Value:
    """A condition for each element, by an operation of its own.

    Of a vector of conditions, LLVM packs all into the bits of an integer. That suits tiles that
    select elements in a loop, where a word holds the conditions of 32. But an instruction accesses
    several elements by the condition of the first, and those of the others would be computed, too.
    """

    def combine(scalars: Sequence[Value]) -> Value:
        return build.create(kind, lhs=scalars[0], rhs=scalars[1], **attributes).results[0]

    return map_elements(build, combine, new.lhs, new.rhs)


def _only_masks_accesses(op: Operation) -> bool:
    """Whether a tile of conditions is only used as, or combined to, masks of accesses."""
    if element_of(op.results[0].type) is not I1:
        return False
    return all(
        isinstance(user, AccessOp | ProducerCopyOp)
        or (isinstance(user, _COMBINED | Rearrangement) and _only_masks_accesses(user))
        for user in op.results[0].users
    )


def _signed(
    op: tileaa.SignedInteger, new: tileaa.SignedInteger, build: ConversionBuilder
) -> Result:
    """The signed or the unsigned operation."""
    count = _shift_count(op)
    if count is not None and are_whole_words(new.lhs):
        return shift_bytes_right(build, new.lhs, count)
    kind = _BY_SIGN[type(op)][op.signedness is Signedness.SIGNED]
    return build.create(kind, lhs=new.lhs, rhs=new.rhs)


def _shift_count(op: tileaa.SignedInteger) -> int | None:
    """The number of bits by which all int8 are shifted right, unsigned, if it is a constant."""
    if not isinstance(op, tileaa.ShRIOp) or op.signedness is Signedness.SIGNED:
        return None
    source = op.rhs.defining_op()
    count = splat_of(constant_of(source.source if isinstance(source, SplatOp) else op.rhs))
    return count if count is not None and count < I8.width else None


@converts(tileaa.DivIOp)
def divide(op: tileaa.DivIOp, new: tileaa.DivIOp, build: ConversionBuilder) -> Result:
    """Division rounds in one of three ways; unsigned, toward -inf is toward zero."""
    kind = _DIVISIONS[op.rounding_mode, op.signedness is Signedness.SIGNED]
    return build.create(kind, lhs=new.lhs, rhs=new.rhs)


@converts(tileaa.MulHiUIOp)
def multiply_high(op: tileaa.MulHiUIOp, new: tileaa.MulHiUIOp, build: ConversionBuilder) -> Result:
    """The upper half of the double-width product."""
    return build.create(integer.MulUIExtendedOp, lhs=new.lhs, rhs=new.rhs).results[1]


@converts(tileaa.NegIOp)
def negate(op: tileaa.NegIOp, new: tileaa.NegIOp, build: ConversionBuilder) -> Result:
    """`-x` is `0 - x`."""
    return build.create(integer.SubIOp, lhs=_zero(build, new.source), rhs=new.source)


def _zero(build: ConversionBuilder, like: Value) -> Value:
    value = literal([0], like.type)
    return build.create(ConstantOp, value=value, types=[like.type]).result


@converts(tileaa.AbsIOp)
def absolute(op: tileaa.AbsIOp, new: tileaa.AbsIOp, build: ConversionBuilder) -> Result:
    """The most negative integer is its own absolute value."""
    return build.create(AbsIOp, operand=new.source)


@converts(tileaa.CmpIOp)
def compare(op: tileaa.CmpIOp, new: tileaa.CmpIOp, build: ConversionBuilder) -> Result:
    """The predicates are the same."""
    if _only_masks_accesses(op):
        return _conditions(build, comparison.CmpIOp, new, predicate=op.predicate)
    return build.create(comparison.CmpIOp, predicate=op.predicate, lhs=new.lhs, rhs=new.rhs)


@converts(tileaa_conversion.ExtIOp)
def extend(
    op: tileaa_conversion.ExtIOp, new: tileaa_conversion.ExtIOp, build: ConversionBuilder
) -> Result:
    """Sign or zero extension."""
    kind = casts.ExtSIOp if op.signedness is Signedness.SIGNED else casts.ExtUIOp
    return build.create(kind, source=new.source, types=build.types.convert(op.result.type))


@converts(tileaa_conversion.TruncIOp)
def truncate(
    op: tileaa_conversion.TruncIOp, new: tileaa_conversion.TruncIOp, build: ConversionBuilder
) -> Result:
    """Truncation to the low bits."""
    types = build.types.convert(op.result.type)
    return build.create(casts.TruncIOp, source=new.source, types=types)


@converts(tileaa_conversion.IntToPtrOp, tileaa_conversion.PtrToIntOp)
def address(
    op: tileaa_conversion.IntToPtrOp | tileaa_conversion.PtrToIntOp,
    new: tileaa_conversion.IntToPtrOp | tileaa_conversion.PtrToIntOp,
    build: ConversionBuilder,
) -> Result:
    """A no-op: addresses are i64."""
    return new.source


@converts(tileaa_conversion.BitcastOp)
def bitcast(
    op: tileaa_conversion.BitcastOp, new: tileaa_conversion.BitcastOp, build: ConversionBuilder
) -> Result:
    """Reinterpret bits; a pointer to another type is the same i64."""
    types = build.types.convert(op.result.type)
    if types == (new.source.type,):
        return new.source
    return build.create(casts.BitcastOp, source=new.source, types=types)


@converts(SelectOp)
def select(op: SelectOp, new: SelectOp, build: ConversionBuilder) -> Result:
    """`arith.select`."""
    return build.create(
        comparison.SelectOp,
        condition=new.condition,
        true_value=new.true_value,
        false_value=new.false_value,
    )


@converts(AssumeOp)
def assume(op: AssumeOp, new: AssumeOp, build: ConversionBuilder) -> Result:
    """Drop `assume`: its facts are already attached to the value."""
    return [build.values(op.value)]


PATTERNS: Final[Patterns] = (
    ConversionPattern(tuple(_SAME), _binary, "binary"),
    ConversionPattern(tuple(_BY_SIGN), _signed, "signed"),
    divide,
    multiply_high,
    negate,
    absolute,
    compare,
    extend,
    truncate,
    address,
    bitcast,
    select,
    assume,
)
