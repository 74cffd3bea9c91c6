"""Every FileCheck test: passes run alone on IR text, and properties of what they print."""

from __future__ import annotations

import pytest
from filecheck_runner import Case, cases, problem

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_filecheck(case: Case) -> None:
    failure = problem(case)
    assert failure is None, failure
