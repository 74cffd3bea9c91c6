"""Calls of functions and intrinsics, and inline assembly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Self

from tilewright.dialects.elements import listed, types_of
from tilewright.dialects.llvm.attributes import (
    ASM_DIALECT,
    CALLING_CONVENTION,
    FAST_MATH,
    CallingConvention,
)
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import ANY
from tilewright.dialects.llvm.directives import read_functional_type
from tilewright.dialects.llvm.flags import FastMathFlags
from tilewright.dialects.llvm.functions import FUNCTION_TYPE, FuncOp
from tilewright.dialects.llvm.types import PTR, LLVMFunctionType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ARRAY_ATTR, STRING_ATTR, SYMBOL_ATTR
from tilewright.ir.attributes import SymbolRefAttr, TypeAttr
from tilewright.ir.symbol_table import resolve
from tilewright.text.attribute_printer import symbol_text

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer

_ELIDED: Final = ("callee", "var_callee_type", "CConv", "op_bundle_sizes")


class CallOp(LLVMOp):
    """Call a function by name, or by its address, which is then the first operand."""

    name = "llvm.call"

    args = d.operands(ANY)
    bundle_operands = d.operands(ANY)
    """Operand bundles; the compiler emits none."""
    callee = d.optional_attribute(SYMBOL_ATTR)
    variadic_type = d.optional_attribute(FUNCTION_TYPE, spelling="var_callee_type")
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    calling_convention = d.attribute(
        CALLING_CONVENTION, default=CallingConvention.CCC, spelling="CConv"
    )
    bundle_sizes = d.attribute(I32_ARRAY_ATTR, default=(), spelling="op_bundle_sizes")
    convergent = d.flag()
    outputs = d.results(ANY)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `@f(%a) vararg(type) {...} : (i32) -> i32`, or `%f(%a) ... : !llvm.ptr, ...`."""
        attributes: dict[str, Attribute] = {"op_bundle_sizes": I32_ARRAY_ATTR.wrap(())}
        attributes["CConv"] = CallingConvention.CCC
        if (convention := CallingConvention.from_keyword(parser.peek())) is not None:
            attributes["CConv"] = convention
            parser.next()
        target: list[int] = []
        if parser.peek().startswith("@"):
            attributes["callee"] = SymbolRefAttr(parser.symbol())
        else:
            target = [parser.operand()]
        parser.expect("(")
        references = parser.operand_list()
        parser.expect(")")
        if parser.accept("vararg"):
            parser.expect("(")
            attributes["var_callee_type"] = TypeAttr(parser.type())
            parser.expect(")")
        attributes |= parser.optional_attr_dict()
        attributes.setdefault("fastmathFlags", FastMathFlags())
        parser.expect(":")
        types: list[Type] = [PTR] if target else []
        if target:
            types = [parser.type()]
            parser.expect(",")
        at = parser.at
        inputs, results = read_functional_type(parser)
        if len(inputs) != len(references):
            parser.error(f"expected {len(references)} operand types, got {len(inputs)}", at)
        pairs = zip([*target, *references], [*types, *inputs], strict=True)
        operands = [parser.resolve(ref, type) for ref, type in pairs]
        segments = (len(operands), 0)
        return cls(operands, results, attributes, (), location, (), segments)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        args = self.args
        convention = self.calling_convention
        words = "" if convention is CallingConvention.CCC else f" {convention.keyword}"
        target, pointer = symbol_text([self.callee or ""]), ""
        if self.callee is None:
            target, pointer = printer.value(args[0]), f"{printer.type(args[0].type)}, "
            args = args[1:]
        printer.emit(f"{words} {target}({', '.join(map(printer.value, args))})")
        if self.variadic_type is not None:
            printer.emit(f" vararg({printer.type(self.variadic_type.type)})")
        printer.emit(printer.attr_dict(self, _ELIDED))
        signature = printer.signature(types_of(args), types_of(self.outputs))
        printer.emit(f" : {pointer}{signature}")

    def verify(self) -> Iterator[str]:
        if len(self.outputs) > 1:
            yield f"expected at most one result, got {len(self.outputs)}"
        if self.callee is None and not self.args:
            yield "expected the name or the address of a function"

    def verify_context(self) -> Iterator[str]:
        if self.callee is None:
            return
        target = resolve(SymbolRefAttr(self.callee), self)
        if not isinstance(target, FuncOp):
            yield f"expected '@{self.callee}' to name an 'llvm.func'"
            return
        yield from _signature_problems(self, target.function_type)


def _signature_problems(op: CallOp, type: LLVMFunctionType) -> Iterator[str]:
    inputs = types_of(op.args)
    if type.variadic:
        inputs = inputs[: len(type.inputs)]
        if op.variadic_type is None:
            yield f"expected 'vararg({type})', since '@{op.callee}' is variadic"
    if inputs != type.inputs:
        yield f"expected operands for '{type}', got {listed(inputs)}"
    results = types_of(op.outputs)
    if results != type.results:
        yield f"expected results of '{type}', got {listed(results)}"


class CallIntrinsicOp(LLVMOp):
    """Call an LLVM intrinsic by its full name."""

    name = "llvm.call_intrinsic"
    syntax = "$intrin `(` $args `)` attr-dict `:` custom<FunctionalType>($args, $outputs)"

    args = d.operands(ANY)
    bundle_operands = d.operands(ANY)
    intrin = d.attribute(STRING_ATTR)
    fastmath = d.attribute(FAST_MATH, default=FastMathFlags(), spelling="fastmathFlags")
    bundle_sizes = d.attribute(I32_ARRAY_ATTR, default=(), spelling="op_bundle_sizes")
    outputs = d.results(ANY)

    def verify(self) -> Iterator[str]:
        if not self.intrin.startswith("llvm."):
            yield f"expected an intrinsic name that starts with 'llvm.', got '{self.intrin}'"
        if len(self.outputs) > 1:
            yield f"expected at most one result, got {len(self.outputs)}"


class InlineAsmOp(LLVMOp):
    """Inline assembly with operands `$0` and so on; several outputs are a struct."""

    name = "llvm.inline_asm"
    syntax = (
        "(`has_side_effects` $has_side_effects^)? (`is_align_stack` $is_align_stack^)? "
        "(`asm_dialect` `=` $asm_dialect^)? attr-dict "
        "$asm_string `,` $constraints $args `:` custom<FunctionalType>($args, $outputs)"
    )

    args = d.operands(ANY)
    asm_string = d.attribute(STRING_ATTR)
    constraints = d.attribute(STRING_ATTR)
    has_side_effects = d.flag()
    is_align_stack = d.flag()
    asm_dialect = d.optional_attribute(ASM_DIALECT)
    convergent = d.flag()
    """Whether it is a convergent operation of the warp."""
    outputs = d.results(ANY)

    def verify(self) -> Iterator[str]:
        if len(self.outputs) > 1:
            yield f"expected at most one result, got {len(self.outputs)}"
