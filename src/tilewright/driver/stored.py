"""What a compilation leaves, as a value that can be kept on disk."""

from __future__ import annotations

import marshal
import zlib
from typing import TYPE_CHECKING, Any, Final

from tilewright.support.diagnostics import Diagnostic, Severity
from tilewright.support.location import UNKNOWN, FileLoc, Location
from tilewright.support.source_place import source_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.emit.cubin import Cubin, Resources

MARSHAL: Final = 4
"""A version that every Python we run on reads and writes."""

QUICK: Final = 1
"""PTX shrinks to a fifth, and the best effort saves little more."""

Packed = tuple[Any, ...]


class KeptLoc(FileLoc):
    """A place in a file whose text is no longer at hand, but for its line."""

    __slots__ = ("_excerpt",)

    def __init__(
        self, file: str, line: int, column: int, excerpt: tuple[str, int] | None = None
    ) -> None:
        super().__init__(file, line, column)
        self._excerpt = excerpt

    def excerpt(self) -> tuple[str, int] | None:
        return self._excerpt


class OtherLoc(Location):
    """A place that is not in a text, such as a byte of a file."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def contents(self) -> tuple[object, ...]:
        return (self._text,)

    def __str__(self) -> str:
        return self._text


class Stored:
    """What a program became; PTX and resources are unpacked by whoever asks for them."""

    __slots__ = ("_entries", "_ptx", "arch", "cubin", "remarks")

    def __init__(
        self,
        arch: str,
        ptx: str | bytes,
        cubin: bytes | None,
        entries: Sequence[Resources] | Packed,
        remarks: list[Diagnostic],
    ) -> None:
        self.arch = arch
        self._ptx = ptx
        self.cubin = cubin
        """The file that ptxas made; none where PTX was asked for."""
        self._entries = entries
        self.remarks = remarks

    @classmethod
    def of(cls, arch: str, ptx: str, cubin: Cubin | None, remarks: list[Diagnostic]) -> Stored:
        """What a compilation has made."""
        if cubin is None:
            return cls(arch, ptx, None, (), remarks)
        return cls(arch, ptx, cubin.data, tuple(cubin.entries.values()), remarks)

    @property
    def ptx(self) -> str:
        """The PTX text."""
        if isinstance(self._ptx, bytes):
            self._ptx = zlib.decompress(self._ptx).decode("utf-8", "surrogateescape")
        return self._ptx

    @property
    def entries(self) -> dict[str, Resources]:
        """What each kernel takes of the GPU, by name."""
        # A cubin that is only copied needs no part of the compiler.
        from tilewright.emit.cubin import Resources  # noqa: PLC0415

        found = [each if isinstance(each, Resources) else _resources(each, self.arch)
                 for each in self._entries]  # fmt: skip
        self._entries = tuple(found)
        return {each.name: each for each in found}

    @property
    def lasting(self) -> bool:
        """Whether all of it is true of any file with the same contents.

        A byte of a file is not: the next one has another name.
        """
        places = [_packed_place(remark.location) for remark in self.remarks]
        return not any(isinstance(place, str) for place in places)

    def pack(self) -> bytes:
        """As bytes."""
        text = self.ptx.encode("utf-8", "surrogateescape")
        entries = [_packed_resources(each) for each in self.entries.values()]
        remarks = [_packed_remark(each) for each in self.remarks]
        packed = (self.arch, zlib.compress(text, QUICK), self.cubin, entries, remarks)
        return marshal.dumps(packed, MARSHAL)

    @classmethod
    def unpack(cls, data: bytes) -> Stored:
        """What was packed."""
        arch, ptx, cubin, entries, remarks = marshal.loads(data)
        return cls(arch, ptx, cubin, entries, [_remark(each) for each in remarks])


def _packed_resources(each: Resources) -> Packed:
    taken = (each.registers, each.stack, each.shared, each.barriers, each.threads)
    return (each.name, each.spill_stores, each.spill_loads, *taken)


def _resources(packed: Packed, arch: str) -> Resources:
    from tilewright.emit.cubin import Resources  # noqa: PLC0415
    from tilewright.emit.elf import KernelInfo  # noqa: PLC0415
    from tilewright.target.arch import ARCHES  # noqa: PLC0415

    name, spill_stores, spill_loads, *taken = packed
    info = KernelInfo(name)
    info.registers, info.stack, info.shared, info.barriers, info.threads = taken
    return Resources(info, (spill_stores, spill_loads), ARCHES[arch])


def _packed_remark(remark: Diagnostic) -> Packed:
    place = _packed_place(remark.location)
    notes = [_packed_remark(note) for note in remark.notes]
    return remark.severity.value, remark.message, place, notes


def _packed_place(location: Location) -> Packed | str | None:
    place = source_place(location)
    if place is not None:
        return place.file, place.line, place.column, location.excerpt()
    return str(location) or None


def _remark(packed: Packed) -> Diagnostic:
    severity, message, place, notes = packed
    return Diagnostic(message, _place(place), Severity(severity), tuple(map(_remark, notes)))


def _place(packed: Packed | str | None) -> Location:
    if packed is None:
        return UNKNOWN
    return OtherLoc(packed) if isinstance(packed, str) else KeptLoc(*packed)
