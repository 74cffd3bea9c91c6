"""ELF notes of a cubin: its compiler, and tensor maps that a launcher passes; drivers ignore them.

The section has a record for each, of which the second is absent if kernels take no tensor maps.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

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
from tilewright.support.tensor_map_parameters import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.support.tensor_map_parameters import TensorMapParameter

SECTION_NAME: Final = ".note.tilewright"
OWNER: Final = b"Tilewright\0"
MADE_BY: Final = 1
"""The type of the note that names the compiler, as text: version and digest."""
MAP_PARAMETERS: Final = 2
"""The type of the note with tensor maps that are parameters of kernels, as JSON."""

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


def add_note(
    cubin: bytes,
    note: Note,
    map_parameters: Mapping[str, Sequence[TensorMapParameter]] | None = None,
) -> bytes:
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
    data = _record(MADE_BY, " ".join(note))
    if map_parameters:
        data += _record(MAP_PARAMETERS, to_json(map_parameters))
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
    text = _records(cubin).get(MADE_BY)
    if text is None:
        return None
    version, _, digest = text.partition(" ")
    return Note(version, digest)


def read_map_parameters(cubin: bytes) -> dict[str, tuple[TensorMapParameter, ...]]:
    """Return the tensor maps that a launcher encodes and passes, by kernel."""
    text = _records(cubin).get(MAP_PARAMETERS)
    return {} if text is None else from_json(text)


def _records(cubin: bytes) -> dict[int, str]:
    """The texts of our notes in a cubin, by type."""
    texts: dict[int, str] = {}
    for section in read_sections(cubin):
        data = section.data if section.name == SECTION_NAME else b""
        while len(data) >= _HEAD.size:
            owner, size, kind = _HEAD.unpack_from(data)
            start = _HEAD.size + _up(owner)
            if data[_HEAD.size :][:owner] == OWNER:
                texts[kind] = data[start : start + size].decode()
            data = data[start + _up(size) :]
    return texts


def _record(kind: int, contents: str) -> bytes:
    """Encode an ELF note: sizes and type, then the padded owner and text."""
    text = contents.encode()
    head = _HEAD.pack(len(OWNER), len(text), kind)
    return head + OWNER.ljust(_up(len(OWNER)), b"\0") + text.ljust(_up(len(text)), b"\0")


def _up(size: int) -> int:
    return size + -size % _ALIGNMENT


def _align(file: bytearray, to: int) -> None:
    file += bytes(-len(file) % to)
