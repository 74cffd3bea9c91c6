"""Compare random programs on every executor, before and after passes.

    python tools/run_random.py --count 2000 --passes structure-early-exits canonicalize

runs each program as it is, under the checker, with its constants as arguments, and both forms
after each pipeline of passes, and says for which seeds an outcome differs or a run fails.
`--nv-tileaa` stands for the three pipelines that lead there: without the canonicalizer, with it,
and as far as the plan, which a program with a feature that it does not support has none of.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT / "tools"))

from tilewright.driver.assembly import wrap_in_module  # noqa: E402
from tilewright.driver.pipelines import PLAN, leaves_tile_ir, parse_pipeline, passes_to  # noqa: E402
from tilewright.driver.progress import progress  # noqa: E402
from tilewright.ir.operation import Operation  # noqa: E402
from tilewright.ir.verifier import verify  # noqa: E402
from tilewright.reference.tile import Array  # noqa: E402
from tilewright.support.diagnostics import Unsupported  # noqa: E402
from tilewright.testing.generate.elements import PROFILES  # noqa: E402
from tilewright.testing.generate.execution import execute_program  # noqa: E402
from tilewright.testing.generate.kernel import Options  # noqa: E402
from tilewright.testing.generate.program import Program, generate  # noqa: E402

Outcome = tuple[list[Array], list[str]]

CANONICAL = passes_to("nv_tileaa", "sm_90")
NV_TILEAA = [CANONICAL.partition(",canonicalize")[0], CANONICAL]
"""The pipelines to nv_tileaa: without its canonicalizer and with it."""
PLANNED = f"{CANONICAL},{passes_to(PLAN, 'sm_90')}"
"""The pipeline to nv_tileaa, and as far as the plan."""


def outcome(program: Program, module: Operation, **how: Any) -> Outcome:
    """The arrays and lines that a program leaves."""
    return execute_program(program, module, **how)


def changed(module: Operation, passes: str) -> Operation:
    """A copy of a module after a pipeline."""
    pipeline = parse_pipeline(passes)
    copy = module.clone()
    if leaves_tile_ir(pipeline):
        copy = wrap_in_module(copy)
    pipeline.run(copy)
    verify(copy)
    return copy


def outcomes(program: Program, passes: list[str]) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcome of each way to run a program, the reference outcome first."""
    module = program.module()
    yield "plain", outcome(program, module)
    yield "checked", outcome(program, module, check=True, seed=program.seed)
    twin = generate(program.seed, program.options._replace(unfolded=True))
    unfolded = twin.module()
    yield "unfolded", outcome(twin, unfolded)
    for pipeline in passes:
        try:
            lower, lower_twin = changed(module, pipeline), changed(unfolded, pipeline)
        except Unsupported:
            continue
        yield pipeline, outcome(program, lower)
        yield f"checked, {pipeline}", outcome(program, lower, check=True, seed=program.seed)
        yield f"unfolded, {pipeline}", outcome(twin, lower_twin)


def problems(seed: int, options: Options, passes: list[str]) -> list[str]:
    """Return the failures of the program of a seed, exceptions included."""
    try:
        program = generate(seed, options)
        others = outcomes(program, passes)
        _, (arrays, lines) = next(others)
        return [f"seed {seed}, {way}: {problem}" for way, other in others
                for problem in _differences(program, other, arrays, lines)]  # fmt: skip
    except Exception as error:
        return [f"seed {seed}: {type(error).__name__}: {error}"]


def _differences(
    program: Program, actual: Outcome, arrays: list[Array], lines: list[str]
) -> Iterator[str]:
    yield from program.differences(actual[0], arrays)
    if actual[1] != lines:
        yield "prints other lines"


def main() -> int:
    """Run the programs of many seeds; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--size", type=int, default=Options().size)
    parser.add_argument("--profile", choices=tuple(PROFILES), default="all")
    parser.add_argument("--passes", nargs="*", default=["structure-early-exits"])
    parser.add_argument("--nv-tileaa", action="store_true", help="lower each program as well")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    given = parser.parse_args()
    options = Options(given.size, given.profile)
    seeds = range(given.first, given.first + given.count)
    passes = given.passes + ([*NV_TILEAA, PLANNED] if given.nv_tileaa else [])
    look = partial(problems, options=options, passes=passes)
    with multiprocessing.Pool(given.jobs) as pool:
        failures = list(progress(pool.imap(look, seeds, chunksize=8), len(seeds)))
    wrong = [problem for each in failures for problem in each]
    print("\n".join([*wrong, f"{len(seeds)} programs, {sum(map(bool, failures))} of them wrong"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
