"""The registers of accumulators, and the blocks that share an SM."""

from __future__ import annotations

from each_case import each_case

from tilewright.ir.types import F16, F32, F64, I8, TF32, TensorType, Type
from tilewright.plans.tile_registers import accumulator_words, resident_blocks, tile_words


@each_case(("element", "words", "accumulators"), [
    (F64, 2, 2), (F32, 1, 1), (TF32, 1, 1), (F16, 0.5, 1), (I8, 0.5, 1),
])  # fmt: skip
def test_words_of_a_tile(element: Type, words: float, accumulators: int) -> None:
    tile = TensorType((128, 64), element)
    assert tile_words(tile) == 128 * 64 * words
    assert accumulator_words(tile) == 128 * 64 * accumulators


@each_case(("rows", "columns", "blocks"), [
    (128, 128, 2),  # 64 accumulators of each thread
    (128, 192, 1),  # 96: with 40 other registers, 256 threads take more than half of 64 Ki
    (128, 256, 1),
])  # fmt: skip
def test_blocks_that_share_an_sm(rows: int, columns: int, blocks: int) -> None:
    accumulators = rows * columns // 256
    assert resident_blocks(accumulators, None) == blocks
    assert resident_blocks(accumulators, 3) == 3
