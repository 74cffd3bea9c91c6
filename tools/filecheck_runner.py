"""FileCheck tests: the RUN lines of a file, run in process, and their output checked.

    // RUN: tilewright opt --pass synchronize %s | filecheck %s --check-prefix=SM90
    // RUN: tilewright opt --pass synchronize --verify-diagnostics %s

A line `// -----` splits a file into inputs that run one after the other; the checks see all their
outputs. With `--verify-diagnostics`, each input must report exactly the diagnostics that it expects
in comments such as `// expected-error@+1 {{text}}`, on those lines; notes may go without.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Final, NamedTuple

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options, parse_argv_options
from filecheck.parser import Parser

from tilewright.driver import cli

ROOT: Final = Path(__file__).parents[1] / "tests" / "filecheck"
_RUN: Final = re.compile(r"^\s*// RUN: (.*)$", re.MULTILINE)
_SPLIT: Final = re.compile(r"^// -----$\n?", re.MULTILINE)
_EXPECTED: Final = re.compile(
    r"// expected-(?P<severity>error|warning|remark|note)"
    r"(?:@(?P<offset>[+-]\d+))? \{\{(?P<text>.*?)\}\}"
)
_REPORTED: Final = re.compile(
    r"^<stdin>:(?P<line>\d+):\d+: (?P<severity>error|warning|remark|note): (?P<text>.*)$",
    re.MULTILINE,
)
VERIFY_DIAGNOSTICS: Final = "--verify-diagnostics"


class Case(NamedTuple):
    """One RUN line of a file."""

    path: Path
    arguments: tuple[str, ...]
    """The arguments of `tilewright`."""
    checks: tuple[str, ...]
    """The arguments of `filecheck`; empty without one."""

    @property
    def id(self) -> str:
        """The file and the command, for reports."""
        words = [word for word in self.arguments if word not in ("opt", "--pass", "-")]
        prefix = [word for word in self.checks if word.startswith("--check-prefix")]
        return "-".join([str(self.path.relative_to(ROOT)), *words, *prefix])


class Outcome(NamedTuple):
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: str


class Reported(NamedTuple):
    """A diagnostic, as an input expects it or as the command reports it."""

    line: int
    severity: str
    text: str

    def accepts(self, other: Reported) -> bool:
        """Return whether a reported diagnostic is this expected one."""
        return self[:2] == other[:2] and self.text in other.text


def cases(folder: Path = ROOT) -> list[Case]:
    """All cases below a folder."""
    return [case for path in sorted(folder.rglob("*.mlir")) for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    lines = _RUN.findall(path.read_text())
    if not lines:
        raise ValueError(f"{path}: expected a RUN line")
    for line in lines:
        command, _, checker = line.partition(" | ")
        tool, *arguments = ["-" if word == "%s" else word for word in shlex.split(command)]
        checks = [str(path) if word == "%s" else word for word in shlex.split(checker)]
        if tool != "tilewright" or checks[:1] not in ([], ["filecheck"]):
            raise ValueError(f"{path}: expected 'tilewright ... | filecheck ...', got '{line}'")
        if not checks and VERIFY_DIAGNOSTICS not in arguments:
            raise ValueError(f"{path}: expected checks or {VERIFY_DIAGNOSTICS}, got '{line}'")
        yield Case(path, tuple(arguments), tuple(checks))


def problem(case: Case) -> str | None:
    """Run a case: the first failure, or `None` if it passes."""
    verifies = VERIFY_DIAGNOSTICS in case.arguments
    arguments = [word for word in case.arguments if word != VERIFY_DIAGNOSTICS]
    outputs: list[str] = []
    for source in _inputs(case.path.read_text()):
        outcome = run_command(arguments, source)
        outputs.append(outcome.out)
        failure = (_diagnostics if verifies else _success)(source, outcome)
        if failure is not None:
            return failure
    return file_check(case, "// -----\n".join(outputs)) if case.checks else None


def _inputs(text: str) -> Iterator[str]:
    """The inputs of a file, each after as many empty lines as precede it there."""
    start = 0
    for match in _SPLIT.finditer(text):
        yield "\n" * text.count("\n", 0, start) + text[start : match.start()]
        start = match.end()
    yield "\n" * text.count("\n", 0, start) + text[start:]


def run_command(arguments: list[str], source: str) -> Outcome:
    """Run `tilewright` in this process on a text as standard input."""
    with _streams(source) as (out, err):
        code = cli.main(arguments)
    return Outcome(code, out.getvalue().decode(), err.getvalue())


@contextmanager
def _streams(source: str) -> Generator[tuple[io.BytesIO, io.StringIO], None, None]:
    out, err = io.BytesIO(), io.StringIO()
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(source.encode()))
    sys.stdout = io.TextIOWrapper(out, write_through=True)
    sys.stderr = err
    try:
        yield out, err
    finally:
        sys.stdout.detach()
        sys.stdin, sys.stdout, sys.stderr = before


def _success(source: str, outcome: Outcome) -> str | None:
    if outcome.code or outcome.err:
        return f"exit code {outcome.code}: {outcome.err}"
    return None


def _diagnostics(source: str, outcome: Outcome) -> str | None:
    """Compare the diagnostics of an input with those that its comments expect."""
    expected = {
        Reported(
            source.count("\n", 0, match.start()) + 1 + int(match["offset"] or 0),
            match["severity"],
            match["text"],
        )
        for match in _EXPECTED.finditer(source)
    }
    reported = {
        Reported(int(match["line"]), match["severity"], match["text"])
        for match in _REPORTED.finditer(outcome.err)
    }
    unseen = [each for each in sorted(expected) if not any(map(each.accepts, reported))]
    unexpected = [
        other
        for other in sorted(reported)
        if other.severity != "note" and not any(each.accepts(other) for each in expected)
    ]
    if unseen or unexpected:
        return f"expected but not reported: {unseen}; reported but not expected: {unexpected}"
    fails = any(each.severity == "error" for each in expected)
    if fails != bool(outcome.code):
        return f"exit code {outcome.code}: {outcome.err}"
    return None


def file_check(case: Case, output: str) -> str | None:
    """Check an output with FileCheck: its report, or `None` if all checks match."""
    options: Options = parse_argv_options(list(case.checks))
    matcher = Matcher(options, FInput("output", output), Parser.from_opts(options))
    matcher.stderr = io.StringIO()
    # The library prints progress to standard output.
    with redirect_stdout(io.StringIO()):
        passed = matcher.run() == 0
    return None if passed else matcher.stderr.getvalue()
