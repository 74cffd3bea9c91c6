"""Assumptions, assertions, prints, optimization barriers, and calls to foreign code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects.elements import SameShape, listed, types_of
from tilewright.dialects.nv_tileaa.constraints import ANY_TILE, BOOL_TILE, TOKEN
from tilewright.dialects.nv_tileaa.predicates import PREDICATE
from tilewright.dialects.print_format import format_problem
from tilewright.dialects.type_syntax import FUNCTION_TYPE
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, STRING_ATTR
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.tiling import Way, alike
from tilewright.ir.traits import ELEMENTWISE, Effects, SameType

if TYPE_CHECKING:
    from tilewright.text.syntax import Directive, ParseState


class AssumeOp(Operation):
    """Return the value, asserting a predicate; behavior is undefined if it does not hold."""

    name = "nv_tileaa.assume"
    effects = Effects.NONE
    traits = (SameType("value", "result"),)
    syntax = "$predicate `,` $value attr-dict `:` type($value)"

    value = d.operand(ANY_TYPE)
    predicate = d.attribute(PREDICATE)
    result = d.result(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        problem = self.predicate.value_problem(self.value.type)
        if problem is not None:
            yield problem

    def ways(self) -> Iterator[Way]:
        return alike(self)


class AssertOp(Operation):
    """Report the message, and an error to the host, if an element of the condition is false."""

    name = "nv_tileaa.assert"
    syntax = "$condition `,` $message attr-dict `:` type($condition)"

    condition = d.operand(BOOL_TILE)
    message = d.attribute(STRING_ATTR)

    def ways(self) -> Iterator[Way]:
        return alike(self)


class PrintOp(Operation):
    """Print tiles from the device, one conversion specifier of `format` for each."""

    name = "nv_tileaa.print"
    needs_whole = "a tile is printed at once"
    syntax = "$format (`,` $arguments^)? (`token` `=` $token^)? attr-dict (`:` type($arguments)^)?"

    format = d.attribute(STRING_ATTR)
    arguments = d.operands(ANY_TILE)
    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)

    def verify(self) -> Iterator[str]:
        problem = format_problem(self.format, len(self.arguments))
        if problem is not None:
            yield problem


class MessageOp(Operation):
    """Carry a message for the compiler log; no effect at run time."""

    name = "nv_tileaa.message"
    syntax = "$text attr-dict"

    text = d.attribute(STRING_ATTR)


class OptimizationBarrierOp(Operation):
    """Return the values; opaque to the optimizer."""

    name = "nv_tileaa.optimization_barrier"
    # Unknown effects keep it from being merged or moved.
    effects = Effects.UNKNOWN
    needs_whole = "several tiles pass the barrier together"
    syntax = "$values attr-dict `:` type($values)"

    values = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Each result has the type of its operand."""
        state.result_types["outputs"] = state.operand_types.get("values", [])

    def verify(self) -> Iterator[str]:
        expected, actual = types_of(self.values), types_of(self.outputs)
        if actual != expected:
            yield f"expected results of types {listed(expected)}, got {listed(actual)}"

    def ways(self) -> Iterator[Way]:
        """All dimensions of one value; several need not have the same."""
        return alike(self) if len(self.values) == 1 else iter(())


class MarkForReuseOp(Operation):
    """Mark the end of the lifetime of a tile: its memory may be reused."""

    name = "nv_tileaa.mark_for_reuse"
    needs_whole = "the lifetime of the whole tile ends"
    syntax = "$value attr-dict `:` type($value)"

    value = d.operand(ANY_TILE)


class ForeignOp(Operation):
    """Base of the calls to foreign code."""

    needs_whole = "foreign code takes whole tiles"
    directives: ClassVar[Mapping[str, Directive]] = {"FunctionType": FUNCTION_TYPE}

    arguments = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


class InjectIrOp(ForeignOp):
    """Insert IR text of a lower level verbatim."""

    name = "nv_tileaa.inject_ir"
    syntax = (
        "$text `(` $arguments `)` attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    text = d.attribute(STRING_ATTR)


class ElementwiseInlineAsmOp(ForeignOp):
    """Apply inline PTX to `packed` elements at a time; volatile unless `pure`."""

    name = "nv_tileaa.elementwise_inline_asm"
    traits = (SameShape("arguments", "outputs"), ELEMENTWISE)
    syntax = (
        "$assembly `,` $constraints `(` $arguments `)` (`pure` $pure^)? attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    assembly = d.attribute(STRING_ATTR)
    constraints = d.attribute(STRING_ATTR)
    packed = d.attribute(I32_ATTR, default=1)
    pure = d.flag()


class ExternElementwiseOp(ForeignOp):
    """Apply a function of a device library to each element; pure."""

    name = "nv_tileaa.extern_elementwise"
    effects = Effects.PURE
    traits = (SameShape("arguments", "outputs"), ELEMENTWISE)
    syntax = (
        "$symbol (`of` $library^)? `(` $arguments `)` attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    symbol = d.attribute(STRING_ATTR)
    library = d.optional_attribute(STRING_ATTR)


class CallElementwiseIntrinsicOp(ForeignOp):
    """Apply an LLVM or NVVM intrinsic to each element; pure."""

    name = "nv_tileaa.call_elementwise_intrinsic"
    effects = Effects.PURE
    traits = (SameShape("arguments", "outputs"), ELEMENTWISE)
    syntax = (
        "$intrinsic `(` $arguments `)` attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    intrinsic = d.attribute(STRING_ATTR)
