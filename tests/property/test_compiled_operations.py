"""A sample of all cases of single operations, as compiled code on the emulator."""

from __future__ import annotations

import pytest
from emulated_cases import emulated_problem
from op_cases.suite import GROUPS
from op_cases.values import Effort
from repeats import all_and_some, keep

SAMPLE = 12
"""Cases of a group to run; `--effort N` runs N times as many, `make test` a quarter."""


@pytest.mark.parametrize("arch", keep(["sm_80", "sm_90"], "sm_90".__eq__))
@pytest.mark.parametrize(("name", "count"), all_and_some(GROUPS, SAMPLE, SAMPLE // 4))
def test_compiled_operations_agree_with_the_oracles(
    name: str, count: int, arch: str, pytestconfig: pytest.Config
) -> None:
    cases = list(GROUPS[name].cases(Effort(count=256 if count == SAMPLE else 32)))
    step = max(len(cases) // (count * int(pytestconfig.getoption("--effort") or 1)), 1)
    # The two GPUs run different cases.
    first = step // 2 if arch == "sm_90" else step // 3
    problems = [emulated_problem(case, arch) for case in cases[first::step]]
    assert [problem for problem in problems if problem] == []
