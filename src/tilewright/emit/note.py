"""The ELF note that identifies the compiler of a cubin; drivers ignore it."""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import Final, NamedTuple

from tilewright import __version__
from tilewright.emit.elf import (
    OFFSET,
    SECTION,
    SIZE,
    TABLE,
    TABLE_AT,
    read_sections,
    section_table,
)
from tilewright.support.identity import identity

SECTION_NAME: Final = ".note.tilewright"
OWNER: Final = b"Tilewright\0"
MADE_BY: Final = 1
"""The note type."""

_NOTE: Final = 7
_ADDRESS: Final = Struct("<Q")
_SEGMENTS_AT: Final = 0x20
"""Offset of `e_phoff` in the ELF header."""
_SEGMENT_OFFSET: Final = 8
"""Offset of `p_offset` in a program header."""
_HEAD: Final = Struct("<III")
_ALIGNMENT: Final = 4
_TABLE_ALIGNMENT: Final = 8


class Note(NamedTuple):
    """The compiler of a cubin: version and digest."""

    version: str
    digest: str


@cache
def own_note() -> Note:
    """Return the note of this compiler."""
    return Note(__version__, identity())


def add_note(cubin: bytes, note: Note) -> bytes:
    """Append a note section to a cubin.

    The string table and the headers are rewritten after the existing data, which is unchanged.
    The program headers are last, as ptxas writes them: some readers take their end for the end of
    the file.
    """
    rows, names_at = section_table(cubin)
    file = bytearray(cubin)
    names = rows[names_at]
    old = cubin[names[OFFSET] :][: names[SIZE]]
    title = SECTION_NAME.encode() + b"\0"
    names[OFFSET], names[SIZE] = len(file), len(old) + len(title)
    file += old + title
    _align(file, _ALIGNMENT)
    data = _record(note)
    rows.append([len(old), _NOTE, 0, 0, len(file), len(data), 0, 0, _ALIGNMENT, 0])
    file += data
    _align(file, _TABLE_ALIGNMENT)
    _, *others, _, names_at = TABLE.unpack_from(file, TABLE_AT)
    TABLE.pack_into(file, TABLE_AT, len(file), *others, len(rows), names_at)
    for row in rows:
        file += SECTION.pack(*row)
    _move_segments(file)
    return bytes(file)


def _move_segments(file: bytearray) -> None:
    """Move the program headers to the end, and update the segments that contain them."""
    (old,) = _ADDRESS.unpack_from(file, _SEGMENTS_AT)
    _, _, _, size, count, *_ = TABLE.unpack_from(file, TABLE_AT)
    if not count:
        return
    end = len(file)
    _ADDRESS.pack_into(file, _SEGMENTS_AT, end)
    file += file[old : old + size * count]
    for row in range(end, len(file), size):
        if _ADDRESS.unpack_from(file, row + _SEGMENT_OFFSET) == (old,):
            _ADDRESS.pack_into(file, row + _SEGMENT_OFFSET, end)


def read_note(cubin: bytes) -> Note | None:
    """Return the note of a cubin, if any; `InvalidValue` if the data is no cubin."""
    for section in read_sections(cubin):
        if section.name == SECTION_NAME:
            owner, size, kind = _HEAD.unpack_from(section.data)
            start = _HEAD.size + _up(owner)
            header = section.data[_HEAD.size :][:owner], kind
            version, _, digest = section.data[start : start + size].decode().partition(" ")
            return Note(version, digest) if header == (OWNER, MADE_BY) else None
    return None


def _record(note: Note) -> bytes:
    """Encode an ELF note: sizes and type, then the padded owner and text."""
    text = " ".join(note).encode()
    head = _HEAD.pack(len(OWNER), len(text), MADE_BY)
    return head + OWNER.ljust(_up(len(OWNER)), b"\0") + text.ljust(_up(len(text)), b"\0")


def _up(size: int) -> int:
    return size + -size % _ALIGNMENT


def _align(file: bytearray, to: int) -> None:
    file += bytes(-len(file) % to)
