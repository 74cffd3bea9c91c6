"""Perturbed approximate instructions: other results, within the documented error, by seed."""

from __future__ import annotations

from functools import cache

import numpy as np
from approximation_bounds import errors, numbers, operands_of
from arithmetic_probes import approximation_probes
from each_case import each_case
from ptx_probes import Probe, emulate

UNBOUNDED = ("rsqrt.approx.f64",)
"""The manual gives no error, so results stay."""


@cache
def probes() -> dict[str, Probe]:
    return {probe.name: probe for probe in approximation_probes()}


def test_results_differ_within_the_documented_error() -> None:
    for probe in probes().values():
        operands = operands_of(probe)
        plain = numbers(probe.name, emulate(probe)[0])
        moved = numbers(probe.name, emulate(probe, perturb=3)[0])
        assert errors(probe.name, moved, operands).max() <= 1, probe.name
        assert np.array_equal(plain, moved, equal_nan=True) == (probe.name in UNBOUNDED), probe.name


@each_case("seed", range(1, 9))
def test_every_seed_stays_within_the_error_of_a_reciprocal(seed: int) -> None:
    probe = probes()["rcp.approx.ftz.f32"]
    moved = numbers(probe.name, emulate(probe, perturb=seed)[0])
    assert errors(probe.name, moved, operands_of(probe)).max() <= 1


def test_equal_operands_have_equal_results() -> None:
    """Whichever thread computes them, with or without flushing."""
    plain, flushed = probes()["ex2.approx.f32"], probes()["ex2.approx.ftz.f32"]
    results = [numbers(each.name, emulate(each, perturb=5)[0]) for each in (plain, plain, flushed)]
    assert np.array_equal(results[0], results[1], equal_nan=True)
    by_operand = dict(zip(operands_of(plain)[0].tolist(), results[0].tolist(), strict=True))
    common = [
        (by_operand[operand], result)
        for operand, result in zip(operands_of(flushed)[0].tolist(), results[2], strict=True)
        if abs(operand) >= 2.0**-126 and abs(result) >= 2.0**-126 and operand in by_operand
    ]
    assert common
    assert all(a == b or (np.isnan(a) and np.isnan(b)) for a, b in common)


def test_seeds_differ() -> None:
    probe = probes()["sqrt.approx.f32"]
    first, second = (emulate(probe, perturb=seed)[0] for seed in (1, 2))
    assert np.count_nonzero(first != second) > 100


def test_special_results_stay() -> None:
    """Those of zeros, infinities and NaNs are listed in the manual."""
    for probe in probes().values():
        operands = operands_of(probe)
        plain = numbers(probe.name, emulate(probe)[0])
        moved = numbers(probe.name, emulate(probe, perturb=2)[0])
        special = np.zeros(plain.shape, np.bool_)
        for operand in operands:
            special |= ~np.isfinite(operand) | (operand == 0)
        assert special.any(), probe.name
        assert np.array_equal(plain[special], moved[special], equal_nan=True), probe.name
        assert np.array_equal(np.isfinite(plain), np.isfinite(moved)), probe.name
