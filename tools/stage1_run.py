"""Modules of the corpus at the level of nv_tileaa, before and after its canonicalizer.

Each kernel runs on the arguments that `corpus_run.py` gives it; every array must be as the
reference executor computes it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from corpus_arguments import VARIANTS, Variant, arguments
from corpus_checks import Module, load_modules
from corpus_run import MAX_STEPS, SECONDS, TooSlow
from run_random import NV_TILEAA, changed

from tilewright.bytecode.reader import read_bytecode
from tilewright.dialects.cuda_tile.structure import EntryOp, ModuleOp
from tilewright.driver.progress import progress
from tilewright.ir.operation import Operation
from tilewright.reference.arguments import Table
from tilewright.reference.errors import ExecutionError
from tilewright.reference.launch import launch
from tilewright.reference.tile import Array, is_array
from tilewright.support.run_limits import RunLimits
from tilewright.testing.compare import array_difference

STAGES: Final = ("lowered", "canonical")


def outcome(program: Operation, entry: EntryOp, variant: Variant) -> list[Array] | None:
    """Return the arrays after running a kernel, or `None` if it fails on these arguments."""
    given = arguments(entry, variant)
    try:
        launch(
            program, entry.sym_name, variant.grid, given, write=_ignore, limits=RunLimits(MAX_STEPS)
        )
    except ExecutionError:
        return None
    return list(_arrays(given))


def _ignore(_: str) -> None:
    """Drop the output of kernels."""


def _arrays(given: list[Any]) -> Iterator[Array]:
    for argument in given:
        if isinstance(argument, Table):
            yield from argument.arrays()
        elif is_array(argument):
            yield argument


def problems(program: ModuleOp, most: int) -> Iterator[str]:
    """Yield the differences between a kernel and its lowered form, for a few sets of arguments."""
    stages = [changed(program, passes) for passes in NV_TILEAA]
    for entry in program.entries():
        ran = 0
        for variant in VARIANTS:
            expected = outcome(program, entry, variant)
            if expected is None:
                continue
            for name, stage in zip(STAGES, stages, strict=True):
                yield from _differences(name, entry, outcome(stage, entry, variant), expected)
            ran += 1
            if ran == most:
                break
        if not ran:
            yield f"@{entry.sym_name} runs on no arguments"


def _differences(
    stage: str, entry: EntryOp, actual: list[Array] | None, expected: list[Array]
) -> Iterator[str]:
    if actual is None:
        yield f"{stage}: @{entry.sym_name} fails"
        return
    for index, (a, b) in enumerate(zip(actual, expected, strict=True)):
        gap = array_difference(a, b)
        if gap is not None:
            yield f"{stage}: @{entry.sym_name}, array {index}: {gap}"


def check(module: Module, most: int) -> tuple[str, list[str] | None]:
    """Return the failures of a module, or `None` if it takes too long."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        return module.name, list(problems(read_bytecode(module.data, module.name), most))
    except TooSlow:
        return module.name, None
    except Exception as error:
        return module.name, [f"{type(error).__name__}: {error}"]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _ring(*_: object) -> None:
    raise TooSlow


def main() -> int:
    """Run the modules; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="only modules whose names contain one of these")
    parser.add_argument("--every", type=int, default=1, help="only one corpus module in N")
    parser.add_argument("--arguments", type=int, default=1, help="argument sets per kernel")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    modules = load_modules()
    if options.names:
        modules = [m for m in modules if any(name in m.name for name in options.names)]
    modules = modules[:: options.every]
    ready = partial(signal.signal, signal.SIGVTALRM, _ring)
    with multiprocessing.Pool(options.jobs, ready) as pool:
        look = partial(check, most=options.arguments)
        results = list(progress(pool.imap_unordered(look, modules, chunksize=4), len(modules)))
    wrong = sorted((name, text) for name, texts in results for text in texts or ())
    slow = sum(texts is None for _, texts in results)
    print(*[f"{name}: {text}" for name, text in wrong], sep="\n", end="\n" if wrong else "")
    print(f"{len(results)} modules, {len({name for name, _ in wrong})} wrong, {slow} too slow")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
