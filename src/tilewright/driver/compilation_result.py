"""The serializable result of a compilation."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

from tilewright.support.diagnostics import Diagnostic, Severity
from tilewright.support.location import UNKNOWN, FileLoc, Location
from tilewright.support.packed_values import Damaged, decode, encode
from tilewright.support.source_location import source_location
from tilewright.support.tensor_map_parameters import from_json, to_json
from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.map_parameters import Maps
    from tilewright.emit.cubin import Cubin, Resources
    from tilewright.support.packed_values import Value

QUICK: Final = 1
"""The zlib level: it shrinks PTX to a fifth, and higher levels save little more."""

LARGEST_TEXT: Final = 1 << 30
"""Bytes of PTX."""

RESOURCE_COUNT: Final = 6
"""The numbers that describe a kernel, without its name and its threads."""

SEVERITIES: Final = {each.value: each for each in Severity}

Packed = tuple[Any, ...]


class StoredFileLoc(FileLoc):
    """A deserialized source location with its source line."""

    __slots__ = ("_excerpt",)

    def __init__(
        self, file: str, line: int, column: int, excerpt: tuple[str, int] | None = None
    ) -> None:
        super().__init__(file, line, column)
        self._excerpt = excerpt

    def excerpt(self) -> tuple[str, int] | None:
        return self._excerpt


class StoredLoc(Location):
    """A deserialized location outside of text, such as a byte offset."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def contents(self) -> tuple[object, ...]:
        return (self._text,)

    def __str__(self) -> str:
        return self._text


class CompilationResult:
    """PTX, cubin, kernel resources and remarks; PTX and resources are unpacked on access."""

    __slots__ = ("_entries", "_maps", "_ptx", "arch", "cubin", "remarks")

    def __init__(
        self,
        arch: str,
        ptx: str | bytes,
        cubin: bytes | None,
        entries: Sequence[Resources] | Packed,
        remarks: list[Diagnostic],
        maps: str = "",
    ) -> None:
        self.arch = arch
        self._ptx = ptx
        self.cubin = cubin
        """The output of ptxas; None if only PTX was requested."""
        self._entries = entries
        self.remarks = remarks
        self._maps = maps
        """The tensor maps that are parameters, as text; empty if there are none."""

    @classmethod
    def of(
        cls,
        arch: str,
        ptx: str,
        cubin: Cubin | None,
        remarks: list[Diagnostic],
        map_parameters: Maps | None = None,
    ) -> CompilationResult:
        """Build the result of a compilation."""
        maps = to_json(map_parameters) if map_parameters else ""
        if cubin is None:
            return cls(arch, ptx, None, (), remarks, maps)
        return cls(arch, ptx, cubin.data, tuple(cubin.entries.values()), remarks, maps)

    @property
    def map_parameters(self) -> Maps:
        """The tensor maps that a launcher encodes and passes, by kernel."""
        return from_json(self._maps) if self._maps else {}

    @property
    def ptx(self) -> str:
        """The PTX text."""
        if isinstance(self._ptx, bytes):
            self._ptx = self._ptx.decode("utf-8", "surrogateescape")
        return self._ptx

    @property
    def entries(self) -> dict[str, Resources]:
        """Resources of each kernel, by name."""
        # Copying a cubin does not load the compiler.
        from tilewright.emit.cubin import Resources  # noqa: PLC0415

        resources = [each if isinstance(each, Resources) else _unpack_resources(each, self.arch)
                 for each in self._entries]  # fmt: skip
        self._entries = tuple(resources)
        return {each.name: each for each in resources}

    @property
    def lasting(self) -> bool:
        """Whether the result holds for every file with the same contents.

        A byte offset does not: it contains the file name.
        """
        locations = [_pack_location(remark.location) for remark in self.remarks]
        return not any(isinstance(location, str) for location in locations)

    def pack(self) -> bytes:
        """Serialize."""
        text = self.ptx.encode("utf-8", "surrogateescape")
        entries = [_pack_resources(each) for each in self.entries.values()]
        remarks = [_pack_remark(each) for each in self.remarks]
        ptx = zlib.compress(text, QUICK)
        return encode((self.arch, len(text), ptx, self.cubin, entries, remarks, self._maps))

    @classmethod
    def unpack(cls, data: bytes) -> CompilationResult:
        """Deserialize the result of `pack`; raises `Damaged`."""
        match decode(data):
            case (
                str(arch), int(size), bytes(ptx), (bytes() | None) as cubin,
                tuple(entries), tuple(remarks), str(maps),
            ) if arch in ARCHES:  # fmt: skip
                _check_maps(maps)
                return cls(
                    arch,
                    _unpack_text(ptx, size),
                    cubin,
                    tuple([_check_resources(each) for each in entries]),
                    [_unpack_remark(each) for each in remarks],
                    maps,
                )
            case _:
                raise Damaged("expected the result of a compilation")


def _unpack_text(packed: bytes, size: int) -> bytes:
    """Decompress text of a known size."""
    if not 0 <= size <= LARGEST_TEXT:
        raise Damaged(f"expected text of at most {LARGEST_TEXT} bytes, found {size}")
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(packed, size + 1)
    except zlib.error as error:
        raise Damaged(str(error)) from None
    if len(text) != size or not stream.eof:
        raise Damaged(f"expected text of {size} bytes")
    return text


def _check_maps(maps: str) -> None:
    if not maps:
        return  # as for most kernels, which then do not load the parser
    try:
        from_json(maps)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Damaged("expected tensor maps") from None


def _check_resources(entry: Value) -> Packed:
    match entry:
        case (str(), *numbers, threads) if len(numbers) == RESOURCE_COUNT:
            sizes = (*numbers, *(threads if isinstance(threads, tuple) else ()))
            is_block = threads is None or (isinstance(threads, tuple) and len(threads) == 3)
            if is_block and all(isinstance(each, int) and each >= 0 for each in sizes):
                return entry
        case _:
            pass
    raise Damaged("expected the resources of a kernel")


def _pack_resources(each: Resources) -> Packed:
    taken = (each.registers, each.stack, each.shared, each.barriers, each.threads)
    return (each.name, each.spill_stores, each.spill_loads, *taken)


def _unpack_resources(packed: Packed, arch: str) -> Resources:
    from tilewright.emit.cubin import Resources  # noqa: PLC0415
    from tilewright.emit.elf import KernelInfo  # noqa: PLC0415

    name, spill_stores, spill_loads, *taken = packed
    info = KernelInfo(name)
    info.registers, info.stack, info.shared, info.barriers, info.threads = taken
    return Resources(info, (spill_stores, spill_loads), ARCHES[arch])


def _pack_remark(remark: Diagnostic) -> Packed:
    location = _pack_location(remark.location)
    notes = [_pack_remark(note) for note in remark.notes]
    return remark.severity.value, remark.message, location, notes


def _pack_location(location: Location) -> Packed | str | None:
    source = source_location(location)
    if source is not None:
        return source.file, source.line, source.column, location.excerpt()
    return str(location) or None


def _unpack_remark(packed: Value) -> Diagnostic:
    match packed:
        case (str(severity), str(message), location, tuple(notes)) if severity in SEVERITIES:
            attached = tuple([_unpack_remark(each) for each in notes])
            return Diagnostic(message, _unpack_location(location), SEVERITIES[severity], attached)
        case _:
            raise Damaged("expected a remark")


def _unpack_location(packed: Value) -> Location:
    match packed:
        case None:
            return UNKNOWN
        case str(text):
            return StoredLoc(text)
        case (str(file), int(line), int(column), None):
            return StoredFileLoc(file, line, column)
        # pyrefly: ignore[unreachable-match-case]: it does not unfold the recursive `Value`
        case (str(file), int(line), int(column), (str(text), int(caret))):
            return StoredFileLoc(file, line, column, (text, caret))
        case _:
            raise Damaged("expected a location")
