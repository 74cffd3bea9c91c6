"""A bounds-checked cursor over bytes, and a growing buffer."""

from __future__ import annotations

from struct import error, pack, unpack_from
from typing import Final, NoReturn

from tilewright.bytecode.opcodes import PADDING
from tilewright.support.diagnostics import InvalidValue, fail
from tilewright.support.location import ByteLoc

MAX_VARINT_BYTES: Final = 10
WORDS: Final = {1: "B", 4: "i", 8: "q"}
"""`struct` formats of list elements by size; single bytes are booleans."""


class Cursor:
    """Reads one part of a file.

    A sentinel byte with its high bit set follows the data, so the byte at the cursor always
    exists, and the fast path of `varint` needs no bounds check.
    """

    __slots__ = ("at", "base", "data", "end", "file", "title")

    def __init__(self, data: bytes, base: int, file: str, title: str) -> None:
        """`base` is the offset of the part in the file, `title` its name in diagnostics."""
        self.data = data + b"\x80"
        self.at = 0
        self.end = len(data)
        self.base = base
        self.file = file
        self.title = title

    def location(self, at: int | None = None) -> ByteLoc:
        """Return the file location of a position, by default of the cursor."""
        return ByteLoc(self.file, self.base + (self.at if at is None else at))

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise an error at a position, by default at the cursor."""
        fail(message, self.location(at))

    def varint(self) -> int:
        """An unsigned number."""
        byte = self.data[self.at]
        if byte < 0x80:
            self.at += 1
            return byte
        number = self.long_varint()
        if number >> 64:
            self.fail(f"expected a number of at most 64 bits, found 0x{number:x}")
        return number

    def long_varint(self) -> int:
        """Read a multi-byte varint of up to 70 bits."""
        data, start = self.data, self.at
        stop = start
        while data[stop] >= 0x80:
            stop += 1
            if stop > self.end:
                self.fail(f"expected a number, found the end of the {self.title}")
            if stop - start == MAX_VARINT_BYTES:
                self.fail(f"expected a number of at most {MAX_VARINT_BYTES} bytes, found more")
        number = 0
        for at in range(stop, start - 1, -1):
            number = number << 7 | data[at] & 0x7F
        self.at = stop + 1
        return number

    def signed_varint(self) -> int:
        """Read a zigzag-encoded number."""
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def byte(self) -> int:
        """Read a byte."""
        at = self.at
        if at >= self.end:
            self.fail(f"expected a byte, found the end of the {self.title}")
        self.at = at + 1
        return self.data[at]

    def take(self, size: int) -> bytes:
        """Take `size` bytes."""
        at = self.at
        if size > self.end - at:
            self.fail(
                f"expected {size} bytes, found {self.end - at} to the end of the {self.title}"
            )
        self.at = at + size
        return self.data[at : at + size]

    def count(self, what: str, size: int = 1) -> int:
        """Read an element count, and check that `size` bytes per element remain."""
        at = self.at
        count = self.varint()
        capacity = (self.end - self.at) // size
        if count > capacity:
            self.fail(
                f"expected at most {capacity} {what} in what is left, found a count of {count}", at
            )
        return count

    def words(self, size: int, what: str) -> tuple[int, ...]:
        """A list of signed words of `size` bytes."""
        count = self.count(what, size)
        at = self.at
        self.at = at + count * size
        return unpack_from(f"<{count}{WORDS[size]}", self.data, at)

    def offsets(self, count: int, size: int, what: str) -> tuple[int, ...]:
        """Read `count` aligned unsigned words of `size` bytes."""
        self.align(size)
        at = self.at
        if count > (self.end - at) // size:
            self.fail(f"expected {count} {what}, found the end of the {self.title}")
        self.at = at + count * size
        return unpack_from(f"<{count}{'I' if size == 4 else 'Q'}", self.data, at)

    def align(self, alignment: int) -> None:
        """Step over padding."""
        at = self.at + -self.at % alignment
        if at > self.end:
            self.fail(f"expected padding to {alignment} bytes, found the end of the {self.title}")
        self.at = at


class Buffer:
    """Collects the bytes of a section."""

    __slots__ = ("out",)

    def __init__(self) -> None:
        self.out = bytearray()

    def varint(self, number: int) -> None:
        """An unsigned number."""
        out = self.out
        while number >= 0x80:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        out.append(number)

    def signed_varint(self, number: int) -> None:
        """A number of 64 bits whose lowest bit is its sign."""
        if number.bit_length() > 63 and number != -(1 << 63):
            raise InvalidValue(f"expected a number of 64 bits, got {number}")
        self.varint(number << 1 if number >= 0 else ~(number << 1))

    def words(self, values: tuple[int, ...], size: int) -> None:
        """A list of signed words of `size` bytes."""
        self.varint(len(values))
        try:
            self.out += pack(f"<{len(values)}{WORDS[size]}", *values)
        except error as problem:
            raise InvalidValue(f"expected numbers of {8 * size} bits, got {values}") from problem

    def offsets(self, values: list[int], size: int) -> None:
        """Unsigned words of `size` bytes, aligned to that size."""
        self.align(size)
        self.out += pack(f"<{len(values)}{'I' if size == 4 else 'Q'}", *values)

    def align(self, alignment: int) -> None:
        """Pad to a multiple of `alignment` bytes."""
        self.out += bytes([PADDING]) * (-len(self.out) % alignment)
