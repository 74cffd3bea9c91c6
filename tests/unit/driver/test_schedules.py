"""Forced schedules: their text, the environment variable, and the cache."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scheduled_loops import matmul

import tilewright
from tilewright.driver import cli
from tilewright.driver.cache import key_of
from tilewright.driver.schedules import VARIABLE, environment_schedule, parse_schedule
from tilewright.driver.settings import Settings
from tilewright.support.diagnostics import UserError
from tilewright.target.arch import ARCHES


@pytest.mark.parametrize(("text", "options"), [
    ("", ""),
    ("stages=3", "stages=3"),
    ("stages=3,in-flight=0", "stages=3 in-flight=0"),
    ("in-flight=1 stages=8", "in-flight=1 stages=8"),
    ("stages=03,", "stages=3"),
])  # fmt: skip
def test_pairs_become_options_of_the_pass(text: str, options: str) -> None:
    assert parse_schedule(text) == options


@pytest.mark.parametrize("pair", [
    "stages", "stages=", "stages=9", "stages=-1", "stages=two", "stages=1.5", "in-flight=2",
    "in_flight=1", "distance=2", "=3",
])  # fmt: skip
def test_anything_else_is_an_error(pair: str) -> None:
    message = f"expected a schedule of stages=0..8 or in-flight=0..1, got '{pair}'"
    with pytest.raises(UserError, match=f"{re.escape(message)}$"):
        parse_schedule(f"stages=2,{pair}")


def test_the_environment_has_a_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert environment_schedule() == ""
    monkeypatch.setenv("TILEWRIGHT_SCHEDULE", "stages=2")
    assert environment_schedule() == "stages=2"
    monkeypatch.setenv("TILEWRIGHT_SCHEDULE", "stages=many")
    with pytest.raises(UserError, match="got 'stages=many'"):
        environment_schedule()


def test_the_cache_distinguishes_schedules() -> None:
    schedules = ["", "stages=2", "stages=3", "stages=3 in-flight=0"]
    settings = [Settings(ARCHES["sm_90"], schedule=each) for each in schedules]
    assert len({key_of(b"program", "k", each, "cubin") for each in settings}) == len(schedules)


def test_spellings_of_one_schedule_share_a_cache_entry() -> None:
    spellings = ["stages=3,in-flight=0", "stages=3 in-flight=0", "stages=03,,in-flight=0"]
    settings = [Settings(ARCHES["sm_90"], schedule=parse_schedule(each)) for each in spellings]
    assert len({key_of(b"program", "k", each, "cubin") for each in settings}) == 1


@pytest.mark.parametrize("stages", [2, 3])
def test_the_library_and_the_command_line_take_schedules(stages: int, tmp_path: Path) -> None:
    source, made = tmp_path / "gemm.mlir", tmp_path / "gemm.nv_tileas"
    source.write_text(matmul(64, 64, 32))
    command = ["compile", str(source), "--emit", "nv_tileas", "-o", str(made)]
    assert cli.main([*command, "--schedule", f"stages={stages}"]) == 0
    assert f"create_pipeline {{scratch = 0 : i64}} : !nv_tileas.pipeline<{stages}, " in (
        made.read_text()
    )
    program = tilewright.compile(source, emit="ptx", schedule=f"stages={stages}")
    assert program.stages["nv_tileas"] == made.read_text()


def test_the_command_line_rejects_other_schedules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "gemm.mlir"
    source.write_text(matmul(64, 64, 32))
    assert cli.main(["compile", str(source), "--emit", "ptx", "--schedule", "stages=9"]) != 0
    assert "expected a schedule of stages=0..8 or in-flight=0..1" in capsys.readouterr().err
