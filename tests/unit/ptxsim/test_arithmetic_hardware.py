"""Arithmetic, conversions, atomics, loads and stores as an H200 answered them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from approximation_bounds import errors
from arithmetic_probes import approximation_probes, exact_probes
from conversion_probes import conversion_probes
from memory_probes import memory_probes
from ptx_probes import Probe, digest, emulate, width_of

FOLDER = Path(__file__).parent / "answers"
# Written by tools/ptx_hardware.py on an H200: inputs and results of every probe, as digests.
ANSWERS = json.loads((FOLDER / "arithmetic_h200.json").read_text())
# Every n-th result of the approximations, of about a thousand.
APPROXIMATIONS = np.load(FOLDER / "approximations_h200.npz")
FAMILIES = (exact_probes(), conversion_probes(), memory_probes())
PROBES = {probe.name: probe for probe in itertools.chain(*FAMILIES)}


def test_every_probe_was_answered() -> None:
    assert PROBES.keys() == ANSWERS.keys()


@pytest.mark.parametrize("name", PROBES)
def test_the_emulator_answers_as_an_h200_does(name: str) -> None:
    inputs, results = ANSWERS[name]
    probe = PROBES[name]
    assert probe.fingerprint() == inputs, "the probe has changed since it was run on the GPU"
    assert digest(emulate(probe)) == results


@pytest.mark.parametrize("probe", list(approximation_probes()), ids=lambda probe: probe.name)
def test_approximations_are_within_the_documented_error(probe: Probe) -> None:
    answers = APPROXIMATIONS[probe.name]
    found = emulate(probe)[0].view(f"u{width_of(probe.outputs[0])}")
    found = found[:: max(1, len(found) // 1024)]
    assert errors(probe.name, found, answers).max() <= 1
