"""What `tools/ptx_identity.py` compiles, keeps and reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import identity_jobs
import ptx_identity
import pytest
from identity_compile import REMARKS, Job
from identity_jobs import ARCHES, all_groups, forced_schedules, selected_jobs
from ptx_identity import ROOT, KeptDigests, labelled, report, results_of, show_differences

import tilewright
from tilewright.driver.schedules import CHOICES, parse_schedule

COPY = b"""\
cuda_tile.module @kernels {
  entry @copy(%from: tile<ptr<i32>>, %to: tile<ptr<i32>>) {
    %value, %token = load_ptr_tko weak %from : tile<ptr<i32>> -> tile<i32>, token
    %done = store_ptr_tko weak %to, %value : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


@pytest.fixture(scope="module", autouse=True)
def without_corpus() -> Iterator[None]:
    """Leave the corpus out, which may be missing: the selection of others does not depend on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity_jobs, "CORPUS", Path("missing"))
        yield


@pytest.fixture(scope="module")
def quick() -> list[Job]:
    return selected_jobs([], whole=False)


def test_a_quick_run_is_part_of_a_whole_run(quick: list[Job]) -> None:
    whole = {job.label for job in selected_jobs([], whole=True)}
    labels = [job.label for job in quick]
    assert len(set(labels)) == len(labels)
    assert set(labels) < whole


def test_rates_of_quick_runs_are_multiples() -> None:
    assert all(group.quick % group.whole == 0 for group in all_groups())


def test_a_quick_run_has_all_rows_and_some_of_everything_else(quick: list[Job]) -> None:
    rows = {job.name for job in quick if job.options == "sm_90 -O3"}
    assert rows >= {program.name for program in identity_jobs.row_programs()}
    assert {(job.arch, job.opt_level) for job in quick} == {
        (arch, level) for arch in ARCHES for level in (0, 1, 3)
    }
    assert {job.schedule for job in quick} == {"", *forced_schedules()}
    assert any(job.output == REMARKS for job in quick)


def test_each_option_of_schedules_is_forced() -> None:
    options = {pair.partition("=")[0] for text in forced_schedules() for pair in text.split()}
    assert options == set(CHOICES)
    assert all(parse_schedule(text) == text for text in forced_schedules())


def test_names_select_all_compilations_of_programs() -> None:
    name = "gemm/raster-4096x4096x4096-128x128x64"
    jobs = selected_jobs([name], whole=False)
    assert jobs == [job for job in selected_jobs([], whole=True) if job.name == name]
    assert len({job.schedule for job in jobs}) > 5


def test_a_tree_is_compiled_in_a_process_of_its_own() -> None:
    jobs = [
        Job("copy", COPY, "sm_80", 0),
        Job("broken", b"cuda_tile.module", "sm_80"),
        Job("copy", COPY, "sm_90", output=REMARKS),
    ]
    results = {index: (outcome, text) for index, outcome, text in results_of(ROOT, jobs, "--texts")}
    ptx = tilewright.compile(COPY, "sm_80", 0, emit="ptx").ptx
    assert results[0] == (hashlib.sha256(ptx.encode()).hexdigest(), ptx)
    assert results[1][0] == "UserError"
    assert results[2][0] == hashlib.sha256(results[2][1].encode()).hexdigest()
    without_texts = {index: (outcome, text) for index, outcome, text in results_of(ROOT, jobs)}
    assert without_texts == {index: (outcome, "") for index, (outcome, _) in results.items()}


def test_outcomes_are_kept_by_program_and_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ptx_identity, "KEPT", tmp_path)
    compiled: list[str] = []

    def compile_some(tree: Path, jobs: list[Job]) -> list[tuple[int, str, str]]:
        compiled.extend(job.label for job in jobs)
        return [(index, f"outcome of {job.options}", "") for index, job in enumerate(jobs)]

    monkeypatch.setattr(ptx_identity, "results_of", compile_some)
    first = [Job("a", b"1", "sm_80"), Job("same as a", b"1", "sm_80"), Job("a", b"1", "sm_90")]
    kept = KeptDigests("sources")
    kept.compile(ROOT, kept.missing(first))
    assert len(compiled) == 2
    assert kept.of(first) == {
        "a sm_80 -O3": "outcome of sm_80 -O3",
        "same as a sm_80 -O3": "outcome of sm_80 -O3",
        "a sm_90 -O3": "outcome of sm_90 -O3",
    }
    others = [*first, Job("a", b"1", "sm_80", schedule="stages=3"), Job("a", b"2", "sm_80")]
    assert KeptDigests("sources").missing(others) == others[3:]
    assert KeptDigests("other sources").missing(first) == [first[1], first[2]]
    assert KeptDigests(None).missing(first) == [first[1], first[2]]


def test_the_report_names_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    same, old, new = "0" * 64, "1" * 64, "2" * 64
    before = {"a sm_90 -O3": same, "b sm_90 -O3": old, "c sm_90 -O0": "Unsupported"}
    assert report(before, before) == 0
    assert capsys.readouterr().out == "3 compilations compared, 1 of them errors: 0 differ\n"
    assert report(before, {**before, "b sm_90 -O3": new, "c sm_90 -O0": new}) == 1
    assert capsys.readouterr().out.splitlines() == [
        "differs: b sm_90 -O3",
        "differs: c sm_90 -O0 (Unsupported before, compiled now)",
        "3 compilations compared, 1 of them errors: 2 differ",
        "see what differs with --diff LABEL",
    ]


def test_a_label_selects_one_compilation_before_parts_of_labels() -> None:
    jobs = [Job("gemm", b"", "sm_90"), Job("gemm", b"", "sm_90", schedule="stages=3")]
    assert labelled(jobs, "gemm sm_90 -O3") == jobs[:1]
    assert labelled(jobs, "gemm") == jobs
    with pytest.raises(SystemExit, match="expected a part of a label, found 'fft'"):
        labelled(jobs, "fft")


def test_differences_are_printed_as_by_diff(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {ROOT: "add\nret\n", Path("old"): "mul\nret\n"}

    def texts_of(tree: Path, jobs: list[Job], *options: str) -> list[tuple[int, str, str]]:
        return [(0, "", texts[tree])]

    monkeypatch.setattr(ptx_identity, "results_of", texts_of)
    monkeypatch.setattr(ptx_identity, "tree_of", _OldTree)
    assert show_differences("1234567", [Job("gemm", b"", "sm_90")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["--- 1234567: gemm sm_90 -O3", "+++ working tree: gemm sm_90 -O3"]
    assert lines[3:] == ["-mul", "+add", " ret"]
    texts[Path("old")] = texts[ROOT]
    assert show_differences("1234567", [Job("gemm", b"", "sm_90")]) == 0
    assert capsys.readouterr().out == "1 compilations: no difference\n"


class _OldTree:
    """A tree of the commit 1234567."""

    def __init__(self, commit: str) -> None:
        assert commit == "1234567"

    def __enter__(self) -> Path:
        return Path("old")

    def __exit__(self, *_: object) -> None:
        pass
