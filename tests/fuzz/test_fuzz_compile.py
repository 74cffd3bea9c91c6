"""A short run of `make fuzz-compile`: every program gives a cubin or an error of the program."""

from __future__ import annotations

import os

import fuzz_compile
import pytest

COUNT = 24


def test_mutated_programs_end_well() -> None:
    outcomes = [outcome for _, outcome in fuzz_compile.run(fuzz_compile.seeds(), range(COUNT))]
    assert [outcome.why for outcome in outcomes if outcome.failed] == []
    # The mutations must leave some programs valid and break others, or they test nothing.
    assert sum(outcome.valid for outcome in outcomes) >= COUNT // 4
    assert sum(outcome.kind == "compiled" for outcome in outcomes) >= COUNT // 5
    assert sum(outcome.kind == "UserError" for outcome in outcomes) >= COUNT // 10


def test_mutations_are_those_of_the_number() -> None:
    texts = ["entry @f() {\n  %0 = constant <i32: 1> : tile<4xi32>\n  return\n}\n"] * 2
    first = [fuzz_compile.mutated(texts, number) for number in range(50)]
    assert first == [fuzz_compile.mutated(texts, number) for number in range(50)]
    assert len(set(first)) > 10


def end(text: str, arch: str) -> fuzz_compile.Outcome:
    os.abort()


def test_a_process_that_ends_is_a_failure_and_is_replaced() -> None:
    watched = fuzz_compile.Watched(attempt=end)
    assert watched.attempt("", "sm_90").why == "the process ended with -6"
    assert watched.attempt("", "sm_90").failed
    watched.close()


def test_a_program_that_does_not_end_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_compile, "SECONDS", 0.0)
    watched = fuzz_compile.Watched()
    assert watched.attempt("", "sm_90").why.startswith("longer than")
    watched.close()
