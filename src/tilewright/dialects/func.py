"""func: functions, calls and returns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final, Self

from tilewright.dialects.elements import listed, types_of
from tilewright.dialects.signatures import (
    entry_problems,
    read_signature,
    signature_problems,
    signature_text,
)
from tilewright.dialects.type_syntax import FUNCTION_TYPE
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, STRING_ATTR, SYMBOL_ATTR, TYPE_ATTR
from tilewright.ir.attributes import Attribute, StringAttr, SymbolRefAttr, TypeAttr
from tilewright.ir.constraints import ANY_TYPE, instance_of
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation, Region
from tilewright.ir.symbol_table import resolve
from tilewright.ir.traits import (
    CONSTANT_LIKE,
    ISOLATED,
    SYMBOL,
    TERMINATOR,
    Effects,
    HasParent,
)
from tilewright.ir.types import FunctionType

if TYPE_CHECKING:
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import Directive

VISIBILITIES: Final = ("private", "public", "nested")


class FuncOp(Operation):
    """Define a function, or declare one without a body."""

    name = "func.func"
    traits = (ISOLATED, SYMBOL)
    default_dialect = "func"

    sym_name = d.attribute(STRING_ATTR)
    function_type = d.attribute(TYPE_ATTR)
    sym_visibility = d.optional_attribute(STRING_ATTR)
    arg_attrs = d.optional_attribute(ARRAY_ATTR)
    res_attrs = d.optional_attribute(ARRAY_ATTR)
    body = d.region(min_blocks=0, max_blocks=None)

    @property
    def signature(self) -> FunctionType:
        """The types of arguments and results."""
        assert isinstance(self.function_type, FunctionType)
        return self.function_type

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `private @f(%a: i32) -> i32 attributes {...} { ... }`."""
        attributes: dict[str, Attribute] = {}
        if parser.peek() in VISIBILITIES:
            attributes["sym_visibility"] = StringAttr(parser.next())
        attributes["sym_name"] = StringAttr(parser.symbol())
        signature = read_signature(parser)
        attributes["function_type"] = TypeAttr(signature.type)
        attributes |= signature.attributes()
        if parser.accept("attributes"):
            attributes |= parser.attr_dict()
        body = Region()
        if parser.peek() == "{":
            body = parser.region(signature.arguments, owner=cls)
        return cls((), (), attributes, [body], location)

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        visibility = "" if self.sym_visibility is None else f" {self.sym_visibility}"
        name = printer.attribute(SymbolRefAttr(self.sym_name))
        arguments = self.body.blocks[0].args if self.body.blocks else None
        text = signature_text(printer, self.signature, arguments, self.arg_attrs, self.res_attrs)
        printer.emit(f"{visibility} {name}{text}")
        printer.emit(printer.attr_dict(self, _SPELLED, keyword=True))
        if self.body.blocks:
            printer.emit(" ")
            printer.region(self.body, print_entry_args=False)

    def verify(self) -> Iterator[str]:
        yield from signature_problems(self.function_type, self.arg_attrs, self.res_attrs)
        if self.sym_visibility is not None and self.sym_visibility not in VISIBILITIES:
            actual = self.sym_visibility
            yield f"expected the visibility {', '.join(VISIBILITIES)} or none, got '{actual}'"

    def verify_context(self) -> Iterator[str]:
        if self.body.blocks:
            yield from entry_problems(self.signature.inputs, self.body.blocks[0].args)


_SPELLED: Final = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


class ReturnOp(Operation):
    """Return from a function."""

    name = "func.return"
    effects = Effects.PURE
    traits = (TERMINATOR, HasParent("func.func"))
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)

    def verify_context(self) -> Iterator[str]:
        function = self.parent_op
        if not isinstance(function, FuncOp):
            return
        expected, actual = function.signature.results, types_of(self.values)
        if actual != expected:
            yield f"expected operands of types {listed(expected)}, got {listed(actual)}"


class CallOp(Operation):
    """Call a function."""

    name = "func.call"
    directives: ClassVar[Mapping[str, Directive]] = {"FunctionType": FUNCTION_TYPE}
    syntax = (
        "$callee `(` $arguments `)` attr-dict `:` "
        "custom<FunctionType>(type($arguments), type($outputs))"
    )

    callee = d.attribute(SYMBOL_ATTR)
    no_inline = d.flag()
    arg_attrs = d.optional_attribute(ARRAY_ATTR)
    res_attrs = d.optional_attribute(ARRAY_ATTR)
    arguments = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)

    def verify_context(self) -> Iterator[str]:
        signature = FunctionType(types_of(self.arguments), types_of(self.outputs))
        yield from callee_problems(self, self.callee, signature, FuncOp)


def callee_problems(
    op: Operation, name: str, signature: FunctionType, kind: type[FuncOp]
) -> Iterator[str]:
    """Check that `name` is a function of class `kind` with the signature of the call."""
    target = resolve(SymbolRefAttr(name), op)
    if not isinstance(target, kind):
        yield f"expected '@{name}' to name a function"
    elif signature is not target.function_type:
        yield f"expected the type '{target.function_type}' of '@{name}', got '{signature}'"


class ConstantOp(Operation):
    """Return a reference to a function as a value."""

    name = "func.constant"
    effects = Effects.PURE
    traits = (CONSTANT_LIKE,)
    syntax = "attr-dict $value `:` type($result)"

    value = d.attribute(SYMBOL_ATTR)
    result = d.result(instance_of(FunctionType, "function type"))

    def verify_context(self) -> Iterator[str]:
        target = resolve(SymbolRefAttr(self.value), self)
        # Functions of other dialects are accepted: all have this attribute.
        type = target.attributes.get("function_type") if target is not None else None
        if not isinstance(type, TypeAttr):
            yield f"expected '@{self.value}' to name a function"
        elif type.type is not self.result.type:
            expected, actual = type.type, self.result.type
            yield f"expected the type '{expected}' of '@{self.value}', got '{actual}'"


FUNC: Final = Dialect("func", sys.modules[__name__])
