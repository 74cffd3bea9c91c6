"""The dialect pages list every registered operation once, and mark those produced as such."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from produced_ops import BEGIN, END, PAGES, Job, names_built, registered_ops

from tilewright.driver.compile import Settings
from tilewright.support.tensor_map_parameters import PARAMETERS
from tilewright.target.arch import ARCHES

ROOT = Path(__file__).parents[3]
LISTED = re.compile(r"^\*\*`(\w+)`\*\*|^\* (produced|hand-written)[^:]*: (.*)$", re.MULTILINE)
PROGRAMS = ("kernels/attention.mlir", "kernels/softmax.mlir", "control_flow/exits.mlir")


def listed(page: str) -> dict[str, list[str]]:
    """The operations of a page's tables: those produced, and those that are input only."""
    text = (ROOT / "docs" / page).read_text()
    by_kind: dict[str, list[str]] = {"produced": [], "hand-written": []}
    dialect = ""
    for name, kind, ops in LISTED.findall(text[text.index(BEGIN) : text.index(END)]):
        dialect = name or dialect
        if kind:
            by_kind[kind] += [f"{dialect}.{op}" for op in re.findall("`([^`]+)`", ops)]
    return by_kind


@pytest.mark.parametrize("page", PAGES)
def test_a_page_lists_exactly_the_registered_operations(page: str) -> None:
    tables = listed(page)
    names = tables["produced"] + tables["hand-written"]
    expected = {op for dialect in PAGES[page] for op in registered_ops(dialect)}
    assert set(names) == expected, "python tools/produced_ops.py --write measures the lists again"
    assert len(names) == len(expected)


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_produced_operation_is_listed_as_input_only(program: str) -> None:
    source = (ROOT / "tests" / "run" / program).read_bytes()
    names = names_built(Job(source, Settings(ARCHES["sm_90"])))
    assert "nv_tileas.convert_layout" in names or "scf.if" in names
    assert not names & {op for page in PAGES for op in listed(page)["hand-written"]}


def test_operations_of_tensor_maps_that_are_parameters() -> None:
    source = (ROOT / "tests" / "run" / "kernels" / "persistent_gemm.mlir").read_bytes()
    names = names_built(Job(source, Settings(ARCHES["sm_90"], tensor_maps=PARAMETERS)))
    assert "nv_tileas.prefetch_tensor_maps" in names
    assert not names & {op for page in PAGES for op in listed(page)["hand-written"]}
