"""Functions: kernels, device functions and declarations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Self

from tilewright.dialects.llvm.attributes import (
    CALLING_CONVENTION,
    LINKAGE,
    UNNAMED_ADDRESS,
    VISIBILITY,
    CallingConvention,
    Linkage,
    Visibility,
)
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.globals import LEADING, read_leading
from tilewright.dialects.llvm.types import VOID, LLVMFunctionType
from tilewright.dialects.signatures import collected, entry_problems
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, STRING_ATTR, InstanceKind
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DictionaryAttr,
    StringAttr,
    TypeAttr,
)
from tilewright.ir.operation import Region
from tilewright.ir.traits import ISOLATED, SYMBOL
from tilewright.text.attribute_printer import symbol_text

if TYPE_CHECKING:
    from tilewright.ir.attributes import EnumAttr, Type
    from tilewright.ir.values import BlockArgument
    from tilewright.support.location import Location
    from tilewright.text.parser import Argument, Parser
    from tilewright.text.printer import Printer

KERNEL: Final = "nvvm.kernel"
"""The attribute of a kernel."""


class FunctionTypeKind(InstanceKind[TypeAttr]):
    """The attribute that holds the type of a function."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, TypeAttr) and isinstance(attribute.type, LLVMFunctionType)


FUNCTION_TYPE: Final = FunctionTypeKind(TypeAttr, "type of an LLVM function")

_LEADING: Final[dict[str, type[EnumAttr]]] = {**LEADING, "CConv": CallingConvention}


class FuncOp(LLVMOp):
    """A function definition, or without a body a declaration."""

    name = "llvm.func"
    traits = (ISOLATED, SYMBOL)

    sym_name = d.attribute(STRING_ATTR)
    type_attr = d.attribute(FUNCTION_TYPE, spelling="function_type")
    linkage = d.attribute(LINKAGE, default=Linkage.EXTERNAL)
    calling_convention = d.attribute(
        CALLING_CONVENTION, default=CallingConvention.CCC, spelling="CConv"
    )
    visibility = d.attribute(VISIBILITY, default=Visibility.DEFAULT, spelling="visibility_")
    unnamed_addr = d.optional_attribute(UNNAMED_ADDRESS)
    arg_attrs = d.optional_attribute(ARRAY_ATTR)
    res_attrs = d.optional_attribute(ARRAY_ATTR)
    passthrough = d.optional_attribute(ARRAY_ATTR)
    """Attributes of LLVM: names, and pairs of a name and a value."""
    always_inline = d.flag()
    no_inline = d.flag()
    body = d.region(min_blocks=0, max_blocks=None)

    @property
    def function_type(self) -> LLVMFunctionType:
        """The types of the parameters and of the result."""
        type = self.type_attr.type
        assert isinstance(type, LLVMFunctionType)
        return type

    @property
    def arguments(self) -> tuple[BlockArgument, ...]:
        """The parameters of a function that has a body."""
        return self.body.blocks[0].args

    @property
    def is_kernel(self) -> bool:
        """Whether the host launches this function."""
        return KERNEL in self.attributes

    def argument_attributes(self, index: int) -> DictionaryAttr:
        """Return the attributes of a parameter."""
        attributes = self.arg_attrs[index] if self.arg_attrs else _NOTHING
        assert isinstance(attributes, DictionaryAttr)
        return attributes

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `internal @name(%a: i32 {...}, ...) -> i32 attributes {...} { ... }`."""
        attributes = read_leading(parser, _LEADING)
        attributes.setdefault("linkage", Linkage.EXTERNAL)
        attributes.setdefault("CConv", CallingConvention.CCC)
        attributes.setdefault("visibility_", Visibility.DEFAULT)
        attributes["sym_name"] = StringAttr(parser.symbol())
        parameters = _Parameters(parser)
        attributes |= _result(parser, parameters)
        if (each := collected(parameters.attributes)) is not None:
            attributes["arg_attrs"] = each
        if parser.accept("attributes"):
            attributes |= parser.attr_dict()
        body = Region()
        if parser.peek() == "{":
            body = parser.region(parameters.arguments, owner=cls, field=cls.body)
        return cls(attributes=attributes, regions=[body], location=location)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        words = [] if self.linkage is Linkage.EXTERNAL else [self.linkage.keyword]
        words += [] if self.visibility is Visibility.DEFAULT else [self.visibility.keyword]
        words += [] if self.unnamed_addr is None else [self.unnamed_addr.keyword]
        convention = self.calling_convention
        words += [] if convention is CallingConvention.CCC else [convention.keyword]
        words.append(symbol_text([self.sym_name]))
        printer.emit(f" {' '.join(words)}({', '.join(self._parameter_texts(printer))})")
        printer.emit(self._result_text(printer))
        elided = ("sym_name", "function_type", "arg_attrs", "res_attrs", *_LEADING)
        printer.emit(printer.attr_dict(self, elided, keyword=True))
        if self.body.blocks:
            printer.emit(" ")
            printer.region(self.body, print_entry_args=False)

    def _parameter_texts(self, printer: Printer) -> list[str]:
        type = self.function_type
        if self.body.blocks:
            texts = [printer.argument(argument) for argument in self.arguments]
        else:
            texts = [printer.type(each) for each in type.inputs]
        for index in range(len(texts)):
            entries = self.argument_attributes(index).entries
            texts[index] += f" {{{printer.entries(entries)}}}" if entries else ""
        return [*texts, *(["..."] if type.variadic else [])]

    def _result_text(self, printer: Printer) -> str:
        result = self.function_type.result
        if result is VOID:
            return ""
        attributes = self.res_attrs[0] if self.res_attrs else _NOTHING
        assert isinstance(attributes, DictionaryAttr)
        if not attributes.entries:
            return f" -> {printer.type(result)}"
        return f" -> ({printer.type(result)} {{{printer.entries(attributes.entries)}}})"

    def verify(self) -> Iterator[str]:
        type = self.function_type
        if self.arg_attrs is not None and len(self.arg_attrs) != len(type.inputs):
            yield f"expected attributes of {len(type.inputs)} arguments, got {len(self.arg_attrs)}"
        if self.is_kernel and type.result is not VOID:
            yield f"a kernel must not return a value, got '{type.result}'"

    def verify_context(self) -> Iterator[str]:
        if not self.body.blocks:
            if self.linkage not in (Linkage.EXTERNAL, Linkage.EXTERN_WEAK):
                yield f"expected a body, since the linkage is '{self.linkage.keyword}'"
            return
        yield from entry_problems(self.function_type.inputs, self.arguments)


_NOTHING: Final = DictionaryAttr(())


class _Parameters:
    """The parsed parameter list: names and types, or only types."""

    __slots__ = ("arguments", "attributes", "types", "variadic")

    def __init__(self, parser: Parser) -> None:
        self.arguments: list[Argument] = []
        self.types: list[Type] = []
        self.attributes: list[dict[str, Attribute]] = []
        self.variadic = False
        parser.listed(lambda: self._take(parser), "(", ")")

    def _take(self, parser: Parser) -> None:
        if self.variadic:
            parser.unexpected("')'")
        if parser.accept("..."):
            self.variadic = True
        elif parser.peek().startswith("%"):
            argument = parser.argument()
            self.arguments.append(argument)
            self.types.append(argument.type)
            self.attributes.append(argument.attributes)
        else:
            self.types.append(parser.type())
            self.attributes.append(parser.optional_attr_dict())


def _result(parser: Parser, parameters: _Parameters) -> dict[str, Attribute]:
    """Parse the result; return the function type and the attributes of the result."""
    attributes: dict[str, Attribute] = {}
    result: Type = VOID
    if parser.accept("->"):
        parenthesised = parser.accept("(")
        result = parser.type()
        entries = parser.optional_attr_dict() if parenthesised else {}
        if entries:
            attributes["res_attrs"] = ArrayAttr((DictionaryAttr(entries),))
        if parenthesised:
            parser.expect(")")
    type = LLVMFunctionType(tuple(parameters.types), result, parameters.variadic)
    attributes["function_type"] = TypeAttr(type)
    return attributes
