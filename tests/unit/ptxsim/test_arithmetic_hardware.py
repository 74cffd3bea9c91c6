"""Arithmetic, conversions, atomics, loads and stores as an H200 answered them."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from approximation_bounds import errors, numbers, operands_of, results_of, sample
from arithmetic_probes import approximation_probes, exact_probes
from conversion_probes import conversion_probes
from each_case import each_case
from memory_probes import memory_probes
from ptx_probes import Probe, digest, emulate
from repeats import keep_every

FOLDER = Path(__file__).parent / "answers"
# Written by tools/ptx_hardware.py on an H200: inputs and results of every probe, as digests.
ANSWERS = json.loads((FOLDER / "arithmetic_h200.json").read_text())
# Every n-th result of the approximations, of about a thousand.
APPROXIMATIONS = np.load(FOLDER / "approximations_h200.npz")


@cache
def probes() -> dict[str, Probe]:
    """The probes by name; their operands cost seconds, so collection does without."""
    families = (exact_probes(), conversion_probes(), memory_probes())
    return {probe.name: probe for probe in itertools.chain(*families)}


@cache
def approximations() -> dict[str, Probe]:
    return {probe.name: probe for probe in approximation_probes()}


def test_every_probe_was_answered() -> None:
    assert probes().keys() == ANSWERS.keys()
    assert approximations().keys() == set(APPROXIMATIONS.files)


@pytest.mark.parametrize("name", keep_every(list(ANSWERS), 4))
@pytest.mark.sampled(120)
def test_the_emulator_answers_as_an_h200_does(name: str) -> None:
    inputs, results = ANSWERS[name]
    probe = probes()[name]
    assert probe.fingerprint() == inputs, "the probe has changed since it was run on the GPU"
    assert digest(emulate(probe)) == results


@each_case("name", APPROXIMATIONS.files)
def test_approximations_are_within_the_documented_error(name: str) -> None:
    probe = approximations()[name]
    operands, actual = operands_of(probe), results_of(probe)
    assert errors(probe.name, actual, operands).max() <= 1
    # The GPU's results of every n-th thread satisfy the same bounds of the manual.
    answers = numbers(probe.name, APPROXIMATIONS[probe.name])
    some = [sample(probe, operand, len(answers)) for operand in operands]
    assert errors(probe.name, answers, some).max() <= 1
    if probe.name.startswith(("sin", "cos")):
        # The manual bounds no error for large angles; their range reduction is that of the GPU.
        assert np.nanmax(np.abs(sample(probe, actual, len(answers)) - answers)) <= 2.0**-20.5
