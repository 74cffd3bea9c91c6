"""Small cases of one test: it runs them all, and names those that fail.

pytest takes about two milliseconds for each value of `parametrize`, often longer than the case.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import pytest

Test = Callable[..., None]
Ids = Callable[[Any], object] | Iterable[object] | None

FAILURES: Final = (Exception, BaseExceptionGroup, pytest.fail.Exception, pytest.skip.Exception)
"""What a case can raise. One that is skipped would go unnoticed: it is a test of its own."""


def each_case(
    arguments: str | Sequence[str], cases: Iterable[Any], ids: Ids = None
) -> Callable[[Test], Test]:
    """Call a test with every case, as `pytest.mark.parametrize` does, but as one test.

    All cases have the same fixtures, and none has a marker of its own.
    """
    names = arguments.replace(",", " ").split() if isinstance(arguments, str) else arguments
    cases = list(cases)
    labels = [ids] * len(cases) if ids is None or callable(ids) else ids
    table = [_named_values(*each, names) for each in zip(cases, labels, strict=True)]
    if not table:
        raise ValueError("expected cases, found none")

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run_all(*rest: Any, **fixtures: Any) -> None:
            failed: list[str] = []
            errors: list[BaseException] = []
            for name, values in table:
                try:
                    test(*rest, **fixtures, **dict(zip(names, values, strict=True)))
                except FAILURES as error:
                    failed.append(name())
                    errors.append(error)
                    error.add_note(f"case {failed[-1]}")
            if failed:
                counts = f"{len(failed)} of {len(table)} cases failed"
                raise BaseExceptionGroup(f"{counts}: {'; '.join(failed)}", errors)

        signature = inspect.signature(test)
        others = [each for each in signature.parameters.values() if each.name not in names]
        vars(run_all)["__signature__"] = signature.replace(parameters=others)
        return run_all

    return decorate


def _named_values(
    case: Any, label: object, names: Sequence[str]
) -> tuple[Callable[[], str], Sequence[Any]]:
    """The values of a case, and a function that returns its name, which is seldom needed."""
    values: Sequence[Any] = (case,) if len(names) == 1 else case
    if isinstance(case, type(pytest.param())):
        if case.marks:
            raise TypeError(f"expected a case without markers, found {case}")
        values = case.values
        label = label if case.id is None else case.id
    if label is None:
        return lambda: ", ".join(map("{}={!r}".format, names, values)), values
    if callable(label):
        return lambda: "-".join(str(label(value)) for value in values), values
    return lambda: str(label), values
