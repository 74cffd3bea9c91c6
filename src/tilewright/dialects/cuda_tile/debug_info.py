"""Debug information: files, compile units, subprograms, lexical blocks, and scoped locations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Final, Self

from tilewright.ir.attributes import Attribute, LocationAttr, Parametric, StringAttr
from tilewright.support.location import (
    MAX_POSITION,
    UNKNOWN,
    CallSiteLoc,
    CompositeLoc,
    Location,
    UnstatedLoc,
    caller_parts,
    composite_hash,
    first,
)

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Diagnostic
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser


class DINode(Parametric):
    """Base of the debug attributes, which print as `<name = value, ...>`."""

    __slots__ = ()

    spelled: ClassVar[dict[str, tuple[str, type | tuple[type, ...]]]] = {}
    """For each slot, its name in the text and the class of its value."""
    optional: ClassVar[str] = ""
    """The slot that defaults to zero if the text omits it."""

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        if any(isinstance(each, str) and "\0" in each for each in parameters):
            return "expected names without NUL characters"
        numbers = [each for each in parameters if isinstance(each, int)]
        if any(not 0 <= each <= MAX_POSITION for each in numbers):
            return "expected a line or column of at most 32 bits"
        return None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        parts: list[str] = []
        for slot, (name, _) in self.spelled.items():
            value: object = getattr(self, slot)
            if slot != self.optional or value != 0:
                parts.append(f"{name} = {_print_value(value, printer)}")
        return f"<{', '.join(parts)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form, with parameters in any order."""
        start = parser.at
        slots = {name: slot for slot, (name, _) in cls.spelled.items()}
        values: dict[str, object] = {}

        def parameter() -> None:
            at = parser.at
            name = parser.keyword()
            slot = slots.get(name)
            if slot is None or slot in values:
                parser.error(f"expected one of {', '.join(slots)}, each once, got '{name}'", at)
            parser.expect("=")
            at = parser.at
            values[slot] = value = _parse_value(parser)
            if not isinstance(value, cls.spelled[slot][1]):
                parser.error(f"expected another kind of value for '{name}'", at)

        parser.listed(parameter, "<", ">")
        missing = [name for name, slot in slots.items() if slot not in values]
        if cls.optional and cls.optional not in values:
            values[cls.optional] = 0
            missing.remove(cls.spelled[cls.optional][0])
        if missing:
            parser.error(f"expected parameter '{missing[0]}'", start)
        return cls.unique(*[values[slot] for slot in cls.spelled])


def _print_value(value: object, printer: AttributePrinter) -> str:
    if isinstance(value, str):
        return printer.attribute(StringAttr(value))
    return printer.attribute(value) if isinstance(value, Attribute) else str(value)


def _parse_value(parser: Parser) -> object:
    if parser.peek().startswith('"'):
        return parser.string()
    return parser.attribute() if parser.peek().startswith("#") else parser.integer()


class DIFile(DINode):
    """`di_file<"kernel.py" in "/home">`: a source file."""

    __slots__ = ("name", "directory")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.di_file"

    name: str
    directory: str

    def __new__(cls, name: str, directory: str) -> Self:
        return cls.unique(name, directory)

    def print(self, printer: AttributePrinter) -> str:
        name, directory = (printer.attribute(StringAttr(s)) for s in (self.name, self.directory))
        return f"<{name} in {directory}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        name = parser.string()
        parser.expect("in")
        directory = parser.string()
        parser.expect(">")
        return cls(name, directory)


class DICompileUnit(DINode):
    """`di_compile_unit<file = #di_file>`: a compile unit."""

    __slots__ = ("file",)
    mnemonic = "cuda_tile.di_compile_unit"
    spelled = {"file": ("file", DIFile)}  # noqa: RUF012

    file: DIFile

    def __new__(cls, file: DIFile) -> Self:
        return cls.unique(file)


class DILocalScope(DINode):
    """Base of the local scopes."""

    __slots__ = ()


class DISubprogram(DILocalScope):
    """`di_subprogram<...>`: a source function."""

    __slots__ = (  # noqa: RUF023 - the order of the parameters
        "file",
        "line",
        "name",
        "linkage_name",
        "compile_unit",
        "scope_line",
    )
    mnemonic = "cuda_tile.di_subprogram"
    spelled = {  # noqa: RUF012
        "file": ("file", DIFile),
        "line": ("line", int),
        "name": ("name", str),
        "linkage_name": ("linkageName", str),
        "compile_unit": ("compileUnit", DICompileUnit),
        "scope_line": ("scopeLine", int),
    }
    optional = "scope_line"

    file: DIFile
    line: int
    name: str
    linkage_name: str
    compile_unit: DICompileUnit
    scope_line: int

    def __new__(
        cls,
        file: DIFile,
        line: int,
        name: str,
        linkage_name: str,
        compile_unit: DICompileUnit,
        scope_line: int = 0,
    ) -> Self:
        return cls.unique(file, line, name, linkage_name, compile_unit, scope_line)


class DILexicalBlock(DILocalScope):
    """`di_lexical_block<...>`: a lexical block of a function."""

    __slots__ = ("scope", "file", "line", "column")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.di_lexical_block"
    spelled = {  # noqa: RUF012
        "scope": ("scope", DILocalScope),
        "file": ("file", DIFile),
        "line": ("line", int),
        "column": ("column", int),
    }
    optional = "column"

    scope: DILocalScope
    file: DIFile
    line: int
    column: int

    def __new__(cls, scope: DILocalScope, file: DIFile, line: int, column: int = 0) -> Self:
        return cls.unique(scope, file, line, column)


class DILoc(CompositeLoc):
    """`#cuda_tile.di_loc<#loc in #scope>`: a location and its scope."""

    __slots__ = ("_hash", "location", "scope", "size")

    def __init__(self, location: Location, scope: DILocalScope) -> None:
        self.location = location
        self.scope = scope
        self.size = location.size
        self._hash = composite_hash(self)

    def contents(self) -> tuple[object, ...]:
        return (self.scope,)

    def parts(self) -> tuple[Location, ...]:
        return (self.location,)

    def __hash__(self) -> int:
        return super().__hash__() if self._hash is None else self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return DILoc, (self.location, self.scope)

    def print(self, printer: AttributePrinter) -> str:
        """The full text, which is not wrapped in `loc(...)`."""
        location = printer.location(self.location)
        return f"#{DILocText.mnemonic}<{location} in {printer.attribute(self.scope)}>"


class DILocText(Parametric):
    """Parse `#cuda_tile.di_loc<...>`, a location in the syntax of an attribute."""

    __slots__ = ()
    mnemonic = "cuda_tile.di_loc"

    @classmethod
    def parse(cls, parser: Parser) -> LocationAttr:
        """Parse the printed form of `DILoc`."""
        parser.expect("<")
        at = parser.at
        location = parser.attribute()
        if not isinstance(location, LocationAttr):
            parser.error("expected a location", at)
        inner = location.location
        if inner is UNKNOWN:
            inner = UnstatedLoc(parser.location(at))
        parser.expect("in")
        at = parser.at
        scope = parser.attribute()
        if not isinstance(scope, DILocalScope):
            parser.error("expected a subprogram or a lexical block", at)
        parser.expect(">")
        return LocationAttr(DILoc(inner, scope))


_ALIASES: Final[dict[type[Attribute], str]] = {
    DIFile: "di_file",
    DICompileUnit: "di_compile_unit",
    DISubprogram: "di_subprogram",
    DILexicalBlock: "di_lexical_block",
}


def alias(attribute: Attribute) -> str | None:
    """The alias prefix of a debug attribute."""
    return _ALIASES.get(type(attribute))


def scoped_location(location: Location) -> DILoc | None:
    """The scoped location of a location; for inlined code, that of the caller."""
    if isinstance(location, DILoc):
        return location
    return first(location, lambda node: node if isinstance(node, DILoc) else None, caller_parts)


def subprogram_of(scope: DILocalScope) -> DISubprogram | None:
    """The subprogram of a scope."""
    while isinstance(scope, DILexicalBlock):
        scope = scope.scope
    return scope if isinstance(scope, DISubprogram) else None


def function_debug_problems(
    function: Operation, ops: Iterable[Operation]
) -> Iterator[str | Diagnostic]:
    """Check the locations of a function and of its operations."""
    if isinstance(function.location, CallSiteLoc):
        yield "location of a function must not be a call site"
        return
    location = scoped_location(function.location)
    subprogram: DISubprogram | None = None
    if location is not None:
        if not isinstance(location.scope, DISubprogram):
            yield "debug scope of a function must be a di_subprogram"
            return
        subprogram = location.scope
        name = function.attributes.get("sym_name")
        if not isinstance(name, StringAttr) or name.value != subprogram.linkage_name:
            yield f"debug scope is that of another function, '{subprogram.linkage_name}'"
            return
    yield from _body_debug_problems(ops, subprogram)


def _body_debug_problems(
    ops: Iterable[Operation], subprogram: DISubprogram | None
) -> Iterator[Diagnostic]:
    """Report the first operation whose scope is not in its function."""
    for op in ops:
        location = scoped_location(op.location)
        if location is None or (actual := subprogram_of(location.scope)) is subprogram:
            continue
        if subprogram is None:
            yield op.error("has a debug scope, but its function has none")
        else:
            other = "no function" if actual is None else f"'{actual.linkage_name}'"
            yield op.error(f"debug scope must be in '{subprogram.linkage_name}', got {other}")
        return


def global_debug_problems(op: Operation) -> Iterator[str]:
    """Check the location of an operation outside of functions."""
    if scoped_location(op.location) is not None:
        yield "must not have a debug scope outside of a function"
