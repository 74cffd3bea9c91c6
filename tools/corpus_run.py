"""`make corpus-run`: every module of the corpus on the reference executor."""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import statistics
import sys
import time
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from corpus_arguments import VARIANTS, Variant, arguments
from corpus_checks import Module, load_modules

from tilewright.bytecode.reader import read_bytecode
from tilewright.dialects.cuda_tile.structure import EntryOp, ModuleOp
from tilewright.driver.progress import progress
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.reference.errors import ExecutionError
from tilewright.reference.evaluators import EVALUATORS, Evaluator
from tilewright.reference.launch import launch
from tilewright.support.run_limits import RunLimits

MAX_STEPS: Final = 1_000_000
SECONDS: Final = 120
"""CPU time, since other processes may use the machine too."""
MEDIAN_SHARE: Final = 0.95


class Outcome(NamedTuple):
    """The outcome of running a module."""

    name: str
    share: float
    """The fraction of its operations that have run."""
    problem: str | None
    seconds: float


class Coverage:
    """Records the operations that have run, by wrapping the table of evaluators."""

    def __init__(self) -> None:
        self.seen: set[Operation] = set()
        for kind, evaluator in EVALUATORS.items():
            EVALUATORS[kind] = self._noting(evaluator)

    def _noting(self, evaluator: Evaluator) -> Evaluator:
        def noted(op: Any, at: Any) -> Any:
            self.seen.add(op)
            return evaluator(op, at)

        return noted


class TooSlow(Exception):
    """A kernel has not ended in time."""


class Runner:
    """Runs modules in one process."""

    def __init__(self) -> None:
        self.coverage = Coverage()

    def run(self, module: Module) -> Outcome:
        """Run the kernels of a module until all of their operations have run."""
        started = time.perf_counter()
        program = read_bytecode(module.data, module.name)
        verify(program)
        self.coverage.seen.clear()
        problems = [self._run_entry(program, entry) for entry in program.entries()]
        problem = next((problem for problem in problems if problem is not None), None)
        shares = [self._share(entry) for entry in program.entries()]
        seconds = time.perf_counter() - started
        return Outcome(module.name, statistics.fmean(shares), problem, seconds)

    def _share(self, entry: EntryOp) -> float:
        ops = [op for op in entry.walk() if op is not entry]
        return sum(op in self.coverage.seen for op in ops) / len(ops)

    def _run_entry(self, program: ModuleOp, entry: EntryOp) -> str | None:
        """Run a kernel with several variants; return an error, or `None` if one succeeds."""
        problems: list[str | None] = []
        for variant in VARIANTS:
            problems.append(self._attempt(program, entry, variant))
            if None in problems and self._share(entry) == 1:
                break
        return None if None in problems else problems[0]

    def _attempt(self, program: ModuleOp, entry: EntryOp, variant: Variant) -> str | None:
        before = set(self.coverage.seen)
        given = arguments(entry, variant)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            launch(
                program,
                entry.sym_name,
                variant.grid,
                given,
                write=_ignore,
                limits=RunLimits(MAX_STEPS),
            )
        except (ExecutionError, TooSlow) as error:
            # Operations of a run that did not end do not count.
            self.coverage.seen.intersection_update(before)
            return f"{type(error).__name__}: {error}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return None


def _ignore(_: str) -> None:
    """Drop the output of kernels."""


def _ring(*_: object) -> None:
    raise TooSlow(f"more than {SECONDS} seconds of the processor")


RUNNERS: Final[list[Runner]] = []


def prepare() -> None:
    """Make this process ready to run modules."""
    signal.signal(signal.SIGVTALRM, _ring)
    RUNNERS.append(Runner())


def run(module: Module) -> Outcome:
    """Run one module, and record any exception."""
    try:
        return RUNNERS[0].run(module)
    except Exception as error:
        return Outcome(module.name, 0.0, f"internal: {type(error).__name__}: {error}", 0.0)


def main() -> int:
    """Run all modules; the exit code says whether all ran with enough coverage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only modules whose names contain one of these")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=20, help="number of modules to list")
    options = parser.parse_args()
    modules = load_modules()
    if options.names:
        modules = [m for m in modules if any(name in m.name for name in options.names)]
    with multiprocessing.Pool(options.jobs, prepare) as pool:
        results = pool.imap_unordered(run, modules, chunksize=4)
        outcomes = sorted(progress(results, len(modules)))
    return report(outcomes, options.show)


def report(outcomes: Iterable[Outcome], show: int) -> int:
    """Print the failures, the incomplete and the slowest modules, and the counts."""
    outcomes = list(outcomes)
    failed = [outcome for outcome in outcomes if outcome.problem is not None]
    for outcome in failed[:show]:
        print(f"{outcome.name}: {outcome.problem}")
    partial = sorted((o for o in outcomes if o.share < 1), key=lambda outcome: outcome.share)
    for outcome in partial[:show]:
        print(f"{outcome.name}: {outcome.share:.1%} of its operations ran")
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    shares = [outcome.share for outcome in outcomes]
    median = statistics.median(shares)
    print(f"{len(outcomes) - len(failed)} of {len(outcomes)} modules ran")
    print(
        f"share of operations that ran: median {median:.3f}, mean {statistics.fmean(shares):.4f}, "
        f"least {min(shares):.3f}, all of them in {len(outcomes) - len(partial)} modules"
    )
    print(f"the slowest: {slowest.name}, {slowest.seconds:.1f} s")
    return 1 if failed or median < MEDIAN_SHARE else 0


if __name__ == "__main__":
    sys.exit(main())
