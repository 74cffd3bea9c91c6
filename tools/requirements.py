"""`make requirements`: each requirement with the tests that cover it, after running those tests.

The third column says whether it holds on the path from Tile IR: `path` if compilations of Tile IR
programs at default settings used all that is its evidence, `hand-written` if only programs written
by hand reach it, nearly all of them of a lower level, `front end` if it is about text, bytecode and
verification of Tile IR, `interface` if it is about how passes are put together. The lines below say
what was seen, and where. `tools/tile_ir_path.py` measures what those compilations use.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

ROOT: Final = Path(__file__).parent.parent
INDEX: Final = ROOT / "tests" / "requirements" / "index.toml"
MEASUREMENT: Final = INDEX.parent / "tile_ir_path.json"
APART: Final = ("front end", "interface")
"""The subjects of requirements that are not about the lowering of programs."""

Status = Literal["covered", "waived", "later", "open"]
Reach = Literal["path", "hand-written", "front end", "interface", "-"]


@dataclass(frozen=True)
class Requirement:
    """One row of the index: what must hold, its evidence, and why it may be without a test."""

    id: str
    title: str
    later: str | None = None
    waived: str | None = None
    evidence: Sequence[str] = ()
    about: str | None = None

    def __post_init__(self) -> None:
        if self.later and self.waived:
            raise ValueError(f"{self.id}: expected at most one of later and waived, got both")
        if self.about is not None and self.about not in APART:
            raise ValueError(f"{self.id}: expected about to be one of {', '.join(APART)}")


@dataclass(frozen=True)
class Measurement:
    """The facts that compilations of Tile IR programs use; see `tools/tile_ir_path.py`."""

    command: str
    compilations: int
    programs: int
    facts: Mapping[str, str]
    """For each fact, a compilation at default settings that shows it."""
    other_settings: Mapping[str, str]
    """For each fact that only other settings show, a compilation that does."""


def load_measurement(path: Path = MEASUREMENT) -> Measurement:
    """The measurement that was written last."""
    data = json.loads(path.read_text(encoding="utf-8"))
    for key in ("facts", "other_settings"):
        data[key] = {fact: label for label, facts in data[key].items() for fact in facts}
    return Measurement(**data)


def reach(requirement: Requirement, measured: Measurement) -> Reach:
    """Return whether a requirement holds on the path from Tile IR."""
    if requirement.waived or not (requirement.about or requirement.evidence):
        return "-"
    if requirement.about is not None:
        return "front end" if requirement.about == APART[0] else "interface"
    return "hand-written" if missing(requirement, measured) else "path"


def missing(requirement: Requirement, measured: Measurement) -> list[str]:
    """The evidence that no compilation at default settings shows."""
    return [fact for fact in requirement.evidence if fact not in measured.facts]


def seen(requirement: Requirement, measured: Measurement) -> Iterator[str]:
    """What was seen of the evidence, and in which compilation, or what was not."""
    if requirement.waived or requirement.about is not None:
        return
    for fact in requirement.evidence:
        label = measured.facts.get(fact)
        yield f"not seen: {fact}" if label is None else f"seen: {fact}, in {label}"


class Outcome(NamedTuple):
    """The outcome of one test that carries a requirement."""

    requirement: str
    test: str
    kind: str | None
    result: str


def load_index(path: Path = INDEX) -> dict[str, Requirement]:
    """The requirements by id, in the order of the file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    index = {key: Requirement(key, **row) for key, row in data["requirements"].items()}
    for requirement in index.values():
        if requirement.later and requirement.later not in data["stages"]:
            raise ValueError(f"{requirement.id}: unknown stage {requirement.later!r}")
    return index


def status(requirement: Requirement, outcomes: Iterable[Outcome]) -> Status:
    """Return the status that the index sets, or else that of the tests."""
    if requirement.waived:
        return "waived"
    if requirement.later:
        return "later"
    results = {outcome.result for outcome in outcomes}
    return "covered" if "passed" in results and "failed" not in results else "open"


def why_open(outcomes: list[Outcome]) -> str:
    """The reason that keeps a requirement open, in a few words."""
    if not outcomes:
        return "no test"
    failed = sorted({outcome.test for outcome in outcomes if outcome.result == "failed"})
    return f"failed: {', '.join(failed)}" if failed else "all its tests were skipped"


def rows(requirement: Requirement, outcomes: list[Outcome], measured: Measurement) -> Iterator[str]:
    """The lines that list one requirement: itself, then one per test function."""
    state = status(requirement, outcomes)
    reasons = {"later": requirement.later, "waived": requirement.waived}
    if state == "open" and outcomes:
        reasons["open"] = why_open(outcomes)
    reason = reasons.get(state)
    columns = f"{requirement.id}  {state:<8} {reach(requirement, measured):<12}"
    yield f"{columns} {requirement.title}" + (f"  [{reason}]" if reason else "")
    for line in seen(requirement, measured):
        yield f"                               {line}"
    functions = Counter((outcome.test.partition("[")[0], outcome.kind) for outcome in outcomes)
    for (function, kind), cases in sorted(functions.items(), key=lambda entry: entry[0][0]):
        notes = [f"{cases} cases"] * (cases > 1) + [kind or ""] * (kind is not None)
        yield f"                               {function}" + (
            f"  ({', '.join(notes)})" if notes else ""
        )


def report(
    index: Mapping[str, Requirement], outcomes: Iterable[Outcome], measured: Measurement
) -> Iterator[str]:
    """The whole listing; the last lines hold the counts of both columns."""
    by_id: dict[str, list[Outcome]] = {key: [] for key in index}
    for outcome in outcomes:
        by_id[outcome.requirement].append(outcome)
    states = {key: status(index[key], outcomes_) for key, outcomes_ in by_id.items()}
    for key, outcomes_ in by_id.items():
        yield from rows(index[key], outcomes_, measured)
    yield ""
    for key, state in states.items():
        if state == "open":
            yield f"open: {key} ({why_open(by_id[key])})"
    counts = Counter(states.values())
    yield "requirements: " + ", ".join(
        f"{counts[state]} {state}" for state in ("covered", "waived", "later", "open")
    )
    reached = Counter(reach(requirement, measured) for requirement in index.values())
    yield "on the path from Tile IR: " + ", ".join(
        f"{reached[column]} {column}" for column in ("path", "hand-written", *APART)
    )
    source = f"{measured.compilations} compilations of {measured.programs} programs"
    yield f"measured by {source} at default settings: {measured.command}"


def run_tests(arguments: list[str]) -> tuple[int, list[Outcome]]:
    """Run the tests that carry a requirement; pytest's exit code and what became of each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "outcomes.json"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--no-header"]
        command += ["-m", "requirement and not gpu", f"--requirements-report={path}", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 5):  # all passed; there was none
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        records = json.loads(path.read_text()) if path.exists() else []
    return done.returncode, [Outcome(*record) for record in records]


def main() -> int:
    """List, run, count; 0 unless a marked test failed or could not be collected."""
    parser = argparse.ArgumentParser(description=__doc__)
    _, arguments = parser.parse_known_args()
    code, outcomes = run_tests(arguments)
    print(*report(load_index(), outcomes, load_measurement()), sep="\n")
    return 0 if code in (0, 5) else 1


if __name__ == "__main__":
    sys.exit(main())
