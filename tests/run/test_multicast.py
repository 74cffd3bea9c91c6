"""Kernels whose CTAs multicast tiles compute what the program says, on the checked emulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from cluster_programs import EXTENT, ClusterGemm, multicast_masks
from compiled_once import CompiledKernel, compile_anew, compiled
from gemm_operands import Array, Case, in_memory, operands_of
from repeats import keep, keep_first

from tilewright.conversion.nv_tileas_to_nvgpu.pipelines import pipelines
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import arrive, init_barriers
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.support.diagnostics import UserError
from tilewright.transforms.nv_tileas.agents import ProducerAgent

UNTOUCHED: Final = 99


@pytest.fixture(params=keep_first([1, 2]))
def seed(request: pytest.FixtureRequest) -> int:
    """The order in which the emulator schedules warps and completes copies."""
    return request.param


class Operands:
    """A and B of a case, and what C becomes."""

    def __init__(self, gemm: ClusterGemm, case: Case, seed: int) -> None:
        self.gemm, self.case, self.seed = gemm, case, seed
        self.a, self.b = operands_of(case, gemm.element)

    def run(
        self,
        text: str,
        schedule: str = "agents=1",
        twice: int = 0,
        made: CompiledKernel | None = None,
    ) -> str:
        """Compile a kernel unless it is given, run it, and compare C; returns its nv_tileas.

        The kernel adds the first columns of A, as many as are given, twice.
        """
        module = read_runnable(text, "kernel.mlir")
        made = made or compiled(text, schedule=schedule)
        a, b = in_memory(self.a, self.b, k_major=self.gemm.k_major)
        kind = np.int32 if self.gemm.accumulator == "i32" else np.float32
        c = np.full((EXTENT, EXTENT), UNTOUCHED, kind)
        arguments = [a, b, c, *self.case]
        run_ptx(made.ptx, module, "k", (1, 1, 1), arguments, check=True, seed=self.seed)
        np.testing.assert_array_equal(c, self.expected(kind, twice))
        return made.nv_tileas

    def expected(self, kind: Any, twice: int) -> Array:
        """C, with the tiles that the cluster computes."""
        height, width, step = self.gemm.tile
        rows, columns = height * self.gemm.rows * self.case.tiles, width * self.gemm.columns
        k = min(self.case.steps * step, self.case.k)
        c = np.full((EXTENT, EXTENT), UNTOUCHED, kind)
        c[:rows, :columns] = 0
        a, b = self.a[:rows, :k].astype(kind), self.b[:k, :columns].astype(kind)
        a[:, :twice] *= 2
        c[: len(a), : b.shape[1]] = a @ b
        return c


CLUSTERS: Final = [
    # CTAs along M and along N; the masks of the copies of A and B
    (4, 1, [0, 3]),
    (2, 2, [2, 1]),
    (2, 1, [0, 1]),
    (1, 2, [1, 0]),
    (1, 4, [3, 0]),
    (8, 1, [0, 3]),
]


@pytest.mark.parametrize(("rows", "columns", "masks"), keep_first(CLUSTERS, 2))
def test_clusters(rows: int, columns: int, masks: list[int], seed: int) -> None:
    """M, N and K end inside of tiles. A tile of 32 rows of 128 bytes has at most four parts."""
    gemm = ClusterGemm(rows, columns)
    assert multicast_masks(
        Operands(gemm, Case(m=250, n=112, tiles=1 if rows > 2 else 2), seed).run(gemm.persistent())
    ) == (masks)


TRIPS: Final = ((0, 3), (1, 0), (3, 1))
"""The tiles and iterations over K that `make test` tries."""


@pytest.mark.parametrize(
    ("tiles", "steps"),
    keep([(0, 3), (1, 0), (3, 0), (3, 1), (1, 7), (2, 8)], lambda case: case in TRIPS),
)
def test_tiles_and_iterations(tiles: int, steps: int, seed: int) -> None:
    gemm = ClusterGemm()
    Operands(gemm, Case(m=250, n=112, k=208, tiles=tiles, steps=steps), seed).run(gemm.persistent())


@pytest.mark.parametrize("steps", keep_first([7, 1, 0]))
def test_one_tile(steps: int, seed: int) -> None:
    gemm = ClusterGemm(4)
    Operands(gemm, Case(m=250, n=112, k=208, tiles=1, steps=steps), seed).run(gemm.one_shot())


@pytest.mark.parametrize("case", keep_first(map(pytest.param, [Case(k=0), Case(m=0), Case(n=0)])))
def test_a_view_without_elements(case: Case, seed: int) -> None:
    """All parts of a tile are out of bounds then, and zero."""
    gemm = ClusterGemm()
    Operands(gemm, case, seed).run(gemm.persistent())


@pytest.mark.parametrize("stages", keep_first([2, 1]))
def test_few_stages(stages: int, seed: int) -> None:
    """Each is filled several times, after all CTAs have released it."""
    gemm = ClusterGemm(2, 2)
    schedule = f"agents=1,stages={stages}"
    Operands(gemm, Case(m=250, n=112, k=144, steps=5, tiles=1), seed).run(
        gemm.persistent(), schedule
    )


@pytest.mark.parametrize("gemm", keep_first(map(pytest.param, [
    ClusterGemm(2, 2, "i8", (64, 64, 64), k_major=True),
    ClusterGemm(2, 1, "f16", (64, 128, 64), k_major=True),
    ClusterGemm(4, 1, "f16", (64, 128, 128), k_major=True),
    ClusterGemm(2, 1, "f8E4M3FN", (64, 64, 64), k_major=False),
    ClusterGemm(2, 1, "f32", (64, 64, 32), k_major=False),
    ClusterGemm(2, 1, "f16", (128, 128, 64)),
    ]), 2))  # fmt: skip
def test_types_and_majors(gemm: ClusterGemm, seed: int) -> None:
    """Parts are rows of a box, or whole boxes; a tile of K-major B may be divided along both."""
    operands = Operands(gemm, Case(m=208, n=112, k=304, tiles=1), seed)
    assert any(multicast_masks(operands.run(gemm.persistent())))


def test_two_loops_share_the_stages(seed: int) -> None:
    gemm = ClusterGemm()
    body = gemm.k_loop("part", steps="%one") + gemm.k_loop(start="%part") + gemm.store()
    made = Operands(gemm, Case(m=250, n=112), seed).run(gemm.persistent(body), twice=gemm.tile[2])
    assert multicast_masks(made) == [0, 1, 0, 1]


def test_a_branch_that_all_ctas_take(seed: int) -> None:
    gemm = ClusterGemm()
    body = f"""
      %some = arith.cmpi sgt, %tiles, %i : i32
      %chosen = scf.if %some -> ({gemm.c}) {{
        {gemm.k_loop()}
        scf.yield %sum : {gemm.c}
      }} else {{
        scf.yield %none : {gemm.c}
      }}
      {gemm.store("%chosen")}"""
    assert multicast_masks(Operands(gemm, Case(m=250, n=112), seed).run(gemm.persistent(body))) == [
        0,
        1,
    ]


@pytest.mark.parametrize("schedule", ["agents=0", "agents=1,multicast=0"])
def test_without_multicast(schedule: str, seed: int) -> None:
    """CTAs of a cluster that copy whole tiles are independent of each other."""
    gemm = ClusterGemm()
    made = Operands(gemm, Case(m=250, n=112), seed).run(gemm.persistent(), schedule)
    assert not any(multicast_masks(made))


def count_own_consumers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an empty barrier count the consumers of its own CTA alone."""

    def init(op: Any, build: Any, counts: list[tuple[int, int]], **options: Any) -> None:
        half, own = len(counts) // 2, counts[-1][1] // 2
        mutated = counts[:half] + [(slot, own) for slot, _ in counts[half:]]
        init_barriers(op, build, mutated, **options)

    monkeypatch.setattr(pipelines, "init_barriers", init)


def release_own_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let consumers arrive, and be counted, in their own CTA alone."""
    count_own_consumers(monkeypatch)

    def arrive_here(op: Any, build: Any, slot: Any, ctas: Any, condition: Any) -> None:
        arrive(op, build, slot, condition)

    monkeypatch.setattr(pipelines, "arrive_in_cluster", arrive_here)


def start_without_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CTAs use barriers of others that may not be initialized."""

    def init(op: Any, build: Any, counts: Any, **_: Any) -> None:
        init_barriers(op, build, counts, reinitialize=False)

    monkeypatch.setattr(pipelines, "init_barriers", init)


def exit_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a CTA exit while consumers of others have not released the stages that it has filled."""

    def wait(agent: Any, build: Any, iterator: Any) -> None:
        pass

    monkeypatch.setattr(ProducerAgent, "_wait_for_consumers", wait)


def run_with_two_stages(seed: int, orders: int = 1) -> None:
    """Compile anew, and run in several orders of warps: not every one shows a defect.

    In some, consumers finish before a CTA exits.
    """
    gemm = ClusterGemm()
    text = gemm.persistent()
    made = compile_anew(text, schedule="agents=1,stages=2")
    for order in range(orders):
        case = Case(m=250, n=112, k=176, steps=5, tiles=1)
        Operands(gemm, case, seed + 100 * order).run(text, made=made)


def test_the_emulator_reports_nothing_without_a_mutation(seed: int) -> None:
    run_with_two_stages(seed)


@pytest.mark.parametrize(("mutate", "message"), [
    # A barrier that is two phases on looks as if it were none on.
    (count_own_consumers, "deadlock"),
    (release_own_stage, "race"),
    (start_without_others, "mbarrier"),
    (exit_early, "in a CTA that has exited"),
])  # fmt: skip
def test_checks_of_the_emulator(
    mutate: Callable[[pytest.MonkeyPatch], None],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    """It reports stages that are overwritten while consumers of another CTA read them."""
    mutate(monkeypatch)
    with pytest.raises(UserError, match=message):
        run_with_two_stages(seed, orders=8)
