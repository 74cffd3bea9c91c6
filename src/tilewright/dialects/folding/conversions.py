"""Folds and rules of conversions between element types, for every dialect that has such."""

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
    """The operations of a dialect, by what they do, and how it says what they depend on."""

    extend: type[Operation]
    truncate: type[Operation]
    bitcast: type[Operation]
    float_to_float: type[Operation]
    float_to_int: type[Operation]
    signed: EnumAttr
    """How `signedness` says that integers have a sign."""
    promises: Callable[[Any], Iterable[bool]]
    """How integers may be read without overflow: signed, unsigned."""
    roundings: Mapping[EnumAttr, Rounding]
    """The modes that define a result."""


class ConversionFolds:
    """How the conversions of a dialect fold."""

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
        """Compute on constants; what was extended from the type is itself again."""
        extended = _led_back(op, self._ops.extend)
        if extended is not None or None in constants:
            return extended
        source, result = width_of(op.source.type), width_of(op.result.type)
        promises = list(self._ops.promises(op))

        def truncate(a: int) -> int | None:
            for signed in promises:
                if conversion.truncate_overflows(a, source, result, signed=signed):
                    return None
            return conversion.truncate(a, result)

        return elementwise(truncate, op.result.type, constants)

    def bitcast(self, op: Any, constants: Constants) -> Folded:
        """Keep the bits of constants; a cast to the type that it had before does nothing."""
        source: Value = op.source
        if source.type is op.result.type:
            return source
        before = _led_back(op, self._ops.bitcast)
        if before is not None:
            return before
        return elementwise(lambda a: a, op.result.type, constants)

    def float_to_float(self, op: Any, constants: Constants) -> Folded:
        """Compute on constants; what was widened from the type is itself again."""
        source, result = format_of(op.source.type), format_of(op.result.type)
        before = _led_back(op, self._ops.float_to_float)
        # The small formats clip infinity and change NaN: these do not come back.
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
        """Compute on constants; what does not fit is undefined, and stays."""
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


def _led_back(op: Operation, kind: type[Operation]) -> Value | None:
    """What another operation converted from the type that this one converts to."""
    inner = op.operands[0].defined_by(kind)
    if inner is None or inner.operands[0].type is not op.results[0].type:
        return None
    return inner.operands[0]


def one_bitcast(kind: type[Operation]) -> Rule:
    """The rule for two casts in a row."""

    @rule(kind)
    def bitcast_of_bitcast(op: Operation, build: Rewriter) -> Replacement:
        """`bitcast (bitcast x)` becomes one `bitcast`: the bits are the same all along."""
        if (inner := op.operands[0].defined_by(kind)) is None:
            return None
        build.set_operands(op, inner.operands)
        return op

    return bitcast_of_bitcast


def one_extension(kind: type[Operation], signed: EnumAttr) -> Rule:
    """The rule for two extensions in a row."""

    @rule(kind)
    def extension_of_extension(op: Any, build: Rewriter) -> Replacement:
        """`exti (exti x)` becomes one `exti`, if the inner one has settled what the outer copies.

        Both read the integer alike, or the inner one has put a zero where the sign would be.
        """
        inner: Any = op.source.defined_by(kind)
        if inner is None:
            return None
        how: EnumAttr = inner.signedness
        if how is not op.signedness and how is signed:
            return None
        build.fuse(inner)
        return build.create(kind, source=inner.source, signedness=how, types=[op.result.type])

    return extension_of_extension
