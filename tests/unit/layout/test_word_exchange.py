"""Layout conversions by shuffles of words: carried out on tables."""

from __future__ import annotations

import pytest

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.spread import spread
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.wgmma import left_fragments, wgmma_tile
from tilewright.layout.word_exchange import word_exchange


def exchange_of(shape: tuple[int, int], warps: int) -> tuple[Layout, Layout]:
    """The layouts of an accumulator and of A in fp8 in the next dot."""
    return wgmma_tile(shape, warps), left_fragments(shape, (shape[0], 64), 8, warps)


@pytest.mark.parametrize(("shape", "warps"), [((64, 64), 4), ((64, 128), 4), ((128, 128), 8)])
def test_every_byte_arrives(shape: tuple[int, int], warps: int) -> None:
    source, destination = exchange_of(shape, warps)
    exchange = word_exchange(source, destination)
    assert exchange is not None
    low, high = source.vectors(REGISTER)[:2]
    for warp in range(destination.extent(WARP)):
        for lane in range(destination.extent(LANE)):
            for register in range(destination.extent(REGISTER)):
                pair = exchange.order[register // 2]
                word = exchange.target.packed(register=pair // 2, lane=lane, warp=warp)
                byte = word ^ (pair % 2 and high) ^ (register % 2 and low)
                assert byte == destination.packed(register=register, lane=lane, warp=warp)


def test_lanes_send_one_register_in_each_shuffle() -> None:
    """In one step, two lanes would read different registers of one."""
    source, destination = exchange_of((64, 128), 4)
    exchange = word_exchange(source, destination)
    assert exchange is not None
    assert transfer(exchange.source, exchange.target).variants == 2
    step = transfer(exchange.source, exchange.shuffled)
    assert (step.move, step.variants, step.shuffles) == (Move.SHUFFLES, 1, 16)
    assert transfer(exchange.shuffled, exchange.target).move is Move.REGISTERS


def test_what_is_not_exchanged() -> None:
    source, destination = exchange_of((64, 64), 4)
    assert word_exchange(source, source) is None
    assert word_exchange(spread((64, 64), 4, vector=16), destination) is None
    # 32 words of a thread.
    assert word_exchange(*exchange_of((64, 256), 4)) is None
