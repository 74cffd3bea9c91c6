"""Bytecode by hand: a container from its parts, encoded without the code under test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.disassembly import disassemble

ALIGNMENT = {1: 4, 2: 8, 3: 8, 4: 8, 5: 4}
RETURN = b"\x5c\x00\x00"
TYPES = (
    b"\x03",  # 0: i32
    b"\x0d\x00\x00",  # 1: tile<i32>
    b"\x10\x00\x00",  # 2: () -> ()
    b"\x11",  # 3: token
    b"\x10\x01\x01\x00",  # 4: (tile<i32>) -> ()
)


def varint(number: int) -> bytes:
    out = b""
    while number >= 128:
        out += bytes([number % 128 + 128])
        number //= 128
    return out + bytes([number])


def words(size: int, *values: int) -> bytes:
    body = b"".join(value.to_bytes(size, "little", signed=True) for value in values)
    return varint(len(values)) + body


def padded(data: bytes, alignment: int) -> bytes:
    return data + b"\xcb" * (-len(data) % alignment)


def table(records: Sequence[bytes], size: int) -> bytes:
    starts = [sum(map(len, records[:i])).to_bytes(size, "little") for i in range(len(records))]
    return padded(varint(len(records)), size) + b"".join(starts) + b"".join(records)


def container(
    sections: Sequence[tuple[int, bytes]], version: tuple[int, int] = (13, 4), tag: int = 0
) -> bytes:
    out = b"\x7fTileIR\0" + bytes(version) + tag.to_bytes(2, "little")
    for number, payload in sections:
        alignment = ALIGNMENT.get(number)
        out += bytes([number | (0x80 if alignment else 0)]) + varint(len(payload))
        if alignment:
            out = padded(out + varint(alignment), alignment)
        out += payload
    return out + b"\0"


def function(
    body: bytes = RETURN, signature: int = 2, flags: int = 2, location: int = 0, hints: bytes = b""
) -> bytes:
    head = varint(0) + varint(signature) + bytes([flags]) + varint(location) + hints
    return varint(1) + head + varint(len(body)) + body


def debug(starts: Sequence[int], indices: Sequence[int], records: Sequence[bytes]) -> bytes:
    out = padded(varint(len(starts)), 4) + b"".join(n.to_bytes(4, "little") for n in starts)
    out = padded(out + varint(len(indices)), 8)
    out += b"".join(n.to_bytes(8, "little") for n in indices)
    return out + table_at(len(out), records)


def table_at(offset: int, records: Sequence[bytes]) -> bytes:
    """A table of records inside a section, where the padding depends on the offset."""
    head = padded(b"\0" * offset + varint(len(records)), 4)[offset:]
    return head + table(records, 4)[len(padded(varint(len(records)), 4)) :]


class Build:
    """What a test needs to make a file with one function, `k`."""

    varint = staticmethod(varint)
    words = staticmethod(words)
    table = staticmethod(table)
    container = staticmethod(container)
    function = staticmethod(function)
    debug = staticmethod(debug)
    RETURN = RETURN
    TYPES = TYPES

    @staticmethod
    def module(
        body: bytes = RETURN,
        *,
        types: Sequence[bytes] = (),
        strings: Sequence[bytes] = (),
        constants: Sequence[bytes] = (),
        debug: bytes | None = None,
        version: tuple[int, int] = (13, 4),
        signature: int = 2,
        flags: int = 2,
        location: int = 0,
        hints: bytes = b"",
    ) -> bytes:
        """A file; more types are numbered from 5, more strings from 1."""
        sections = [(2, function(body, signature, flags, location, hints))]
        if constants:
            blobs = [varint(len(blob)) + blob for blob in constants]
            sections.append((4, table(blobs, 8)))
        if debug is not None:
            sections.append((3, debug))
        sections += [(5, table([*TYPES, *types], 4)), (1, table([b"k", *strings], 4))]
        return container(sections, version)


@pytest.fixture(scope="session")
def build() -> type[Build]:
    return Build


@pytest.fixture(scope="session")
def text_of() -> Callable[[bytes], str]:
    """What we print for bytecode."""
    return lambda data: disassemble(read_bytecode(data, "k.tileirbc"))
