"""Kernels compiled for a debugger, without optimization, compute the same results."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import Run, parse_runs, problems
from repeats import keep_every

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.signatures import isolate_kernel

KERNELS = Path(__file__).parent / "kernels"


def runs() -> Iterator[object]:
    for path in sorted(KERNELS.glob("*.mlir")):
        for number, run in enumerate(parse_runs(path.read_text())):
            if run.failure is None:
                yield pytest.param(path, run, id=f"{path.stem}-{number}")


@pytest.mark.parametrize("sanitize", [False, True], ids=["plain", "sanitized"])
@pytest.mark.parametrize(("path", "run"), keep_every(list(runs()), 5))
@pytest.mark.sampled(3)
def test_kernels_for_a_debugger(path: Path, run: Run, sanitize: bool) -> None:
    program = read_runnable(path.read_text(), path.name)
    module = tilewright.compile(
        isolate_kernel(program, run.entry),
        emit="ptx",
        device_debug=True,
        sanitize=sanitize,
        line_info=True,
    )
    before = run.values()
    after = copy.deepcopy(before)
    run_ptx(module.ptx, program, run.entry, run.grid, list(after.values()), check=True, seed=1)
    assert list(problems(run, before, after)) == []
