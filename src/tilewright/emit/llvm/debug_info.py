"""Debug info: locations and variables as LLVM metadata."""

from __future__ import annotations

from posixpath import join
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.llvm.types import PointerType
from tilewright.emit.llvm.constants import escaped
from tilewright.ir.types import BF16, I1, FloatType, IntegerType, VectorType
from tilewright.support.location import FileLoc, unnamed
from tilewright.support.source_location import call_sites, source_location

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.debug_info import DISubprogram
    from tilewright.ir.attributes import Type
    from tilewright.support.location import Location


_PRODUCER: Final = "tilewright"
_POINTER_BITS: Final = 64
_BYTE: Final = 8


def value_bytes(type: Type) -> int | None:
    """Return the size of a variable of a type; None if it cannot be a variable."""
    match type:
        case IntegerType(width=width) if width in (1, 8, 16, 32, 64):
            return -(-width // _BYTE)
        case FloatType(format="f16" | "bf16" | "f32" | "f64", width=width):
            return width // _BYTE
        case PointerType(space=0 | 1):
            return _POINTER_BITS // _BYTE
        case VectorType(shape=(extent,), element=IntegerType() | FloatType() as element):
            size = value_bytes(element)
            return None if size is None else extent * size
        case _:
            return None


class Frame(NamedTuple):
    """A scope: the kernel, or an inlined function."""

    scope: int
    file: str
    at: str = ""
    """The `inlinedAt` suffix of locations in this scope."""
    call: tuple[object, ...] = ()
    """The callee and its call site."""


class DebugInfo:
    """Metadata nodes of files, functions, locations and variables, without duplicates.

    With `variables` they are for a debugger, otherwise for profilers.
    """

    __slots__ = ("_frames", "_known", "_lines", "_unit", "variables")

    def __init__(self, variables: bool = False) -> None:
        self.variables = variables
        self._known: dict[object, int] = {}
        self._lines: list[str] = []
        self._unit = -1
        self._frames: list[Frame] = []
        """The current function, and the inlined functions around the last location."""

    def _add(self, key: object, text: str) -> int:
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._lines)
            self._lines.append(f"!{number} = {text}")
        return number

    def _file(self, name: str) -> int:
        # ptxas ends a name at an escaped quote (`quoted-file-name` of docs/ptxas-defects.md).
        folder, slash, base = name.replace('"', "'").rpartition("/")
        directory = escaped(folder or slash)
        return self._add(
            ("file", name),
            f'!DIFile(filename: "{escaped(base)}", directory: "{directory}")',
        )

    def begin(self, function: str, location: Location) -> str:
        """Start a function; return the suffix of its signature."""
        source = source_location(location) or FileLoc("<unknown>", 0, 0)
        file = self._file(source.file)
        if self._unit < 0:
            # Any other emission kind makes ptxas generate unoptimized debug code.
            kind = "FullDebug" if self.variables else "DebugDirectivesOnly"
            optimized = "false" if self.variables else "true"
            self._unit = self._add(
                "unit",
                f"distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, "
                f'producer: "{_PRODUCER}", isOptimized: {optimized}, runtimeVersion: 0, '
                f"emissionKind: {kind}, nameTableKind: None)",
            )
        scope = self._function(_name(location, function), function, file, source.line)
        self._frames = [Frame(scope, source.file)]
        return f" !dbg !{scope}"

    def _function(self, name: str, symbol: str, file: int, line: int) -> int:
        kind = self._add("type", "!DISubroutineType(types: !{})")
        return self._add(
            ("function", symbol),
            f'distinct !DISubprogram(name: "{escaped(name)}", '
            f'linkageName: "{escaped(symbol)}", file: !{file}, '
            f"scope: !{file}, line: {line}, type: !{kind}, scopeLine: {line}, "
            f"spFlags: DISPFlagDefinition, unit: !{self._unit})",
        )

    def tail(self, location: Location) -> str:
        """Return the `!dbg` suffix of an instruction."""
        return f", !dbg !{self.location_node(location)}"

    def location_node(self, location: Location) -> int:
        """Return the node of a location and its scope."""
        text = self._location_text(location, self._enter(location))
        return self._add(text, f"!DILocation({text})")

    def _location_text(self, location: Location, frame: Frame) -> str:
        source, scope = source_location(location), frame.scope
        if source is None:
            return f"line: 0, column: 0, scope: !{scope}{frame.at}"
        if source.file != frame.file:
            file = self._file(source.file)
            scope = self._add(
                ("block", scope, file),
                f"!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)",
            )
        return f"line: {source.line}, column: {source.column}, scope: !{scope}{frame.at}"

    def _enter(self, location: Location) -> Frame:
        """Return the scope of a location; for a debugger, including inlined functions.

        Code that returns to an inlined function after other code is a new inlined instance:
        debuggers assume that an instance is contiguous.
        """
        level = 1
        for site in call_sites(location) if self.variables else ():
            function = _function_of(site.callee)
            if function is None:
                break
            call = (function, source_location(site.caller))
            outer = self._frames[level - 1]
            if level == len(self._frames) or self._frames[level].call != call:
                self._frames[level:] = [self._inlined(function, site.caller, call, outer)]
            level += 1
        del self._frames[level:]
        return self._frames[-1]

    def _inlined(
        self, function: DISubprogram, caller: Location, call: tuple[object, ...], outer: Frame
    ) -> Frame:
        path = join(function.file.directory, function.file.name)
        name, symbol = function.name, function.linkage_name
        scope = self._function(name, symbol, self._file(path), function.line)
        number = self.distinct(f"distinct !DILocation({self._location_text(caller, outer)})")
        return Frame(scope, path, f", inlinedAt: !{number}", call)

    def variable(self, name: str, type: Type, location: Location, argument: int = 0) -> int:
        """Return the node of a variable; `argument` is its 1-based parameter index."""
        source, frame = source_location(location), self._enter(location)
        file, line = (frame.file, 0) if source is None else (source.file, source.line)
        number = f"arg: {argument}, " if argument else ""
        return self._add(
            ("variable", frame.scope, name, argument),
            f'!DILocalVariable(name: "{escaped(name)}", {number}scope: !{frame.scope}, '
            f"file: !{self._file(file)}, line: {line}, type: !{self._type(type)})",
        )

    def _type(self, type: Type) -> int:
        match type:
            case VectorType(shape=(extent,), element=element):
                inner = self._type(element)
                count = self.node(f"!DISubrange(count: {extent})")
                range = self.node(f"!{{!{count}}}")
                size = (value_bytes(type) or 0) * _BYTE
                return self.node(
                    f"!DICompositeType(tag: DW_TAG_array_type, baseType: !{inner}, "
                    f"size: {size}, elements: !{range})"
                )
            case PointerType():
                return self.node(
                    "!DIDerivedType(tag: DW_TAG_pointer_type, baseType: null, "
                    f"size: {_POINTER_BITS})"
                )
            case _:
                size = (value_bytes(type) or 0) * _BYTE
                return self.node(
                    f'!DIBasicType(name: "{type}", size: {size}, encoding: {_encoding(type)})'
                )

    def node(self, text: str) -> int:
        """Add a metadata node."""
        return self._add(text, text)

    def distinct(self, text: str) -> int:
        """Add a distinct node; `{self}` refers to itself."""
        number = len(self._lines)
        self._lines.append(f"!{number} = {text.format_map({'self': f'!{number}'})}")
        return number

    def finish(self, flags: list[str]) -> list[str]:
        """Return all metadata lines, with the module flags."""
        named: list[str] = []
        if self._unit >= 0:
            named.append(f"!llvm.dbg.cu = !{{!{self._unit}}}")
            flags = [*flags, '!{i32 2, !"Debug Info Version", i32 3}']
        if flags:
            numbers = [self.node(flag) for flag in flags]
            listed = ", ".join([f"!{number}" for number in numbers])
            named.append(f"!llvm.module.flags = !{{{listed}}}")
        return [*named, *self._lines]


def _name(location: Location, function: str) -> str:
    """Return the source name of a function."""
    # A location attribute of a dialect may have a scope.
    scope: object = getattr(unnamed(location), "scope", None)
    return getattr(scope, "name", function)


def _function_of(location: Location) -> DISubprogram | None:
    """Return the subprogram of a location, if it has one."""
    # Loaded only with full debug info.
    from tilewright.dialects.cuda_tile import debug_info  # noqa: PLC0415

    scoped = debug_info.scoped_location(location)
    return None if scoped is None else debug_info.subprogram_of(scoped.scope)


def _encoding(type: Type) -> str:
    if type is I1:
        return "DW_ATE_boolean"
    # Debuggers interpret two-byte floats as IEEE f16.
    if type is BF16:
        return "DW_ATE_unsigned"
    return "DW_ATE_float" if isinstance(type, FloatType) else "DW_ATE_signed"
