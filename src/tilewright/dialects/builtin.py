"""The operations of MLIR's builtin dialect: `module` and `unrealized_conversion_cast`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, Self

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import STRING_ATTR
from tilewright.ir.attributes import Attribute, StringAttr, SymbolRefAttr
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation
from tilewright.ir.traits import GRAPH_REGION, ISOLATED, NO_TERMINATOR, SYMBOL_TABLE, Effects

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer


class ModuleOp(Operation):
    """Define a module of operations of any dialect."""

    name = "builtin.module"
    traits = (ISOLATED, SYMBOL_TABLE, NO_TERMINATOR, GRAPH_REGION)
    default_dialect = "builtin"
    sym_name = d.optional_attribute(STRING_ATTR)
    sym_visibility = d.optional_attribute(STRING_ATTR)
    body = d.region()

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `@name attributes {...} { ... }`, of which only the region is mandatory."""
        attributes: dict[str, Attribute] = {}
        if parser.peek().startswith("@"):
            attributes["sym_name"] = StringAttr(parser.symbol())
        if parser.accept("attributes"):
            start = parser.at
            parsed = parser.attr_dict()
            if parsed.keys() & attributes.keys():
                parser.error("the name of the module is given twice", start)
            attributes |= parsed
        body = parser.region(owner=cls, field=cls.body)
        return cls(attributes=attributes, regions=[body], location=location)

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        if self.sym_name is not None:
            printer.emit(f" {printer.attribute(SymbolRefAttr(self.sym_name))}")
        printer.emit(f"{printer.attr_dict(self, ('sym_name',), keyword=True)} ")
        printer.region(self.body)


class UnrealizedConversionCastOp(Operation):
    """Cast between types temporarily, during a dialect conversion."""

    name = "builtin.unrealized_conversion_cast"
    effects = Effects.PURE
    syntax = "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"
    inputs = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


def unrealized_cast(
    build: Builder, types: tuple[Type, ...], values: tuple[Value, ...]
) -> UnrealizedConversionCastOp:
    """Create a cast; the `cast` callback of conversions that may leave casts in the IR."""
    return build.create(UnrealizedConversionCastOp, inputs=values, types=types)


BUILTIN: Final = Dialect("builtin", sys.modules[__name__])
