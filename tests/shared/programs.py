"""Test programs: Tile IR text that carries its runs, arguments and expected results as comments.

docs/test-programs.md describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from exact_functions import documented, exact

from tilewright.driver.array_text import ELEMENTS, elements_of, parse_argument
from tilewright.ir.types import F64, FloatType
from tilewright.reference.numerics.rounding import widen
from tilewright.support.floats import FORMATS
from tilewright.testing import formulas
from tilewright.testing.compare import Tolerance, array_difference, element_type, ulp
from tilewright.testing.estimate import EXACT_ONLY, LIPSCHITZ, MONOTONE, Estimate, apply, given

DIRECTIVE = re.compile(r"\s*//\s*(RUN|ARG|DATA|MAP|LET|EXPECT|PRINTS|FAILS|ONLY)\b ?(.*)")
RUN = re.compile(r"(?:@(?P<entry>\w+))?(?P<options>(?:\s*\b\w+=\S+)*)")
EXTENTS = re.compile(r"\d+(?:x\d+)*")
ARG = re.compile(r"(?P<name>\w+)\s*(?::\s*(?P<element>\w+))?\s*=\s*(?P<text>.+)")
EXPECT = re.compile(
    r"(?P<name>\w+)\s*(?:=|(?P<near>near\b)|~\s*(?P<bound>.+?)\s*:)\s*(?P<value>.+)"
)
FAILS = re.compile(r"(?P<fault>\w+)\s+at\s+(?P<labels>\w+(?: or \w+)*)\s*:\s*(?P<gist>.+)")
LABEL = re.compile(r"(?P<before>\s*(?:%.*? = )?).*// (?P<label>[A-Z][A-Z_]*)")


@dataclass
class Expectation:
    """The expected value of an argument: exact, with a bound, or an estimate."""

    name: str
    value: str
    bound: str | None
    near: bool


@dataclass
class Failure:
    """An error that the run must end in, at one of several locations."""

    fault: str
    labels: list[str]
    gist: str


@dataclass
class Run:
    """One launch of a kernel, and its expected outcome."""

    line: int
    entry: str | None = None
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (1,)
    cluster: tuple[int, ...] | None = None
    shared: int = 0
    arch: str = "sm_90"
    arguments: dict[str, str] = field(default_factory=dict)
    elements: dict[str, str] = field(default_factory=dict)
    maps: dict[str, dict[str, str]] = field(default_factory=dict)
    """Tensor maps among the arguments: the array that each describes, and the options."""
    data: set[str] = field(default_factory=set)
    """Arrays that only tensor maps describe."""
    lets: dict[str, str] = field(default_factory=dict)
    """Named subexpressions of expectations."""
    expected: list[Expectation] = field(default_factory=list)
    prints: list[str] = field(default_factory=list)
    failure: Failure | None = None
    only: str | None = None

    def values(self) -> dict[str, Any]:
        """Fresh arguments, by name, in order. An expression may use those before it."""
        made: dict[str, Any] = {}
        for name, text in self.arguments.items():
            element = self.elements.get(name)
            if name in self.maps:
                continue
            if element is None:
                made[name] = parse_argument(text)
            else:
                made[name] = elements_of(np.asarray(evaluate(text, made)), ELEMENTS[element])
        return made

    def named(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they were, and what LET has named."""
        known = dict(values)
        for name, text in self.lets.items():
            known[name] = evaluate(text, known)
        return known


class ProgramError(Exception):
    """A malformed directive."""


def parse_runs(text: str) -> list[Run]:
    """Parse the runs of a test program."""
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
    """Return the line and column of each operation that is followed by a label."""
    labels: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = LABEL.fullmatch(line)
        if match is not None and DIRECTIVE.fullmatch(line) is None:
            labels[match["label"]] = f"{number}:{len(match['before']) + 1}"
    return labels


def _parse_run(number: int, rest: str) -> Run:
    match = _match(RUN, rest, number)
    run = Run(number, match["entry"])
    for key, value in parse_options(match["options"]).items():
        if key in ("grid", "block", "cluster"):
            setattr(run, key, extents(value, number))
        elif key in ("shared", "arch"):
            setattr(run, key, int(value) if key == "shared" else value)
        else:
            raise ProgramError(f"line {number}: expected grid=, block=, … got {key!r}")
    return run


def parse_options(text: str) -> dict[str, str]:
    """The options of `key=value key=value`."""
    return dict(word.split("=", 1) for word in text.split())


def extents(text: str, number: int) -> tuple[int, ...]:
    """The numbers of `4x2`."""
    return tuple(int(extent) for extent in _match(EXTENTS, text, number)[0].split("x"))


def _match(pattern: re.Pattern[str], text: str, number: int) -> re.Match[str]:
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise ProgramError(f"line {number}: expected {pattern.pattern}, got {text!r}")
    return match


def _add(run: Run, kind: str, rest: str, number: int) -> None:
    match kind:
        case "ARG" | "DATA" | "MAP":
            _add_argument(run, kind, _match(ARG, rest, number))
        case "LET":
            match = _match(ARG, rest, number)
            run.lets[match["name"]] = match["text"]
        case "EXPECT":
            match = _match(EXPECT, rest, number)
            near = match["near"] is not None
            run.expected.append(Expectation(match["name"], match["value"], match["bound"], near))
        case "PRINTS":
            run.prints.append(rest)
        case "FAILS":
            match = _match(FAILS, rest, number)
            run.failure = Failure(match["fault"], match["labels"].split(" or "), match["gist"])
        case _:
            run.only = rest.strip()


def _add_argument(run: Run, kind: str, match: re.Match[str]) -> None:
    name = match["name"]
    run.arguments[name] = match["text"]
    if match["element"]:
        run.elements[name] = match["element"]
    if kind == "DATA":
        run.data.add(name)
    if kind == "MAP":
        array, _, options = match["text"].partition(" ")
        run.maps[name] = {"array": array, **parse_options(options)}


def _names() -> dict[str, Any]:
    """Names for expressions, besides the arguments."""
    names: dict[str, Any] = {
        "np": np,
        "ml_dtypes": ml_dtypes,
        "abs": np.abs,
        "exact": exact,
        "documented": documented,
    }
    for name, element in ELEMENTS.items():
        names[name] = _cast_to(name)
        if name in FORMATS:
            names[f"u_{name}"] = 2.0 ** -FORMATS[name].precision
            names[f"ulp_{name}"] = partial(ulp, element=element)
            names[f"wide_{name}"] = lambda array, element=element: widen(array, element)
    return names


def _cast_to(name: str) -> Callable[[Any], Any]:
    return lambda values: elements_of(np.asarray(values), ELEMENTS[name])


NAMES = _names()


def evaluate(expression: str, values: dict[str, Any]) -> Any:
    """The value of an expression over NumPy arrays."""
    with np.errstate(all="ignore"):
        return eval(expression, {**NAMES, **values})


def _formula_names() -> dict[str, Any]:
    """Names for expressions of estimates: formulas, functions, and types to round to."""
    names: dict[str, Any] = {"np": np, "element": ELEMENTS, "estimate": Estimate}
    for name in (*MONOTONE, *LIPSCHITZ, *EXACT_ONLY):
        names[name] = partial(apply, name)
    for name in FORMATS:
        if name in ELEMENTS:
            names[name] = partial(_rounded, element=ELEMENTS[name])
    return {**vars(formulas), **names}


def _rounded(number: Any, element: Any) -> Estimate:
    exact = number if isinstance(number, Estimate) else Estimate(number, 0.0, F64)
    return exact.rounded(element)


FORMULA_NAMES = _formula_names()


def estimate(expression: str, values: dict[str, Any]) -> Estimate:
    """The value of an expression of estimates; arrays of floats are such."""
    known = {name: _as_estimate(value) for name, value in values.items()}
    with np.errstate(all="ignore"):
        return eval(expression, {**FORMULA_NAMES, **known})


def _as_estimate(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or not isinstance(element_type(value), FloatType):
        return value
    return given(value)


def _distance(actual: Any, wanted: Estimate) -> str | None:
    with np.errstate(all="ignore"):
        wrong = wanted.difference(actual)
    return None if wrong is None else str(wrong)


def problems(run: Run, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield the differences of the arguments after a run from the expected values."""
    before = run.named(before)
    for expected in run.expected:
        actual = after[expected.name]
        if expected.near:
            gist = _distance(actual, estimate(expected.value, before))
        else:
            value = np.asarray(evaluate(expected.value, before))
            bound = None if expected.bound is None else evaluate(expected.bound, before)
            gist = difference(actual, value, bound)
        if gist:
            yield f"{expected.name}: {gist}"


def difference(actual: Any, value: Any, bound: Any = None) -> str | None:
    """Return the first difference from the expected array; exact without a bound."""
    value = like(value, actual)
    with np.errstate(all="ignore"):
        if bound is None:
            wrong = array_difference(actual, value.astype(actual.dtype))
        else:
            tolerance = Tolerance(absolute=like(np.asarray(bound), actual))
            wrong = array_difference(actual, value.astype(np.float64), tolerance)
    return None if wrong is None else str(wrong)


def like(value: Any, actual: Any) -> Any:
    """Broadcast or reshape a value to the shape of another."""
    return np.broadcast_to(value, actual.shape) if value.size == 1 else value.reshape(actual.shape)
