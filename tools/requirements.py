"""`make requirements`: each requirement with the tests that cover it, after running those tests."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

ROOT: Final = Path(__file__).parent.parent
INDEX: Final = ROOT / "tests" / "requirements" / "index.toml"

Status = Literal["covered", "waived", "later", "open"]


@dataclass(frozen=True)
class Requirement:
    """One row of the index: what must hold, and why it may be without a test for now."""

    id: str
    title: str
    later: str | None = None
    waived: str | None = None

    def __post_init__(self) -> None:
        if self.later and self.waived:
            raise ValueError(f"{self.id}: expected at most one of later and waived, got both")


class Outcome(NamedTuple):
    """How one test that carries a requirement ended."""

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
    """What the index says holds until its entry is removed; the tests decide the rest."""
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


def rows(requirement: Requirement, outcomes: list[Outcome]) -> Iterator[str]:
    """The lines that list one requirement: itself, then one per test function."""
    state = status(requirement, outcomes)
    reasons = {"later": requirement.later, "waived": requirement.waived}
    if state == "open" and outcomes:
        reasons["open"] = why_open(outcomes)
    reason = reasons.get(state)
    yield f"{requirement.id}  {state:<8} {requirement.title}" + (f"  [{reason}]" if reason else "")
    functions = Counter((outcome.test.partition("[")[0], outcome.kind) for outcome in outcomes)
    for (function, kind), cases in sorted(functions.items(), key=lambda entry: entry[0][0]):
        notes = [f"{cases} cases"] * (cases > 1) + [kind or ""] * (kind is not None)
        yield f"                  {function}" + (f"  ({', '.join(notes)})" if notes else "")


def report(index: Mapping[str, Requirement], outcomes: Iterable[Outcome]) -> Iterator[str]:
    """The whole listing; the last line holds the four counts."""
    by_id: dict[str, list[Outcome]] = {key: [] for key in index}
    for outcome in outcomes:
        by_id[outcome.requirement].append(outcome)
    states = {key: status(index[key], found) for key, found in by_id.items()}
    for key, found in by_id.items():
        yield from rows(index[key], found)
    yield ""
    for key, state in states.items():
        if state == "open":
            yield f"open: {key} ({why_open(by_id[key])})"
    counts = Counter(states.values())
    yield "requirements: " + ", ".join(
        f"{counts[state]} {state}" for state in ("covered", "waived", "later", "open")
    )


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
    print(*report(load_index(), outcomes), sep="\n")
    return 0 if code in (0, 5) else 1


if __name__ == "__main__":
    sys.exit(main())
