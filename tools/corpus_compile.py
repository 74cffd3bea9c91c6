"""Compile every module of the corpus, and report cubins, spills and times."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from corpus_checks import Module, load_modules

from tilewright.bytecode.reader import read_bytecode
from tilewright.dialects.cuda_tile.mma import MmaOp
from tilewright.driver.compile import Compilation, Observers, Settings, target
from tilewright.driver.progress import progress
from tilewright.emit.cubin import Cubin
from tilewright.ir.instruments import Timing
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Unsupported

PTXAS: Final = "ptxas"
LLVM: Final = "LLVM"


class Outcome(NamedTuple):
    """The outcome of compiling a module."""

    name: str
    problem: str | None = None
    """The error, if there is no cubin."""
    unsupported: bool = False
    """Whether the error is `Unsupported`, which names the missing feature."""
    multiplies: bool = False
    """Whether the module has dots."""
    spills: int = 0
    """Bytes that a thread spills."""
    seconds: float = 0.0
    llvm: float = 0.0
    ptxas: float = 0.0


def compiled(module: Module, arch: str) -> Outcome:
    """Compile a module to a cubin, and record any exception."""
    observers = Observers(clock=Timing())
    seconds = observers.clock.seconds
    multiplies = False
    try:
        with observers.clock.measure("read"):
            root = read_bytecode(module.data, module.name)
            verify(root)
        multiplies = _multiplies(root)
        compilation = Compilation(root, Settings(target(arch)), observers)
        compilation.to("cubin")
        spills = _spills(compilation.cubin)
    except Unsupported as error:
        return Outcome(module.name, str(error), unsupported=True, multiplies=multiplies)
    except Exception as error:
        return Outcome(module.name, f"{type(error).__name__}: {error}", multiplies=multiplies)
    return Outcome(
        module.name,
        multiplies=multiplies,
        spills=spills,
        seconds=sum(seconds.values()),
        llvm=seconds[LLVM],
        ptxas=seconds[PTXAS],
    )


def _multiplies(root: Operation) -> bool:
    return any(isinstance(op, MmaOp) for op in root.walk())


def _spills(cubin: Cubin | None) -> int:
    assert cubin is not None
    return max((each.spill_stores for each in cubin.entries.values()), default=0)


def main() -> int:
    """Compile all modules; the exit code says whether each gave a cubin or an `Unsupported`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only modules whose names contain one of these")
    parser.add_argument("--arch", default="sm_90", help="the GPU to compile for (default: sm_90)")
    parser.add_argument("--every", type=int, default=1, help="only one corpus module in N")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", type=int, default=10, help="number of modules to list")
    options = parser.parse_args()
    modules = load_modules()[:: options.every]
    if options.names:
        modules = [m for m in modules if any(name in m.name for name in options.names)]
    return compile_all(modules, options.arch, options.jobs, options.show)


def compile_all(modules: Sequence[Module], arch: str, jobs: int | None, show: int) -> int:
    """Compile modules for a GPU, report on them, and return the exit code."""
    with multiprocessing.Pool(jobs) as pool:
        results = pool.imap_unordered(partial(compiled, arch=arch), modules, chunksize=4)
        outcomes = sorted(progress(results, len(modules)))
    report(outcomes, show)
    return int(any(broken(outcome) for outcome in outcomes))


def broken(outcome: Outcome) -> bool:
    """Return whether a module fails without `Unsupported`, or spills without dots."""
    if outcome.problem is not None:
        return not outcome.unsupported
    return outcome.spills > 0 and not outcome.multiplies


def report(outcomes: Sequence[Outcome], show: int) -> None:
    """Print the failures, the spills, the slowest modules, and the counts."""
    failed = [outcome for outcome in outcomes if outcome.problem is not None]
    for outcome in failed[:show]:
        print(f"{outcome.name}: {outcome.problem}")
    reasons = Counter((o.problem or "").splitlines()[0].split("error: ")[-1] for o in failed)
    for reason, count in reasons.most_common(show):
        print(f"{count:6} times {reason}")
    done = [outcome for outcome in outcomes if outcome.problem is None]
    named = sum(outcome.unsupported for outcome in failed)
    print(f"{len(done)} of {len(outcomes)} modules are cubins, "
          f"{named} unsupported, {len(failed) - named} fail")  # fmt: skip
    if done:
        _report_spills("without dots", (o for o in done if not o.multiplies), show)
        _report_spills("with dots", (o for o in done if o.multiplies), show)
        for what in ("llvm", "ptxas", "seconds"):
            _report_times(what, done, show)


def _report_spills(what: str, outcomes: Iterable[Outcome], show: int) -> None:
    ordered = sorted(outcomes, key=lambda outcome: -outcome.spills)
    if not ordered:
        return
    some = [outcome for outcome in ordered if outcome.spills]
    median = statistics.median(outcome.spills for outcome in ordered)
    print(f"{what}: {len(some)} of {len(ordered)} modules spill, median {median:g} bytes, "
          f"worst {ordered[0].spills}")  # fmt: skip
    for outcome in some[:show]:
        print(f"{outcome.spills:9} bytes {outcome.name}")


def _report_times(what: str, done: Sequence[Outcome], show: int) -> None:
    ordered = sorted(done, key=lambda outcome: -getattr(outcome, what))
    times: list[float] = [getattr(outcome, what) for outcome in ordered]
    print(f"{what}: median {statistics.median(times):.3f} s, worst {times[0]:.3f} s")
    for outcome, seconds in list(zip(ordered, times, strict=True))[: min(show, 3)]:
        print(f"{seconds:9.3f} s {outcome.name}")


if __name__ == "__main__":
    sys.exit(main())
