from __future__ import annotations

import json
from pathlib import Path

import pytest
from copy_cases import Case, cases
from copy_emulation import emulate
from ptx_probes import digest
from repeats import keep_every

# Written by tools/copies_hardware.py on an H200: inputs and results of every case, as digests.
ANSWERS = json.loads((Path(__file__).parent / "answers" / "copies_h200.json").read_text())
CASES = cases()


def test_every_case_was_answered() -> None:
    assert {case.name for case in CASES} == ANSWERS.keys()


@pytest.mark.parametrize("case", keep_every(CASES, 3), ids=lambda case: case.name)
def test_the_emulator_answers_as_an_h200_does(case: Case) -> None:
    inputs, results = ANSWERS[case.name]
    assert case.fingerprint() == inputs, "the case has changed since it was run on the GPU"
    assert digest(emulate(case)) == results


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_other_interleavings_change_nothing(seed: int) -> None:
    for case in CASES[seed::12]:
        assert digest(emulate(case, seed)) == ANSWERS[case.name][1], case.name
