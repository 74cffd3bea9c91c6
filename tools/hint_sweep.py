"""Compile kernels under combinations of optimization hints: a hint never breaks a program.

    python tools/hint_sweep.py [--arch sm_90 ...] [--every N] [--rows N] [--seed N] [-j N]
    python tools/hint_sweep.py --dots --combinations [NAME ...]
    python tools/hint_sweep.py --random 1000 random

The kernels are those of the corpus and of `tests/run`, and random programs if asked for. Each is
compiled as it is and, if that gives a cubin, under hints on its entries, loads and stores, through
ptxas. The hints of all kernels are the rows of one table in which every pair of values of two hints
occurs; `--rows N` compiles N rows for each kernel, continuing where the kernel before it stopped.
`--combinations` compiles every combination of the hints on entries instead, each with the hints on
accesses of one row. Where hints leave the LLVM IR of a kernel as it was under others, its cubin is
known. A kernel that spills under a hint `occupancy`, and does not without it, is a failure.
Interrupted (SIGINT or SIGTERM), it reports what was done.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import multiprocessing
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Final, NamedTuple

from corpus_checks import ARCHIVE, ROOT, load_modules

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.hints import HINTS
from tilewright.dialects.cuda_tile.mma import MmaOp
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.driver.api import read_level
from tilewright.driver.batch import processors
from tilewright.driver.compile import Compilation, Observers, target
from tilewright.driver.progress import progress
from tilewright.driver.settings import Settings
from tilewright.ir.attributes import Attribute, DictionaryAttr, IntegerAttr
from tilewright.ir.operation import Operation
from tilewright.ir.types import I1, I64
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Error, Unsupported, UserError
from tilewright.support.remarks import Remark
from tilewright.testing.generate.program import generate

SECONDS: Final = 120.0
"""Time limit of LLVM, of ptxas, and of a whole compilation."""

ENTRY_VALUES: Final = {
    "occupancy": (1, 2, 4, 8, 16, 32),
    "num_cta_in_cga": (1, 2, 4),
    "num_worker_warps_per_cta": (None, 4, 8),
}
ACCESS_VALUES: Final = {"latency": (None, 1, 10), "allow_tma": (None, True, False)}
VALUES: Final[dict[str, tuple[int | None, ...]]] = {**ENTRY_VALUES, **ACCESS_VALUES}
"""The values of each hint; None: the kernel is without it."""

RELAXED: Final = ("RemarkOccupancyRelaxed", "RemarkCluster", "RemarkHint")
"""Remarks on hints that are not met."""

Row = tuple[int | None, ...]
"""A value of each hint, in the order of `VALUES`."""


class Kernel(NamedTuple):
    """A program with entries."""

    name: str
    module: Operation
    has_dots: bool


class Job(NamedTuple):
    """A kernel and the rows of hints to compile it under, for one GPU."""

    kernel: Kernel
    arch: str
    rows: Sequence[Row]


class Outcome(NamedTuple):
    """The outcome of one compilation."""

    kind: str
    why: str = ""
    relaxed: frozenset[str] = frozenset()
    """The names of remarks on hints that are not met."""
    spills: bool = False
    avoidable: bool = False
    """Whether it does not spill without the hint `occupancy`."""


class Swept(NamedTuple):
    """What one job gave."""

    plain: Outcome
    """That of the kernel without hints."""
    outcomes: Sequence[Outcome] = ()
    """Those under its rows; empty where there is no cubin without hints."""
    reused: int = 0
    """How many of them have known LLVM IR."""


class TooSlow(Exception):
    """A compilation took longer than it may."""


def kernels(names: Sequence[str], count: int = 0) -> Iterator[Kernel]:
    """The kernels of the corpus, if it is there, of `tests/run`, and `count` random programs."""
    sources: list[tuple[str, bytes | str]] = [
        (each.name, each.data) for each in (load_modules() if ARCHIVE.exists() else ())
    ]
    sources += [(f"random {seed}", generate(seed).text) for seed in range(count)]
    for path in sorted((ROOT / "tests" / "run").rglob("*.mlir")):
        sources.append((path.relative_to(ROOT).as_posix(), path.read_bytes()))
    for name, data in sources:
        if not names or any(part in name for part in names):
            kernel = read_kernel(name, data)
            if kernel is not None:
                yield kernel


def read_kernel(name: str, data: bytes | str) -> Kernel | None:
    """Read a program; None if it is invalid, as some tests are, or has no entries."""
    try:
        module = read_level(data, name)
        verify(module)
    except Error:
        return None
    ops = list(module.walk())
    if not any(isinstance(op, EntryOp) for op in ops):
        return None
    return Kernel(name, module, any(isinstance(op, MmaOp) for op in ops))


def covering_rows(seed: int) -> list[Row]:
    """Rows in which every pair of values of two hints occurs; greedy."""
    rng = random.Random(seed)
    columns = list(VALUES.values())
    pairs = {
        (i, a, j, b)
        for (i, first), (j, second) in itertools.combinations(enumerate(columns), 2)
        for a, b in itertools.product(first, second)
    }
    every = list(itertools.product(*columns))
    rng.shuffle(every)
    rows: list[Row] = []
    while pairs:
        row = max(every, key=lambda each: len(pairs & row_pairs(each)))
        pairs -= row_pairs(row)
        rows.append(row)
    return rows


def row_pairs(row: Row) -> set[tuple[int, int | None, int, int | None]]:
    """The pairs of values in a row, with their columns."""
    return {(i, a, j, b) for (i, a), (j, b) in itertools.combinations(enumerate(row), 2)}


def combined_rows(rows: Sequence[Row]) -> list[Row]:
    """Every combination of the hints on entries, with those on accesses of one row each."""
    entries = itertools.product(*ENTRY_VALUES.values())
    accesses = itertools.cycle(row[len(ENTRY_VALUES) :] for row in rows)
    return [(*entry, *access) for entry, access in zip(entries, accesses, strict=False)]


def with_hints(module: Operation, row: Row) -> Operation:
    """A copy of a program under the hints of a row, instead of its own."""
    copy = module.clone()
    asked = {name: value for name, value in zip(VALUES, row, strict=True) if value is not None}
    for op in copy.walk():
        values: dict[str, Attribute] = {
            name: IntegerAttr(asked[name], I1 if name == "allow_tma" else I64)
            for name in HINTS.get(op.name, ())
            if name in asked
        }
        if values:
            hints = OptimizationHintsAttr({"default": DictionaryAttr(values)})
            op.attributes["optimization_hints"] = hints
    return copy


def attempt(module: Operation, arch: str, known: dict[bytes, Outcome]) -> Outcome:
    """Compile a program to a cubin, unless that of its LLVM IR is known."""
    settings = Settings(target(arch), timeout=SECONDS)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        text = Compilation(module.clone(), settings).to("llvm")
        assert isinstance(text, str)
        digest = hashlib.sha256(text.encode()).digest()
        if digest not in known:
            observers = Observers(remarks=True)
            compilation = Compilation(module.clone(), settings, observers, source=module.clone)
            compilation.to("cubin")
            assert compilation.cubin is not None
            entries = compilation.cubin.entries.values()
            relaxed = frozenset(each.name for each in observers.sink.remarks if is_relaxed(each))
            spills = any(entry.spill_stores for entry in entries)
            known[digest] = Outcome("cubin", relaxed=relaxed, spills=spills)
    except Exception as error:
        return failure(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return known[digest]


def without_occupancy(row: Row) -> Row:
    """A row without its hint `occupancy`."""
    return (None, *row[1:])


def is_relaxed(remark: Remark) -> bool:
    """Whether a remark is on a hint that is not met."""
    return remark.kind == "missed" and remark.name in RELAXED


def failure(error: Exception) -> Outcome:
    """The outcome of a compilation that raises an error."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, TooSlow) or "took longer than" in text:
        return Outcome("timeout", text)
    if "ptxas" in text:
        return Outcome("ptxas error", text)
    if isinstance(error, Unsupported):
        return Outcome("unsupported", text)
    if isinstance(error, UserError):
        return Outcome("user error", text)
    return Outcome("internal error", f"{type(error).__name__}: {text}")


def plan(given: argparse.Namespace) -> Iterator[Job]:
    """The rows of every kernel."""
    rows = covering_rows(given.seed)
    print(f"{len(rows)} rows cover the pairs of {', '.join(VALUES)} (seed {given.seed})")
    every = combined_rows(rows) if given.combinations else rows
    count = min(given.rows or len(every), len(every))
    chosen = [
        each for each in kernels(given.names, given.random) if each.has_dots or not given.dots
    ]
    # Names begin with that of a file: the kernels of one shard are of all files.
    random.Random(given.seed).shuffle(chosen)
    taken = 0
    for arch in given.arch:
        for kernel in chosen[:: given.every]:
            yield Job(kernel, arch, [every[(taken + n) % len(every)] for n in range(count)])
            taken += count


def compile_job(job: Job) -> Swept:
    """Compile a kernel without hints and, if that gives a cubin, under its rows."""
    known: dict[bytes, Outcome] = {}
    with CollectorPause():
        plain = attempt(job.kernel.module, job.arch, known)
    if plain.kind != "cubin":
        # Without its cubin there is nothing that a hint could break.
        return Swept(plain)
    outcomes: list[Outcome] = []
    reused = 0
    for row in job.rows:
        before = len(known)
        with CollectorPause():
            outcome = attempt(with_hints(job.kernel.module, row), job.arch, known)
            if outcome.spills:
                module = with_hints(job.kernel.module, without_occupancy(row))
                outcome = outcome._replace(avoidable=not attempt(module, job.arch, {}).spills)
        reused += outcome.kind == "cubin" and len(known) == before
        outcomes.append(outcome)
    return Swept(plain, outcomes, reused)


def compile_jobs(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, Swept]]:
    """Every job with what it gave, in the order in which they end."""
    # Workers are copies of this process and have its jobs: only numbers and outcomes travel.
    _INHERITED[:] = jobs
    context = multiprocessing.get_context("fork")
    with context.Pool(processes, initializer=_start_worker) as pool:
        for number, swept in pool.imap_unordered(_compile_inherited, range(len(jobs))):
            yield jobs[number], swept


_INHERITED: Final[list[Job]] = []


def _compile_inherited(number: int) -> tuple[int, Swept]:
    return number, compile_job(_INHERITED[number])


def _start_worker() -> None:
    # The process that started the workers ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Sweep:
    """The outcomes so far."""

    def __init__(self) -> None:
        self.kernels: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.relaxed: Counter[str] = Counter()
        self.reused = 0
        self.spills = 0
        self.avoidable = 0
        self.started = time.monotonic()

    def add(self, job: Job, swept: Swept) -> None:
        """Count the outcomes of a job; print what fails."""
        plain = swept.plain
        self.kernels[plain.kind] += 1
        self.reused += swept.reused
        if plain.kind not in ("cubin", "unsupported", "user error"):
            print(f"{job.kernel.name} {job.arch} without hints: {plain.why}", flush=True)
        for row, outcome in zip(job.rows, swept.outcomes, strict=bool(swept.outcomes)):
            self.add_row(job, row, outcome)

    def add_row(self, job: Job, row: Row, outcome: Outcome) -> None:
        """Count the outcome under one row."""
        self.outcomes[outcome.kind] += 1
        self.spills += outcome.spills
        self.avoidable += outcome.avoidable
        for name in outcome.relaxed:
            self.relaxed[name] += 1
        if outcome.kind != "cubin" or outcome.avoidable:
            what = "spills only with the hint" if outcome.avoidable else outcome.kind
            hints = ", ".join(
                f"{name}={value}"
                for name, value in zip(VALUES, row, strict=True)
                if value is not None
            )
            print(f"{job.kernel.name} {job.arch} {hints}: {what}: {outcome.why}")
            sys.stdout.flush()

    def report(self) -> int:
        """Print the counts; return 1 if a hint broke a program, or made it spill."""
        seconds = time.monotonic() - self.started
        compilations = self.outcomes.total()
        print(f"kernels without hints: {counts(self.kernels)}")
        print(f"{compilations} compilations under hints in {seconds:.0f} s: "
              f"{counts(self.outcomes)}; {self.reused} of them with known LLVM IR, "
              f"{self.spills} that spill, {self.avoidable} only with occupancy")  # fmt: skip
        print(f"hints not met, with a remark: {counts(self.relaxed) or 'none'}")
        return int(self.outcomes["cubin"] != compilations or self.avoidable > 0)


def counts(counter: Counter[str]) -> str:
    """Write counts in one line."""
    return ", ".join(f"{count} {kind}" for kind, count in counter.most_common())


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"longer than {SECONDS:.0f} s")


def main() -> int:
    """Compile all; the exit code says whether a hint broke a program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="only programs whose names contain one of these")
    parser.add_argument("--arch", nargs="+", default=["sm_90"], help="the GPUs (default: sm_90)")
    parser.add_argument("--every", type=int, default=1, help="only one kernel in N")
    parser.add_argument("--rows", type=int, help="rows of hints for each kernel (default: all)")
    parser.add_argument("--dots", action="store_true", help="only kernels with dots")
    parser.add_argument("--combinations", action="store_true", help="all of the entry hints")
    parser.add_argument("--seed", type=int, default=1, help="of the rows and of the sample")
    parser.add_argument("--random", type=int, default=0, help="random programs beside the others")
    parser.add_argument("-j", "--jobs", type=int, default=processors())
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_slow)
    signal.signal(signal.SIGTERM, _stop)
    sweep = Sweep()
    try:
        jobs = list(plan(given))
        for job, swept in progress(compile_jobs(jobs, given.jobs), len(jobs)):
            sweep.add(job, swept)
    except KeyboardInterrupt:
        print("interrupted")
    return sweep.report()


if __name__ == "__main__":
    sys.exit(main())
