"""Tensor maps: 128-byte tensor descriptors of the copy engine, and the boxes it copies.

The hardware layout is undocumented; ours has the same fields, and, as in hardware, zeros
are the neutral value of every field that `tensormap.replace` need not set.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from tilewright.ptxsim.scalar_types import Array

SIZE: Final = 128
_LAYOUT: Final = struct.Struct("<Q8B5I4x4Q5H5B")
# The fields for `tensormap.replace`: offset, size in bytes, number of elements.
FIELDS: Final = {
    "global_address": (0, 8, 1),
    "elemtype": (8, 1, 1),
    "rank": (9, 1, 1),
    "interleave_layout": (10, 1, 1),
    "swizzle_mode": (11, 1, 1),
    "fill_mode": (12, 1, 1),
    "swizzle_atomicity": (13, 1, 1),
    "global_dim": (16, 4, 5),
    "global_stride": (40, 8, 4),
    "box_dim": (72, 2, 5),
    "element_stride": (82, 1, 5),
}
# In the order of the numbers that PTX gives them.
ELEMENT_TYPES: Final = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "tf32",
    "tf32.ftz",
)  # fmt: skip
_WIDTHS: Final = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4)
_SPANS: Final = (16, 32, 64, 128)
_STRIDE_LIMIT: Final = 1 << 40
_FILL_NAN: Final = 0x7FF7


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor in global memory and the box of one copy; sizes innermost first.

    `strides` are in bytes, one for each dimension but the first. `swizzle` is 0, 32, 64 or 128,
    `interleave` 0, 16 or 32; `nan` fills out-of-bounds elements with NaN instead of 0.
    `bytes(map)` is the kernel argument.
    """

    address: int
    type: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    swizzle: int = 0
    interleave: int = 0
    nan: bool = False

    def __post_init__(self) -> None:
        if not self.element_strides:
            object.__setattr__(self, "element_strides", (1,) * len(self.dims))
        error = self.error()
        if error:
            raise ValueError(error)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def width(self) -> int:
        """The element size in bytes."""
        return _WIDTHS[ELEMENT_TYPES.index(self.type)]

    @property
    def unit(self) -> int:
        """The size in bytes of one step along the first dimension."""
        return self.interleave or self.width

    def __bytes__(self) -> bytes:
        flags = (
            ELEMENT_TYPES.index(self.type),
            self.rank - 1,
            self.interleave // 16,
            self.swizzle.bit_length() - 5 if self.swizzle else 0,
            int(self.nan),
        )
        packed = _LAYOUT.pack(
            self.address, *flags, 0, 0, 0, *_padded(self.dims, 5), *_padded(self.strides, 4),
            *_padded(self.box, 5), *_padded(self.element_strides, 5),
        )  # fmt: skip
        return packed.ljust(SIZE, b"\0")

    def error(self) -> str:
        """Why the copy engine rejects the map, or an empty string."""
        grain = 32 if self.interleave == 32 else 16
        rank = self.rank
        if not 1 <= rank <= 5 or len(self.strides) != rank - 1:
            return f"expected 1 to 5 dimensions and one stride less, got {rank}"
        if len(self.box) != rank or len(self.element_strides) != rank:
            return f"expected a box and steps of {rank} dimensions"
        if self.address % grain or any(stride % grain for stride in self.strides):
            return f"expected an address and strides that {grain} divides"
        if max(self.strides, default=0) >= _STRIDE_LIMIT:
            return f"expected strides below {_STRIDE_LIMIT} bytes, got {self.strides}"
        if not all(1 <= size <= 256 for size in self.box):
            return f"expected a box of 1 to 256 elements each way, got {self.box}"
        if not all(1 <= step <= 8 for step in self.element_strides):
            return f"expected steps of 1 to 8 elements, got {self.element_strides}"
        if min(self.dims) < 1:
            return f"expected a tensor with elements, got {self.dims}"
        if self.interleave:
            return "" if rank >= 3 else "expected at least 3 dimensions to interleave"
        inner = self.box[0] * self.width
        if inner % 16 or (self.swizzle and inner > self.swizzle):
            limit = f"at most {self.swizzle} and " if self.swizzle else ""
            return f"expected rows of {limit}a multiple of 16 bytes, got {inner}"
        return ""

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of elements of a box along each dimension, after element strides."""
        steps = (1, *self.element_strides[1:])
        counts = [-(-size // step) for size, step in zip(self.box, steps, strict=True)]
        if self.interleave:
            # An interleaved box has one slice, whatever its size along that dimension.
            counts[-2] = 1
        return tuple(counts)

    @property
    def row_bytes(self) -> int:
        """The number of contiguous bytes of a box row in global memory."""
        return self.counts[0] * self.unit

    @property
    def pitch(self) -> int:
        """The distance of rows in shared memory, in bytes."""
        return self.row_bytes if self.interleave else max(self.row_bytes, self.swizzle)

    @property
    def rows(self) -> int:
        """The number of rows of a box."""
        return int(np.prod(self.counts[1:], dtype=np.int64))

    @property
    def box_bytes(self) -> int:
        """The number of bytes of a copy, out-of-bounds elements included."""
        return self.rows * self.row_bytes

    @property
    def footprint(self) -> int:
        """The size of a box in shared memory."""
        return self.rows * self.pitch


def _padded(values: tuple[int, ...], count: int) -> tuple[int, ...]:
    return values + (0,) * (count - len(values))


def decode(data: bytes) -> TensorMap:
    """Decode a tensor map; raise `ValueError` if it is invalid."""
    numbers: tuple[int, ...] = _LAYOUT.unpack_from(data)
    address, type, rank, interleave, swizzle, fill = numbers[:6]
    rank += 1
    dims, strides, box, steps = numbers[9:14], numbers[14:18], numbers[18:23], numbers[23:28]
    if type >= len(ELEMENT_TYPES) or rank > 5 or interleave > 2 or swizzle > 3 or fill > 1:
        listed = f"{type}, {rank - 1}, {interleave}, {swizzle}, {fill}"
        raise ValueError(f"expected known numbers of type, rank and modes, got {listed}")
    return TensorMap(
        address, ELEMENT_TYPES[type], dims[:rank], strides[: rank - 1],
        box[:rank], steps[:rank], _SPANS[swizzle] if swizzle else 0,
        16 * interleave, bool(fill),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """The global-memory offsets of a box's rows, and their in-bounds part.

    Rows are in the order of shared memory. `starts` are offsets from the tensor's address, and
    `low` and `high` bound the in-bounds bytes of a row.
    """

    map: TensorMap
    starts: Array
    inside: Array
    low: int
    high: int

    def spans(self) -> Array:
        """The offsets of the in-bounds parts of the rows, `high - low` bytes each."""
        return self.starts[self.inside] + self.low

    def gather(self, memory: Array, base: int) -> Array:
        """The rows of the box as bytes, with out-of-bounds elements filled."""
        map = self.map
        rows = np.zeros((map.rows, map.row_bytes), np.uint8)
        if map.nan:
            rows.view(np.uint16)[...] = _FILL_NAN
        size = self.high - self.low
        if size > 0 and self.inside.any():
            data = memory[index_of(self.spans() + base, size)]
            if map.type.startswith("tf32"):
                data = _rounded_to_tf32(data.view(np.uint32)).view(np.uint8)
            rows[self.inside, self.low : self.high] = data
        return rows

    def scatter(self, rows: Array) -> tuple[Array, Array]:
        """The byte offsets and bytes that a store writes, per row.

        The engine stores whole chunks of 16 bytes, including the bytes after the tensor's last
        element.
        """
        size = self.stored
        return index_of(self.spans(), size), rows[self.inside, self.low : self.low + size]

    @property
    def stored(self) -> int:
        """The number of bytes of each row that a store writes."""
        return max(0, min(-(-self.high // 16) * 16, self.map.row_bytes) - self.low)


def index_of(starts: Array, size: int) -> Array:
    """The indices of `size` bytes from each start."""
    return starts[:, None] + np.arange(size)


def box_at(map: TensorMap, at: tuple[int, ...]) -> Box:
    """The box at some coordinates, which may be out of bounds."""
    starts: Array = np.zeros(1, np.int64)
    inside: Array = np.ones(1, np.bool_)
    counts = map.counts
    for axis in range(1, map.rank):
        step = map.element_strides[axis]
        coordinates = at[axis] + step * np.arange(counts[axis], dtype=np.int64)
        starts = (coordinates[:, None] * map.strides[axis - 1] + starts[None, :]).reshape(-1)
        in_bounds = (coordinates >= 0) & (coordinates < map.dims[axis])
        inside = (in_bounds[:, None] & inside[None, :]).reshape(-1)
    low = min(max(0, -at[0]), counts[0])
    high = max(low, min(counts[0], map.dims[0] - at[0]))
    unit = map.unit
    return Box(map, starts + at[0] * unit, inside, low * unit, high * unit)


def swizzled(map: TensorMap, address: int) -> Array:
    """The shared-memory addresses of the 16-byte chunks of a box, row by row.

    The swizzle depends on the address alone: bits of the row are XORed into those of the chunk.
    """
    rows = address + map.pitch * np.arange(map.rows, dtype=np.int64)
    chunks = (rows[:, None] + np.arange(0, map.row_bytes, 16)).reshape(-1)
    if not map.swizzle:
        return chunks
    mask = map.swizzle // 16 - 1
    return chunks ^ (((chunks >> 7) & mask) << 4)


def _rounded_to_tf32(words: Array) -> Array:
    # Ten bits of fraction, to nearest even; every NaN becomes the same one.
    rounded = (words + 0xFFF + ((words >> 13) & 1)) & 0xFFFFE000
    nan = (words & 0x7FFFFFFF) > 0x7F800000
    return np.where(nan, np.uint32(0x7FFFE000), rounded).astype(np.uint32)
