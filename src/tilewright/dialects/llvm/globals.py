"""Global variables in an address space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Self

from tilewright.dialects.llvm.attributes import (
    LINKAGE,
    UNNAMED_ADDRESS,
    VISIBILITY,
    Linkage,
    UnnamedAddress,
    Visibility,
)
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.memory import alignment_problems
from tilewright.dialects.llvm.types import ArrayType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, I64_ATTR, STRING_ATTR, TYPE_ATTR, InstanceKind
from tilewright.ir.attributes import UNIT, Attribute, StringAttr, TypeAttr
from tilewright.ir.operation import Region
from tilewright.ir.traits import ISOLATED, SYMBOL
from tilewright.ir.types import I8
from tilewright.text.attribute_printer import symbol_text

if TYPE_CHECKING:
    from tilewright.ir.attributes import EnumAttr, Type
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer

LEADING: Final[dict[str, type[EnumAttr]]] = {
    "linkage": Linkage,
    "visibility_": Visibility,
    "unnamed_addr": UnnamedAddress,
}


def read_leading(parser: Parser, enums: dict[str, type[EnumAttr]]) -> dict[str, Attribute]:
    """Parse optional keywords of enumerations, in this order."""
    attributes: dict[str, Attribute] = {}
    for name, enum in enums.items():
        member = enum.from_keyword(parser.peek())
        if member is not None:
            attributes[name] = member
            parser.next()
    return attributes


class GlobalOp(LLVMOp):
    """A global variable with an optional initializer.

    Without a value and a region it is uninitialized, as shared memory always is.
    """

    name = "llvm.mlir.global"
    traits = (SYMBOL, ISOLATED)

    sym_name = d.attribute(STRING_ATTR)
    type = d.attribute(TYPE_ATTR, spelling="global_type")
    constant = d.flag()
    linkage = d.attribute(LINKAGE, default=Linkage.EXTERNAL)
    value = d.optional_attribute(InstanceKind(Attribute, "an attribute"))
    alignment = d.optional_attribute(I64_ATTR)
    address_space = d.attribute(I32_ATTR, default=0, spelling="addr_space")
    visibility = d.attribute(VISIBILITY, default=Visibility.DEFAULT, spelling="visibility_")
    unnamed_addr = d.optional_attribute(UNNAMED_ADDRESS)
    section = d.optional_attribute(STRING_ATTR)
    initializer = d.region(min_blocks=0)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `internal constant @name(value) {...} : type { ... }`."""
        attributes = read_leading(parser, LEADING)
        attributes.setdefault("linkage", Linkage.EXTERNAL)
        attributes.setdefault("visibility_", Visibility.DEFAULT)
        if parser.accept("constant"):
            attributes["constant"] = UNIT
        attributes["sym_name"] = StringAttr(parser.symbol())
        parser.expect("(")
        if parser.peek() != ")":
            attributes["value"] = parser.attribute()
        parser.expect(")")
        attributes |= parser.optional_attr_dict()
        attributes["global_type"] = TypeAttr(_read_type(parser, attributes.get("value")))
        attributes.setdefault("addr_space", cls.address_space.kind.wrap(0))
        body = Region()
        if parser.peek() == "{":
            body = parser.region(owner=cls, field=cls.initializer)
        return cls(attributes=attributes, regions=[body], location=location)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        words = [self.linkage.keyword]
        if self.visibility is not Visibility.DEFAULT:
            words.append(self.visibility.keyword)
        words += [self.unnamed_addr.keyword] if self.unnamed_addr is not None else []
        words += ["constant"] if self.constant else []
        value = "" if self.value is None else printer.attribute(self.value)
        printer.emit(f" {' '.join(filter(None, words))} {symbol_text([self.sym_name])}({value})")
        elided = ("sym_name", "global_type", "constant", "value", *LEADING)
        printer.emit(printer.attr_dict(self, elided))
        if not isinstance(self.value, StringAttr):
            printer.emit(f" : {printer.type(self.type)}")
        if self.initializer.blocks:
            printer.emit(" ")
            printer.region(self.initializer)

    def verify(self) -> Iterator[str]:
        if self.value is not None and self.address_space == _SHARED:
            yield "cannot have a value in shared memory"
        yield from alignment_problems(self.alignment)

    def verify_context(self) -> Iterator[str]:
        if self.value is not None and self.initializer.blocks:
            yield "cannot have both a value and an initializer region"


_SHARED: Final = 3


def _read_type(parser: Parser, value: Attribute | None) -> Type:
    """Parse the type, which is optional for a string."""
    if parser.accept(":"):
        return parser.type()
    if not isinstance(value, StringAttr):
        parser.unexpected("':'")
    return ArrayType(len(value.value.encode("utf-8", "surrogateescape")), I8)
