"""Placements in shared memory: which element lies at each offset, for wgmma and for copies."""

from __future__ import annotations

from itertools import product

import pytest
from each_case import each_case

from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP, Layout
from tilewright.layout.spread import spread
from tilewright.layout.vector_access import contiguous_offsets, copied_registers
from tilewright.layout.wgmma import operand_smem, recognize_operand
from tilewright.transforms.nv_tileas.pipelined_loads import private_placement

CHUNK = 16
"""The bytes that a swizzle keeps together."""


def swizzled_offset(row: int, column: int, rows: int, width: int, element: int) -> int:
    """The offset of an element of a matrix in rows of up to 128 bytes, by the PTX manual.

    Columns beyond 128 bytes are further matrices. In 8 rows of 128 bytes, the 16-byte chunk of a
    row is exclusive-or'ed with the number of the row; in rows of 64 bytes with half of it, and in
    rows of 32 bytes with a quarter.
    """
    span = min(128, width * element)
    part, inside = divmod(column * element, span)
    turn = row % 8 * span // 128
    chunk = inside // CHUNK ^ turn
    byte = part * rows * span + row * span + chunk * CHUNK + inside % CHUNK
    return byte // element


KINDS = [
    # shape (batch, rows, K), bytes of an element, M- or N-major
    ((1, 64, 64), 2, False),  # rows of 128 bytes
    ((1, 64, 128), 2, False),  # two matrices of such rows
    ((1, 64, 32), 2, False),  # rows of 64 bytes
    ((1, 64, 32), 1, False),  # rows of 32 bytes
    ((2, 64, 64), 1, False),
    ((1, 16, 32), 2, True),
    ((1, 128, 32), 2, True),
]


@pytest.mark.parametrize(("shape", "element", "across"), KINDS)
def test_operands_are_in_memory_as_their_swizzle_says(
    shape: tuple[int, int, int], element: int, across: bool
) -> None:
    placement = operand_smem(shape, element, across=across).placement
    assert placement.shape == shape
    batch, rows, k = shape
    for matrix, row, column in product(range(batch), range(rows), range(k)):
        if across:
            inside = swizzled_offset(column, row, k, rows, element)
        else:
            inside = swizzled_offset(row, column, rows, k, element)
        assert placement.at(offset=matrix * rows * k + inside) == (matrix, row, column)


@each_case(("shape", "element", "across"), KINDS)
def test_a_placement_is_recognized(shape: tuple[int, int, int], element: int, across: bool) -> None:
    memory = operand_smem(shape, element, across=across)
    recognized = recognize_operand(memory.placement, element)
    assert recognized is not None
    assert recognized.descriptor.across == across
    assert recognized == memory


@each_case("element", [1, 2, 4])
def test_rows_without_a_swizzle_are_no_operand(element: int) -> None:
    """Bit i of the offset is bit i of the column, then of the row."""
    plain = Layout([(OFFSET, [1 << bit for bit in range(12)])], (1, 64, 64))
    assert plain.at(offset=65) == (0, 1, 1)
    assert recognize_operand(plain, element) is None


def test_only_16_bit_operands_may_be_m_major() -> None:
    """A K-major placement with rows and K exchanged."""
    columns = operand_smem((1, 64, 64), 1).placement.permute((0, 2, 1))
    assert recognize_operand(columns, 1) is None
    wide = operand_smem((1, 64, 64), 2).placement.permute((0, 2, 1))
    recognized = recognize_operand(wide, 2)
    assert recognized is not None
    assert recognized.descriptor.across


def offsets(registers: list[int], lanes: list[int], size: int) -> Layout:
    """Offsets of the registers and lanes of one warp."""
    return Layout([(REGISTER, registers), (LANE, lanes), (WARP, [])], (size,))


@each_case(("registers", "lanes", "element", "count"), [
    ([1, 2, 4, 8], [16, 32], 2, 8),  # 16 bytes are the widest access
    ([1, 2, 4, 8], [16, 32], 4, 4),
    ([8, 2, 1], [4, 16], 2, 4),  # in any order of the registers
    ([1, 2, 8], [4, 16], 2, 4),  # offset 4 is another lane's
    ([1, 2], [4, 9], 2, 1),  # lane 2 begins at an odd offset: nothing is aligned
    ([1, 2], [4, 10], 2, 2),  # lane 2 begins at an even one
    ([1, 3], [4, 8], 2, 1),  # registers 2 and 3 are at offsets 3 and 2
    ([2, 4], [1, 8], 2, 1),
])  # fmt: skip
def test_contiguous_offsets(
    registers: list[int], lanes: list[int], element: int, count: int
) -> None:
    layout = offsets(registers, lanes, 64)
    assert contiguous_offsets(layout, element) == count
    for lane in range(4):
        table = {layout.at(register=i, lane=lane)[0] for i in range(1 << len(registers))}
        for start in {each // count * count for each in table}:
            assert set(range(start, start + count)) <= table


@each_case(("registers", "lanes", "limit", "count"), [
    ([1, 2, 4, 8], [16, 32], 8, 8),
    ([1, 2, 4, 8], [16, 32], 2, 2),
    ([2, 1, 4], [8, 16], 8, 1),  # register 1 is at offset 2
    ([1, 2, 8], [4, 16], 8, 4),
    ([1, 2, 4], [9, 16], 8, 1),  # lane 1 begins at an odd offset
    ([1, 2, 4], [10, 16], 8, 2),
    ([1, 2, 12], [4, 16], 8, 4),
    ([1, 2, 6], [4, 8], 8, 2),  # register 4 is at offset 6, and register 5 at 7: an access at 6
])  # fmt: skip
def test_copied_registers(registers: list[int], lanes: list[int], limit: int, count: int) -> None:
    """Each group of that many registers, in their order, is an aligned access."""
    layout = offsets(registers, lanes, 64)
    assert copied_registers(layout, limit) == count
    for lane, first in product(range(4), range(0, 1 << len(registers), count)):
        group = [layout.at(register=first + i, lane=lane)[0] for i in range(count)]
        assert group[0] % count == 0
        assert group == list(range(group[0], group[0] + count))


@pytest.mark.parametrize(("shape", "warps", "vector"), [((16, 128), 4, 4), ((64, 32), 2, 8)])
def test_private_accesses_of_all_threads_are_contiguous(
    shape: tuple[int, int], warps: int, vector: int
) -> None:
    """Thread t has its access number i at offset (i * threads + t) * vector: no bank conflicts."""
    layout = spread(shape, warps, vector=vector)
    placement = private_placement(layout, vector)
    threads = 32 * warps
    for register, lane, warp in product(range(layout.extent(REGISTER)), range(32), range(warps)):
        access, inside = divmod(register, vector)
        offset = (access * threads + 32 * warp + lane) * vector + inside
        assert placement.at(offset=offset) == layout.at(register=register, lane=lane, warp=warp)
    assert placement.extent(OFFSET) == shape[0] * shape[1]
