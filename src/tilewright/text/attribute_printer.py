"""Print attributes and locations in MLIR's syntax."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    Type,
    TypeAttr,
    UnitAttr,
)
from tilewright.ir.types import (
    F64,
    I1,
    I64,
    FloatType,
    FunctionType,
    IntegerType,
    MemRefType,
    StridedLayoutAttr,
    TensorType,
    TupleType,
    spell_shape,
)
from tilewright.support.bits import to_signed
from tilewright.support.diagnostics import InternalError
from tilewright.support.float_text import print_decimal
from tilewright.support.floats import FORMATS
from tilewright.support.location import (
    ByteLoc,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    Location,
    NameLoc,
    TextLoc,
    UnknownLoc,
)

MAX_LISTED: Final = 100
"""The number of elements above which dense constants print as raw bytes, splats excepted."""


def quoted(text: str) -> str:
    r"""Print a string literal.

    >>> print(quoted('a"b\\\n'))
    "a\22b\\\0A"
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text.encode("utf-8", "surrogateescape")))}"'


def _escaped(byte: int) -> str:
    char = chr(byte)
    if char == "\\":
        return "\\\\"
    return char if " " <= char <= "~" and char != '"' else f"\\{byte:02X}"


def keyword_or_string(text: str) -> str:
    """Print a name, in quotes if it is not an identifier."""
    bare = text.replace("$", "0").replace(".", "0")
    return text if bare.isascii() and bare.isidentifier() else quoted(text)


def symbol_text(path: Iterable[str]) -> str:
    """Print a symbol path: `@outer::@inner`."""
    return "::".join([f"@{keyword_or_string(name)}" for name in path])


def number_text(pattern: int, type: Type) -> str:
    """Print an element of a constant, given as a bit pattern."""
    if isinstance(type, FloatType):
        return print_decimal(pattern, FORMATS[type.format])
    if type is I1:
        return "true" if pattern else "false"
    if isinstance(type, IntegerType) and type.signedness == "u":
        return str(pattern)
    return str(to_signed(pattern, getattr(type, "width", 64)))


def dense_text(attribute: DenseElementsAttr) -> str:
    """Print the contents of `dense<...>`: a splat, nested lists, or hexadecimal data."""
    type = cast("Any", attribute.type)
    if attribute.is_splat:
        return number_text(attribute.elements()[0], type.element)
    patterns = attribute.elements()
    if len(patterns) > MAX_LISTED:
        return f'"0x{attribute.data.hex().upper()}"'
    texts = [number_text(pattern, type.element) for pattern in patterns]
    for extent in reversed(type.shape[1:]):
        texts = [f"[{', '.join(texts[i : i + extent])}]" for i in range(0, len(texts), extent)]
    return f"[{', '.join(texts)}]" if texts else ""


def array_text(attribute: DenseArrayAttr) -> str:
    """Print the elements of `array<...>`."""
    element = attribute.element
    if element is I1 or isinstance(element, FloatType):
        return ", ".join([number_text(value, element) for value in attribute.values])
    return ", ".join(map(str, attribute.values))


class AttributePrinter:
    """Prints attributes, types and locations inline, without aliases.

    A dialect's attribute class defines `print(self, printer) -> str` for the text
    after `#dialect.name`. A dialect's location class defines `print` for all of its text.
    """

    __slots__ = ()

    def attribute(self, attribute: Attribute) -> str:
        """Print an attribute as in an attribute dictionary."""
        return self.spell(attribute)

    def spell(self, attribute: Attribute) -> str:
        """Print an attribute in full, even if it has an alias."""
        speller = _SPELLERS.get(type(attribute))
        if speller is not None:
            return speller(self, attribute)
        if isinstance(attribute, Type):
            return self.type(attribute)
        if isinstance(attribute, EnumAttr):
            return str(attribute)
        return f"#{attribute.mnemonic}{self.parameters(attribute)}"

    def parameters(self, attribute: Attribute) -> str:
        """Print a dialect attribute without `#dialect.name`."""
        if isinstance(attribute, EnumAttr):
            return f"<{attribute.keyword}>"
        spell = getattr(attribute, "print", None)
        if spell is None:
            raise InternalError(f"{type(attribute).__name__} cannot be printed")
        return spell(self)

    def dense(self, attribute: DenseElementsAttr) -> str:
        """Print the contents of `dense<...>`."""
        return dense_text(attribute)

    def type(self, type: Type) -> str:
        """Print a type in its full form."""
        match type:
            case TensorType(encoding=Attribute() as encoding):
                shape = spell_shape(type.shape)
                return f"tensor<{shape}{self.type(type.element)}, {self.attribute(encoding)}>"
            case MemRefType():
                extra = [self.attribute(type.layout)] if type.layout is not None else []
                extra += [self._element(type.space)] if type.space is not None else []
                shape = spell_shape(type.shape)
                return f"memref<{', '.join([shape + self.type(type.element), *extra])}>"
            case TupleType():
                return f"tuple<{', '.join(map(self.type, type.elements))}>"
            case FunctionType():
                return self.signature(type.inputs, type.results)
            case _:
                # A type with tiles in it prints their layouts by alias.
                spell = getattr(type, "print", None)
                return str(type) if spell is None else f"!{type.mnemonic}{spell(self)}"

    def signature(self, inputs: Iterable[Type], results: tuple[Type, ...]) -> str:
        """Print `(A, B) -> C`, with parentheses around all but a single non-function result."""
        text = ", ".join(map(self.type, results))
        if len(results) != 1 or isinstance(results[0], FunctionType):
            text = f"({text})"
        return f"({', '.join(map(self.type, inputs))}) -> {text}"

    def entries(self, entries: Iterable[tuple[str, Attribute]]) -> str:
        """Print the entries of a dictionary: `a = 1 : i32, flag`."""
        return ", ".join([self._entry(name, attribute) for name, attribute in entries])

    def _entry(self, name: str, attribute: Attribute) -> str:
        name = keyword_or_string(name)
        return name if isinstance(attribute, UnitAttr) else f"{name} = {self.attribute(attribute)}"

    def elements(self, attribute: ArrayAttr) -> str:
        """Print the elements of an array, without the type suffix of i64 and f64."""
        return ", ".join(map(self._element, attribute.elements))

    def _element(self, attribute: Attribute) -> str:
        if isinstance(attribute, IntegerAttr) and attribute.type is I64:
            return str(attribute.value)
        if isinstance(attribute, FloatAttr) and attribute.type is F64:
            text = number_text(attribute.bits, F64)
            return text if not text.startswith("0x") else f"{text} : f64"
        return self.attribute(attribute)

    def location(self, location: Location) -> str:
        """Print a location as an attribute: `loc(...)`, or the form of its dialect."""
        text = self.location_body(location)
        return text if text.startswith("#") else f"loc({text})"

    def nested_location(self, location: Location) -> str:
        """Print a location inside another."""
        return self.location_body(location)

    def location_body(self, location: Location) -> str:
        """Print the contents of `loc(...)`, ignoring aliases."""
        match location:
            case UnknownLoc() | ByteLoc():
                return "unknown"
            case TextLoc():
                return self.location_body(location.resolve())
            case FileLoc():
                return _file_text(location)
            case NameLoc(name=name, child=UnknownLoc()):
                return quoted(name)
            case NameLoc():
                return f"{quoted(location.name)}({self.nested_location(location.child)})"
            case CallSiteLoc():
                callee = self.nested_location(location.callee)
                return f"callsite({callee} at {self.nested_location(location.caller)})"
            case FusedLoc():
                metadata = location.metadata
                tag = f"<{self.attribute(metadata)}>" if isinstance(metadata, Attribute) else ""
                return f"fused{tag}[{', '.join(map(self.nested_location, location.locations))}]"
            case _:
                return cast("Any", location).print(self)


def _file_text(location: FileLoc) -> str:
    start = f"{quoted(location.file)}:{location.line}:{location.column}"
    if location.end is None or location.end == (location.line, location.column):
        return start
    line, column = location.end
    return f"{start} to :{column}" if line == location.line else f"{start} to {line}:{column}"


def _integer(printer: AttributePrinter, attribute: IntegerAttr) -> str:
    if attribute.type is I1:
        return "true" if attribute.value else "false"
    return f"{attribute.value} : {printer.type(attribute.type)}"


def _float(printer: AttributePrinter, attribute: FloatAttr) -> str:
    return f"{number_text(attribute.bits, attribute.type)} : {printer.type(attribute.type)}"


def _dense_array(printer: AttributePrinter, attribute: DenseArrayAttr) -> str:
    element = printer.type(attribute.element)
    return f"array<{element}: {array_text(attribute)}>" if attribute.values else f"array<{element}>"


def _dense_elements(printer: AttributePrinter, attribute: DenseElementsAttr) -> str:
    return f"dense<{printer.dense(attribute)}> : {printer.type(attribute.type)}"


_SPELLERS: Final[dict[type, Callable[[AttributePrinter, Any], str]]] = {
    UnitAttr: lambda printer, attribute: "unit",
    StringAttr: lambda printer, attribute: quoted(attribute.value),
    IntegerAttr: _integer,
    FloatAttr: _float,
    ArrayAttr: lambda printer, attribute: f"[{printer.elements(attribute)}]",
    DictionaryAttr: lambda printer, attribute: f"{{{printer.entries(attribute.entries)}}}",
    TypeAttr: lambda printer, attribute: printer.type(attribute.type),
    SymbolRefAttr: lambda printer, attribute: symbol_text(attribute.path),
    DenseArrayAttr: _dense_array,
    DenseElementsAttr: _dense_elements,
    LocationAttr: lambda printer, attribute: printer.location(attribute.location),
    OpaqueAttr: lambda printer, attribute: attribute.text,
    StridedLayoutAttr: lambda printer, attribute: str(attribute),
}


def attribute_text(attribute: Attribute) -> str:
    """Print an attribute by itself, without aliases."""
    return AttributePrinter().attribute(attribute)
