"""Slots of tensor maps: blocks wait for one another if there are fewer slots than blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from low_programs import check, emulate
from programs import parse_runs

from tilewright.conversion.nv_tileas_to_nvgpu.pipelines import tensor_map_slots

PROGRAM = Path(__file__).parents[4] / "run" / "low" / "nv_tileas" / "tma_tiles.mlir"


@pytest.mark.parametrize("slots", [1, 2])
def test_blocks_share_slots(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one slot, the second block searches until the first one has released it."""
    monkeypatch.setattr(tensor_map_slots, "SLOTS", slots)
    name = f"{slots}_slots.mlir"
    text = PROGRAM.read_text()
    run = parse_runs(text)[0]
    assert run.grid[0] > 1
    check(run, text, name, emulate(run, text, name, seed=1))
