"""Kernels under forced schedules: the same results on the emulator, and no serialized wgmma."""

from __future__ import annotations

import copy
import re
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from compiled_once import lowered_to
from programs import Run, parse_runs, problems
from repeats import EXHAUSTIVE, keep

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.signatures import isolate_kernel
from tilewright.ir.operation import Operation

KERNELS: Final = Path(__file__).parent / "kernels"
PROGRAMS: Final = (
    "pipelines",
    "operand_paths",
    "gemm",
    "gemm_warpgroups",
    "gemm_types",
    "attention",
    "chain_warpgroups",
    "rms_norm",
    "split_k",
)
GEMMS: Final = ("pipelines", "operand_paths", "gemm", "gemm_warpgroups", "gemm_types", "split_k")
WGMMA: Final = ("pipelines", "operand_paths", "gemm_warpgroups")
"""Those with tiles of 64 rows or more."""
AGENTS: Final = ("agents=1", "stages=4,agents=1", "stages=3,k-parts=2,agents=1")
"""Schedules with a producer and consumers, where `wgmma` reads what TMA can copy."""
ROTATED: Final = ("rotate=1", "rotate=1,stages=3")
"""Schedules with rotated loops, for tiles that are too small to be rotated otherwise."""
TMA: Final = "cp.async.bulk.tensor"
ARCHES: Final = ("sm_90", "sm_80")
SEEDS: Final = (1, 2)
"""Orders in which the emulator schedules warps and completes copies."""
SERIALIZED: Final = "C75"
"""How the codes begin of what ptxas says where it serializes wgmma."""
SERIALIZABLE: Final = ("pipelines", "gemm")
"""The programs that `make test` shows to ptxas: with wgmma, and one without."""
KEPT: Final = ("stages=3,in-flight=1", "sm_90")
"""The schedule that `make test` tries: the one with the most in flight for its stages."""
KEPT_PROGRAMS: Final = {"pipelines": ("gemm", "split", "two_dots"), "attention": ("full",)}
"""The programs that it tries, and their kernels: with one loop, two loops, and two dots."""


class Case(NamedTuple):
    """A program under a schedule, for a GPU."""

    program: str
    schedule: str
    arch: str

    @property
    def id(self) -> str:
        """The case in reports."""
        return "-".join(self)


def cases() -> list[object]:
    schedules = [f"stages={s},in-flight={f}" for s, f in product((1, 2, 3, 4), (0, 1))]
    schedules += ["k-parts=2", "stages=3,in-flight=1,k-parts=4", "stages=4,in-flight=0,k-parts=8"]
    schedules += ["warps=4,agents=0", "warps=8,agents=0", "stages=3,warps=16"]
    chosen = [*product(PROGRAMS, schedules, ARCHES), *product(WGMMA, AGENTS, ARCHES[:1])]
    chosen += product(("attention",), ROTATED, ARCHES)
    return [
        pytest.param(case, id=case.id, marks=() if _is_kept(case) else EXHAUSTIVE)
        for case in map(Case._make, chosen)
    ]


def _is_kept(case: Case) -> bool:
    return case[1:] == KEPT and case.program in KEPT_PROGRAMS


def run_once(case: Case, text: str, run: Run, ptx: str, seed: int) -> None:
    """Run a kernel on the emulator with its checks, and compare what it wrote."""
    module = read_runnable(text, f"{case.program}.mlir")
    before = run.values()
    after = copy.deepcopy(before)
    run_ptx(ptx, module, run.entry, run.grid, list(after.values()), check=True, seed=seed)
    wrong = list(problems(run, before, after))
    assert not wrong, f"line {run.line}, seed {seed}: {wrong}"


def chosen_ptx(kernel: Operation, arch: str) -> str:
    """A kernel under the schedule that the compiler chooses."""
    return tilewright.compile(kernel, arch, emit="ptx").ptx


@pytest.mark.parametrize("case", cases())
def test_results_do_not_depend_on_the_schedule(case: Case) -> None:
    text = (KERNELS / f"{case.program}.mlir").read_text()
    module = read_runnable(text, f"{case.program}.mlir")
    runs = parse_runs(text)
    assert all(run.expected for run in runs)
    specialized = 0
    entries = KEPT_PROGRAMS[case.program] if _is_kept(case) else {run.entry for run in runs}
    for entry in entries:
        kernel = isolate_kernel(module, entry)
        forced = tilewright.compile(kernel, case.arch, emit="ptx", schedule=case.schedule).ptx
        if "cp.async" not in forced and forced == chosen_ptx(kernel, case.arch):
            continue  # a kernel without pipelines, which the tests of the programs run
        if case.schedule in AGENTS and TMA not in forced:
            continue  # a kernel without agents, under a schedule that other cases have
        specialized += TMA in forced
        own = [run for run in runs if run.entry == entry]
        # The first run has all kinds of iterations, and the last one often none.
        kept = product(own[:: max(len(own) - 1, 1)], SEEDS[:1])
        for run, seed in kept if _is_kept(case) else product(own, SEEDS):
            run_once(case, text, run, forced, seed)
    assert specialized or case.schedule not in AGENTS
    assert not specialized or "agents=0" not in case.schedule


@pytest.mark.parametrize(("schedule", "copies"), [
    ("stages=2", 1),
    ("stages=3", 2),
    ("stages=3,in-flight=1", 1),
    ("stages=4,in-flight=1", 2),
])  # fmt: skip
def test_a_forced_schedule_has_its_stages(schedule: str, copies: int) -> None:
    """The prologue fills all stages but one, or but two where a dot is in flight."""
    text = (KERNELS / "pipelines.mlir").read_text()
    module = isolate_kernel(read_runnable(text, "pipelines.mlir"), "gemm")
    lines = lowered_to("nv_tileas", module, schedule=schedule)
    prologue = lines.partition("scf.for")[0]
    assert prologue.count("producer_copy") == 2 * copies


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(("k_parts", "k"), [(1, 32), (2, 16)])
def test_a_forced_schedule_splits_iterations(k_parts: int, k: int, arch: str) -> None:
    """A has K = 32 in a stage, or half of it."""
    text = (KERNELS / "pipelines.mlir").read_text()
    module = isolate_kernel(read_runnable(text, "pipelines.mlir"), "gemm")
    made = lowered_to("nv_tileas", module, arch, f"stages=3,k-parts={k_parts}")
    stages = re.findall(r"pipeline<3, \[tensor<(\w+)xf16", made)
    assert set(stages) == {f"64x{k}"}


@pytest.mark.parametrize("program", keep(GEMMS, SERIALIZABLE.__contains__))
def test_ptxas_does_not_serialize_wgmma(program: str, ptxas: Path) -> None:
    """ptxas would say so where it finds registers of a dot in flight written by something else."""
    made = tilewright.compile(KERNELS / f"{program}.mlir", "sm_90")
    assert ("wgmma" in made.ptx) == (program in WGMMA)
    assert [remark for remark in map(str, made.remarks) if SERIALIZED in remark] == []
