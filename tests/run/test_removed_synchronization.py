"""Each barrier, fence and wait is needed: without it the emulator's checker reports a race.

Some are redundant: the compiler cannot tell that they are, or other synchronization happens to
suffice in these programs. They are counted, so that their number does not grow unnoticed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from programs import Run, parse_runs, problems
from repeats import keep

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import compile_kernel, run_ptx
from tilewright.ir.operation import Operation

FOLDER: Final = Path(__file__).parent
SYNCHRONIZATION: Final = re.compile(
    r"^\s*(?:bar(?:rier)?\.(?:cta\.)?sync|fence\.proxy\.async|cp\.async\.wait_group"
    r"|wgmma\.wait_group|cp\.async\.bulk\.wait_group)\b[^;]*;",
    re.MULTILINE,
)
SEED: Final = 1
REDUNDANT: Final = {
    "aggregate/exclusive_scans.mlir": {"sm_90": 0, "sm_80": 0},
    "aggregate/many_lines.mlir": {"sm_90": 0, "sm_80": 0},
    "aggregate/redux.mlir": {"sm_90": 0, "sm_80": 0},
    "aggregate/segmented_scan.mlir": {"sm_90": 0, "sm_80": 0},
    "kernels/attention.mlir": {"sm_90": 1, "sm_80": 1},
    "kernels/attention_rows.mlir": {"sm_90": 0, "sm_80": 0},
    "kernels/attention_warpgroups.mlir": {"sm_90": 9, "sm_80": 0},
    "kernels/chain_warpgroups.mlir": {"sm_90": 2, "sm_80": 0},
    "kernels/clusters.mlir": {"sm_90": 1, "sm_80": 1},
    "kernels/fft.mlir": {"sm_90": 0, "sm_80": 0},
    "kernels/gemm.mlir": {"sm_90": 2, "sm_80": 2},
    "kernels/gemm_i8.mlir": {"sm_90": 2, "sm_80": 2},
    "kernels/gemm_types.mlir": {"sm_90": 2, "sm_80": 2},
    "kernels/gemm_warpgroups.mlir": {"sm_90": 2, "sm_80": 0},
    "kernels/histogram.mlir": {"sm_90": 0, "sm_80": 0},
    "kernels/keys_are_values.mlir": {"sm_90": 0, "sm_80": 0},
    "kernels/mixture_of_experts.mlir": {"sm_90": 0, "sm_80": 0},
    "kernels/operand_paths.mlir": {"sm_90": 1, "sm_80": 1},
    "kernels/persistent_gemm.mlir": {"sm_90": 0, "sm_80": 0},
    "kernels/pipelines.mlir": {"sm_90": 2, "sm_80": 0},
    "kernels/scan.mlir": {"sm_90": 1, "sm_80": 1},
    "kernels/split_k.mlir": {"sm_90": 2, "sm_80": 2},
    "kernels/transpose.mlir": {"sm_90": 0, "sm_80": 0},
}
"""How many instructions of the first kernel of a program the checker does not miss, by GPU."""
FAST: Final = {"fft", "gemm_warpgroups", "histogram", "pipelines", "segmented_scan", "split_k"}
"""The programs of `make test`."""


@cache
def kernel_of(path: str) -> tuple[Operation, Run]:
    """The program of a file, and its first run."""
    text = (FOLDER / path).read_text()
    return read_runnable(text, path), parse_runs(text)[0]


def is_reported(ptx: str, program: Operation, run: Run) -> bool:
    """Run the code of a kernel; return whether it fails, or has other results than expected."""
    before = run.values()
    after = copy.deepcopy(before)
    try:
        run_ptx(ptx, program, run.entry, run.grid, list(after.values()), check=True, seed=SEED)
    except tilewright.UserError:
        return True
    return any(problems(run, before, after))


def redundant(path: str, arch: str) -> Iterator[str]:
    """The instructions without which nothing is reported, as `line: instruction`."""
    program, run = kernel_of(path)
    ptx = compile_kernel(program, run.entry, arch)
    assert not is_reported(ptx, program, run)
    for match in SYNCHRONIZATION.finditer(ptx):
        if not is_reported(ptx[: match.start()] + ptx[match.end() :], program, run):
            yield f"{ptx.count(chr(10), 0, match.start()) + 1}: {match[0].strip()}"


@pytest.mark.parametrize(
    ("path", "arch"),
    keep(
        [(path, arch) for path, counts in REDUNDANT.items() for arch in counts],
        lambda case: Path(case[0]).stem in FAST and case[1] == "sm_90",
    ),
)
@pytest.mark.sampled(2)
def test_no_more_synchronization_is_redundant(path: str, arch: str) -> None:
    unreported = list(redundant(path, arch))
    assert len(unreported) <= REDUNDANT[path][arch], unreported
