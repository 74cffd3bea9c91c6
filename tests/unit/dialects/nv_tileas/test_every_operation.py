"""Every operation of nv_tileas in programs that come down to it: printed, and read as printed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from dialect_text import check_round_trip, read
from repeats import keep_first

from tilewright.driver.api import read_level
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import level_of, levels_between, parse_pipeline, passes_to
from tilewright.driver.registry import context
from tilewright.support.diagnostics import Unsupported
from tilewright.text.printer import print_op

HERE = Path(__file__).parent
RUN = HERE.parents[2] / "run"
LEVEL = "nv_tileas"

OTHERS = {"low", "errors", "nv_tileaa"}
PROGRAMS = sorted(path for path in RUN.rglob("*.mlir") if not OTHERS & set(path.parts))
OWN = [HERE / "layouts.mlir", *sorted((RUN / "low" / LEVEL).glob("*.mlir"))]


LARGE = {"kernels"}
"""Folders whose programs take longest; every operation occurs in the others, too."""


def lowered(path: Path) -> str:
    """A program at the level of nv_tileas."""
    module = wrap_in_module(read_level(path.read_text(), path.name))
    for level in levels_between(level_of(module), LEVEL):
        parse_pipeline(passes_to(level, "sm_90")).run(module)
    return print_op(module)


@cache
def texts(*, large: bool) -> list[str]:
    """Programs at the level of nv_tileas, and small or large ones that come down to it."""
    texts = [print_op(read(path.read_text())) for path in OWN]
    programs = [path for path in PROGRAMS if bool(LARGE & set(path.parts)) == large]
    for path in programs:
        try:
            texts.append(lowered(path))
        except Unsupported:
            continue
    assert len(texts) > len(programs) // 2
    return texts


@pytest.mark.parametrize("large", keep_first([False, True]))
def test_programs_read_as_they_are_printed(large: bool) -> None:
    for text in texts(large=large):
        check_round_trip(text)


def test_every_operation_occurs() -> None:
    seen = {op.name for text in texts(large=False) for op in read(text).walk()}
    dialect = context().dialect(LEVEL)
    assert dialect is not None
    assert set(dialect.ops) - seen == set()
