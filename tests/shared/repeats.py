"""Parametrizations in which some values only repeat others: those run in `make test-all`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import pytest

EXHAUSTIVE = pytest.mark.exhaustive


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
