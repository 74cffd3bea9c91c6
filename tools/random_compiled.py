"""Compare compiled random programs on the emulator with the reference executor.

    python tools/random_compiled.py --count 1000 --arch sm_80 sm_90

compiles each program for each GPU, runs the PTX with the emulator's checks on, in several orders of
warps, compares the results by the comparison contract, and lists the failures by kind. Orders after
the first have perturbed results of approximate instructions, too. With `--shrink`, the first
program of each kind is made smaller and printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT / "tools"))

from tilewright.dialects.cuda_tile.structure import ModuleOp  # noqa: E402
from tilewright.driver.assembly import tile_module  # noqa: E402
from tilewright.driver.emulate import compile_kernel, run_ptx  # noqa: E402
from tilewright.driver.progress import progress  # noqa: E402
from tilewright.driver.reduction.programs import reduce_module  # noqa: E402
from tilewright.ir.operation import Operation  # noqa: E402
from tilewright.reference.tile import Array  # noqa: E402
from tilewright.support.diagnostics import UserError  # noqa: E402
from tilewright.testing.generate.elements import PROFILES  # noqa: E402
from tilewright.testing.generate.execution import execute_program  # noqa: E402
from tilewright.testing.generate.kernel import Options  # noqa: E402
from tilewright.testing.generate.program import Program, generate  # noqa: E402

PATIENCE = 300
ORDERS = (1, 2)
"""Seeds of the interleaving."""
WORDS = 12
Outcome = tuple[list[Array], list[str]]


class Failure(NamedTuple):
    """A program whose compiled form behaves differently."""

    seed: int
    arch: str
    gist: str

    @property
    def kind(self) -> str:
        """The message without the parts that are specific to the program."""
        first = re.sub(r"^\S+:\d+:\d+: ", "", self.gist.splitlines()[0])
        words = re.sub(r"[-+.\w]*\d[-+.\w]*|\[[^]]*\]|nan|inf", "N", first).split()
        return " ".join(words[:WORDS])

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.arch}: {self.gist.splitlines()[0]}"


class TooLong(Exception):
    """A program did not terminate in time."""


def referee(program: Program, module: ModuleOp) -> Outcome:
    """Run a program on the reference executor."""
    return execute_program(program, module)


def emulated(
    program: Program, module: ModuleOp, ptx: str, seed: int, *, perturbed: bool = False
) -> Outcome:
    """Run its PTX on the emulator."""
    arguments, printed = program.arguments(), list[str]()
    run_ptx(
        ptx, module, program.entry, program.grid, arguments,
        check=True, seed=seed, write=printed.append,
        perturb=1 + program.seed if perturbed else 0,
    )  # fmt: skip
    return program.outcome(arguments), sorted("".join(printed).splitlines())


def disagreements(program: Program, module: ModuleOp, arch: str, opt_level: int) -> Iterator[str]:
    """Yield the differences of the compiled program from the reference executor's outcome."""
    arrays, lines = referee(program, module)
    ptx = compile_kernel(module, program.entry, arch, opt_level)
    for order in ORDERS:
        perturbed = order != ORDERS[0]
        outputs, printed = emulated(program, module, ptx, order, perturbed=perturbed)
        for problem in program.differences(outputs, arrays, perturbed=perturbed):
            yield f"wrong result: {problem}"
        if printed != lines:
            yield "prints other lines"


def gists(program: Program, module: ModuleOp, arch: str, opt_level: int) -> list[str]:
    """Return the failures of a program, exceptions included."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(PATIENCE)
    try:
        return list(disagreements(program, module, arch, opt_level))
    except UserError as error:
        return [error.render().strip()]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    finally:
        signal.alarm(0)


def _give_up(*_: Any) -> None:
    raise TooLong(f"no end after {PATIENCE} seconds")


def failures(
    seed: int, arches: Sequence[str], profile: str | None, size: int, opt_level: int
) -> list[Failure]:
    """Return the failures of the program of a seed."""
    failures_: list[Failure] = []
    for arch in arches:
        program = generate(seed, Options(size, profile or arch))
        for gist in gists(program, program.module(), arch, opt_level)[:1]:
            failures_.append(Failure(seed, arch, gist))
    return failures_


def smaller(failure: Failure, profile: str | None, size: int, opt_level: int) -> str:
    """The smallest program that fails in the same way."""
    program = generate(failure.seed, Options(size, profile or failure.arch))

    def fails(candidate: Operation) -> bool:
        again = gists(program, tile_module(candidate, "program"), failure.arch, opt_level)
        return any(Failure(0, "", gist).kind == failure.kind for gist in again)

    return str(reduce_module(program.module(), fails))


def shown(rows: Iterable[list[Failure]]) -> Iterator[Failure]:
    """Yield all failures, and print each as soon as it is known."""
    for failure in chain.from_iterable(rows):
        print(failure, flush=True)
        yield failure


def report(failures: list[Failure], count: int) -> str:
    """Return the failures by kind, the most frequent first, and the counts."""
    kinds: dict[str, list[Failure]] = {}
    for failure in failures:
        kinds.setdefault(failure.kind, []).append(failure)
    lines: list[str] = []
    for kind, same in sorted(kinds.items(), key=lambda item: -len(item[1])):
        lines += [
            f"{len(same):5} {kind}",
            *(f"      seed {each.seed}, {each.arch}" for each in same[:4]),
        ]
    return "\n".join([*lines, f"{count} programs, {len(failures)} failures of {len(kinds)} kinds"])


def main() -> int:
    """Run the programs of many seeds; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--size", type=int, default=Options().size)
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90"])
    parser.add_argument("--profile", choices=tuple(PROFILES), help="instead of the GPU's own")
    parser.add_argument("-O", "--opt-level", type=int, default=3)
    parser.add_argument("--shrink", action="store_true", help="print small programs that fail")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    given = parser.parse_args()
    if not given.profile and (others := [arch for arch in given.arch if arch not in PROFILES]):
        parser.error(f"expected --profile for {', '.join(others)}: it has no profile of its own")
    how = {"profile": given.profile, "size": given.size, "opt_level": given.opt_level}
    seeds = range(given.first, given.first + given.count)
    look = partial(failures, arches=given.arch, **how)
    with multiprocessing.Pool(given.jobs) as pool:
        failed = sorted(shown(progress(pool.imap_unordered(look, seeds), len(seeds))))
    print(report(failed, len(seeds) * len(given.arch)))
    if given.shrink:
        for failure in {failure.kind: failure for failure in reversed(failed)}.values():
            print(f"\n{failure}\n{smaller(failure, **how)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
