"""Run the programs of tests/run, and random ones, on a GPU as compiled code.

    python3 tools/gpu_run.py build FOLDER [--random 200]
    python3 tools/gpu_run.py run FOLDER [--only TEXT] [--repeat N]

The first command compiles every run for sm_90, runs random programs on the reference executor,
and writes both to the folder. The second one runs them on the GPU with the same arguments,
compares results by the comparison contract, and prints a row for each failed run and a table of
counts. Runs that must fail have a process of their own, since nothing else
can run in their context. `compute-sanitizer` may watch the second command. It needs a GPU, NumPy,
ml_dtypes and cuda.bindings; the first command needs no GPU.
"""

from __future__ import annotations

import argparse
import copy
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from programs import Run, parse_runs, problems  # noqa: E402
from random_compiled import Outcome, referee  # noqa: E402

import tilewright  # noqa: E402
from tilewright.driver.api import read_runnable  # noqa: E402
from tilewright.driver.emulate import compile_kernel  # noqa: E402
from tilewright.driver.launch import Plan, start  # noqa: E402
from tilewright.driver.signatures import signature_of  # noqa: E402
from tilewright.emit.cubin import assemble  # noqa: E402
from tilewright.runtime.errors import GpuError  # noqa: E402
from tilewright.target.arch import ARCHES  # noqa: E402
from tilewright.testing.generate.kernel import Options  # noqa: E402
from tilewright.testing.generate.program import Program, generate  # noqa: E402

ARCH = "sm_90"
PROGRAMS = _ROOT / "tests" / "run"
THREADS = re.compile(r"\.reqntid (\d+)")
BUNDLE = "programs.pickle"
PATIENCE = 120


class Job(NamedTuple):
    """One run, compiled."""

    name: str
    text: str
    entry: str | None
    grid: tuple[int, ...]
    threads: int
    cubin: bytes
    run: Run | None = None
    seed: int = 0
    expected: Outcome | None = None
    """The outcome of a random program on the reference executor."""

    @property
    def program(self) -> Program:
        """The random program, made again."""
        return generate(self.seed, Options(profile=ARCH))

    @property
    def kind(self) -> str:
        """The kind of program."""
        return "tests/run" if self.run is not None else "random"

    @property
    def fails(self) -> bool:
        """Whether the run must end in an error."""
        return self.run is not None and self.run.failure is not None

    def arguments(self) -> list[Any]:
        """Fresh arguments, in order."""
        if self.run is None:
            return self.program.arguments()
        return list(self.run.values().values())

    def wrong(self, arguments: Sequence[Any], printed: str) -> Iterator[str]:
        """Yield the differences from the expected outcome."""
        lines = sorted(printed.splitlines())
        if self.run is not None:
            before, prints = self.run.values(), self.run.prints
            yield from problems(self.run, before, dict(zip(before, arguments, strict=True)))
        else:
            assert self.expected is not None
            (arrays, prints), program = self.expected, self.program
            yield from program.differences(program.outcome(arguments), arrays)
        if lines != sorted(prints):
            yield f"expected to print {prints[:3]}, got {lines[:3]}"


class Attempt(NamedTuple):
    """The outcome of a run on the GPU."""

    arguments: list[Any]
    printed: str
    failure: str | None


def attempt(job: Job) -> Attempt:
    """Run a kernel once."""
    program = read_runnable(job.text, job.name)
    arguments = copy.deepcopy(job.arguments())
    printed: list[str] = []
    plan = Plan(signature_of(program, job.entry), ARCH, job.cubin, (job.threads, 1, 1))
    try:
        start(plan, job.grid, arguments, None, wait=True, write=printed.append)
    except GpuError as error:
        return Attempt(arguments, "".join(printed) + error.render(), error.status)
    return Attempt(arguments, "".join(printed), None)


def verdict(job: Job) -> str:
    """Return the failure of a run; empty if it passes."""
    done = attempt(job)
    if job.fails:
        assert job.run is not None
        assert job.run.failure is not None
        gist = job.run.failure.gist
        text = gist.partition('"')[2].rstrip('"') or gist
        if done.failure is None:
            return "expected an error, but the kernel ran to its end"
        return "" if text in done.printed else f"expected {text!r}, got {done.printed[:200]!r}"
    if done.failure is not None:
        return f"{done.failure} {done.printed[:200]}"
    return "; ".join(job.wrong(done.arguments, done.printed))


def compiled(task: tuple[str, str, int]) -> Job | str:
    """The job of a run of a file, or of a seed; the reason as text, if it cannot be compiled."""
    kind, text, number = task
    try:
        return _random_job(number) if kind == "random" else _program_job(kind, text, number)
    except (tilewright.Error, ArithmeticError, ValueError) as error:
        return f"{kind} {number}: {str(error).splitlines()[0]}"


def _program_job(name: str, text: str, number: int) -> Job:
    run = parse_runs(text)[number]
    made = _cubin(text, name, run.entry)
    return Job(f"{name} @{run.entry or 'kernel'} {number}", text, run.entry, run.grid, *made, run)


def _random_job(seed: int) -> Job:
    program = generate(seed, Options(profile=ARCH))
    made = _cubin(program.text, f"seed_{seed}.mlir", program.entry)
    return Job(
        f"seed {seed}", program.text, program.entry, program.grid, *made,
        seed=seed, expected=referee(program, program.module()),
    )  # fmt: skip


def _cubin(text: str, name: str, entry: str | None) -> tuple[int, bytes]:
    ptx = compile_kernel(read_runnable(text, name), entry, ARCH)
    threads = THREADS.search(ptx)
    assert threads is not None, "expected a kernel with a known number of threads"
    return int(threads[1]), assemble(ptx, ARCHES[ARCH]).data


def tasks(count: int) -> Iterator[tuple[str, str, int]]:
    """Yield the compilations: the runs that a GPU can execute, and the first seeds."""
    for path in sorted(PROGRAMS.rglob("*.mlir")):
        if "low" in path.parts:
            continue
        text = path.read_text()
        for number, run in enumerate(parse_runs(text)):
            noticed = run.failure is None or run.failure.fault == "assertion"
            if run.only is None and noticed:
                yield path.name, text, number
    for seed in range(count):
        yield "random", "", seed


def build(folder: Path, count: int) -> int:
    """Compile everything."""
    folder.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        made = pool.map(compiled, list(tasks(count)), chunksize=1)
    jobs = [job for job in made if isinstance(job, Job)]
    (folder / BUNDLE).write_bytes(pickle.dumps(jobs))
    missing = [why for why in made if isinstance(why, str)]
    print("\n".join([*missing, f"{len(jobs)} runs compiled, {len(missing)} not"]))
    return int(bool(missing))


def alone(folder: Path, job: Job) -> str:
    """The verdict on a run in a process of its own."""
    command = [sys.executable, __file__, "run", str(folder), "--exactly", job.name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"no end after {PATIENCE} seconds"
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-300:]


def run(folder: Path, options: argparse.Namespace) -> int:
    """Run everything that was compiled."""
    jobs: list[Job] = pickle.loads((folder / BUNDLE).read_bytes())
    counts, wrong = Counter[str](), Counter[str]()
    exact = options.exactly is not None
    for job in jobs:
        chosen = job.name == options.exactly if exact else options.only in job.name
        if not chosen or (options.passing and job.fails):
            continue
        for _ in range(options.repeat):
            if job.fails and not exact:
                gist = alone(folder, job)
            else:
                gist = verdict(job)
            counts[job.kind] += 1
            if gist:
                wrong[job.kind] += 1
                print(f"{job.name}: {gist}", flush=True)
            if "CUDA_ERROR" in gist and not job.fails:
                print("the context is unusable")
                return 1
    for kind, count in counts.items():
        print(f"{kind:<12} {count:5} runs, {wrong[kind]:5} wrong")
    return int(bool(wrong))


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("build", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", type=int, default=200, help="number of random programs")
    parser.add_argument("--only", default="", help="only runs whose names contain this")
    parser.add_argument("--exactly", help="the name of one run, in this process")
    parser.add_argument("--passing", action="store_true", help="leave out runs that must fail")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    if options.action == "build":
        return build(options.folder, options.random)
    return run(options.folder, options)


if __name__ == "__main__":
    raise SystemExit(main())
