"""Every operation of the standard dialects in text: parsed, printed, and checked by xDSL.

`known.mlir` holds what xDSL knows too, `own.mlir` what it does not know, or knows otherwise.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dialect_text import check_round_trip, check_with_xdsl, read
from each_case import each_case

from tilewright.driver.registry import context

HERE = Path(__file__).parent
PROGRAMS = sorted(HERE.glob("*/known.mlir")) + sorted(HERE.glob("*/own.mlir"))
DIALECTS = sorted({path.parent.name for path in PROGRAMS})


def label(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@each_case("path", PROGRAMS, ids=label)
def test_round_trip(path: Path) -> None:
    check_round_trip(path.read_text())


@pytest.mark.parametrize("path", sorted(HERE.glob("*/known.mlir")), ids=label)
def test_xdsl_agrees(path: Path) -> None:
    check_with_xdsl(path.read_text())


@each_case("name", DIALECTS)
def test_every_operation_occurs(name: str) -> None:
    programs = [path for path in PROGRAMS if path.parent.name == name]
    seen = {op.name for path in programs for op in read(path.read_text()).walk()}
    dialect = context().dialect(name)
    assert dialect is not None
    assert set(dialect.ops) <= seen
