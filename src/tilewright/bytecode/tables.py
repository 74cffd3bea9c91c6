"""The String and Constant sections, and the tables of offsets that they share with others."""

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
"""Elements that leave bits of their last byte free, and those that they use."""


class OffsetTable:
    """Records of any length, one after the other, found by their offsets."""

    __slots__ = ("cursor", "offsets", "start", "what")

    def __init__(self, cursor: Cursor, size: int, what: str) -> None:
        """The cursor stands at the number of records; each has an offset of `size` bytes."""
        self.what = what
        self.cursor = cursor
        count = cursor.count(f"{what}s", size)
        self.offsets = cursor.offsets(count, size, f"{what} offsets") if count else ()
        self.start = cursor.at

    def bounds(self, index: int, user: Cursor, at: int) -> tuple[int, int]:
        """From where to where in the section the record reaches that `user` names at `at`."""
        offsets, room = self.offsets, self.cursor.end - self.start
        if index >= len(offsets):
            user.fail(f"expected a {self.what} below {len(offsets)}, found number {index}", at)
        start = offsets[index]
        stop = offsets[index + 1] if index + 1 < len(offsets) else room
        if not start <= stop <= room:
            self.cursor.fail(
                f"expected {self.what} {index} inside the {room} bytes of data, "
                f"found it from {start} to {stop}",
                self.start,
            )
        return self.start + start, self.start + stop

    def parse(self, index: int, user: Cursor, at: int, parse: Callable[[Cursor], T]) -> T:
        """Read a record; the cursor then goes on where it was, since records name each other."""
        cursor = self.cursor
        back = cursor.at
        cursor.at, stop = self.bounds(index, user, at)
        found = parse(cursor)
        if cursor.at > stop:
            cursor.fail(f"expected the end of {self.what} {index}, found that it goes on", stop)
        cursor.at = back
        return found


class StringTable:
    """The texts of a file, decoded when they are first used.

    Bytes that are no UTF-8 become lone surrogates, as in the text form.
    """

    __slots__ = ("_known", "_table")

    def __init__(self, cursor: Cursor) -> None:
        self._table = OffsetTable(cursor, 4, "string")
        self._known: dict[int, str] = {}

    def read(self, user: Cursor) -> str:
        """The string whose number stands at a cursor."""
        at = user.at
        index = user.varint()
        found = self._known.get(index)
        if found is None:
            start, stop = self._table.bounds(index, user, at)
            data = self._table.cursor.data[start:stop]
            found = self._known[index] = data.decode("utf-8", "surrogateescape")
        return found


class ConstantTable:
    """The blobs of a file; what they mean depends on the type of whoever uses them."""

    __slots__ = ("_blobs", "_known", "_table", "_unpacked")

    def __init__(self, cursor: Cursor) -> None:
        self._table = OffsetTable(cursor, 8, "constant")
        self._blobs: dict[int, bytes] = {}
        self._known: dict[tuple[int, Type], DenseElementsAttr] = {}
        # Constants of many shapes may share a blob of bits, which is then unpacked only once.
        self._unpacked: dict[tuple[int, int], bytes] = {}

    def read(self, user: Cursor, type: Type) -> DenseElementsAttr:
        """The constant of some type whose number stands at a cursor."""
        at = user.at
        index = user.varint()
        found = self._known.get((index, type))
        if found is None:
            found = self._known[index, type] = self._decode(user, at, index, type)
        return found

    def _decode(self, user: Cursor, at: int, index: int, type: Type) -> DenseElementsAttr:
        if not isinstance(type, TileType) or not isinstance(type.element, IntegerType | FloatType):
            user.fail(
                f"expected the type of a constant to be a tile of numbers, found '{type}'", at
            )
        blob = self._blobs.get(index)
        if blob is None:
            blob = self._blobs[index] = self._table.parse(index, user, at, _read_blob)
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
        """Booleans, eight to a byte; beyond eight elements a single byte is a splat."""
        blob, count = self._blobs[index], type.count
        if len(blob) == 1 and count > 8:
            return bytes([blob[0] & 1])
        if len(blob) != (count + 7) // 8:
            user.fail(
                f"expected a length of {(count + 7) // 8} for constant {index} of type '{type}', "
                f"found {len(blob)}",
                at,
            )
        found = self._unpacked.get((index, count))
        if found is None:
            found = self._unpacked[index, count] = unpack_bits(blob, count)
        return found


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
    """The bytes of a constant, without their number."""
    data = attribute.data
    if type.element is not I1:
        return data
    if attribute.is_splat:
        # Up to eight elements a reader takes the bits one by one, so all of them are set.
        return b"\xff" if data[0] else b"\0"
    return pack_bits(data)


class Pool(Generic[K]):
    """Numbers things as they come, and keeps the record of each."""

    __slots__ = ("indices", "records")

    def __init__(self) -> None:
        self.indices: dict[K, int] = {}
        self.records: list[bytes] = []

    def add(self, key: K, record: bytes) -> int:
        """The number of a new thing."""
        index = self.indices[key] = len(self.records)
        self.records.append(record)
        return index

    def table(self, size: int) -> Buffer:
        """The records as a section of their own, with offsets of `size` bytes."""
        section = Buffer()
        self.write(section, size)
        return section

    def write(self, buffer: Buffer, size: int) -> None:
        """The number of records, their offsets of `size` bytes, and the records."""
        buffer.varint(len(self.records))
        offsets: list[int] = []
        at = 0
        for record in self.records:
            offsets.append(at)
            at += len(record)
        buffer.offsets(offsets, size)
        buffer.out += b"".join(self.records)


class StringPool(Pool[str]):
    """The texts to write."""

    __slots__ = ()

    def index(self, text: str) -> int:
        """The number of a text."""
        found = self.indices.get(text)
        if found is None:
            found = self.add(text, text.encode("utf-8", "surrogateescape"))
        return found


class ConstantPool(Pool[bytes]):
    """The constants to write; equal bytes are stored once, whatever their types."""

    __slots__ = ()

    def index(self, blob: bytes) -> int:
        """The number of a constant."""
        found = self.indices.get(blob)
        if found is not None:
            return found
        record = Buffer()
        record.varint(len(blob))
        return self.add(blob, bytes(record.out) + blob)
