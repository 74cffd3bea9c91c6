"""Run the programs of tests/run/low on a GPU.

    python3 tools/gpu_programs.py [FILE ...]

compiles each program for sm_90, runs it, compares it as `pytest tests/run/low` does, and prints a
row for each run: the distance of its results from the expected ones and from the emulator's, and
the verdict. It needs a GPU, NumPy, ml_dtypes and cuda.bindings. Runs that end in an error
have a process of their own, since nothing else can run in their context.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from gpu_launch import Launch  # noqa: E402
from low_programs import HOME, Outcome, Wrong, arch_names, check, emulate, ptx_of  # noqa: E402
from programs import Run, estimate, evaluate, like, parse_runs  # noqa: E402

from tilewright.emit.cubin import assemble  # noqa: E402
from tilewright.runtime.device import Gpu, gpu  # noqa: E402
from tilewright.target.arch import ARCHES  # noqa: E402

PROGRAMS = _ROOT / "tests" / "run" / "low"
FAILED = 1
PATIENCE = 60


class Row(NamedTuple):
    """A row of the table."""

    name: str
    expected: str
    emulated: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.name:<44} {self.expected:<24} {self.emulated:<24} {self.verdict}"


def same_bits(actual: Any, wanted: Any) -> bool:
    """Return whether arrays are equal; all NaNs are."""
    if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
        return False
    equal = actual.view(np.uint8).reshape(actual.size, -1) == wanted.view(np.uint8).reshape(
        actual.size, -1
    )
    a, b = wide(actual), wide(wanted)
    return bool((equal.all(axis=1) | (np.isnan(a) & np.isnan(b)).reshape(-1)).all())


def wide(array: Any) -> Any:
    """Numbers to compare."""
    return np.asarray(array).astype(np.float64)


def largest(actual: Any, wanted: Any) -> float:
    """The largest difference, where both are numbers."""
    with np.errstate(all="ignore"):
        gaps = np.abs(wide(actual) - wide(wanted))
    return float(np.nanmax(np.where(np.isfinite(gaps), gaps, 0), initial=0))


def nearness(run: Run, outcome: Outcome) -> str:
    """Return the largest error, as a fraction of its bound."""
    known, worst = run.named(run.values()), 0.0
    for expected in run.expected:
        actual = outcome.arrays[expected.name]
        if expected.near:
            wanted = estimate(expected.value, known)
            value, bound = wanted.value, wanted.error
        else:
            value, bound = evaluate(expected.value, known), evaluate(expected.bound or "0", known)
        value, bound = (like(np.asarray(each), actual) for each in (value, bound))
        with np.errstate(all="ignore"):
            if same_bits(actual, np.ascontiguousarray(value.astype(actual.dtype))):
                continue
            gaps = np.abs(wide(actual) - wide(value))
            shares = np.where(gaps > 0, gaps / wide(bound), 0)
            worst = max(worst, float(np.nanmax(shares, initial=0)))
    return "equal bits" if worst == 0 else f"{worst:.3f} of the bound"


def against_emulator(run: Run, text: str, name: str, outcome: Outcome) -> str:
    """Return the distance of the results from the emulator's."""
    emulated = emulate(run, text, name, seed=1)
    if (emulated.failure is None) != (outcome.failure is None):
        return "ends otherwise"
    if outcome.failure is not None:
        return "fails too"
    if sorted(emulated.printed.splitlines()) != sorted(outcome.printed.splitlines()):
        return "prints otherwise"
    gaps = [
        largest(array, emulated.arrays[key])
        for key, array in outcome.arrays.items()
        if isinstance(array, np.ndarray) and not same_bits(array, emulated.arrays[key])
    ]
    return f"differs by {max(gaps):.3g}" if gaps else "equal bits"


def row_of(device: Gpu, run: Run, text: str, path: Path, label: str) -> Row:
    """Run a program once."""
    ptx = ptx_of(text, path.name, HOME)
    outcome = Launch(device, run, ptx, assemble(ptx, ARCHES[HOME]).data).outcome()
    try:
        check(run, text, path.name, outcome)
    except Wrong as error:
        gist = str(error).strip().splitlines()[0][:200]
        return Row(label, "", "", f"WRONG: {gist}")
    near = "fails as it must" if outcome.failure else nearness(run, outcome)
    return Row(label, near, against_emulator(run, text, path.name, outcome), "ok")


def runs(paths: list[Path]) -> Iterator[tuple[Path, str, int, Run]]:
    """Yield every run that this GPU supports."""
    for path in paths:
        text = path.read_text()
        for number, run in enumerate(parse_runs(text)):
            if HOME in arch_names(run):
                yield path, text, number, run


def alone(path: Path, number: int) -> str:
    """The row of a run in a process of its own."""
    command = [sys.executable, __file__, str(path), "--only", str(number)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"{path.stem} {number}: no end after {PATIENCE} seconds"
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()[-1:]]
    return lines[0] if lines else f"{path.stem} {number}: no word"


def main() -> int:
    """Run all programs, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--only", type=int, help="the number of one run, in this process")
    options = parser.parse_args()
    paths = options.files or sorted(PROGRAMS.rglob("*.mlir"))
    count = wrong = 0
    spoiled = False
    if options.only is None:
        print(Row("program", "against what is expected", "against the emulator", "verdict"))
    for path, text, number, run in runs(paths):
        if options.only not in (None, number):
            continue
        label = f"{path.stem} @{run.entry or 'kernel'} {number}"
        if (spoiled or run.failure is not None) and options.only is None:
            line = alone(path, number)
        else:
            line = str(row_of(gpu(0), run, text, path, label))
            # After a device error the context is unusable.
            spoiled = "CUDA_ERROR" in line
        print(line, flush=True)
        count, wrong = count + 1, wrong + (not line.endswith(" ok"))
    if options.only is None:
        print(f"{count} runs, {wrong} wrong")
    return FAILED if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
