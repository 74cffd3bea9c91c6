"""The cases of a folder of lit tests, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

RUN: Final = re.compile(r"^\s*//\s*RUN:\s*(.*)$", re.MULTILINE)
SEPARATOR: Final = re.compile(r"^// -----.*$", re.MULTILINE)
EXPECTED: Final = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?:-re)?\s*"
    r"(?P<where>@[\w+-]+)?\s*(?P<times>\d+)?\s*\{\{(?P<message>.*?)\}\}(?=\s|$|,)"
)
PIPELINE: Final = re.compile(r"--pass-pipeline=(?:'([^']*)'|\"([^\"]*)\")")


@dataclass(frozen=True)
class Expectation:
    """An error that a test demands, with the line it must be on (0: any)."""

    line: int
    message: str


@dataclass(frozen=True)
class Case:
    """One program of a test file, and its expected outcome."""

    path: Path
    line: int
    text: str
    errors: tuple[Expectation, ...]
    must_fail: bool
    run: str
    bytecode_version: str | None = None

    @property
    def allow_unregistered(self) -> bool:
        """Whether operations of unknown dialects are fine."""
        return "allow-unregistered-dialect" in self.run

    @property
    def writes_bytecode(self) -> bool:
        """Whether the tool under test would encode the module."""
        return "mlir-to-cudatilebc" in self.run or "roundtrip" in self.run

    @property
    def hints(self) -> str:
        """How invalid optimization hints are treated: ignored, warnings or errors."""
        if "Werr-hints" in self.run:
            return "error"
        return "warning" if "Wunsupported-hints" in self.run else "ignore"


@dataclass(frozen=True)
class TransformTest:
    """A file whose output after some passes FileCheck judges."""

    path: Path
    run: str
    chunks: tuple[str, ...]
    pipeline: str
    debug: bool = field(default=False)


@dataclass(frozen=True)
class BinaryCase:
    """A bytecode file, and whether it must be rejected."""

    path: Path
    must_fail: bool


def find_cases(folder: Path) -> Iterator[Case]:
    """Every text case of a folder of tests."""
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text()
        yield from _file_cases(path, text, _runs(text))


def find_transforms(folder: Path) -> Iterator[TransformTest]:
    """Every file that runs passes and checks their output."""
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text()
        for run in _runs(text):
            pipeline = _pipeline(run)
            if pipeline is not None:
                chunks = tuple(chunk for _, chunk in _chunks(text, split="split-input-file" in run))
                yield TransformTest(path, run, chunks, pipeline, "print-debuginfo" in run)


def find_binaries(folder: Path) -> Iterator[BinaryCase]:
    """Every bytecode file: those beside the invalid tests must be rejected."""
    for path in sorted([*folder.rglob("*.tileirbc"), *folder.rglob("*.bc")]):
        yield BinaryCase(path, "invalid" in path.parent.name or "f4e2m1fn" in path.name)


def _runs(text: str) -> list[str]:
    return RUN.findall(text)


def _pipeline(run: str) -> str | None:
    match = PIPELINE.search(run)
    if match is not None:
        return re.sub(r"^builtin\.module\((.*)\)$", r"\1", match[1] or match[2])
    return "canonicalize" if "--canonicalize" in run else None


def _file_cases(path: Path, text: str, runs: list[str]) -> Iterator[Case]:
    """A case for each chunk; the first command of the file that reads it decides how."""
    reading = [run for run in runs if "%s" in run and "list-versions" not in run]
    if not reading:
        return
    run = reading[0]
    version = re.search(r"bytecode-version=([\d.]+)", run)
    fails = run.startswith("not ")
    for line, chunk in _chunks(text, split="split-input-file" in run):
        if not _has_operations(chunk):
            continue
        errors = tuple(_expectations(chunk, line))
        checked = fails and "CHECK" in chunk
        yield Case(
            path, line, chunk, errors, bool(errors) or checked, run, version[1] if version else None
        )


def _chunks(text: str, split: bool) -> Iterator[tuple[int, str]]:
    """The programs of a file, each with the line that it starts on."""
    if not split:
        yield 1, text
        return
    start = 0
    for match in [*SEPARATOR.finditer(text), None]:
        end = len(text) if match is None else match.start()
        yield text.count("\n", 0, start) + 1, text[start:end]
        if match is not None:
            start = match.end()


def _has_operations(chunk: str) -> bool:
    return any(line.strip() and not line.strip().startswith("//") for line in chunk.splitlines())


def _expectations(chunk: str, first: int) -> Iterator[Expectation]:
    lines = chunk.splitlines()
    for number, line in enumerate(lines):
        for match in EXPECTED.finditer(line):
            if match["severity"] == "error":
                target = _target(lines, number, match["where"])
                yield Expectation(first + target if target is not None else 0, match["message"])


def _target(lines: list[str], number: int, suffix: str | None) -> int | None:
    """The line that an annotation speaks of."""
    if suffix == "@unknown":
        return None
    if suffix is None:
        return number
    if suffix == "@below" or suffix == "@above":
        step = 1 if suffix == "@below" else -1
        number += step
        while 0 <= number < len(lines) and "expected-" in lines[number]:
            number += step
        return number
    return number + int(suffix[1:])
