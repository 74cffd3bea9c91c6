"""The record 0027 gives each pass of the middle and each earlier record a home."""

from __future__ import annotations

import re
from pathlib import Path

from tilewright.driver.pipelines import CHECKS, LOWERING_PIPELINE, PASSES, PLAN

RECORD = Path(__file__).parents[3] / "docs" / "decisions" / "0027-decide-once.md"
ROW = re.compile(r"^\| `([\w-]+)` \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
HOMES = {
    "asked", "stays", "move", "tile", "pipeline", "allocate", "synchronize", "layouts",
    "resource model",
}  # fmt: skip
TARGET = ("plan-kernel", "tile", "pipeline", "allocate", "synchronize")
GENERAL = ("canonicalize", "cse")
"""Passes that run at every level."""


def test_each_pass_of_the_middle_has_a_home() -> None:
    rows = dict(ROW.findall(RECORD.read_text()))
    steps = [step for level in (PLAN, "nv_tileas", "nvgpu") for step in LOWERING_PIPELINE[level]]
    passes = {*(step.text.partition("{")[0] for step in steps), *CHECKS.split(",")}
    assert passes - rows.keys() - {*TARGET, *GENERAL} == set()
    homes = {home.strip(" `") for text in rows.values() for home in text.split(",")}
    assert homes == HOMES


def test_what_stays_is_a_pass() -> None:
    rows = dict(ROW.findall(RECORD.read_text()))
    assert {name for name, home in rows.items() if home == "stays"} <= PASSES.keys()


def test_each_record_about_the_middle_has_a_row() -> None:
    rows = re.findall(r"^\| \[(\d+)\]\(\1-", RECORD.read_text(), re.MULTILINE)
    assert rows == [f"{number:04}" for number in range(11, 23)]
