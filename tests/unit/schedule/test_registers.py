"""The registers of a thread: those that it may have, and the rules on what its code takes."""

from __future__ import annotations

from each_case import each_case

from tilewright.schedule.registers import (
    MOST_REGISTERS,
    PRODUCER_REGISTERS,
    ConsumerTiles,
    Passed,
    accumulator_registers,
    consumer_registers,
    fits_registers,
    fitting_blocks,
    is_small_beside,
    launch_registers,
    loading_registers,
    resident_blocks,
    row_registers,
    thread_registers,
)
from tilewright.target.arch import REGISTER_STEP, REGISTERS_PER_SM, WARP_SIZE
from tilewright.target.tensor_cores import WARPGROUP


@each_case(("threads", "blocks", "registers"), [
    (128, None, 255),  # 512 of an SM, but an instruction names 255
    (256, 1, 255),
    (256, 2, 128),  # 65,536 / 512
    (384, 1, 168),  # 170 in units of eight
    (128, 9, 56),  # 65,536 / 1,152 = 56.9
])  # fmt: skip
def test_registers_at_the_launch(threads: int, blocks: int | None, registers: int) -> None:
    assert launch_registers(threads, blocks) == registers


@each_case(("threads", "registers", "most", "blocks"), [
    (128, 128, 8, 4),  # 65,536 / 128 / 128
    (128, 129, 8, 3),
    (128, 40, 8, 8),
    (256, 255, 4, 1),
    (512, 255, 4, 1),  # at least one, though a thread has only 128
])  # fmt: skip
def test_blocks_that_an_sm_has_registers_for(
    threads: int, registers: int, most: int, blocks: int
) -> None:
    assert fitting_blocks(threads, registers, most) == blocks


@each_case(("rows", "columns", "blocks"), [
    (128, 128, 2),  # 64 accumulators of each thread
    (128, 176, 2),  # 88: with 40 other registers, 256 threads take half of 64 Ki
    (128, 192, 1),  # 96: more than half
    (128, 256, 1),
])  # fmt: skip
def test_blocks_that_share_an_sm(rows: int, columns: int, blocks: int) -> None:
    accumulators = rows * columns // 256
    assert resident_blocks(accumulators, None) == blocks
    assert resident_blocks(accumulators, 3) == 3


@each_case(("words", "threads", "fits"), [
    (128 * 215, 128, True),  # 255 without 40
    (128 * 215 + 1, 128, False),
    (256 * 256, 512, False),  # 128 accumulators: a thread of 512 has 128 registers
    (256 * 128, 512, True),
])  # fmt: skip
def test_tiles_fit_beside_the_other_registers(words: int, threads: int, fits: bool) -> None:
    assert fits_registers(words, threads) == fits


def test_registers_by_the_kind_of_code() -> None:
    """Of 128 threads with 1,000 words each holds 8 words: seven threads in eight hold one less."""
    assert row_registers(1000, 128) == 8 + 32
    assert loading_registers(1000, 128) == 2 * 8 + 16
    assert accumulator_registers(1000, 128) == 8 + 32
    assert accumulator_registers(0, 128) == 0, "without dots, no hint is relaxed"
    # 64×128 scores and as many accumulators in f32, and the scores again in f16.
    assert thread_registers(64 * 128 * 5 // 2, 128) == 160 + 40


@each_case(("words", "is_small"), [(128 * 128 // 4, True), (128 * 128 // 2, False)])
def test_a_tile_of_a_quarter_is_of_no_account(words: int, is_small: bool) -> None:
    assert is_small_beside(words, 128 * 128) == is_small


@each_case(("warps", "blocks", "registers"), [
    (8, 1, 232),  # 384 threads start with 168: (3 * 168 - 40) / 2
    (4, 1, 240),  # 256 threads start with 255: the most that a consumer takes
    (12, 1, 152),  # 512 threads start with 128: (4 * 128 - 40) / 3 = 157
    (16, 1, 104),  # 640 threads start with 96: (5 * 96 - 40) / 4 = 110
    (4, 2, 216),  # 256 threads start with 128, twice: 2 * 128 - 40
    (8, 2, 96),  # 384 threads start with 80, twice: (3 * 80 - 40) / 2 = 100
])  # fmt: skip
def test_consumers_take_what_producers_release(warps: int, blocks: int, registers: int) -> None:
    assert consumer_registers(warps, blocks).changed == registers


@each_case("blocks", [1, 2, 3, 4])
@each_case("warps", [4, 8, 12, 16])
def test_all_agents_fit_into_the_registers_of_an_sm(warps: int, blocks: int) -> None:
    """Otherwise the consumers would wait forever."""
    consumers = consumer_registers(warps, blocks).changed
    threads = WARP_SIZE * blocks
    used = threads * (warps * consumers + WARPGROUP * PRODUCER_REGISTERS)
    assert used <= REGISTERS_PER_SM
    assert consumers % REGISTER_STEP == 0
    assert consumers <= MOST_REGISTERS


@each_case(("accumulators", "instruction", "chained", "problem"), [
    (32, 32, 0, None),
    (64, 32, 0, "its accumulators take 64 of 96 registers"),  # 96 without 40
    (48, 48, 0, "a wgmma takes 48 of 80 registers at the launch"),  # 80 without 40
    (32, 32, 56, None),  # 96 without 40
    (32, 32, 57, "its chained dots take 57 of 96 registers"),
])  # fmt: skip
def test_a_problem_names_the_registers_that_are_missing(
    accumulators: int, instruction: int, chained: int, problem: str | None
) -> None:
    """Two blocks of eight consumer warps each: a thread starts with 80, and takes 96."""
    tiles = ConsumerTiles(256 * accumulators, 256 * instruction, 256 * chained)
    assert tiles.problem(warps=8, blocks=2) == problem


@each_case("passed", list(Passed))
def test_bounds_on_registers_of_values_that_live_longer(passed: Passed) -> None:
    """What is live beside them leaves fewer over dots than over conversions, and over a loop."""
    assert passed.allows(passed.value)
    assert not passed.allows(passed.value + 1)
    assert Passed.LOOP.value < Passed.DOTS.value < Passed.CONVERSIONS.value
