"""Measure which operations, passes and rewrites the lowering pipeline uses from Tile IR.

    python tools/tile_ir_path.py [--every N] [--jobs N]

Lowers what `tools/produced_ops.py` lowers to nvvm, the corpus and the Tile IR programs of
`tests/run` among it, and writes each fact once to `tests/requirements/tile_ir_path.json`:

    pass NAME               a pass has run
    op NAME                 an operation was in the program after some pass
    attribute OP KEY        such an operation had an attribute, not at its default
    fold OP                 an operation was folded
    rule NAME -> OP         a canonicalization rule applied; `value`, if it made no operation
    OP -> OP                a conversion made the second for the first; `value`, if none
    keep OP                 a conversion left such an operation as it was

`tools/requirements.py` looks up the evidence of each requirement among them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from produced_ops import Job, corpus_jobs, program_jobs

import tilewright
from tilewright.driver.api import read_level
from tilewright.driver.compile import Compilation, Observers
from tilewright.driver.progress import progress
from tilewright.ir import rules
from tilewright.ir.conversion_builder import ConversionBuilder
from tilewright.ir.operation import Operation
from tilewright.ir.passes import Instrument, Pass
from tilewright.ir.verifier import verify

ROOT: Final = Path(__file__).parent.parent
MEASUREMENT: Final = ROOT / "tests" / "requirements" / "tile_ir_path.json"

Facts = set[str]


class Recorder(Instrument):
    """Records the passes that run and the operations that each leaves."""

    __slots__ = ("facts",)

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def after(self, step: Pass, op: Operation) -> None:
        self.facts.add(f"pass {step.name}")
        for inner in op.walk():
            self.facts.add(f"op {inner.name}")
            self.facts.update(f"attribute {inner.name} {key}" for key in chosen_attributes(inner))


def chosen_attributes(op: Operation) -> Iterator[str]:
    """The attributes of an operation that are not at their defaults."""
    fields = {each.spelling: each for each in op.schema.attributes}
    for key in op.attributes:
        field = fields.get(key)
        if field is None or getattr(op, field.name) != field.default:
            yield key


def record_rewrites(facts: Facts) -> None:
    """Let the greedy driver record each fold and each rule that applied."""
    commit = rules._Greedy._commit

    def recorded(
        self: rules._Greedy, op: Operation, replacement: rules.Replacement, name: str
    ) -> None:
        if name == "fold":
            facts.add(f"fold {op.name}")
        else:
            result = replacement.name if isinstance(replacement, Operation) else "value"
            facts.add(f"rule {name} -> {result}")
        commit(self, op, replacement, name)

    rules._Greedy._commit = recorded


def record_conversions(facts: Facts) -> None:
    """Let the conversion driver record what each operation is converted to, and what stays."""
    driver: Any = ConversionBuilder
    convert, transfer, keep = driver._convert, driver._transfer, driver._keep

    def add(op: Operation, made: list[object]) -> None:
        news = [new.name for new in made if isinstance(new, Operation)]
        # Operations after the first come from the regions of the operation.
        facts.update({f"{op.name} -> {new}" for new in (news[:1] if op.regions else news)})
        if not news:
            facts.add(f"{op.name} -> value")

    def converted(self: Any, op: Operation, patterns: object, new: bool) -> object:
        mark = len(self._made)
        reasons = convert(self, op, patterns, new)
        if reasons is None:
            add(op, self._made[mark:])
        return reasons

    def transferred(self: Any, op: Operation, make: object) -> bool:
        mark = len(self._made)
        if succeeded := transfer(self, op, make):
            add(op, self._made[mark:])
        return succeeded

    def kept(self: Any, op: Operation) -> None:
        facts.add(f"keep {op.name}")
        keep(self, op)

    driver._convert, driver._transfer, driver._keep = converted, transferred, kept


_facts: Facts = set()


def _instrument() -> None:
    record_rewrites(_facts)
    record_conversions(_facts)


def lower(job: Job) -> tuple[Facts, bool]:
    """Run one compilation; return its facts and whether it succeeded."""
    _facts.clear()
    try:
        module = read_level(job.source, "<input>")
        verify(module)
        Compilation(module, job.settings, Observers([Recorder(_facts)])).lower("nvvm")
    except tilewright.Error:
        return set(), False
    return set(_facts), True


def measure(jobs: list[Job], processes: int) -> tuple[Facts, int]:
    """Return all facts, and the number of compilations."""
    facts: Facts = set()
    lowered = 0
    with multiprocessing.Pool(processes, _instrument) as pool:
        results = pool.imap_unordered(lower, jobs, chunksize=4)
        for new, succeeded in progress(results, len(jobs)):
            facts |= new
            lowered += succeeded
    return facts, lowered


def commit() -> str:
    """The commit that is measured."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=7", "--dirty"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def main() -> int:
    """Measure, and write the facts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=10, help="only one corpus module in N")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--output", type=Path, default=MEASUREMENT)
    options = parser.parse_args()
    jobs = list(chain(program_jobs(), corpus_jobs(options.every)))
    facts, lowered = measure(jobs, options.jobs)
    header = {
        "command": f"python tools/tile_ir_path.py --every {options.every}",
        "commit": commit(),
        "compilations": lowered,
        "programs": len({job.source for job in jobs}),
    }
    options.output.write_text(json.dumps({**header, "facts": sorted(facts)}, indent=1) + "\n")
    print(f"{lowered} of {len(jobs)} compilations, {len(facts)} facts: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
