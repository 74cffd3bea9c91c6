"""Parametrizations in which some values only repeat others: those run in `make test-all`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import pytest

EXHAUSTIVE = pytest.mark.exhaustive


def are_left_out(config: pytest.Config) -> bool:
    """Return whether no test that is marked as a repeat can run, as in `make test`."""
    return config.getoption("markexpr") == "not exhaustive"


def mark_repeats(metafunc: pytest.Metafunc) -> None:
    """Mark all but a sample of the parameters of a `sampled` test as repeats."""
    marker = metafunc.definition.get_closest_marker("sampled")
    if marker is None:
        return
    calls = _first_calls(metafunc)
    kept = {len(calls) * number // marker.args[0] for number in range(marker.args[0])}
    for at, call in enumerate(calls):
        if at not in kept:
            call.marks.append(EXHAUSTIVE.mark)


def leave_out(metafunc: pytest.Metafunc) -> None:
    """Drop the parameters that are marked as repeats, before pytest makes a test of each.

    They are two fifths of all tests. One stays if all are repeats: pytest deselects it.
    """
    metafunc._calls = _first_calls(metafunc) or metafunc._calls[:1]


def _first_calls(metafunc: pytest.Metafunc) -> list[Any]:
    """The calls of a test function, with their parameters, that are not marked as repeats."""
    name = EXHAUSTIVE.name
    return [call for call in metafunc._calls if all(mark.name != name for mark in call.marks)]


def _repeat(value: Any) -> Any:
    """A value marked as a repeat; a tuple holds the values of several arguments."""
    if isinstance(value, type(pytest.param())):
        return pytest.param(*value.values, id=value.id, marks=[*value.marks, EXHAUSTIVE])
    if isinstance(value, tuple):
        return pytest.param(*value, marks=EXHAUSTIVE)
    return pytest.param(value, marks=EXHAUSTIVE)


def keep(values: Iterable[Any], kept: Callable[[Any], bool]) -> list[Any]:
    """Leave the values for which `kept` does not hold to `make test-all`."""
    return [value if kept(value) else _repeat(value) for value in values]


def keep_first(values: Iterable[Any], count: int = 1) -> list[Any]:
    """Leave all but the first `count` values to `make test-all`."""
    return [value if at < count else _repeat(value) for at, value in enumerate(values)]


def keep_every(values: Sequence[Any], step: int) -> list[Any]:
    """Keep every `step`-th value, beginning with the first, and leave the others."""
    return [value if at % step == 0 else _repeat(value) for at, value in enumerate(values)]


def all_and_some(names: Collection[str], all: int, some: int) -> list[Any]:
    """Try each name with all values in `make test-all`, and with some of them in `make test`."""
    whole = [pytest.param(name, all, id=name, marks=EXHAUSTIVE) for name in names]
    return [*whole, *[pytest.param(name, some, id=f"{name}-some") for name in names]]
