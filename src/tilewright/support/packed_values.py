"""A binary format of plain values, for files whose contents cannot be trusted.

Unlike `marshal` and `pickle`, decoding any bytes is safe: it takes time and memory linear in their
number, and yields a value or raises `Damaged`.

A value is a tag and its contents: `n` None, `i` an integer of 64 bits, `s` text, `b` bytes, `t` a
tuple. Sizes are unsigned integers of 64 bits, little-endian.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Final, TypeAlias

Value: TypeAlias = "int | str | bytes | tuple[Value, ...] | None"
Encodable: TypeAlias = "int | str | bytes | Sequence[Encodable] | None"
"""Lists are encoded as tuples."""

DEEPEST: Final = 64
"""How deep tuples may be nested."""

_INTEGER: Final = Struct("<q")
_SIZE: Final = Struct("<Q")


class Damaged(ValueError):
    """The bytes are not what was written."""


def encode(value: Encodable) -> bytes:
    """Encode a value."""
    parts: list[bytes] = []
    _encode(value, parts)
    return b"".join(parts)


def _encode(value: Encodable, parts: list[bytes]) -> None:
    if value is None:
        parts.append(b"n")
    elif isinstance(value, int):
        parts += (b"i", _INTEGER.pack(value))
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        parts += (b"s", _SIZE.pack(len(data)), data)
    elif isinstance(value, bytes):
        parts += (b"b", _SIZE.pack(len(value)), value)
    else:
        parts += (b"t", _SIZE.pack(len(value)))
        for each in value:
            _encode(each, parts)


def decode(data: bytes) -> Value:
    """Decode the value that takes all of the bytes; raises `Damaged`."""
    reader = _Reader(data)
    value = reader.value(DEEPEST)
    if reader.at != len(data):
        raise Damaged(f"expected the end at byte {reader.at} of {len(data)}")
    return value


class _Reader:
    """Decodes values, and checks sizes before anything is allocated."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def value(self, levels: int) -> Value:
        tag = self.take(1)
        if tag == b"n":
            return None
        if tag == b"i":
            return _INTEGER.unpack(self.take(_INTEGER.size))[0]
        if tag == b"s":
            return self.text()
        if tag == b"b":
            return self.take(self.size())
        if tag == b"t" and levels:
            # Every item has a tag.
            return tuple([self.value(levels - 1) for _ in range(self.size())])
        raise Damaged(f"expected a value at byte {self.at - 1}, found {tag!r}")

    def text(self) -> str:
        start = self.at
        try:
            return self.take(self.size()).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise Damaged(f"expected text at byte {start}") from None

    def size(self) -> int:
        size: int = _SIZE.unpack(self.take(_SIZE.size))[0]
        if size > len(self.data) - self.at:
            raise Damaged(f"expected at most {len(self.data) - self.at} more, found {size}")
        return size

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise Damaged(f"expected {count} bytes at byte {self.at} of {len(self.data)}")
        part = self.data[self.at : end]
        self.at = end
        return part
