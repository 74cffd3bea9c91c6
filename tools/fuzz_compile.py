"""Compile mutated programs in watched processes: each ends in a cubin, a UserError or Unsupported.

python tools/fuzz_compile.py [-n COUNT] [--seed NUMBER] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

from corpus_checks import ARCHIVE, load_modules, load_programs
from mutate import mutate_text
from mutate_programs import mutate_program

import tilewright
from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.api import read_level
from tilewright.driver.disassembly import disassemble
from tilewright.driver.progress import progress
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Error, InternalError, Unsupported, UserError

SECONDS: Final = 120.0
"""Time limit of a program, in seconds."""
MEMORY: Final = 8 << 30
"""Memory limit of a process in bytes, without its children."""
ARCHES: Final = ("sm_90", "sm_90", "sm_80", "sm_89")
WILD: Final = 4
"""One program in this many is mutated without regard for its validity."""


class Outcome(NamedTuple):
    """The outcome of a program, and whether it verified."""

    kind: str
    valid: bool
    why: str = ""

    @property
    def failed(self) -> bool:
        """Whether it ended neither in a cubin nor in a `UserError` or `Unsupported`."""
        return self.kind == "FAILED"


def seeds() -> list[str]:
    """The texts that mutations start from: our own programs and small modules of the corpus."""
    modules = [module.data for module in load_programs()]
    if ARCHIVE.exists():
        modules += sorted((m.data for m in load_modules()), key=len)[::6]
    return [disassemble(read_bytecode(data, "seed")) for data in modules]


def mutated(texts: Sequence[str], seed: int) -> str:
    """The program of a number."""
    rng = random.Random(seed)
    text = rng.choice(texts)
    return mutate_text(text, texts, rng) if seed % WILD == 0 else mutate_program(text, rng)


def attempt(text: str, arch: str) -> Outcome:
    """Compile a text."""
    valid = False
    try:
        module = read_level(text, "input")
        verify(module)
        valid = True
        tilewright.compile(module, arch)
    except InternalError:
        return Outcome("FAILED", valid, traceback.format_exc())
    except (UserError, Unsupported) as error:
        return Outcome(type(error).__name__, valid, str(error))
    except Error as error:
        return Outcome("FAILED", valid, f"{type(error).__name__}: {error}")
    except Exception:
        return Outcome("FAILED", valid, traceback.format_exc())
    return Outcome("compiled", valid)


Attempt = Callable[[str, str], Outcome]


def serve(pipe: Connection, attempt: Attempt) -> None:
    """Compile the requests of a pipe, in a supervised process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            text, arch = pipe.recv()
        except EOFError:
            return
        pipe.send(attempt(text, arch))


class Watched:
    """A process that compiles, and is replaced when it ends or takes too long."""

    def __init__(self, attempt: Attempt = attempt) -> None:
        self._attempt = attempt
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, self._attempt), daemon=True)
        self._process.start()
        other.close()

    def attempt(self, text: str, arch: str) -> Outcome:
        """Compile a program and return its outcome."""
        self._pipe.send((text, arch))
        if self._pipe.poll(SECONDS):
            try:
                return self._pipe.recv()
            except EOFError:
                self._process.join()
                why = f"the process ended with {self._process.exitcode}"
        else:
            why = f"longer than {SECONDS:.0f} s"
            self._process.kill()
        self._start()
        return Outcome("FAILED", True, why)

    def close(self) -> None:
        """Let the process end."""
        self._pipe.close()
        self._process.join()


def run(texts: Sequence[str], numbers: Sequence[int]) -> list[tuple[int, Outcome]]:
    """Compile the programs of some numbers, one after the other."""
    watched = Watched()
    outcomes = [
        (number, watched.attempt(mutated(texts, number), ARCHES[number % len(ARCHES)]))
        for number in numbers
    ]
    watched.close()
    return outcomes


def main() -> int:
    """Compile all; the exit code says whether there were failures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-n", type=int, default=2000, help="number of programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--keep", type=Path, help="folder for the programs that failed")
    options = parser.parse_args()
    texts = seeds()
    first = options.seed * 1_000_003
    batches = [
        range(at, min(at + 20, first + options.n)) for at in range(first, first + options.n, 20)
    ]
    outcomes: Counter[str] = Counter()
    distinct: dict[str, tuple[int, Outcome]] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda batch: run(texts, batch), batches)
        for number, outcome in (
            each for group in progress(results, len(batches)) for each in group
        ):
            outcomes[f"{outcome.kind}, {'valid' if outcome.valid else 'invalid'}"] += 1
            if outcome.failed:
                last = outcome.why.strip().splitlines()[-1][:120]
                distinct.setdefault(last, (number, outcome))
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{number}.mlir").write_text(mutated(texts, number))
    return report(outcomes, distinct)


def report(outcomes: Counter[str], distinct: dict[str, tuple[int, Outcome]]) -> int:
    """Print the counts, and each kind of failure once."""
    for number, outcome in list(distinct.values())[:20]:
        print(f"program {number} on {ARCHES[number % len(ARCHES)]}: {outcome.why}")
    valid = sum(count for kind, count in outcomes.items() if kind.endswith(", valid"))
    for kind, count in sorted(outcomes.items()):
        print(f"  {kind:<24}{count}")
    failed = sum(count for kind, count in outcomes.items() if kind.startswith("FAILED"))
    print(f"{outcomes.total()} programs, {valid} that verify, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
