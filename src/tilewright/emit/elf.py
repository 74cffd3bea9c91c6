"""Parse cubins: ELF sections and kernel attributes (registers, memory, threads)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct, error
from typing import Final, TypeVar

from tilewright.support.diagnostics import InvalidValue

T = TypeVar("T")

MAGIC: Final = b"\x7fELF"
SECTION: Final = Struct("<IIQQQQIIQQ")
"""A section header: name, type, flags, address, offset, size, link and others."""
NAME, KIND, OFFSET, SIZE, LINK = 0, 1, 4, 5, 6
"""Field indices of a section header."""
TABLE: Final = Struct("<QIHHHHHH")
"""The fields of the ELF header that locate the section headers, at TABLE_AT."""
TABLE_AT: Final = 0x28

_SYMBOL: Final = Struct("<IBBHQQ")
_TRIPLE: Final = Struct("<III")
_SYMTAB: Final = 2
_WITH_SIZE: Final = 4
"""The attribute format with an explicit size; others have two bytes."""

_MAX_THREADS: Final = 0x05
_REQUIRED_THREADS: Final = 0x10
_FRAME_SIZE: Final = 0x11
_PARAMETER_SIZE: Final = 0x19
_REGISTERS: Final = 0x2F
_BARRIERS: Final = 0x4C

_RESERVED: Final = ".nv.shared.reserved.0"
_RESERVED_BYTES: Final = 1024


class KernelInfo:
    """The attributes of one kernel."""

    __slots__ = ("barriers", "name", "parameters", "registers", "shared", "stack", "threads")

    def __init__(self, name: str) -> None:
        self.name = name
        self.registers = 0
        self.stack = 0
        """Bytes of local memory per thread."""
        self.shared = 0
        """Bytes of static shared memory per CTA."""
        self.barriers = 0
        self.parameters = 0
        """Bytes of parameters."""
        self.threads: tuple[int, int, int] | None = None
        """The required or maximum CTA dimensions."""


class Section:
    """An ELF section."""

    __slots__ = ("data", "kind", "link", "name", "size")

    def __init__(self, name: str, kind: int, link: int, size: int, data: bytes) -> None:
        self.name = name
        self.kind = kind
        self.link = link
        self.size = size
        self.data = data


def read_kernels(cubin: bytes) -> dict[str, KernelInfo]:
    """Parse the kernels of a cubin; `InvalidValue` if the data is invalid."""
    return _understood(cubin, lambda: _kernels(_sections(cubin)))


def read_sections(cubin: bytes) -> list[Section]:
    """Parse the sections of a cubin, in order; `InvalidValue` if the data is invalid."""
    return _understood(cubin, lambda: _sections(cubin))


def _understood(cubin: bytes, read: Callable[[], T]) -> T:
    if not cubin.startswith(MAGIC):
        raise InvalidValue("not a cubin: no ELF file")
    try:
        return read()
    except (error, IndexError, ValueError) as problem:
        raise InvalidValue(f"not a cubin: {problem}") from None


def _kernels(sections: list[Section]) -> dict[str, KernelInfo]:
    by_name = {section.name: section for section in sections}
    symbols = _symbols(sections)
    names = [name.removeprefix(".nv.info.") for name in by_name if name.startswith(".nv.info.")]
    # Only kernels have parameters in constant memory; device functions have info sections too.
    names = [name for name in names if f".nv.constant0.{name}" in by_name]
    kernels = {name: KernelInfo(name) for name in names}
    for attribute, value in _attributes(by_name[".nv.info"].data):
        if attribute in (_REGISTERS, _FRAME_SIZE):
            symbol = int.from_bytes(value[:4], "little")
            number = int.from_bytes(value[4:8], "little")
            kernel = kernels.get(symbols[symbol])
            if kernel is not None and attribute == _REGISTERS:
                kernel.registers = number
            elif kernel is not None:
                kernel.stack = number
    reserved = _RESERVED_BYTES if _RESERVED in by_name else 0
    for name, kernel in kernels.items():
        _read_kernel(kernel, by_name[f".nv.info.{name}"].data)
        shared = by_name.get(f".nv.shared.{name}")
        kernel.shared = max(shared.size - reserved, 0) if shared is not None else 0
    return kernels


def _read_kernel(kernel: KernelInfo, data: bytes) -> None:
    for attribute, value in _attributes(data):
        if attribute in (_REQUIRED_THREADS, _MAX_THREADS):
            x, y, z = _TRIPLE.unpack_from(value)
            kernel.threads = (x, y, z)
        elif attribute == _BARRIERS:
            kernel.barriers = value[0]
        elif attribute == _PARAMETER_SIZE:
            kernel.parameters = int.from_bytes(value, "little")


def section_table(cubin: bytes) -> tuple[list[list[int]], int]:
    """Return the section headers and the index of the string table."""
    start, *_, size, count, names_at = TABLE.unpack_from(cubin, TABLE_AT)
    rows = [list(SECTION.unpack_from(cubin, start + size * index)) for index in range(count)]
    return rows, names_at


def _sections(cubin: bytes) -> list[Section]:
    rows, names_at = section_table(cubin)
    names = _data(cubin, rows[names_at])
    return [
        Section(_text(names, row[NAME]), row[KIND], row[LINK], row[SIZE], _data(cubin, row))
        for row in rows
    ]


def _data(cubin: bytes, row: list[int]) -> bytes:
    return cubin[row[OFFSET] :][: row[SIZE]]


def _symbols(sections: list[Section]) -> list[str]:
    table = next(section for section in sections if section.kind == _SYMTAB)
    names = sections[table.link].data
    return [_text(names, symbol[0]) for symbol in _SYMBOL.iter_unpack(table.data)]


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(0, at)].decode()


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the attributes of an info section: id and value."""
    at = 0
    while at < len(data):
        kind, attribute = data[at], data[at + 1]
        size = int.from_bytes(data[at + 2 : at + 4], "little")
        if kind == _WITH_SIZE:
            yield attribute, data[at + 4 : at + 4 + size]
            at += 4 + size
        else:
            yield attribute, data[at + 2 : at + 4]
            at += 4
