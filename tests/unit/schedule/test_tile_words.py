"""The words of tiles and of addresses."""

from __future__ import annotations

from each_case import each_case

from tilewright.ir.types import F16, F32, F64, I8, TF32, TensorType, Type
from tilewright.schedule.tile_words import accumulator_words, address_words, tile_words


@each_case(("element", "words", "accumulators"), [
    (F64, 2, 2), (F32, 1, 1), (TF32, 1, 1), (F16, 0.5, 1), (I8, 0.5, 1),
])  # fmt: skip
def test_words_of_a_tile(element: Type, words: float, accumulators: int) -> None:
    tile = TensorType((128, 64), element)
    assert tile_words(tile) == 128 * 64 * words
    assert accumulator_words(tile) == 128 * 64 * accumulators


def test_words_of_addresses() -> None:
    """A thread copies 16 bytes at once, and an address has 64 bits: 64 × 64 of f16 have 512."""
    assert address_words(64 * 64 * 2) == 512 * 2
