"""`tools/register_estimates.py` compares estimates of registers with what ptxas takes."""

from __future__ import annotations

from compiled_once import settings_of
from register_estimates import (
    LOOP,
    ROW,
    WGMMA,
    WHOLE,
    Estimate,
    Estimates,
    Measured,
    details,
    table,
)
from scheduled_loops import matmul

from tilewright.driver.api import read_runnable
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation

FITS = Measured("fits", Estimate(WGMMA, 104, 128), 126, 0)
SPILLS = Measured("spills", Estimate(WGMMA, 168, 168), 168, 16)
ABOVE = Measured("above", Estimate(LOOP, 73, 56), 40, 0)
A_ROW = Measured("row", Estimate(ROW, 64, 64), 64, 0)


def test_a_loop_of_two_blocks() -> None:
    """128×128 accumulators of 256 threads are 64 each; 40 others; two blocks have 128 each."""
    estimates = Estimates()
    module = read_runnable(matmul(128, 128, 64), "kernel.mlir")
    Compilation(module, settings_of("sm_90", ""), Observers(reached=estimates.reach)).to("nvgpu")
    assert list(estimates.by_kernel.values()) == [Estimate(WGMMA, 64 + 40, 128)]
    assert list(estimates.whole.values()) == [Estimate(WHOLE, 64 + 24, 128)]


def test_kernels_are_counted_by_rule() -> None:
    rows = list(table([FITS, SPILLS, ABOVE, A_ROW]))
    assert rows[2:] == [
        f"| {WGMMA} | 2 | 2 | 1 | 0 | 0 | 1 |",
        f"| {LOOP} | 1 | 0 | 0 | 1 | 0 | 0 |",
        f"| {ROW} | 1 | 1 | 0 | 0 | 0 | 0 |",
        f"| {WHOLE} | 0 | 0 | 0 | 0 | 0 | 0 |",
    ]


def test_a_line_for_each_kernel() -> None:
    assert list(details([SPILLS])) == [
        "spills: loops with wgmma, 168 of 168; ptxas 168, 16 bytes spilled"
    ]
