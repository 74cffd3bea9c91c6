"""Measure which operations, passes and rewrites the lowering pipeline uses from Tile IR.

    python tools/tile_ir_path.py [--every N] [--jobs N]

Lowers our Tile IR programs for every GPU and the corpus for one, at default settings, to nvvm, and
writes `tests/requirements/tile_ir_path.json`: for each fact, one compilation that shows it.

    pass NAME               a pass has run
    op NAME                 an operation was in the program after some pass
    made NAME               a conversion made an operation, which need not be there after it
    attribute OP KEY        such an operation had an attribute, not at its default
    fold OP                 an operation was folded
    rule NAME -> OP         a canonicalization rule applied; `value`, if it made no operation
    OP -> OP                a conversion made the second for the first; `value`, if none
    keep OP                 a conversion left such an operation as it was

Only facts that something looks up are kept: the evidence of requirements (`tools/requirements.py`)
and the operations of the dialect pages (`tools/produced_ops.py`). Operations that appear only with
other settings, such as -O0, are listed apart: no requirement counts them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from corpus_checks import PROGRAMS, load_modules
from path_recorder import Facts, Recorder, recording
from requirements import MEASUREMENT, load_index

import tilewright
from tilewright.driver.api import read_level
from tilewright.driver.compile import Settings, target
from tilewright.driver.pipelines import level_of
from tilewright.driver.progress import progress
from tilewright.ir.verifier import verify
from tilewright.support.tensor_map_parameters import PARAMETERS
from tilewright.target.arch import ARCHES

ROOT: Final = Path(__file__).parent.parent
CORPUS_ARCH: Final = "sm_90"
CORPUS: Final = "corpus"
"""Begins the names of modules of the corpus, which is not beside every checkout."""
CORPUS_COST: Final = 4
"""How much a compilation of our own programs is preferred as the one that shows a fact."""
DIALECTS: Final = (
    *("nv_tileaa", "nv_tileas", "arith", "math", "scf", "cf", "func", "ub", "vector", "memref"),
    *("gpu", "nvgpu", "cute_nvgpu", "nvvm", "llvm"),
)
"""The dialects of the dialect pages."""
OTHER_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "-O0": {"opt_level": 0},
    "--device-debug": {"device_debug": True},
    "--sanitize": {"sanitize": True},
    "--tensor-maps parameters": {"tensor_maps": PARAMETERS},
    "--schedule agents=1,tma-stores=1": {"schedule": "agents=1,tma-stores=1"},
}
Shown = dict[str, list[str]]
"""The facts that each compilation shows; each fact once."""


class Job(NamedTuple):
    """One compilation: a program, a GPU, and the settings that are not at their defaults."""

    program: str
    arch: str
    options: str
    source: bytes

    @property
    def label(self) -> str:
        """Its name in the file."""
        return " ".join(filter(None, (self.program, self.arch, self.options)))

    @property
    def settings(self) -> Settings:
        """The settings of the compilation."""
        return Settings(target(self.arch), **OTHER_SETTINGS.get(self.options, {}))


def programs() -> dict[str, bytes]:
    """Our own Tile IR programs, by their paths."""
    paths = sorted((ROOT / "tests" / "run").rglob("*.mlir"))
    paths += [path for folder in PROGRAMS for path in sorted(folder.glob("*.mlir"))]
    sources = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}
    return {name: source for name, source in sources.items() if is_tile_ir(source)}


@cache
def corpus() -> dict[str, bytes]:
    """The modules of the corpus, by their names."""
    return {f"{CORPUS}/{module.name}": module.data for module in load_modules()}


def is_tile_ir(source: bytes) -> bool:
    """Return whether a program is written in `cuda_tile` and not at a level below."""
    try:
        return level_of(read_level(source, "<input>")) == "cuda_tile"
    except tilewright.Error:
        return False


def default_jobs(every: int) -> Iterator[Job]:
    """The compilations at default settings, with one module of the corpus in `every`."""
    for name, source in programs().items():
        yield from (Job(name, arch, "", source) for arch in ARCHES)
    for name in list(corpus())[::every]:
        yield Job(name, CORPUS_ARCH, "", corpus()[name])


def other_jobs() -> Iterator[Job]:
    """The compilations of our own programs with other settings."""
    for name, source in programs().items():
        for options in OTHER_SETTINGS:
            yield from (Job(name, arch, options, source) for arch in ("sm_90", "sm_80"))


def find_job(label: str) -> Job:
    """The compilation with a label."""
    program, arch, *options = label.split(" ", 2)
    is_ours = not program.startswith(CORPUS)
    source = (ROOT / program).read_bytes() if is_ours else corpus()[program]
    return Job(program, arch, options[0] if options else "", source)


@cache
def looked_up() -> frozenset[str]:
    """The facts that requirements have as evidence."""
    return frozenset(fact for each in load_index().values() for fact in each.evidence)


def is_listed(fact: str) -> bool:
    """Return whether a dialect page lists the operation of a fact."""
    kind, _, name = fact.partition(" ")
    return kind in ("op", "made") and name.partition(".")[0] in DIALECTS


def facts_of(job: Job, recorder: Recorder) -> Facts | None:
    """The facts of a compilation that something looks up; None if it fails."""
    try:
        module = read_level(job.source, "<input>")
        verify(module)
        facts = recorder.facts_of(module, job.settings)
    except tilewright.Error:
        return None
    return {fact for fact in facts if fact in looked_up() or is_listed(fact)}


class Measured(NamedTuple):
    """What one compilation showed."""

    label: str
    facts: frozenset[str]
    size: int
    """Of the program, in bytes: about what it costs to compile it."""


def _measure(job: Job) -> Measured | None:
    with recording() as recorder:
        facts = facts_of(job, recorder)
    return None if facts is None else Measured(job.label, frozenset(facts), len(job.source))


def measure(jobs: list[Job], processes: int) -> list[Measured]:
    """The compilations that succeeded."""
    with multiprocessing.Pool(processes) as pool:
        results = list(progress(pool.imap_unordered(_measure, jobs, chunksize=4), len(jobs)))
    return sorted(each for each in results if each is not None)


def distinct(facts: Iterable[str], known: Iterable[str] = ()) -> Facts:
    """The facts but those known; what is in a program need not be said to have been made, too."""
    new, old = set(facts), set(known)
    old |= {fact.replace("op ", "made ", 1) for fact in new | old if fact.startswith("op ")}
    return new - old


def cover(measured: Iterable[Measured], wanted: Facts) -> Shown:
    """Choose few compilations of small programs that show all the wanted facts."""
    left = {each: each.facts & wanted for each in measured}
    shown: Shown = {}
    while left := {each: facts for each, facts in left.items() if facts}:
        best = max(left, key=lambda each: (len(left[each]) / _cost(each), each.label))
        facts_of_best = left.pop(best)
        shown[best.label] = sorted(facts_of_best)
        left = {each: facts - facts_of_best for each, facts in left.items()}
    return dict(sorted(shown.items()))


def _cost(each: Measured) -> float:
    return (each.size + 1000) * (CORPUS_COST if each.label.startswith(CORPUS) else 1)


def all_facts(measured: Iterable[Measured]) -> Facts:
    """What some compilation showed."""
    return set[str]().union(*(each.facts for each in measured))


def main() -> int:
    """Measure, and write the facts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="only one corpus module in N")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--output", type=Path, default=MEASUREMENT)
    options = parser.parse_args()
    jobs = list(default_jobs(options.every))
    measured = measure(jobs, options.jobs)
    others = measure(list(other_jobs()), options.jobs)
    facts = distinct(all_facts(measured))
    text = {
        "command": f"python tools/tile_ir_path.py --every {options.every}",
        "compilations": len(measured),
        "programs": len({job.program for job in jobs}),
        "facts": cover(measured, facts),
        "other_settings": cover(others, distinct(filter(is_listed, all_facts(others)), facts)),
    }
    options.output.write_text(json.dumps(text, indent=1) + "\n")
    print(f"{len(measured)} of {len(jobs)} compilations, {len(facts)} facts: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
