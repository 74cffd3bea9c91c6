"""The String and Constant sections, and offset tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from tilewright.bytecode.varint import Buffer, Cursor
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.attributes import DenseElementsAttr, Type, element_bytes
from tilewright.ir.types import F4E2M1FN, I1, I4, TF32, FloatType, IntegerType

K = TypeVar("K")
T = TypeVar("T")

PARTLY_FILLED: Final[dict[Type, int]] = {I4: 0x0F, F4E2M1FN: 0x0F, TF32: 0x07}
"""Elements with unused bits in their last byte, and the mask of used bits."""


class OffsetTable:
    """Consecutive records of variable length, with a table of offsets."""

    __slots__ = ("cursor", "offsets", "start", "what")

    def __init__(self, cursor: Cursor, size: int, what: str) -> None:
        """Read the record count and the offsets of `size` bytes each."""
        self.what = what
        self.cursor = cursor
        count = cursor.count(f"{what}s", size)
        self.offsets = cursor.offsets(count, size, f"{what} offsets") if count else ()
        self.start = cursor.at

    def bounds(self, index: int, user: Cursor, at: int) -> tuple[int, int]:
        """Return the bounds of a record that `user` refers to at `at`."""
        offsets, size = self.offsets, self.cursor.end - self.start
        if index >= len(offsets):
            user.fail(f"expected a {self.what} below {len(offsets)}, found number {index}", at)
        start = offsets[index]
        stop = offsets[index + 1] if index + 1 < len(offsets) else size
        if not start <= stop <= size:
            self.cursor.fail(
                f"expected {self.what} {index} inside the {size} bytes of data, "
                f"found it from {start} to {stop}",
                self.start,
            )
        return self.start + start, self.start + stop

    def parse(self, index: int, user: Cursor, at: int, parse: Callable[[Cursor], T]) -> T:
        """Parse a record, and restore the cursor: records refer to each other."""
        cursor = self.cursor
        back = cursor.at
        cursor.at, stop = self.bounds(index, user, at)
        parsed = parse(cursor)
        if cursor.at > stop:
            cursor.fail(f"expected the end of {self.what} {index}, found that it goes on", stop)
        cursor.at = back
        return parsed


class StringTable:
    """The strings of a file, decoded on first use.

    Bytes that are no UTF-8 become lone surrogates, as in the text form.
    """

    __slots__ = ("_known", "table")

    def __init__(self, cursor: Cursor) -> None:
        self.table = OffsetTable(cursor, 4, "string")
        self._known: dict[int, str] = {}

    def read(self, user: Cursor) -> str:
        """Read a string index and return the string."""
        at = user.at
        index = user.varint()
        text = self._known.get(index)
        if text is None:
            start, stop = self.table.bounds(index, user, at)
            data = self.table.cursor.data[start:stop]
            text = self._known[index] = data.decode("utf-8", "surrogateescape")
        return text


class ConstantTable:
    """The constant blobs of a file, decoded by the type at their use."""

    __slots__ = ("_blobs", "_known", "_unpacked", "table")

    def __init__(self, cursor: Cursor) -> None:
        self.table = OffsetTable(cursor, 8, "constant")
        self._blobs: dict[int, bytes] = {}
        self._known: dict[tuple[int, Type], DenseElementsAttr] = {}
        # Constants of different shapes may share a blob of i1 elements; unpack it once.
        self._unpacked: dict[tuple[int, int], bytes] = {}

    def read(self, user: Cursor, type: Type) -> DenseElementsAttr:
        """Read a constant index and decode the constant as `type`."""
        at = user.at
        index = user.varint()
        constant = self._known.get((index, type))
        if constant is None:
            constant = self._known[index, type] = self._decode(user, at, index, type)
        return constant

    def _decode(self, user: Cursor, at: int, index: int, type: Type) -> DenseElementsAttr:
        if not isinstance(type, TileType) or not isinstance(type.element, IntegerType | FloatType):
            user.fail(
                f"expected the type of a constant to be a tile of numbers, found '{type}'", at
            )
        blob = self._blobs.get(index)
        if blob is None:
            blob = self._blobs[index] = self.table.parse(index, user, at, _read_blob)
        if type.element is I1:
            return DenseElementsAttr(self._bits(user, at, index, type), type)
        size, count = element_bytes(type.element), type.count
        if len(blob) not in (size, size * count):
            user.fail(
                f"expected a length of {size} or {size * count} for constant {index} of type "
                f"'{type}', found {len(blob)}",
                at,
            )
        used = PARTLY_FILLED.get(type.element)
        if used is not None:
            blob = _clear_unused_bits(blob, size, used)
        return DenseElementsAttr(blob, type)

    def _bits(self, user: Cursor, at: int, index: int, type: TileType) -> bytes:
        """Unpack i1 elements; with more than eight elements, a single byte is a splat."""
        blob, count = self._blobs[index], type.count
        if len(blob) == 1 and count > 8:
            return bytes([blob[0] & 1])
        if len(blob) != (count + 7) // 8:
            user.fail(
                f"expected a length of {(count + 7) // 8} for constant {index} of type '{type}', "
                f"found {len(blob)}",
                at,
            )
        bits = self._unpacked.get((index, count))
        if bits is None:
            bits = self._unpacked[index, count] = unpack_bits(blob, count)
        return bits


def _clear_unused_bits(blob: bytes, size: int, used: int) -> bytes:
    data = bytearray(blob)
    data[size - 1 :: size] = bytes([byte & used for byte in data[size - 1 :: size]])
    return bytes(data)


def _read_blob(cursor: Cursor) -> bytes:
    return cursor.take(cursor.count("bytes"))


def unpack_bits(packed: bytes, count: int) -> bytes:
    """One byte for each of the first `count` bits, lowest first.

    >>> unpack_bits(bytes([0b101]), 4)
    b'\\x01\\x00\\x01\\x00'
    """
    number = int.from_bytes(packed, "little")
    digits = f"{number:0{len(packed) * 8}b}"[::-1][:count]
    return digits.encode().translate(_DIGIT_VALUES)


def pack_bits(booleans: bytes) -> bytes:
    """Eight booleans to a byte, lowest first.

    >>> pack_bits(bytes([1, 0, 1, 0, 0, 0, 0, 0, 1])).hex()
    '0501'
    """
    digits = booleans.translate(_VALUE_DIGITS)[::-1]
    return int(digits, 2).to_bytes((len(booleans) + 7) // 8, "little")


_DIGIT_VALUES: Final = bytes.maketrans(b"01", b"\0\1")
_VALUE_DIGITS: Final = bytes.maketrans(b"\0\1", b"01")


def encode_constant(attribute: DenseElementsAttr, type: TileType) -> bytes:
    """Encode the data of a constant."""
    data = attribute.data
    if type.element is not I1:
        return data
    if attribute.is_splat:
        # Up to eight elements are read bit by bit, so a splat sets all bits.
        return b"\xff" if data[0] else b"\0"
    return pack_bits(data)


class Pool(Generic[K]):
    """Assigns indices to entities and stores their records."""

    __slots__ = ("indices", "records")

    def __init__(self) -> None:
        self.indices: dict[K, int] = {}
        self.records: list[bytes] = []

    def add(self, key: K, record: bytes) -> int:
        """Add an entity and return its index."""
        index = self.indices[key] = len(self.records)
        self.records.append(record)
        return index

    def table(self, size: int) -> Buffer:
        """Encode the records as a section, with offsets of `size` bytes."""
        section = Buffer()
        self.write(section, size)
        return section

    def write(self, buffer: Buffer, size: int) -> None:
        """Write the record count, offsets of `size` bytes, and the records."""
        buffer.varint(len(self.records))
        offsets: list[int] = []
        at = 0
        for record in self.records:
            offsets.append(at)
            at += len(record)
        buffer.offsets(offsets, size)
        buffer.out += b"".join(self.records)


class StringPool(Pool[str]):
    """The strings to write."""

    __slots__ = ()

    def index(self, text: str) -> int:
        """Return the index of a string."""
        known = self.indices.get(text)
        if known is None:
            known = self.add(text, text.encode("utf-8", "surrogateescape"))
        return known


class ConstantPool(Pool[bytes]):
    """The constants to write; equal data is stored once."""

    __slots__ = ()

    def index(self, blob: bytes) -> int:
        """Return the index of a constant."""
        known = self.indices.get(blob)
        if known is not None:
            return known
        record = Buffer()
        record.varint(len(blob))
        return self.add(blob, bytes(record.out) + blob)
