from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from matrix_probes import all_probes
from ptx_probes import Probe, digest, emulate
from repeats import keep_every

# Written by tools/ptx_hardware.py on an H200: inputs and results of every probe, as digests.
ANSWERS = json.loads((Path(__file__).parent / "answers" / "matrix_h200.json").read_text())


@cache
def probes() -> dict[str, Probe]:
    """The probes by name; their operands cost seconds, so collection does without."""
    return {probe.name: probe for probe in all_probes()}


def test_every_probe_was_answered() -> None:
    assert probes().keys() == ANSWERS.keys()


@pytest.mark.parametrize("name", keep_every(list(ANSWERS), 4))
def test_the_emulator_answers_as_an_h200_does(name: str) -> None:
    inputs, results = ANSWERS[name]
    probe = probes()[name]
    assert probe.fingerprint() == inputs, "the probe has changed since it was run on the GPU"
    assert digest(emulate(probe)) == results


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_interleavings_change_nothing(seed: int) -> None:
    for probe in list(probes().values())[::25]:
        assert digest(emulate(probe, seed=seed)) == ANSWERS[probe.name][1], probe.name
