"""Divisions of single bits, in every rounding mode, as compiled code on the emulator."""

from __future__ import annotations

from emulated_cases import emulated_problem
from op_cases.suite import GROUPS
from op_cases.values import Effort


def test_divided_bits() -> None:
    cases = GROUPS["integer"].cases(Effort(count=8))
    divisions = [case for case in cases if case.op == "divi" and "xi1>" in case.text]
    roundings = [case.text.count("rounding<positive_inf>") for case in divisions]
    assert sum(roundings) == 2, "expected one of each signedness"
    problems = [emulated_problem(case, "sm_90") for case in divisions]
    assert [problem for problem in problems if problem] == []
