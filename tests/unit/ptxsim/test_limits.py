"""Launches on the emulator that are long or never end: steps, time, Ctrl-C, progress."""

from __future__ import annotations

import pytest

from tilewright.ptxsim import Module
from tilewright.support.diagnostics import Interrupted, UserError

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
ENDLESS = (
    HEAD
    + """.visible .entry k()
{
    .reg .b32 %i;
    mov.u32 %i, 0;
L:  add.u32 %i, %i, 1;
    bra L;
}
"""
)
STRAIGHT = HEAD + ".visible .entry k() { .reg .b32 %i; mov.u32 %i, 0; add.u32 %i, %i, 1; ret; }\n"


def test_every_instruction_is_a_step_of_all_threads_together() -> None:
    Module(STRAIGHT).launch("k", 4, 256, max_steps=3)
    with pytest.raises(UserError, match="stopped at the limit of 2 steps"):
        Module(STRAIGHT).launch("k", 4, 256, max_steps=2)


def test_a_kernel_that_never_ends_stops_at_the_limit() -> None:
    with pytest.raises(UserError) as caught:
        Module(ENDLESS, "spin.ptx").launch("k", 1, 64, max_steps=1000)
    gist = "stopped at the limit of 1,000 steps, in thread (0, 0, 0) of block"
    assert gist in str(caught.value)
    assert str(caught.value.location) == "spin.ptx:8:5"


def test_a_time_limit_ends_what_never_ends() -> None:
    with pytest.raises(UserError, match=r"stopped at the limit of 0\.01 seconds"):
        Module(ENDLESS).launch("k", 1, 1, timeout=0.01)


def test_an_interrupted_launch_says_where_the_program_was() -> None:
    def interrupt(done: int, count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        Module(ENDLESS, "spin.ptx").launch("k", 2, 32, progress=interrupt)
    diagnostic = caught.value.diagnostic
    subject = "in thread (0, 0, 0) of block (0, 0, 0) (and 63 more)"
    assert diagnostic.message == f"interrupted in step 1, {subject}"
    assert str(diagnostic.location) == "spin.ptx:7:5"


def test_progress_counts_finished_blocks() -> None:
    shown: list[tuple[int, int]] = []
    Module(STRAIGHT).launch(
        "k", 6, 32, resident=2, progress=lambda done, count: shown.append((done, count))
    )
    assert sorted({*shown}) == [(0, 6), (2, 6), (4, 6), (6, 6)]


def test_a_limit_holds_for_all_waves_together() -> None:
    with pytest.raises(
        UserError, match=r"limit of 6 steps, in thread \(0, 0, 0\) of block \(2, 0, 0\)"
    ):
        Module(STRAIGHT).launch("k", 6, 32, resident=1, max_steps=6)
