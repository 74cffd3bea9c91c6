"""Where each instruction comes from and what variables there are, as LLVM's metadata."""

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
    """How many bytes a variable of a type takes; none if it can have no variable."""
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
    """A function that code belongs to: the kernel, or what was inlined into it."""

    scope: int
    file: str
    at: str = ""
    """What the places in it say of the one that it was called from."""
    call: tuple[object, ...] = ()
    """The function and the place that calls it."""


class DebugInfo:
    """Numbers of metadata for files, functions, places and variables; each is written once.

    With `variables` it is for a debugger, else for profilers.
    """

    __slots__ = ("_frames", "_known", "_lines", "_unit", "variables")

    def __init__(self, variables: bool = False) -> None:
        self.variables = variables
        self._known: dict[object, int] = {}
        self._lines: list[str] = []
        self._unit = -1
        self._frames: list[Frame] = []
        """The function at hand, and those that were inlined around the last place asked for."""

    def _add(self, key: object, text: str) -> int:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._lines)
            self._lines.append(f"!{found} = {text}")
        return found

    def _file(self, name: str) -> int:
        # To ptxas the first quote ends a name, whatever stands in front of it.
        folder, slash, base = name.replace('"', "'").rpartition("/")
        directory = escaped(folder or slash)
        return self._add(
            ("file", name),
            f'!DIFile(filename: "{escaped(base)}", directory: "{directory}")',
        )

    def begin(self, function: str, location: Location) -> str:
        """Start a function; gives what stands behind its signature."""
        place = source_location(location) or FileLoc("<unknown>", 0, 0)
        file = self._file(place.file)
        if self._unit < 0:
            # With any kind but directives LLVM asks ptxas for code to debug, without optimization.
            kind = "FullDebug" if self.variables else "DebugDirectivesOnly"
            optimized = "false" if self.variables else "true"
            self._unit = self._add(
                "unit",
                f"distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, "
                f'producer: "{_PRODUCER}", isOptimized: {optimized}, runtimeVersion: 0, '
                f"emissionKind: {kind}, nameTableKind: None)",
            )
        scope = self._function(_name(location, function), function, file, place.line)
        self._frames = [Frame(scope, place.file)]
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
        """What stands behind an instruction."""
        return f", !dbg !{self.place(location)}"

    def place(self, location: Location) -> int:
        """A place in the source, and the function that it belongs to."""
        text = self._place(location, self._enter(location))
        return self._add(text, f"!DILocation({text})")

    def _place(self, location: Location, frame: Frame) -> str:
        place, scope = source_location(location), frame.scope
        if place is None:
            return f"line: 0, column: 0, scope: !{scope}{frame.at}"
        if place.file != frame.file:
            file = self._file(place.file)
            scope = self._add(
                ("block", scope, file),
                f"!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)",
            )
        return f"line: {place.line}, column: {place.column}, scope: !{scope}{frame.at}"

    def _enter(self, location: Location) -> Frame:
        """The function that a place belongs to; for a debugger, also one that was inlined.

        Code that comes back to a function after something else is another inlined instance of it:
        a debugger takes one for all that lies between its first and its last instruction.
        """
        depth = 1
        for site in call_sites(location) if self.variables else ():
            function = _function_of(site.callee)
            if function is None:
                break
            call = (function, source_location(site.caller))
            outer = self._frames[depth - 1]
            if depth == len(self._frames) or self._frames[depth].call != call:
                self._frames[depth:] = [self._inlined(function, site.caller, call, outer)]
            depth += 1
        del self._frames[depth:]
        return self._frames[-1]

    def _inlined(
        self, function: DISubprogram, caller: Location, call: tuple[object, ...], outer: Frame
    ) -> Frame:
        path = join(function.file.directory, function.file.name)
        name, symbol = function.name, function.linkage_name
        scope = self._function(name, symbol, self._file(path), function.line)
        number = self.distinct(f"distinct !DILocation({self._place(caller, outer)})")
        return Frame(scope, path, f", inlinedAt: !{number}", call)

    def variable(self, name: str, type: Type, location: Location, argument: int = 0) -> int:
        """A variable of the function of a place; those that count from 1 are its parameters."""
        place, frame = source_location(location), self._enter(location)
        file, line = (frame.file, 0) if place is None else (place.file, place.line)
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
        """Some other metadata."""
        return self._add(text, text)

    def distinct(self, text: str) -> int:
        """Metadata that is the same as no other; `{self}` in it stands for itself."""
        number = len(self._lines)
        self._lines.append(f"!{number} = {text.format(self=f'!{number}')}")
        return number

    def finish(self, flags: list[str]) -> list[str]:
        """All metadata; module flags are given by their text."""
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
    """What the source calls a function."""
    # A dialect's own location may know the scope that it is in.
    scope: object = getattr(unnamed(location), "scope", None)
    return getattr(scope, "name", function)


def _function_of(location: Location) -> DISubprogram | None:
    """The function of the source that a place is in, if it says so."""
    # Only debuggers need it: all else is compiled without the classes of Tile IR.
    from tilewright.dialects.cuda_tile import debug_info  # noqa: PLC0415

    place = debug_info.scoped_location(location)
    return None if place is None else debug_info.subprogram_of(place.scope)


def _encoding(type: Type) -> str:
    if type is I1:
        return "DW_ATE_boolean"
    # Debuggers take two bytes of a float for IEEE's format.
    if type is BF16:
        return "DW_ATE_unsigned"
    return "DW_ATE_float" if isinstance(type, FloatType) else "DW_ATE_signed"
