"""Test programs: Tile IR text that carries its runs, arguments and expected results as comments.

docs/test-programs.md describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from tilewright.driver.array_text import ELEMENTS, elements_of, parse_argument
from tilewright.reference.numerics.rounding import widen
from tilewright.support.floats import FORMATS
from tilewright.testing.compare import Tolerance, array_difference

DIRECTIVE = re.compile(r"\s*//\s*(RUN|ARG|EXPECT|PRINTS|FAILS|ONLY)\b ?(.*)")
RUN = re.compile(r"\s*(?:@(?P<entry>\w+))?\s*(?:grid=(?P<grid>\d+(?:x\d+)*))?\s*")
ARG = re.compile(r"(?P<name>\w+)\s*(?::\s*(?P<element>\w+))?\s*=\s*(?P<text>.+)")
EXPECT = re.compile(r"(?P<name>\w+)\s*(?:=|~\s*(?P<bound>.+?)\s*:)\s*(?P<value>.+)")
FAILS = re.compile(r"(?P<fault>\w+)\s+at\s+(?P<labels>\w+(?: or \w+)*)\s*:\s*(?P<gist>.+)")
LABEL = re.compile(r"(?P<before>\s*(?:%.*? = )?).*// (?P<label>[A-Z][A-Z_]*)")


@dataclass
class Expectation:
    """What an argument must hold afterwards: exactly, or up to a bound."""

    name: str
    value: str
    bound: str | None


@dataclass
class Failure:
    """An error that the run must end in, at one of several places."""

    fault: str
    labels: list[str]
    gist: str


@dataclass
class Run:
    """One launch of a kernel, and what must come of it."""

    line: int
    entry: str | None = None
    grid: tuple[int, ...] = (1,)
    arguments: dict[str, str] = field(default_factory=dict)
    elements: dict[str, str] = field(default_factory=dict)
    expected: list[Expectation] = field(default_factory=list)
    prints: list[str] = field(default_factory=list)
    failure: Failure | None = None
    only: str | None = None

    def values(self) -> dict[str, Any]:
        """Fresh arguments, by name, in order. An expression may use those before it."""
        made: dict[str, Any] = {}
        for name, text in self.arguments.items():
            element = self.elements.get(name)
            if element is None:
                made[name] = parse_argument(text)
            else:
                made[name] = elements_of(np.asarray(evaluate(text, made)), ELEMENTS[element])
        return made


class ProgramError(Exception):
    """A directive that cannot be understood."""


def parse_runs(text: str) -> list[Run]:
    """The runs that a test program asks for."""
    runs: list[Run] = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = DIRECTIVE.fullmatch(line)
        if match is None:
            continue
        kind, rest = match.groups()
        if kind == "RUN":
            runs.append(_parse_run(number, rest))
        elif not runs:
            raise ProgramError(f"line {number}: expected RUN before {kind}")
        else:
            _add(runs[-1], kind, rest, number)
    return runs


def parse_labels(text: str) -> dict[str, str]:
    """The line and column of each operation that has a label behind it."""
    labels: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = LABEL.fullmatch(line)
        if match is not None and DIRECTIVE.fullmatch(line) is None:
            labels[match["label"]] = f"{number}:{len(match['before']) + 1}"
    return labels


def _parse_run(number: int, rest: str) -> Run:
    found = _match(RUN, rest, number)
    grid = tuple(int(extent) for extent in (found["grid"] or "1").split("x"))
    return Run(number, found["entry"], grid)


def _match(pattern: re.Pattern[str], text: str, number: int) -> re.Match[str]:
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise ProgramError(f"line {number}: expected {pattern.pattern}, got {text!r}")
    return match


def _add(run: Run, kind: str, rest: str, number: int) -> None:
    match kind:
        case "ARG":
            found = _match(ARG, rest, number)
            run.arguments[found["name"]] = found["text"]
            if found["element"]:
                run.elements[found["name"]] = found["element"]
        case "EXPECT":
            found = _match(EXPECT, rest, number)
            run.expected.append(Expectation(found["name"], found["value"], found["bound"]))
        case "PRINTS":
            run.prints.append(rest)
        case "FAILS":
            found = _match(FAILS, rest, number)
            run.failure = Failure(found["fault"], found["labels"].split(" or "), found["gist"])
        case _:
            run.only = rest.strip()


def _names() -> dict[str, Any]:
    """What expressions may use besides the arguments."""
    names: dict[str, Any] = {"np": np, "ml_dtypes": ml_dtypes, "abs": np.abs}
    for name, element in ELEMENTS.items():
        names[name] = _cast_to(name)
        if name in FORMATS:
            names[f"u_{name}"] = 2.0 ** -FORMATS[name].precision
            names[f"wide_{name}"] = lambda array, element=element: widen(array, element)
    return names


def _cast_to(name: str) -> Callable[[Any], Any]:
    return lambda values: elements_of(np.asarray(values), ELEMENTS[name])


NAMES = _names()


def evaluate(expression: str, values: dict[str, Any]) -> Any:
    """The value of an expression over NumPy arrays."""
    with np.errstate(all="ignore"):
        return eval(expression, {**NAMES, **values})


def problems(run: Run, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the arguments after a run."""
    for expected in run.expected:
        value = np.asarray(evaluate(expected.value, before))
        bound = None if expected.bound is None else evaluate(expected.bound, before)
        gist = difference(after[expected.name], value, bound)
        if gist:
            yield f"{expected.name}: {gist}"


def difference(found: Any, value: Any, bound: Any = None) -> str | None:
    """Where an array is not what it must be: without a bound, the very same elements."""
    value = _like(value, found)
    with np.errstate(all="ignore"):
        if bound is None:
            wrong = array_difference(found, value.astype(found.dtype))
        else:
            tolerance = Tolerance(absolute=_like(np.asarray(bound), found))
            wrong = array_difference(found, value.astype(np.float64), tolerance)
    return None if wrong is None else str(wrong)


def _like(value: Any, found: Any) -> Any:
    """An array or number in the shape of another."""
    return np.broadcast_to(value, found.shape) if value.size == 1 else value.reshape(found.shape)
