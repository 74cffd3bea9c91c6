"""TMA boxes: every element that TMA writes lies where the placement says."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from each_case import each_case

from tilewright.layout.linear import OFFSET, Layout
from tilewright.layout.swizzle import row_major, swizzled
from tilewright.layout.tma_boxes import Box, NoBoxes, TmaBoxes, part_of, tma_boxes
from tilewright.layout.wgmma import operand_smem


def swizzled_address(address: int, span: int) -> int:
    """Bits 4 to 6 XOR bits 7 to 9: three of them, two or one, by the PTX manual."""
    masks = {128: 0b111, 64: 0b11, 32: 0b1, 16: 0}
    return address ^ ((address >> 7 & masks[span]) << 4)


def written(boxes: TmaBoxes, element: int, order: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """The byte offset at which TMA writes each element, box by box."""
    offsets: dict[tuple[int, ...], int] = {}
    for box in boxes.boxes:
        address = box.offset
        for inside in product(*(range(extent) for extent in boxes.extents)):
            coordinates = list(box.start)
            for dimension, coordinate in zip(order, inside, strict=True):
                coordinates[dimension] += coordinate
            assert tuple(coordinates) not in offsets
            offsets[tuple(coordinates)] = swizzled_address(address, boxes.span)
            address += element
    return offsets


def check(placement: Layout, element: int, order: tuple[int, ...], parts: int = 1) -> TmaBoxes:
    """The boxes of a placement, which must write every element to its offset."""
    boxes = tma_boxes(placement, element, order, parts)
    table = {
        placement.at(offset=offset): offset * element for offset in range(placement.extent(OFFSET))
    }
    assert written(boxes, element, order) == table
    return boxes


def operand(rows: int, k: int, element: int, *, across: bool = False) -> Layout:
    """The placement of one operand of wgmma, rows by K."""
    return operand_smem((1, rows, k), element, across=across).placement.reshape((rows, k))


OPERANDS = [
    # rows (M or N), K, bytes of an element, M- or N-major; span, box in order of memory, boxes
    (128, 64, 2, False, 128, (128, 64), 1),
    (128, 128, 2, False, 128, (128, 64), 2),
    (128, 32, 2, False, 64, (128, 32), 1),
    (128, 16, 2, False, 32, (128, 16), 1),
    (128, 128, 1, False, 128, (128, 128), 1),
    (128, 32, 4, False, 128, (128, 32), 1),
    (256, 64, 2, False, 128, (256, 64), 1),
    (512, 64, 2, False, 128, (256, 64), 2),
    (256, 64, 2, True, 128, (64, 64), 4),
    (32, 64, 2, True, 64, (64, 32), 1),
]


@pytest.mark.parametrize(("rows", "k", "element", "across", "span", "box", "count"), OPERANDS)
def test_operands_of_wgmma(
    rows: int, k: int, element: int, across: bool, span: int, box: tuple[int, ...], count: int
) -> None:
    order = (1, 0) if across else (0, 1)
    boxes = check(operand(rows, k, element, across=across), element, order)
    assert (boxes.span, boxes.extents, len(boxes.boxes)) == (span, box, count)


def test_b_with_n_contiguous_is_a_tile_of_k_by_n() -> None:
    """64 x 256 f16: boxes of 64 rows of K by 64 columns, one after the other."""
    placement = operand(256, 64, 2, across=True).permute((1, 0))
    boxes = check(placement, 2, (0, 1))
    assert boxes.extents == (64, 64)
    starts = [((0, 64 * number), 8192 * number) for number in range(4)]
    assert [(box.start, box.offset) for box in boxes.boxes] == starts


def test_a_batch_of_one() -> None:
    placement = operand_smem((1, 128, 64), 2).placement
    assert check(placement, 2, (0, 1, 2)).extents == (1, 128, 64)
    # The batch may be any dimension of memory but the contiguous one.
    assert check(placement, 2, (1, 0, 2)).extents == (128, 1, 64)


def test_a_batch_of_two_is_one_box_per_matrix_at_most() -> None:
    boxes = check(operand_smem((2, 128, 64), 2).placement, 2, (0, 1, 2))
    assert (boxes.extents, len(boxes.boxes)) == ((2, 128, 64), 1)
    boxes = check(operand_smem((2, 128, 64), 2).placement, 2, (1, 0, 2))
    assert (boxes.extents, len(boxes.boxes)) == ((128, 1, 64), 2)


@each_case("order", list(permutations(range(3))))
def test_rows_without_a_swizzle_in_any_order(order: tuple[int, ...]) -> None:
    """A tile that is row-major in the order of memory is one box."""
    inverse = [order.index(dimension) for dimension in range(3)]
    placement = row_major((4, 8, 16)).permute(inverse)
    boxes = check(placement, 4, order)
    assert (boxes.span, boxes.extents, len(boxes.boxes)) == (16, (4, 8, 16), 1)


@each_case(
    ("shape", "element", "extents", "count"),
    [
        ((1024,), 4, (256,), 4),
        ((64,), 2, (64,), 1),
        ((2, 1, 4, 1, 32), 1, (2, 1, 4, 1, 32), 1),
        ((4, 512), 2, (1, 256), 8),
        ((512, 8), 2, (256, 8), 2),
    ],
)
def test_boxes_are_at_most_256_elements_long(
    shape: tuple[int, ...], element: int, extents: tuple[int, ...], count: int
) -> None:
    boxes = check(row_major(shape), element, tuple(range(len(shape))))
    assert (boxes.span, boxes.extents, len(boxes.boxes)) == (16, extents, count)


@each_case(
    ("placement", "element", "order", "reason"),
    [
        (row_major((2, 2, 2, 2, 2, 32)), 2, (0, 1, 2, 3, 4, 5), "rank 1 to 5, got 6"),
        (row_major((4, 8)), 2, (0, 1), "at least 128 bytes, got 64"),
        (row_major((64, 4)), 2, (0, 1), "at least 16 bytes along dimension 1, got 8"),
        # Rows in memory, columns in shared memory.
        (row_major((64, 64)), 2, (1, 0), "boxes of rows along dimension 0"),
        # TMA swizzles by address: a tile that is smaller than the pattern has no fixed one.
        (swizzled((4, 64), 2, 128), 2, (0, 1), "boxes of rows along dimension 1"),
        # Rows of 64 bytes in the swizzle of 128.
        (swizzled((32, 64), 2, 128).reshape((64, 32)), 2, (0, 1), "boxes of rows"),
        # Rows 1 and 3 are exchanged.
        (Layout([(OFFSET, [1, 2, 4, 8, 16, 32 + 64, 64, 128])], (8, 32)), 2, (0, 1), "boxes"),
        # A box that starts at a multiple of 64 bytes.
        (row_major((2, 2, 32)).permute((1, 0, 2)), 1, (0, 1, 2), "boxes of rows"),
    ],
)
def test_placements_that_tma_does_not_write(
    placement: Layout, element: int, order: tuple[int, ...], reason: str
) -> None:
    with pytest.raises(NoBoxes, match=reason):
        tma_boxes(placement, element, order)


PARTS = [
    # rows (N), K, bytes of an element, N-major, parts; box in order of memory, steps
    (256, 64, 2, False, 2, (128, 64), [(128, 0)]),
    (256, 64, 2, False, 8, (32, 64), [(32, 0), (64, 0), (128, 0)]),
    (256, 64, 2, True, 2, (64, 64), [(128, 0)]),
    (256, 64, 2, True, 4, (64, 64), [(64, 0), (128, 0)]),
    (256, 64, 2, True, 8, (32, 64), [(0, 32), (64, 0), (128, 0)]),
    (128, 128, 2, False, 2, (128, 64), [(0, 64)]),
    (128, 128, 2, False, 4, (64, 64), [(64, 0), (0, 64)]),
    (64, 128, 1, False, 2, (32, 128), [(32, 0)]),
    (64, 32, 4, False, 8, (8, 32), [(8, 0), (16, 0), (32, 0)]),
]


@pytest.mark.parametrize(("rows", "k", "element", "across", "parts", "box", "steps"), PARTS)
def test_parts_of_operands_of_wgmma(
    rows: int,
    k: int,
    element: int,
    across: bool,
    parts: int,
    box: tuple[int, ...],
    steps: list[tuple[int, ...]],
) -> None:
    """All parts together write every element to its offset, and follow each other in memory."""
    order = (1, 0) if across else (0, 1)
    placement = operand(rows, k, element, across=across)
    boxes = check(placement, element, order, parts)
    part = part_of(boxes, parts)
    assert (boxes.extents, list(part.steps)) == (box, steps)
    bytes = rows * k * element // parts
    moved: list[Box] = []
    for number in range(parts):
        for each in part.boxes:
            start = list(each.start)
            for bit, step in enumerate(part.steps):
                if number >> bit & 1:
                    start = [a + b for a, b in zip(start, step, strict=True)]
            moved.append(Box(tuple(start), each.offset + number * bytes))
    assert tuple(moved) == boxes.boxes


def test_parts_are_whole_patterns_of_a_swizzle() -> None:
    """Eight rows of 128 bytes."""
    assert check(swizzled((32, 64), 2, 128), 2, (0, 1), 4).extents == (8, 64)
    with pytest.raises(NoBoxes, match="expected 8 boxes or more of rows along dimension 1"):
        tma_boxes(swizzled((32, 64), 2, 128), 2, (0, 1), 8)


def test_parts_have_the_same_boxes() -> None:
    """Rows 16 to 31 and 48 to 63 are exchanged: the second part is not where others begin."""
    vectors = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 + 2048, 2048]
    placement = Layout([(OFFSET, vectors)], (64, 64))
    boxes = check(placement, 2, (0, 1), 4)
    assert [box.start for box in boxes.boxes] == [(0, 0), (48, 0), (32, 0), (16, 0)]
    with pytest.raises(NoBoxes, match="expected 4 equal parts of the boxes"):
        part_of(boxes, 4)
