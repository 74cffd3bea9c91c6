"""Forced schedules: their text, the environment variable, and the cache."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from scheduled_loops import matmul

import tilewright
from tilewright.driver import cli, schedules
from tilewright.driver.cache import key_of
from tilewright.driver.pipelines import PLAN, passes_to
from tilewright.driver.schedules import environment_schedule, parse_schedule
from tilewright.driver.settings import Settings
from tilewright.support.diagnostics import UserError
from tilewright.support.schedule_keys import VARIABLE
from tilewright.target.arch import ARCHES

CHOICES: Final = (
    "stages=0..8 or in-flight=0..1 or k-parts=0..8 or agents=0..1 or multicast=0..1 or "
    "tma-stores=0..1 or evict-first=0..1 or rotate=0..1 or kept-tiles=0..32 or single-trip=0..1 or "
    "prefetch=0..1 or warps=0|1|2|4|8|16"
)


@pytest.mark.parametrize(("text", "options"), [
    ("", ""),
    ("stages=3", "stages=3"),
    ("stages=3,in-flight=0", "stages=3 in-flight=0"),
    ("in-flight=1 stages=8", "in-flight=1 stages=8"),
    ("stages=03,", "stages=3"),
    ("k-parts=2", "k-parts=2"),
    ("k-parts=8,stages=0", "k-parts=8 stages=0"),
    ("agents=1,stages=4", "agents=1 stages=4"),
    ("agents=0", "agents=0"),
    ("agents=1,multicast=0", "agents=1 multicast=0"),
    ("agents=1,tma-stores=1", "agents=1 tma-stores=1"),
    ("evict-first=1", "evict-first=1"),
    ("rotate=0,stages=2", "rotate=0 stages=2"),
    ("kept-tiles=16", "kept-tiles=16"),
    ("single-trip=0", "single-trip=0"),
    ("prefetch=0", "prefetch=0"),
    ("warps=1", "warps=1"),
    ("warps=8,stages=3", "warps=8 stages=3"),
])  # fmt: skip
def test_pairs_become_options_of_passes(text: str, options: str) -> None:
    assert parse_schedule(text) == options


@pytest.mark.parametrize("pair", [
    "stages", "stages=", "stages=9", "stages=-1", "stages=two", "stages=1.5", "in-flight=2",
    "in_flight=1", "distance=2", "=3", "k-parts", "k-parts=9", "k-parts=-1", "k_parts=2",
    "agents", "agents=2", "agents=-1", "multicast=2", "tma-stores=2", "tma_stores=1",
    "evict-first=2", "evict_first=1",
    "rotate", "rotate=2",
    "kept-tiles=33",
    "single-trip=2",
    "prefetch=2",
    "warps=3", "warps=12", "warps=32", "warps=",
])  # fmt: skip
def test_anything_else_is_an_error(pair: str) -> None:
    message = f"expected a schedule of {CHOICES}, got '{pair}'"
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
    texts = ["", "stages=2", "stages=3", "stages=3 in-flight=0", "stages=3 k-parts=2", "rotate=1"]
    settings = [Settings(ARCHES["sm_90"], schedule=each) for each in texts]
    assert len({key_of(b"program", "k", each, "cubin") for each in settings}) == len(texts)


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
    assert f"expected a schedule of {CHOICES}" in capsys.readouterr().err


@pytest.mark.parametrize("k_parts", [1, 2])
def test_the_command_line_splits_iterations(k_parts: int, tmp_path: Path) -> None:
    """Of K = 32, each iteration has a half."""
    source, made = tmp_path / "gemm.mlir", tmp_path / "gemm.nv_tileas"
    source.write_text(matmul(64, 64, 32))
    command = ["compile", str(source), "--emit", "nv_tileas", "-o", str(made)]
    assert cli.main([*command, "--schedule", f"stages=3,k-parts={k_parts}"]) == 0
    tile = f"!nv_tileas.pipeline<3, [tensor<64x{32 // k_parts}xf16"
    assert tile in made.read_text()
    program = tilewright.compile(source, emit="ptx", schedule=f"k-parts={k_parts},stages=3")
    assert program.stages["nv_tileas"] == made.read_text()


@pytest.mark.parametrize(("level", "source", "checked", "rest"), [
    (3, "schedule", False, ""),
    (2, "environment", False, " source=environment"),
    (3, "record", False, " source=record"),
    (1, "schedule", False, " level=1"),
    (0, "environment", False, " source=environment level=0"),
    (3, "schedule", True, " sanitize=1"),
    (1, "schedule", True, " level=1 sanitize=1"),
])  # fmt: skip
def test_one_pass_takes_the_schedule(level: int, source: str, checked: bool, rest: str) -> None:
    schedule = "stages=3 k-parts=2 in-flight=0"
    text = passes_to(PLAN, "sm_90", level, checked=checked, schedule=schedule, source=source)
    steps = [step for step in text.split(",") if "{" in step and "forms=" not in step]
    assert steps == [f"record-requests{{{schedule}{rest}}}"]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_without_a_schedule_only_the_level_and_the_forms_of_splits_are_options(level: int) -> None:
    steps = passes_to(PLAN, "sm_90", level, source="environment").split(",")
    (recorded,) = (step for step in steps if step.startswith("record-requests"))
    assert recorded == ("record-requests" if level >= 2 else f"record-requests{{level={level}}}")
    others = [step for step in steps if step != recorded]
    assert not [step for step in others if "{" in step and "forms=" not in step]


def test_the_help_lists_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compile", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(f"{name}=" in text for name in schedules.CHOICES)
