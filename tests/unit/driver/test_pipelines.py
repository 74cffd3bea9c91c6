"""Pass names: every registered pass loads, and deprecated names still work, with a warning."""

from __future__ import annotations

import re

import pytest

from tilewright.driver.pipelines import DEPRECATED_PASSES, PASSES, parse_pipeline
from tilewright.support.diagnostics import Severity, Sink


@pytest.mark.parametrize("name", PASSES)
def test_a_registered_pass_has_its_name(name: str) -> None:
    (step,) = parse_pipeline(name).steps
    assert str(step) == {"loop-invariant-code-motion": "licm"}.get(name, name)


@pytest.mark.parametrize(("former", "current"), DEPRECATED_PASSES.items())
def test_a_deprecated_name_is_reported_to_the_sink(former: str, current: str) -> None:
    sink = Sink()
    pipeline = parse_pipeline(f"cse,{former}", sink)
    assert str(pipeline) == f"cse,{current}"
    (warning,) = sink.diagnostics
    assert warning.severity is Severity.WARNING
    assert warning.message == f"pass '{former}' is deprecated: use '{current}'"
    assert str(warning.location) == "<pipeline>:1:5"


@pytest.mark.parametrize(("former", "current"), DEPRECATED_PASSES.items())
def test_a_deprecated_name_without_a_sink_is_a_python_warning(former: str, current: str) -> None:
    with pytest.warns(
        DeprecationWarning, match=f"'{former}' is deprecated: use '{re.escape(current)}'"
    ):
        pipeline = parse_pipeline(former)
    assert str(pipeline) == current


def test_no_deprecated_name_is_listed_as_a_pass() -> None:
    assert not PASSES.keys() & DEPRECATED_PASSES.keys()
    current = ",".join(DEPRECATED_PASSES.values()).split(",")
    assert PASSES.keys() >= {each.partition("{")[0] for each in current}
