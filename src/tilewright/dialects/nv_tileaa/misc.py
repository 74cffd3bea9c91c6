"""Promises, messages, code from elsewhere, and what holds the compiler back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects.elements import SameShape, listed, types_of
from tilewright.dialects.nv_tileaa.constraints import ANY_TILE, BOOL_TILE, ELEMENTWISE, TOKEN
from tilewright.dialects.nv_tileaa.predicates import PREDICATE
from tilewright.dialects.type_syntax import FUNCTION_TYPE
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, STRING_ATTR
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType

if TYPE_CHECKING:
    from tilewright.text.syntax import Directive, ParseState


class AssumeOp(Operation):
    """The value itself, with a promise about it; a promise that does not hold is undefined."""

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


class AssertOp(Operation):
    """Reports the message, and an error to the host, if an element of the condition is false."""

    name = "nv_tileaa.assert"
    syntax = "$condition `,` $message attr-dict `:` type($condition)"

    condition = d.operand(BOOL_TILE)
    message = d.attribute(STRING_ATTR)


class PrintOp(Operation):
    """Prints tiles from the device, one conversion of the format for each."""

    name = "nv_tileaa.print"
    syntax = "$format (`,` $arguments^)? (`token` `=` $token^)? attr-dict (`:` type($arguments)^)?"

    format = d.attribute(STRING_ATTR)
    arguments = d.operands(ANY_TILE)
    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)


class MessageOp(Operation):
    """Something to tell whoever compiles the program; it means nothing when it runs."""

    name = "nv_tileaa.message"
    syntax = "$text attr-dict"

    text = d.attribute(STRING_ATTR)


class OptimizationBarrierOp(Operation):
    """The values themselves, which the compiler must not connect to what they were before."""

    name = "nv_tileaa.optimization_barrier"
    # Neither merged nor moved, since that is what it is for.
    effects = Effects.UNKNOWN
    syntax = "$values attr-dict `:` type($values)"

    values = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Each result has the type of its operand."""
        state.result_types["outputs"] = state.operand_types.get("values", [])

    def verify(self) -> Iterator[str]:
        expected, found = types_of(self.values), types_of(self.outputs)
        if found != expected:
            yield f"expected results of types {listed(expected)}, got {listed(found)}"


class MarkForReuseOp(Operation):
    """Says that the memory behind a tile may be used again from here on."""

    name = "nv_tileaa.mark_for_reuse"
    syntax = "$value attr-dict `:` type($value)"

    value = d.operand(ANY_TILE)


class ForeignOp(Operation):
    """Base of what calls code that is not of this program."""

    directives: ClassVar[Mapping[str, Directive]] = {"FunctionType": FUNCTION_TYPE}

    arguments = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


class InjectIrOp(ForeignOp):
    """Text of a lower level that goes into the program as it is."""

    name = "nv_tileaa.inject_ir"
    syntax = (
        "$text `(` $arguments `)` attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    text = d.attribute(STRING_ATTR)


class ElementwiseInlineAsmOp(ForeignOp):
    """PTX for `packed` elements at a time; what is not `pure` runs exactly where it stands."""

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
    """A function of a device library, for each element; it has no effects."""

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
    """An intrinsic of LLVM or NVVM, for each element; it has no effects."""

    name = "nv_tileaa.call_elementwise_intrinsic"
    effects = Effects.PURE
    traits = (SameShape("arguments", "outputs"), ELEMENTWISE)
    syntax = (
        "$intrinsic `(` $arguments `)` attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    intrinsic = d.attribute(STRING_ATTR)
