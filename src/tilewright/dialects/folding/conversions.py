"""Folds and rules of element type conversions, shared by cuda_tile and nv_tileaa."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.dialects.arith.literals import elementwise
from tilewright.dialects.elements import width_of
from tilewright.dialects.folding.floats import format_of
from tilewright.ir.operation import Operation
from tilewright.ir.rules import rule
from tilewright.support.floats import Rounding, widens
from tilewright.support.numerics import conversion

if TYPE_CHECKING:
    from tilewright.ir.attributes import EnumAttr, Type
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rule
    from tilewright.ir.values import Value


class ConversionOps(NamedTuple):
    """The conversions of a dialect, and accessors of their attributes."""

    extend: type[Operation]
    truncate: type[Operation]
    bitcast: type[Operation]
    float_to_float: type[Operation]
    float_to_int: type[Operation]
    signed: EnumAttr
    """The `signedness` of signed integers."""
    no_wrap: Callable[[Any], Iterable[bool]]
    """The no-wrap flags of a truncation: `True` for signed, `False` for unsigned."""
    roundings: Mapping[EnumAttr, Rounding]
    """The rounding modes that are not approximate."""


class ConversionFolds:
    """The folds of the conversions of a dialect."""

    __slots__ = ("_ops",)

    def __init__(self, ops: ConversionOps) -> None:
        self._ops = ops

    def folds(self) -> Folds:
        """The folds of all operations."""
        ops = self._ops
        return {
            ops.extend: self.extension,
            ops.truncate: self.truncation,
            ops.bitcast: self.bitcast,
            ops.float_to_float: self.float_to_float,
            ops.float_to_int: self.float_to_int,
        }

    def extension(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants."""
        if None in constants:
            return None
        source, result = width_of(op.source.type), width_of(op.result.type)
        signed = op.signedness is self._ops.signed
        return elementwise(
            lambda a: conversion.extend(a, source, result, signed=signed), op.result.type, constants
        )

    def truncation(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; `trunci (exti x)` to the type of `x` is `x`."""
        extended = _round_trip(op, self._ops.extend)
        if extended is not None or None in constants:
            return extended
        source, result = width_of(op.source.type), width_of(op.result.type)
        no_wrap = list(self._ops.no_wrap(op))

        def truncate(a: int) -> int | None:
            for signed in no_wrap:
                if conversion.truncate_overflows(a, source, result, signed=signed):
                    return None
            return conversion.truncate(a, result)

        return elementwise(truncate, op.result.type, constants)

    def bitcast(self, op: Any, constants: Constants) -> Folded:
        """Reinterpret constants; `bitcast (bitcast x)` to the type of `x` is `x`."""
        source: Value = op.source
        if source.type is op.result.type:
            return source
        before = _round_trip(op, self._ops.bitcast)
        if before is not None:
            return before
        return elementwise(lambda a: a, op.result.type, constants)

    def float_to_float(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; widening `x` and narrowing it to its type again is `x`."""
        source, result = format_of(op.source.type), format_of(op.result.type)
        before = _round_trip(op, self._ops.float_to_float)
        # The fp8 formats saturate infinity and have a single NaN: no exact round trip.
        if before is not None and not conversion.saturates(result) and widens(result, source):
            return before
        rounding = self._ops.roundings.get(op.rounding_mode)
        if None in constants or rounding is None:
            return None
        return elementwise(
            lambda a: conversion.float_to_float(a, source, result, rounding),
            op.result.type,
            constants,
        )

    def float_to_int(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; a value out of range is undefined, and not folded."""
        if None in constants:
            return None
        type: Type = op.result.type
        source, bits = format_of(op.source.type), width_of(type)
        signed, saturating = op.signedness is self._ops.signed, op.saturating
        if bits == 1 and not saturating:
            return elementwise(lambda a: conversion.float_to_bool(a, source), type, constants)
        return elementwise(
            lambda a: conversion.float_to_int(
                a, source, bits, signed=signed, saturating=saturating
            ),
            type,
            constants,
        )


def _round_trip(op: Operation, kind: type[Operation]) -> Value | None:
    """The operand of an inner conversion, if its type is the result type of `op`."""
    inner = op.operands[0].defined_by(kind)
    if inner is None or inner.operands[0].type is not op.results[0].type:
        return None
    return inner.operands[0]


def merge_bitcasts(kind: type[Operation]) -> Rule:
    """The rule that merges two consecutive bitcasts."""

    @rule(kind)
    def bitcast_of_bitcast(op: Operation, build: Rewriter) -> Replacement:
        """`bitcast (bitcast x)` becomes one `bitcast`."""
        if (inner := op.operands[0].defined_by(kind)) is None:
            return None
        build.set_operands(op, inner.operands)
        return op

    return bitcast_of_bitcast


def merge_extensions(kind: type[Operation], signed: EnumAttr) -> Rule:
    """The rule that merges two consecutive extensions."""

    @rule(kind)
    def extension_of_extension(op: Any, build: Rewriter) -> Replacement:
        """`exti (exti x)` becomes one `exti` of the inner signedness.

        Both have the same signedness, or the inner one zero-extends, so the sign bit is zero.
        """
        inner: Any = op.source.defined_by(kind)
        if inner is None:
            return None
        signedness: EnumAttr = inner.signedness
        if signedness is not op.signedness and signedness is signed:
            return None
        build.fuse(inner)
        return build.create(
            kind, source=inner.source, signedness=signedness, types=[op.result.type]
        )

    return extension_of_extension
