"""wgmma: accumulator layouts of the PTX manual, operands in memory as in their descriptors."""

from __future__ import annotations

from itertools import product

import pytest
from each_case import each_case
from layouts import wavefronts

from tilewright.layout.linear import Layout
from tilewright.layout.spread import spread
from tilewright.layout.swizzle import swizzle
from tilewright.layout.vector_access import contiguous_offsets
from tilewright.layout.wgmma import (
    best_operand_smem,
    blocks,
    instruction_columns,
    left_fragments,
    operand_smem,
    recognize_operand,
    wgmma_tile,
)

SHAPES = [(64, 8), (64, 512), (128, 32), (256, 16), (512, 256)]


@each_case("shape", SHAPES, ids=str)
@each_case("warps", [4, 8, 16])
def test_accumulators_are_laid_out_as_in_the_manual(shape: tuple[int, int], warps: int) -> None:
    """For each 64 rows: row 16w + 8h + l/4, column 8j + 2(l%4) + i in register 4j + 2h + i."""
    layout = wgmma_tile(shape, warps)
    columns = instruction_columns(layout)
    assert columns is not None
    assert shape[1] % columns == 0
    for group, lane, warp in product(range(warps // 4), (0, 1, 6, 31), range(4)):
        top, left = layout.at(warp=4 * group)
        assert top % 64 == 0
        assert left % columns == 0
        for register in range(min(columns // 2, 12)):
            j, h, i = register // 4, register // 2 % 2, register % 2
            expected = (top + 16 * warp + 8 * h + lane // 4, left + 8 * j + 2 * (lane % 4) + i)
            assert layout.at(register=register, lane=lane, warp=4 * group + warp) == expected


def test_warpgroups_split_m_first() -> None:
    assert wgmma_tile((128, 256), 8).at(warp=4) == (64, 0)
    assert wgmma_tile((64, 256), 8).at(warp=4) == (0, 128)
    assert wgmma_tile((2, 64, 32), 8).at(warp=4) == (0, 0, 16)
    assert wgmma_tile((2, 64, 8), 8).at(warp=4) == (1, 0, 0)


@each_case(("warps", "columns"), [(4, 256), (8, 256), (16, 128), (32, 64)])
def test_accumulators_of_an_instruction_fit_into_registers(warps: int, columns: int) -> None:
    """There are 65,536 of 32 bits, and a thread needs some two dozen besides its accumulators."""
    assert instruction_columns(wgmma_tile((64 * warps // 4, 256), warps)) == columns
    assert columns // 2 + 24 <= 65536 // (32 * warps)


def test_other_layouts_are_no_accumulators() -> None:
    layout = wgmma_tile((64, 32), 4)
    assert instruction_columns(layout) == 32
    assert instruction_columns(spread((64, 32), 4)) is None
    assert instruction_columns(spread((32, 32), 4)) is None
    skewed = layout.with_input("warp", [*layout.vectors("warp"), 8])
    assert instruction_columns(skewed) is None


@each_case("bits", [8, 16, 32])
@each_case(("rows", "warps"), [(64, 4), (128, 8)])
def test_a_in_registers_is_laid_out_as_in_the_manual(bits: int, rows: int, warps: int) -> None:
    """A lane has 32 bits of a row, of the row 8 below, and again half of an instruction's K on.

    For each 16 rows of a warp, and each 256 bits of K.
    """
    pack = 32 // bits
    k = 2 * 8 * pack
    layout = left_fragments((rows, k), (rows, 16), bits, warps)
    assert layout.is_surjective
    for register, lane, warp in product(range(8 * pack), (0, 1, 6, 31), range(warps)):
        inside, word = register % pack, register // pack
        below, half, step = word % 2, word // 2 % 2, word // 4
        row = 16 * warp + 8 * below + lane // 4
        column = 8 * pack * step + 4 * pack * half + pack * (lane % 4) + inside
        assert layout.at(register=register, lane=lane, warp=warp) == (row, column)


@each_case(("shape", "warps"), [((64, 64), 8), ((128, 64), 4), ((2, 64, 32), 4)])
def test_a_warp_has_the_rows_of_a_that_its_accumulators_have(
    shape: tuple[int, ...], warps: int
) -> None:
    accumulator = wgmma_tile(shape, warps)
    left = left_fragments((*shape[:-1], 32), shape, 16, warps)
    for lane, warp in product((0, 5, 31), range(warps)):
        owned = [
            {layout.at(register=number, lane=lane, warp=warp)[:-1] for number in range(size)}
            for layout, size in ((each, each.extent("register")) for each in (left, accumulator))
        ]
        assert owned[0] == owned[1]


@each_case("element", [1, 2, 4])
@each_case("deep", [1, 2, 4, 8])
@each_case("across", [False, True])
def test_every_instruction_begins_where_its_run_says(element: int, deep: int, across: bool) -> None:
    """The offsets of elements are those of the hardware's swizzle, run by run."""
    if across and element != 2:
        return
    extent = deep * 32 // element
    memory = operand_smem((2, 64, extent), element, across=across)
    each = 32 // element
    span = memory.descriptor.span
    for start in range(0, extent, memory.run * each):
        first = memory.start((1, 8, start), element)
        for number in range(memory.run):
            at = start + number * each
            assert memory.start((1, 8, at), element) == first + number * memory.step
    for row, k in product((0, 3, 8, 63), range(0, extent, 3)):
        offset = element * memory.offsets.at(element=64 * extent + row * extent + k)[0]
        plain = swizzle(offset - 64 * extent * element, span)
        box, within = divmod(plain, (extent if across else 64) * span)
        line, byte = divmod(within, span)
        position = (line, box * span + byte) if across else (box * span + byte, line)
        assert position == ((k, row * element) if across else (k * element, row))


def test_the_memory_layout_follows_the_register_layout() -> None:
    rows = spread((1, 64, 64), 4, vector=8)
    columns = spread((1, 64, 64), 4, vector=8, order=(1, 2, 0))
    assert not best_operand_smem(rows, 2).descriptor.across
    assert best_operand_smem(columns, 2).descriptor.across
    assert contiguous_offsets(columns.then(best_operand_smem(columns, 2).offsets), 2) == 8
    assert not best_operand_smem(columns, 1).descriptor.across
    assert contiguous_offsets(columns.then(best_operand_smem(columns, 1).offsets), 1) == 1


@each_case(("element", "across"), [(1, False), (2, False), (2, True), (4, False)])
def test_placements_are_recognized(element: int, across: bool) -> None:
    memory = operand_smem((2, 64, 128), element, across=across)
    assert memory.placement.then(memory.offsets).columns() == [1 << bit for bit in range(14)]
    assert recognize_operand(memory.placement, element) == memory


@pytest.mark.parametrize("element", [1, 4])
def test_placements_that_wgmma_does_not_read(element: int) -> None:
    """Row-major without a swizzle, and the M- or N-major that 2-byte elements alone have."""
    plain = Layout([("offset", [1 << bit for bit in range(13)])], (1, 64, 128))
    assert recognize_operand(plain, element) is None
    across = operand_smem((1, 64, 128), 2, across=True)
    assert recognize_operand(across.placement, element) is None


@each_case(
    ("shape", "warps", "vector", "pack"),
    [((128, 256), 8, 16, 8), ((64, 64), 4, 8, 4), ((256, 128), 4, 16, 16), ((32, 16), 4, 1, 4)],
)
def test_blocks_are_written_in_whole_words(
    shape: tuple[int, int], warps: int, vector: int, pack: int
) -> None:
    """N-major B, which wgmma takes K-major."""
    each = shape[0] * shape[1] // (32 * warps)
    layout = blocks(shape, warps, (1, 0), 16, each)
    assert layout.is_surjective
    assert [layout.at(register=r) for r in range(vector)] == [(0, r) for r in range(vector)]
    source = layout.expand(0).permute((0, 2, 1))
    memory = best_operand_smem(source, 1)
    assert contiguous_offsets(source.then(memory.offsets), 1) == pack


def test_lanes_write_blocks_to_different_banks() -> None:
    source = blocks((128, 256), 8, (1, 0), 16, 128).expand(0).permute((0, 2, 1))
    memory = best_operand_smem(source, 1)
    offsets = source.then(memory.offsets)
    assert wavefronts(offsets.vectors("lane"), 8) == 2
