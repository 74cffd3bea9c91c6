"""Benches: kernels run, compared and measured; in this process, and in one of its own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tuned_programs import (
    ADD,
    add_job,
    packed,
    serve_and_exit,
    serve_faults,
    serve_until_killed,
)

from tilewright.driver.tuning import bench as module
from tilewright.driver.tuning.bench import Bench
from tilewright.driver.tuning.bench_process import BenchProcess
from tilewright.driver.tuning.job import Trial
from tilewright.driver.tuning.meters import EmulatedRunner
from tilewright.support.diagnostics import UserError

pytestmark = pytest.mark.usefixtures("ptxas")

SUBTRACT = ADD.replace("addf %a, %b", "subf %a, %b")


def test_the_default_agrees_with_the_reference_executor() -> None:
    job = add_job()
    assert Bench(job).trial(job.default) == Trial()


def test_nothing_is_run_that_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise UserError([])

    monkeypatch.setattr(EmulatedRunner, "run", fail)
    job = add_job(check=False)
    assert Bench(job).trial(packed(job, SUBTRACT)) == Trial()


def test_arguments_stay_as_they_are() -> None:
    job = add_job()
    Bench(job).trial(job.default)
    assert np.array_equal(job.values[1], np.ones(128))


@pytest.mark.parametrize("is_judged", [True, False])
def test_a_wrong_candidate_is_rejected(is_judged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the results of the reference executor, or by those of the default."""
    monkeypatch.setattr(module, "JUDGED_BYTES", 1 << 20 if is_judged else 0)
    job = add_job()
    trial = Bench(job).trial(packed(job, SUBTRACT))
    assert trial.is_bug
    assert trial.problem.startswith("wrong result: argument 1: expected 1.0 at [0], got -1.0; ")


def test_a_wrong_default_is_noticed_by_the_reference_executor() -> None:
    job = add_job()
    job = job._replace(default=packed(job, SUBTRACT))
    assert Bench(job).trial(job.default).is_bug


def test_tolerances_are_those_of_the_job() -> None:
    job = add_job(atol=1000.0)
    assert Bench(job).trial(packed(job, SUBTRACT)).problem == ""


def test_a_candidate_that_fails_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    job = add_job()
    bench = Bench(job)

    def fail(*arguments: object) -> None:
        raise UserError([])

    monkeypatch.setattr(EmulatedRunner, "run", fail)
    assert bench.trial(job.default).is_bug


def test_wrong_arguments_are_an_error() -> None:
    with pytest.raises(UserError, match="expected 2 arguments"):
        Bench(add_job(values=[np.ones(128, np.float32)]))


def test_a_process_measures_the_same() -> None:
    job = add_job()
    bench = BenchProcess(job)
    try:
        assert bench.trial(job.default) == Bench(job).trial(job.default)
        assert bench.trial(packed(job, SUBTRACT)).is_bug
    finally:
        bench.close()


def test_errors_of_a_process_are_errors_here() -> None:
    with pytest.raises(UserError, match="expected 2 arguments"):
        BenchProcess(add_job(values=[]))


def test_an_endless_kernel_is_a_bug_and_its_process_ends() -> None:
    bench = BenchProcess(add_job(default=b""), patience=0.1, serve=serve_until_killed)
    trial = bench.trial(b"")
    assert (trial.is_bug, trial.problem) == (True, "the kernel did not end within 0 s")
    assert bench._process is None


def test_a_process_that_ends_is_replaced() -> None:
    bench = BenchProcess(add_job(default=b""), serve=serve_and_exit)
    try:
        trial = bench.trial(b"")
        assert (trial.is_bug, trial.problem) == (
            True, "the kernel ended the process that measures",
        )  # fmt: skip
        # The process that replaces it ends as well.
        assert bench.final([b""]) == []
    finally:
        bench.close()


def test_each_fault_ends_its_process() -> None:
    bench = BenchProcess(add_job(default=b""), serve=serve_faults)
    try:
        problems = {bench.trial(b"").problem for _ in range(2)}
    finally:
        bench.close()
    assert len(problems) == 2


def test_kernels_do_not_print_to_the_output(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    printing = ADD.replace("    return", '    print_tko "hello\\n" -> token\n    return')
    job = add_job(printing)
    bench = BenchProcess(job)
    try:
        assert bench.trial(job.default).problem == ""
    finally:
        bench.close()
    os.write(1, b"end")
    assert capfd.readouterr().out == "end"
