"""Random programs do the same as compiled code on the emulator, with its checks on."""

from __future__ import annotations

import pytest
from random_compiled import Failure, failures, smaller
from repeats import keep_first

SIZE = 12
SEEDS = (*range(20), 315, 342, 439, 817, 899)
"""The first seeds, and some that failed in the past."""


@pytest.mark.parametrize("seed", keep_first(SEEDS, 3))
def test_random_programs_do_the_same_when_compiled(seed: int) -> None:
    """For both generations of tensor cores, in two orders of warps, one of them perturbed."""
    assert failures(seed, ("sm_80", "sm_90"), None, SIZE, opt_level=3) == []


@pytest.mark.parametrize("seed", keep_first((84, 120, 212)))
def test_random_programs_with_extreme_scales(seed: int) -> None:
    """Their dots are scaled by powers of two that bf16 cannot be multiplied by."""
    assert failures(seed, ("sm_100",), "all", SIZE, opt_level=3) == []


def test_failures_are_of_one_kind_whatever_their_numbers() -> None:
    first = Failure(3, "sm_80", "wrong result: out14: expected -1 at [16], got 0; 8 of 32")
    other = Failure(7, "sm_90", "wrong result: out2: expected 1.5 at [0, 3], got nan; 1 of 4")
    assert first.kind == other.kind
    assert Failure(7, "sm_90", "prints other lines").kind != first.kind


def test_programs_that_fail_get_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that loses all stores is caught by a program of a few lines."""
    from tilewright.conversion.nv_tileas_to_nvgpu.memory import pointers  # noqa: PLC0415

    monkeypatch.setattr(pointers, "pointer_accesses", lambda *_: [])
    (failure,) = failures(1, ("sm_80",), None, 3, opt_level=3)
    assert len(smaller(failure, None, 3, 3).splitlines()) < 20
