"""`tile_ir_path.json` is up to date; `python tools/tile_ir_path.py` measures it again."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator

import pytest
from path_recorder import Recorder, recording
from requirements import MEASUREMENT, load_index, load_measurement, reach
from tile_ir_path import (
    CORPUS,
    Measured,
    all_facts,
    cover,
    default_jobs,
    distinct,
    facts_of,
    find_job,
    is_listed,
    looked_up,
    measure,
)

import tilewright
from tilewright.driver.compile import Settings, target

SHOWN: dict[str, list[str]] = json.loads(MEASUREMENT.read_text("utf-8"))["facts"]
WITNESSES = [
    pytest.param(label, marks=pytest.mark.corpus if label.startswith(CORPUS) else ())
    for label in SHOWN
]
PROGRAM = """
cuda_tile.module @m {
  entry @k(%x: tile<ptr<i32>>) {
    %c = constant <i32: 7> : tile<i32>
    %t = store_ptr_tko weak %x, %c : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    with recording() as each:
        yield each


@pytest.mark.parametrize("label", WITNESSES)
def test_a_compilation_still_shows_its_facts(label: str, recorder: Recorder) -> None:
    facts = facts_of(find_job(label), recorder)
    assert facts is not None
    assert set(SHOWN[label]) <= facts
    assert distinct(facts, load_measurement().facts) == set()


def test_facts_of_a_compilation() -> None:
    with recording() as each:
        facts = each.facts_of(tilewright.read(PROGRAM), Settings(target("sm_90")))
    assert {
        "pass canonicalize",
        "op nvvm.st.global",
        "made llvm.func",
        "attribute nvvm.st.global bytes",
        "cuda_tile.store_ptr_tko -> nv_tileaa.store",
        "keep llvm.inttoptr",
    } <= facts
    assert not {"op nvgpu.rcp", "op nv_tileas.dot"} & facts


def test_nothing_is_recorded_afterwards() -> None:
    with recording() as each:
        pass
    tilewright.compile(PROGRAM, emit="ptx")
    assert each.facts == set()


def test_each_fact_is_listed_once_and_looked_up() -> None:
    listed = [fact for facts in SHOWN.values() for fact in facts]
    assert len(listed) == len(set(listed))
    assert all(fact in looked_up() or is_listed(fact) for fact in listed)


def test_small_programs_show_what_they_can() -> None:
    measured = [
        Measured("large sm_90", frozenset({"op a", "op b", "op c"}), 9000),
        Measured("small sm_90", frozenset({"op a", "op b"}), 100),
        Measured("corpus/x sm_90", frozenset({"op a"}), 10),
    ]
    wanted = distinct({*all_facts(measured), "made a"})
    assert wanted == {"op a", "op b", "op c"}
    assert cover(measured, wanted) == {"large sm_90": ["op c"], "small sm_90": ["op a", "op b"]}


@pytest.mark.exhaustive
@pytest.mark.corpus
def test_the_whole_measurement() -> None:
    """No compilation at default settings shows a fact that is not listed."""
    measured = measure(list(default_jobs(1)), multiprocessing.cpu_count())
    assert distinct(all_facts(measured)) == set(load_measurement().facts)


def test_requirements_on_the_path() -> None:
    """How many there are; fewer means that the compiler stopped to use what they are about."""
    measured = load_measurement()
    columns = [reach(requirement, measured) for requirement in load_index().values()]
    assert columns.count("path") >= 177
