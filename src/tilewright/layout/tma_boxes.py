"""TMA boxes, recognised from a placement in shared memory: how TMA writes a tile there.

TMA writes a box row-major, with the dimension that is contiguous in global memory innermost. With a
swizzle, rows are `span` bytes, and their 16-byte chunks are permuted by the address. A tile whose
placement is not one box is copied as several, all with the same extents. The CTAs of a cluster that
multicast a tile copy one part of its boxes each.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout import gf2
from tilewright.layout.linear import log2, pack, unpack
from tilewright.layout.swizzle import CHUNK, SPANS, swizzle, swizzled
from tilewright.target.engines import TMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.layout.linear import Layout

PATTERN_ROWS: Final = 8
"""Rows after which the pattern of a swizzle repeats."""


class NoBoxes(ValueError):
    """Why TMA cannot write a placement."""


class Box(NamedTuple):
    """One box of a tile."""

    start: tuple[int, ...]
    """The coordinates in the tile of its first element."""
    offset: int
    """The byte offset in shared memory, from the start of the tile."""


class TmaBoxes(NamedTuple):
    """How TMA copies a tile."""

    span: int
    """Bytes of a swizzled row; 16 is memory without a swizzle."""
    extents: tuple[int, ...]
    """Of a box, in the order of the dimensions in global memory: the contiguous one is the last."""
    boxes: tuple[Box, ...]


class TilePart(NamedTuple):
    """A part of the boxes of a tile, and how it differs from the other parts.

    The tile starts with part 0. Each set bit of a part's number adds its step to the start of all
    boxes. Parts follow each other in shared memory.
    """

    boxes: tuple[Box, ...]
    """Those of part 0."""
    steps: tuple[tuple[int, ...], ...]
    """For each bit of a part's number, lowest first: coordinates in the tile."""


@lru_cache(maxsize=256)
def tma_boxes(placement: Layout, element: int, order: tuple[int, ...], parts: int = 1) -> TmaBoxes:
    """The boxes that make up a tile of elements of `element` bytes, or `NoBoxes`.

    `order` are the dimensions of the tile as they are in global memory, the contiguous one last.
    The tile starts at a multiple of the swizzle pattern. `parts`, a power of two, is the least
    number of boxes.

    Rows of 64 f16 are one box; if columns are contiguous instead, each 64 of them are one.

    >>> from tilewright.layout.swizzle import swizzled
    >>> tma_boxes(swizzled((128, 64), element=2, span=128), 2, order=(0, 1))
    TmaBoxes(span=128, extents=(128, 64), boxes=(Box(start=(0, 0), offset=0),))
    >>> columns = swizzled((32, 128), element=2, span=128).permute((1, 0))
    >>> boxes = tma_boxes(columns, 2, order=(1, 0))
    >>> boxes.extents, [box.start for box in boxes.boxes], [box.offset for box in boxes.boxes]
    ((32, 64), [(0, 0), (64, 0)], [0, 4096])
    >>> tma_boxes(swizzled((128, 64), element=2, span=128), 2, order=(0, 1), parts=2).extents
    (64, 64)
    """
    rank, bytes = len(placement.shape), placement.size * element
    if not 1 <= rank <= TMA.max_rank:
        message = f"expected a tile of rank 1 to {TMA.max_rank}, got {rank}"
        raise NoBoxes(message)
    if bytes < TMA.box_alignment:
        message = f"expected a tile of at least {TMA.box_alignment} bytes, got {bytes}"
        raise NoBoxes(message)
    row = placement.shape[order[-1]] * element
    if row < CHUNK:
        message = f"expected at least {CHUNK} bytes along dimension {order[-1]}, got {row}"
        raise NoBoxes(message)
    for span in SPANS:
        boxes = _fit(placement, element, order, span, bytes // parts)
        if boxes is not None:
            return boxes
    count = "boxes" if parts == 1 else f"{parts} boxes or more"
    message = f"expected {count} of rows along dimension {order[-1]}, swizzled or not"
    raise NoBoxes(f"{message}, got {placement}")


def tma_placement(shape: Sequence[int], element: int, order: Sequence[int]) -> Layout:
    """The placement of a tile in boxes with the widest swizzle, as `tma_boxes` takes it.

    >>> placement = tma_placement((32, 64), element=4, order=(0, 1))
    >>> boxes = tma_boxes(placement, 4, order=(0, 1))
    >>> boxes.span, boxes.extents, len(boxes.boxes)
    (128, (32, 32), 2)
    """
    extents = [shape[dimension] for dimension in order]
    columns = extents[-1]
    span = next((span for span in SPANS if span <= columns * element), CHUNK)
    rows = swizzled((prod(extents[:-1]), columns), element, span).reshape(extents)
    return rows.permute([order.index(dimension) for dimension in range(len(shape))])


def part_of(boxes: TmaBoxes, parts: int) -> TilePart:
    """Divide the boxes of a tile into as many parts, a power of two, or `NoBoxes`.

    >>> boxes = tma_boxes(swizzled((128, 64), element=2, span=128), 2, order=(0, 1), parts=4)
    >>> part_of(boxes, 4)
    TilePart(boxes=(Box(start=(0, 0), offset=0),), steps=((32, 0), (64, 0)))
    """
    count = len(boxes.boxes) // parts
    starts = [box.start for box in boxes.boxes]
    bits = range(log2(parts))
    part = TilePart(boxes.boxes[:count], tuple([starts[count << bit] for bit in bits]))
    for number, inside in product(range(parts), range(count)):
        chosen = [step for bit, step in enumerate(part.steps) if number >> bit & 1]
        expected = tuple(map(sum, zip(starts[inside], *chosen, strict=True)))
        if starts[number * count + inside] != expected:
            message = f"expected {parts} equal parts of the boxes, got boxes that start at {starts}"
            raise NoBoxes(message)
    return part


def _fit(
    placement: Layout, element: int, order: Sequence[int], span: int, most: int
) -> TmaBoxes | None:
    """The boxes with rows of `span` bytes; without a swizzle, with rows of any length.

    A box has at most `most` bytes.
    """
    shape, offsets = placement.shape, placement.inverse().vectors("element")
    extents = dict.fromkeys(order, 1)
    bytes = element
    other_bits: list[tuple[int, int]] = []
    for dimension in reversed(order):
        is_row = dimension == order[-1]
        limit = span // element if is_row and span > CHUNK else TMA.max_extent
        for bit in range(log2(shape[dimension])):
            vector = pack([(1 << bit) * (d == dimension) for d in range(len(shape))], shape)
            offset = offsets[log2(vector)] * element
            has_all_below = extents[dimension] == 1 << bit
            fits = 1 << bit < limit and 2 * bytes <= most
            if has_all_below and fits and swizzle(offset, span) == bytes:
                extents[dimension] *= 2
                bytes *= 2
            else:
                other_bits.append((vector, offset))
    row = extents[order[-1]] * element
    # How TMA would swizzle rows that are shorter than the span is not documented.
    if row < CHUNK or (span > CHUNK and row != span):
        return None
    pattern = span * PATTERN_ROWS if span > CHUNK else TMA.box_alignment
    step = max(pattern, bytes)
    if placement.size * element < pattern or any(offset % step for _, offset in other_bits):
        return None
    extents_in_order = tuple([extents[dimension] for dimension in order])
    return TmaBoxes(span, extents_in_order, _boxes(other_bits, shape))


def _boxes(bits: Sequence[tuple[int, int]], shape: Sequence[int]) -> tuple[Box, ...]:
    """All boxes, by the bits of an element that select one: their vectors and byte offsets."""
    vectors, offsets = [vector for vector, _ in bits], [offset for _, offset in bits]
    boxes = [
        Box(unpack(gf2.combine(vectors, number), shape), gf2.combine(offsets, number))
        for number in range(1 << len(bits))
    ]
    return tuple(sorted(boxes, key=lambda box: box.offset))
