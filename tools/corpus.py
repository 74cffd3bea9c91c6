"""`make corpus`: every module of the corpus, and our own programs, against NVIDIA's tools.

Then every module is compiled, for one GPU after the other.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Final

from corpus_checks import (
    CHECKS,
    ROOT,
    SAMPLE,
    Module,
    load_modules,
    load_programs,
    read_exceptions,
)
from corpus_compile import compile_all
from corpus_sample import choose

from tilewright.driver.progress import progress

GPUS: Final = ("sm_90", "sm_80", "sm_89")


def main() -> int:
    """Run all checks on all modules and compile them; the exit code says whether all passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only modules whose names contain one of these")
    parser.add_argument("-j", "--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--show", type=int, default=20, help="number of failures to print in full")
    parser.add_argument(
        "--choose-sample", action="store_true", help=f"write {SAMPLE.relative_to(ROOT)} anew"
    )
    parser.add_argument(
        "--arch", nargs="*", default=GPUS, help="the GPUs to compile for, none for no compilation"
    )
    options = parser.parse_args()
    if options.choose_sample:
        return write_sample()
    corpus = named(load_modules(), options.names)
    wrong = compare([*named(load_programs(), options.names), *corpus], options.jobs, options.show)
    for arch in options.arch:
        print(f"compiled for {arch}:")
        wrong |= compile_all(corpus, arch, options.jobs, options.show)
    return wrong


def named(modules: Iterable[Module], names: list[str]) -> list[Module]:
    """The modules whose names contain one of these; all if there are none."""
    return [m for m in modules if not names or any(name in m.name for name in names)]


def compare(modules: list[Module], jobs: int, show: int) -> int:
    """Run all checks on modules and report; the exit code of that."""
    failures: list[tuple[str, str, str]] = []
    with multiprocessing.Pool(jobs) as pool:
        results = pool.imap_unordered(check, modules, chunksize=8)
        for name, problems in progress(results, len(modules)):
            failures += [(name, check_name, text) for check_name, text in problems]
    return report(modules, sorted(failures), show)


def write_sample() -> int:
    """Choose the part of the corpus that the tests run."""
    names = choose(load_modules())
    SAMPLE.write_text("".join(f"{name}\n" for name in names))
    print(f"{len(names)} modules in {SAMPLE.relative_to(ROOT)}")
    return 0


def check(module: Module) -> tuple[str, list[tuple[str, str]]]:
    """Run all checks on one module; return its failures as (check, message)."""
    problems: list[tuple[str, str]] = []
    for name, function in CHECKS.items():
        problem = function(module)
        if problem is not None:
            problems.append((name, problem))
    return module.name, problems


def report(modules: list[Module], failures: list[tuple[str, str, str]], show: int) -> int:
    """Print the failures and the counts; recorded exceptions do not fail the run."""
    excused = read_exceptions()
    new = [failure for failure in failures if failure[0] not in excused]
    for name, check_name, text in new[:show]:
        print(f"{name}: {check_name}: {text}")
    by_check = Counter(check_name for _, check_name, _ in failures)
    print(f"{len(modules)} modules, {len(failures)} failures, {len(new)} of them not excused")
    for check_name in CHECKS:
        print(f"  {check_name:<32}{len(modules) - by_check[check_name]} of {len(modules)}")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
