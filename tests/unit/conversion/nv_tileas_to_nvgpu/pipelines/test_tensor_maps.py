"""Slots of tensor maps: blocks wait for one another, and use maps that are in a slot already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from low_programs import check, emulate, ptx_of
from programs import parse_runs

from tilewright.conversion.nv_tileas_to_nvgpu.pipelines import tensor_map_slots
from tilewright.ptxsim import Buffer, Module
from tilewright.ptxsim.machine import CHECKS
from tilewright.target.arch import WARP_SIZE

PROGRAMS = Path(__file__).parents[4] / "run" / "low" / "nv_tileas"
TILES = PROGRAMS / "tma_tiles.mlir"
GEMM = PROGRAMS / "tma_gemm.mlir"
PUBLISH = "tensormap.cp_fenceproxy"
BLOCK = 160


def published(module: Module, grid: int, arguments: Sequence[int | Buffer], resident: int) -> int:
    """Launch the kernel of a module; return how many maps its blocks encoded."""
    (entry,) = module.syntax.entries()
    checks = {*CHECKS, "global"}
    counters = module.launch(
        entry.name, grid, BLOCK, arguments, check=checks, seed=1, resident=resident
    )
    threads = [count for name, count in counters.by_opcode.items() if name.startswith(PUBLISH)]
    return sum(threads) // WARP_SIZE


@pytest.mark.parametrize("slots", [1, 2])
def test_blocks_share_slots(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one slot, the second block searches until the first one has released it."""
    monkeypatch.setattr(tensor_map_slots, "SLOTS", slots)
    name = f"{slots}_slots.mlir"
    text = TILES.read_text()
    run = parse_runs(text)[0]
    assert run.grid[0] > 1
    check(run, text, name, emulate(run, text, name, seed=1))


class Tiles:
    """A kernel that copies the tiles of a matrix, whose sizes and stride are i64."""

    def __init__(self) -> None:
        text = TILES.read_text().replace("%m: i32, %n: i32", "%m: i64, %n: i64, %stride: i64")
        sizes = "sizes(%m, %n : i64, i64) strides(%stride : i64)"
        text = text.replace("sizes(%m, %n : i32, i32) strides(%n : i32)", sizes)
        name = f"{tensor_map_slots.SLOTS}_slots_{TILES.name}"
        self.module = Module(ptx_of(text, name, "sm_90"))
        self.x = np.arange(150 * 200).astype(np.float16)
        self.there = self.module.upload(self.x)

    def launch(
        self, m: int, n: int, stride: int, x: int | Buffer | None = None, resident: int = 1
    ) -> int:
        """Copy a matrix; return how many maps were encoded."""
        y = self.module.upload(np.ones((192, 256), np.float16))
        arguments = [self.there if x is None else x, m, n, stride, y]
        count = published(self.module, 2, arguments, resident)
        expected = np.zeros((192, 256), np.float16)
        if m and n:
            expected[:m, :n] = self.x[: m * stride].reshape(m, -1)[:, :n]
        np.testing.assert_array_equal(y.download(np.float16).reshape(expected.shape), expected)
        return count


def test_slot_keeps_its_maps() -> None:
    """The second block uses the map of the first one, and so does the next launch."""
    tiles = Tiles()
    assert [tiles.launch(150, 200, 200) for _ in range(2)] == [1, 0]
    # Blocks that run at the same time have slots of their own; one of the two is that of before.
    assert [tiles.launch(150, 200, 200, resident=2) for _ in range(2)] == [1, 0]


def test_blocks_that_wait_for_a_slot_use_its_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block encodes the map, while the second one searches."""
    monkeypatch.setattr(tensor_map_slots, "SLOTS", 1)
    tiles = Tiles()
    assert [tiles.launch(150, 200, 200, resident=2) for _ in range(2)] == [1, 0]


def test_changed_argument_encodes_the_map_anew() -> None:
    """Address, sizes and stride are compared, all bits of them."""
    tiles = Tiles()
    other = tiles.module.upload(tiles.x)
    for changed in [(1, 200, 200), (1, 192, 200), (1, 192, 192), (2, 192, 192)]:
        assert [tiles.launch(*changed), tiles.launch(*changed)] == [1, 0]
    assert tiles.launch(2, 192, 192, other) == 1
    assert tiles.launch(2, 192, 192, other) == 0
    assert tiles.launch(1, 192, 192) == 1
    # There is one row, so the stride is not taken; a size of 1 is not 0.
    assert tiles.launch(1, 192, 192 + (1 << 32)) == 1
    assert tiles.launch(0, 192, 192 + (1 << 32)) == 1


def test_unused_slot_matches_no_arguments() -> None:
    """Slots are zero when the module is loaded: so are the arguments of an empty matrix."""
    tiles = Tiles()
    assert [tiles.launch(0, 0, 0, 0) for _ in range(2)] == [1, 0]


def test_one_key_for_several_maps() -> None:
    """If an argument of one map changes, all are encoded; the address of C is in none."""
    text = GEMM.read_text()
    module = Module(ptx_of(text, GEMM.name, "sm_90"))
    numbers = np.random.default_rng(1).integers(-4, 5, 128 * 64).astype(np.float16)
    here, there = (module.upload(numbers) for _ in range(2))

    def launch(a: Buffer, b: Buffer, m: int, n: int, k: int) -> int:
        c = module.upload(np.ones(m * n, np.float32))
        count = published(module, 1, [a, b, c, m, n, k], 1)
        wide = numbers.astype(np.float32)
        expected = wide[: m * k].reshape(m, k) @ wide[: k * n].reshape(k, n)
        np.testing.assert_array_equal(c.download(np.float32), expected.reshape(-1))
        return count

    assert [launch(here, here, 128, 64, 64) for _ in range(2)] == [2, 0]
    assert [launch(there, here, 128, 64, 64) for _ in range(2)] == [2, 0]
    assert [launch(there, there, 128, 64, 64) for _ in range(2)] == [2, 0]
    assert [launch(there, there, 72, 64, 64) for _ in range(2)] == [2, 0]
    assert [launch(there, there, 72, 56, 64) for _ in range(2)] == [2, 0]
    assert [launch(there, there, 72, 56, 40) for _ in range(2)] == [2, 0]
