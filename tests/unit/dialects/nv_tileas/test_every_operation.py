"""Every operation of nv_tileas in programs that come down to it: printed, and read as printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialect_text import check_round_trip, read

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


def lowered(path: Path) -> str:
    """A program at the level of nv_tileas."""
    module = wrap_in_module(read_level(path.read_text(), path.name))
    for level in levels_between(level_of(module), LEVEL):
        parse_pipeline(passes_to(level, "sm_90")).run(module)
    return print_op(module)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    texts = [print_op(read(path.read_text())) for path in OWN]
    for path in PROGRAMS:
        try:
            texts.append(lowered(path))
        except Unsupported:
            continue
    assert len(texts) > len(PROGRAMS) // 2
    return texts


def test_programs_read_as_they_are_printed(texts: list[str]) -> None:
    for text in texts:
        check_round_trip(text)


def test_every_operation_occurs(texts: list[str]) -> None:
    seen = {op.name for text in texts for op in read(text).walk()}
    dialect = context().dialect(LEVEL)
    assert dialect is not None
    assert set(dialect.ops) - seen == set()
