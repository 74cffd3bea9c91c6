"""Compilations with tuning records: which use them, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from scheduled_loops import matmul
from tuned_programs import SETTINGS, enable_cache, tune_to

import tilewright
from tilewright.driver import batch, cli
from tilewright.driver import compile as compile_module
from tilewright.driver.batch_worker import Answer, Request
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.settings import Settings
from tilewright.driver.tuning import kernel_digests as digests_module
from tilewright.driver.tuning.lookup import tuned
from tilewright.support.identity import identity
from tilewright.target.arch import ARCHES
from tilewright.tileiras import run as tileiras

GEMM = matmul(64, 64, 32)
TWO = GEMM.rstrip().removesuffix("}") + "  entry @other() {\n    return\n  }\n}\n"
STAGES = "!nv_tileas.pipeline<{}, "
REMARK = (
    "'@k' is compiled as tuned: 'stages=5', 10 instead of 12.5 µs, on NVIDIA H200"
)  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enable_cache(tmp_path / "cache", monkeypatch)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM)
    return path


def schedule_of(program: str, settings: Settings = SETTINGS) -> str:
    return tuned(settings, program.encode(), "gemm.mlir").settings.schedule


def lowered(source: Path, *options: str) -> str:
    made = source.with_suffix(".nv_tileas")
    command = ["compile", str(source), "--emit", "nv_tileas", "-o", str(made), *options]
    assert cli.main(command) == 0
    return made.read_text()


def test_a_record_gives_the_schedule() -> None:
    assert schedule_of(GEMM) == ""
    tune_to(GEMM, "stages=5")
    assert schedule_of(GEMM) == "stages=5"
    assert schedule_of(matmul(64, 64, 64)) == ""


@pytest.mark.parametrize("settings", [
    SETTINGS._replace(schedule="stages=2"),
    SETTINGS._replace(sanitize=True),
    SETTINGS._replace(device_debug=True),
    SETTINGS._replace(opt_level=1),
    SETTINGS._replace(arch=ARCHES["sm_100"]),
])  # fmt: skip
def test_other_settings_do_not_take_it(settings: Settings) -> None:
    tune_to(GEMM, "stages=5")
    choice = tuned(settings, GEMM.encode(), "gemm.mlir")
    assert (choice.settings, choice.remarks) == (settings, ())


def test_programs_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tune_to(GEMM, "stages=5")
    assert schedule_of(GEMM) == "stages=5"
    monkeypatch.setattr(digests_module, "kernel_digests", None)
    assert schedule_of(GEMM) == "stages=5"


def test_wrong_programs_are_left_to_the_compiler() -> None:
    tune_to(GEMM, "stages=5")
    assert schedule_of("nonsense") == ""


def test_a_program_of_several_kernels_needs_one_schedule() -> None:
    tune_to(TWO, "stages=5")
    choice = tuned(SETTINGS, TWO.encode(), "two.mlir")
    assert choice.settings.schedule == ""
    [remark] = choice.remarks
    assert remark.message.startswith("'@k' is not compiled as tuned: other kernels")
    tune_to(TWO, "stages=5", kernel="other")
    assert schedule_of(TWO) == "stages=5"


def test_the_compilers_own_choice_changes_nothing() -> None:
    tune_to(GEMM, "")
    choice = tuned(SETTINGS, GEMM.encode(), "gemm.mlir")
    assert (choice.settings, choice.remarks) == (SETTINGS, ())


def test_the_command_line_uses_it(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    untuned = lowered(source)
    assert STAGES.format(5) not in untuned
    tune_to(GEMM, "stages=5")
    assert STAGES.format(5) in lowered(source)
    assert f"remark: {REMARK}\n" in capsys.readouterr().err
    for option in ("--no-tuned", "--no-cache"):
        assert lowered(source, option) == untuned
    assert STAGES.format(2) in lowered(source, "--schedule", "stages=2")
    assert "tuned" not in capsys.readouterr().err


def test_the_cache_does_not_mix_tuned_results_with_others(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def compiled(*options: str) -> str:
        made = tmp_path / "made.ptx"
        assert cli.main(["compile", str(source), "-o", str(made), *options]) == 0
        return made.read_text()

    before = compiled()
    tune_to(GEMM, "stages=5")
    after = compiled()
    assert after != before
    assert after == compiled() == compiled("--schedule", "stages=5")
    assert before == compiled("--no-tuned")
    # A forced schedule is the same code, but not by a record.
    assert capsys.readouterr().err.count(REMARK) == 2


def test_many_files_use_theirs(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.mlir"
    other.write_text(matmul(64, 64, 64))
    names = [str(source), str(other)]
    command = ["compile", *names, "--emit", "ptx", "-o", str(tmp_path / "out"), "--jobs", "1"]
    tune_to(GEMM, "stages=5")
    assert cli.main(command) == 0
    made = (tmp_path / "out" / "gemm.ptx").read_text()
    assert made == tilewright.compile(GEMM, emit="ptx", schedule="stages=5").ptx
    untuned = (tmp_path / "out" / "other.ptx").read_text()
    assert untuned == tilewright.compile(matmul(64, 64, 64), emit="ptx").ptx
    assert capsys.readouterr().err.count("is compiled as tuned") == 1


def test_the_library_uses_it_with_the_cache() -> None:
    tune_to(GEMM, "stages=5")
    plain = tilewright.compile(GEMM, emit="ptx")
    kernel = tilewright.compile(GEMM, emit="ptx", cache=True)
    assert kernel.ptx != plain.ptx
    assert STAGES.format(5) in kernel.stages["nv_tileas"]
    assert REMARK in [remark.message for remark in kernel.remarks]
    assert "asked<stages = <5, record>>" in kernel.stages["nv_tileas"]
    untuned = tilewright.compile(GEMM, emit="ptx", cache=True, tuned=False)
    assert (untuned.ptx, untuned.remarks) == (plain.ptx, plain.remarks)
    forced = tilewright.compile(GEMM, emit="ptx", cache=True, schedule="stages=2")
    assert STAGES.format(2) in forced.stages["nv_tileas"]
    assert "asked<stages = <2, schedule>>" in forced.stages["nv_tileas"]


def test_a_damaged_record_is_as_good_as_none() -> None:
    path = tune_to(GEMM, "stages=5")
    path.write_bytes(path.read_bytes()[:-1])
    assert schedule_of(GEMM) == ""


def test_the_drop_in_uses_it(
    tmp_path: Path, ptxas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, made = tmp_path / "gemm.tileirbc", tmp_path / "gemm.cubin"
    source.write_bytes(tilewright.write_bytecode(tilewright.read(GEMM)))
    command = [str(source), "--gpu-name", "sm_90", "-o", str(made)]
    assert tileiras.main(command) == 0
    before = made.read_bytes()
    version = tileiras.version_text()
    tune_to(GEMM, "stages=5")
    assert tileiras.main(command) == 0
    assert made.read_bytes() != before
    assert made.read_bytes() == tilewright.compile(source, schedule="stages=5").cubin
    # cuTile has a cache of its own, keyed by the version.
    assert tileiras.version_text() != version
    assert "\nTuned " in tileiras.version_text()
    capsys.readouterr()
    assert tileiras.main([*command, "--remarks-passed=all"]) == 0
    out = capsys.readouterr().out
    assert all(part in out for part in REMARK.split(": "))


def test_the_environment_of_the_drop_in_goes_first(
    tmp_path: Path, ptxas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, made = tmp_path / "gemm.tileirbc", tmp_path / "gemm.cubin"
    source.write_bytes(tilewright.write_bytecode(tilewright.read(GEMM)))
    tune_to(GEMM, "stages=5")
    monkeypatch.setenv("TILEWRIGHT_SCHEDULE", "stages=2")
    assert tileiras.main([str(source), "--gpu-name", "sm_90", "-o", str(made)]) == 0
    assert made.read_bytes() == tilewright.compile(source, schedule="stages=2").cubin


def test_no_cache_no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    tune_to(GEMM, "stages=5")
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    assert schedule_of(GEMM) == ""


UNUSABLE = "'@k' is not compiled as tuned: it does not compile with that schedule"


@pytest.fixture
def unusable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no program compile with the schedule of the record."""
    tune_to(GEMM, "stages=5")
    passes = compile_module.passes_to

    def failing(*arguments: Any, schedule: str = "", **options: Any) -> str:
        if schedule:
            raise tilewright.Unsupported("this schedule")
        return passes(*arguments, **options)

    monkeypatch.setattr(compile_module, "passes_to", failing)


@pytest.mark.usefixtures("unusable")
def test_a_record_never_breaks_a_program(
    source: Path, tmp_path: Path, ptxas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tilewright.compile(GEMM)
    kernel = tilewright.compile(GEMM, cache=True)
    assert kernel.cubin == own.cubin
    assert UNUSABLE in [remark.message for remark in kernel.remarks]
    assert "producer_copy" in lowered(source)
    assert UNUSABLE in capsys.readouterr().err
    bytecode, made = tmp_path / "gemm.tileirbc", tmp_path / "gemm.cubin"
    bytecode.write_bytes(tilewright.write_bytecode(tilewright.read(GEMM)))
    assert tileiras.main([str(bytecode), "--gpu-name", "sm_90", "-o", str(made)]) == 0
    assert made.read_bytes() == own.cubin


@pytest.mark.usefixtures("unusable")
def test_a_forced_schedule_that_fails_is_an_error(source: Path) -> None:
    with pytest.raises(tilewright.Unsupported, match="this schedule"):
        tilewright.compile(GEMM, cache=True, schedule="stages=5")


def test_nor_does_it_break_many_files(monkeypatch: pytest.MonkeyPatch, source: Path) -> None:
    tune_to(GEMM, "stages=5")
    served: list[str] = []

    def answers(requests: Sequence[Request], jobs: int) -> Iterator[tuple[Request, Answer]]:
        for request in requests:
            served.append(request.settings.schedule)
            made = CompilationResult("sm_90", "ptx", None, (), []).pack()
            code = 3 if request.settings.schedule else 0
            yield request, Answer(code, "", b"" if code else made, identity())

    monkeypatch.setattr(batch, "_answers", answers)
    [outcome] = batch.compile_files([str(source)], SETTINGS, "ptx", jobs=1, use_records=True)
    assert served == ["stages=5", ""]
    assert (outcome.code, [remark.message for remark in outcome.remarks]) == (0, [UNUSABLE])
