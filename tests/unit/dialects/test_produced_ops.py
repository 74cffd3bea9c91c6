"""The lists of operations on the dialect pages."""

from __future__ import annotations

import pytest
from each_case import each_case
from produced_ops import PAGES, REASONS, ROOT, listing, operations, page_text, registered_ops
from requirements import Measurement, load_measurement
from tile_ir_path import DIALECTS

DEFAULT = {"op cf.br": "a sm_90", "made cf.cond_br": "a sm_90"}
MEASURED = Measurement("measure", 2, 1, DEFAULT, {"op cf.switch": "a sm_90 -O0"})


@each_case("page", PAGES)
def test_a_page_is_up_to_date(page: str) -> None:
    """`python tools/produced_ops.py` writes it."""
    assert (ROOT / "docs" / page).read_text("utf-8") == page_text(page, load_measurement())


def test_every_operation_is_listed_once() -> None:
    assert listing("cf", MEASURED) == (
        "**`cf`**, 4 operations:\n\n"
        "* produced at default settings (2): `br`, `cond_br`\n"
        "* produced with other settings only (1): `switch`\n"
        "* hand-written input only (1): `assert`\n"
    )


def test_the_measurement_has_the_operations_of_all_pages() -> None:
    assert set(DIALECTS) == {dialect for page in PAGES.values() for dialect in page}
    measured = operations(load_measurement().facts)
    assert {name.partition(".")[0] for name in measured} >= {"nv_tileaa", "nvgpu", "llvm"}


@pytest.mark.parametrize("dialect", ["nvgpu", "cute_nvgpu"])
def test_what_is_not_produced_has_a_reason(dialect: str) -> None:
    missing = set(registered_ops(dialect)) - operations(load_measurement().facts)
    assert {name for name in REASONS if name.startswith(f"{dialect}.")} == missing
