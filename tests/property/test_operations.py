"""Every operation, with every element type and attribute that it allows, against other oracles.

`tools/reference_coverage.py` runs the same cases and lists them; `--effort N` tries more values.
"""

from __future__ import annotations

import pytest
from op_cases.suite import GROUPS, Report
from op_cases.values import Effort
from repeats import all_and_some, keep_first
from run_random import NV_TILEAA, changed

from tilewright.bytecode.opcodes import OPCODES

VALUES = 256
"""Values to try for each case; `make test` tries a 32nd of them, and one of a few cases."""
EVERY = {
    "aggregate": 6,
    "atomics": 6,
    "conversion": 6,
    "misc": 6,
    "mma": 6,
    "multimem": 12,
    "view": 6,
}
"""Of how many cases of a group one suffices to try every operation; of the others, one of five."""
CHECKED = ("aggregate", "atomics", "control_flow", "memory", "mma", "multimem", "view")
"""Groups whose cases access memory, or exchange values between threads."""


@pytest.mark.parametrize(
    ("name", "every"),
    [case for name in GROUPS for case in all_and_some([name], 1, EVERY.get(name, 5))],
)
def test_the_reference_executor_agrees_with_the_oracles(
    name: str, every: int, pytestconfig: pytest.Config
) -> None:
    report = Report(GROUPS[name])
    count = VALUES if every == 1 else VALUES // 32
    report.run(Effort(int(pytestconfig.getoption("--effort") or 1), count), every)
    assert report.problems == []
    assert every > 1 or report.missing() == set()


@pytest.mark.parametrize(("name", "values"), all_and_some(CHECKED, VALUES, VALUES // 32))
def test_the_checker_finds_nothing_wrong_with_them(name: str, values: int) -> None:
    """No case races or reads uninitialized memory; every tenth is enough."""
    every = 10 if values == VALUES else 2 * EVERY.get(name, 5)
    for number, case in enumerate(GROUPS[name].cases(Effort(count=values))):
        if number % every == 0:
            problem = case.problem(case.read(), check=True)
            assert problem is None or "op expected extents that fit i1" in problem


@pytest.mark.parametrize("name", keep_first(GROUPS))
def test_they_compute_the_same_at_the_level_of_nv_tileaa(name: str) -> None:
    """Every fifth case is enough: each operation has many, and they come in no order of sizes."""
    for number, case in enumerate(GROUPS[name].cases(Effort())):
        if number % 5 == 0 and case.fails != "UNDEFINED":
            passes = NV_TILEAA[number // 5 % len(NV_TILEAA)]
            assert case.problem(changed(case.read(), passes)) is None


def test_every_operation_is_tried() -> None:
    tried = {kind.name for group in GROUPS.values() for kind in group.operations}
    assert tried == set(OPCODES)
