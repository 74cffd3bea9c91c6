"""Loops with two dots in a row that `rotate-dots` rotates: the same bits as without it."""

from __future__ import annotations

import copy
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from programs import Run, parse_runs, problems
from repeats import keep, keep_first

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.signatures import isolate_kernel

PROGRAM: Final = Path(__file__).parent / "kernels" / "attention_warpgroups.mlir"
TEXT: Final = PROGRAM.read_text()
RUNS: Final = parse_runs(TEXT)
ROWS: Final = PROGRAM.with_name("attention_rows.mlir")
"""With tiles for one warpgroup, and two blocks on an SM."""
FULL: Final = next(run for run in RUNS if run.entry == "full")
OVERLAPPED: Final = re.compile(r"wgmma\.wait_group\.sync\.aligned\s+1;")
"""A wait for the dot before the last one, which runs on."""
SERIALIZED: Final = "C75"
"""How the codes begin of what ptxas says where it serializes wgmma."""


CAUSAL: Final = next(run for run in RUNS if run.entry == "causal")
TILES: Final = "%tiles = divi %end, %width signed rounding<positive_inf> : tile<i32>"
CONSECUTIVE: Final = (
    TEXT.replace(
        TILES,
        f"{TILES}\n%before = mini %tiles, %first signed : tile<i32>"
        "\n%later = maxi %zero, %first signed : tile<i32>",
    )
    .replace("(%zero to %first,", "(%zero to %before,")
    .replace("(%first to %tiles,", "(%later to %tiles,")
)
"""The second loop of `@causal` goes on where the first ends, as `loop-split` makes them."""


@cache
def compiled(entry: str, schedule: str = "", arch: str = "sm_90", text: str = TEXT) -> str:
    module = isolate_kernel(read_runnable(text, PROGRAM.name), entry)
    return tilewright.compile(module, arch, emit="ptx", schedule=schedule).ptx


def results(
    run: Run, ptx: str, seed: int, text: str = TEXT, *, check: bool = True
) -> dict[str, Any]:
    """The arguments after a run on the emulator, with its checks."""
    after = copy.deepcopy(run.values())
    module = read_runnable(text, PROGRAM.name)
    run_ptx(ptx, module, run.entry, run.grid, list(after.values()), check=check, seed=seed)
    return after


@pytest.mark.parametrize("entry", keep_first(["full", "causal"]))
def test_loops_are_rotated(entry: str) -> None:
    """Each of them, on a GPU with wgmma, unless a schedule forbids it."""
    loops = {"causal": 2, "full": 1}[entry]
    assert len(OVERLAPPED.findall(compiled(entry))) == loops
    assert not OVERLAPPED.search(compiled(entry, "rotate=0"))


@pytest.mark.parametrize("seed", keep_first([1, 2]))
@pytest.mark.parametrize(
    "run", keep(RUNS, lambda run: run is FULL), ids=lambda run: f"{run.entry}-{run.line}"
)
def test_results_are_those_without_rotation(run: Run, seed: int) -> None:
    """Nothing is computed in another order, so that all bits are the same."""
    assert run.entry is not None
    rotated = results(run, compiled(run.entry), seed)
    assert list(problems(run, run.values(), rotated)) == []
    plain = results(run, compiled(run.entry, "rotate=0"), seed, check=False)
    assert rotated["out"].tobytes() == plain["out"].tobytes()


def test_consecutive_loops_share_a_prologue() -> None:
    """Q @ K in it and in both loops, P @ V in both and after them: 4 wgmmas and 8."""
    ptx = compiled("causal", text=CONSECUTIVE)
    assert ptx.count("wgmma.mma_async") == 3 * 4 + 3 * 8
    assert len(OVERLAPPED.findall(ptx)) == 2


@pytest.mark.parametrize(
    ("start", "keys"),
    keep(
        [(0, 128), (128, 128), (128, 200), (64, 192), (192, 320), (448, 640), (384, 500), (0, 0)],
        lambda case: case == (0, 128),
    ),
    ids=["0+1", "1+0", "1+1", "0+2", "1+2", "3+2", "3+1", "0+0"],
)
def test_results_of_consecutive_loops_are_those_without_rotation(start: int, keys: int) -> None:
    """With these iterations of the first loop and of the second, which has the mask."""
    run = copy.deepcopy(CAUSAL)
    sizes = {"k": f"random:{max(keys, 1)}x64xf16:2", "v": f"random:{max(keys, 1)}x64xf16:3"}
    run.arguments.update(sizes, start=str(start), keys=str(keys))
    rotated = results(run, compiled("causal", text=CONSECUTIVE), 1, CONSECUTIVE)["out"]
    plain = results(run, compiled("causal", "rotate=0"), 1, check=False)["out"]
    assert rotated.tobytes() == plain.tobytes()
    assert np.isnan(rotated).all() == (keys == 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("schedule", "arch"),
    [("stages=2", "sm_90"), ("stages=3,agents=0", "sm_90"), ("rotate=1,stages=2", "sm_80")],
)
def test_results_do_not_depend_on_the_schedule(schedule: str, arch: str) -> None:
    """With fewer stages, without agents, and by mma.sync."""
    ptx = compiled("causal", schedule, arch)
    assert bool(OVERLAPPED.search(ptx)) == (arch == "sm_90")
    run = next(run for run in RUNS if run.entry == "causal")
    assert list(problems(run, run.values(), results(run, ptx, 1))) == []


def test_without_keys_there_is_no_iteration() -> None:
    """The accumulators stay at zero, and 0 is divided by 0."""
    run = copy.deepcopy(FULL)
    run.arguments["keys"] = "0"
    assert np.isnan(results(run, compiled("full"), 1)["out"]).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("entry", ["full", "causal"])
def test_ptxas_neither_serializes_nor_spills(entry: str, ptxas: Path) -> None:
    """With heads of 128 elements, where S, P and the accumulator take most of the registers."""
    wide = TEXT.replace("64", "128")
    made = tilewright.compile(isolate_kernel(read_runnable(wide, PROGRAM.name), entry), "sm_90")
    assert OVERLAPPED.search(made.ptx)
    remarks = [str(remark) for remark in made.remarks]
    assert [each for each in remarks if SERIALIZED in each or "spills" in each] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("schedule", ["", "rotate=0"])
def test_two_blocks_of_one_warpgroup_fit_on_an_sm(schedule: str, ptxas: Path) -> None:
    """With one pipeline for K and V and a producer; or by `cp.async`, without spills."""
    module = isolate_kernel(read_runnable(ROWS.read_text(), ROWS.name), "full")
    made = tilewright.compile(module, "sm_90", schedule=schedule)
    assert bool(OVERLAPPED.search(made.ptx)) == (not schedule)
    remarks = [str(remark) for remark in made.remarks]
    assert [each for each in remarks if SERIALIZED in each] == []
    (kernel,) = made.entries.values()
    assert kernel.resources.spill_stores == 0
    assert kernel.resources.occupancy == 2
