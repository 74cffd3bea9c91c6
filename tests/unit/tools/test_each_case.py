"""Tests of many cases: all of them run, and the failing ones are named."""

from __future__ import annotations

import inspect

import pytest
from each_case import each_case


def failure_of(test: object) -> BaseExceptionGroup[BaseException]:
    assert callable(test)
    with pytest.raises(BaseExceptionGroup) as caught:
        test()
    return caught.value


def test_all_cases_run_and_failures_are_named() -> None:
    seen: list[int] = []

    @each_case("number", [1, 2, 3, 4])
    def test(number: int) -> None:
        seen.append(number)
        assert number % 2, "it is even"

    failure = failure_of(test)
    assert seen == [1, 2, 3, 4]
    assert failure.message == "2 of 4 cases failed: number=2; number=4"
    assert [error.__notes__ for error in failure.exceptions] == [
        ["case number=2"],
        ["case number=4"],
    ]
    assert all("it is even" in str(error) for error in failure.exceptions)


def test_names_of_cases() -> None:
    def test(left: int, right: int) -> None:
        assert left == right

    cases = [(1, 2), pytest.param(3, 4, id="by hand"), (5, 5)]
    for ids, names in [
        (None, "left=1, right=2; by hand"),
        (hex, "0x1-0x2; by hand"),
        (["first", "second", "third"], "first; by hand"),
        ({"first": 1, "second": 2, "third": 3}, "first; by hand"),
    ]:
        failure = failure_of(each_case("left, right", cases, ids)(test))
        assert failure.message == f"2 of 3 cases failed: {names}"


def test_stacked_cases() -> None:
    @each_case("left", [0, 1])
    @each_case("right", [0, 2])
    def test(left: int, right: int) -> None:
        assert left + right < 3

    failure = failure_of(test)
    assert failure.message == "1 of 2 cases failed: left=1"
    assert "1 of 2 cases failed: right=2" in str(failure.exceptions[0])


def test_fixtures_and_markers_stay() -> None:
    @each_case("number", [1, 2])
    @pytest.mark.peer
    def test(number: int, ptxas: str) -> None:
        assert (number, ptxas) in [(1, "there"), (2, "there")]

    assert list(inspect.signature(test).parameters) == ["ptxas"]
    assert [mark.name for mark in vars(test)["pytestmark"]] == ["peer"]
    test(ptxas="there")


def test_there_are_cases() -> None:
    with pytest.raises(ValueError, match="expected cases, found none"):
        each_case("number", [])
    with pytest.raises(ValueError, match="shorter than"):
        each_case("number", [1, 2], ids=["one"])


def test_a_case_is_neither_skipped_nor_marked() -> None:
    @each_case("number", [1])
    def test(number: int) -> None:
        pytest.skip(f"no {number}")

    assert failure_of(test).message == "1 of 1 cases failed: number=1"
    with pytest.raises(TypeError, match="expected a case without markers"):
        each_case("number", [pytest.param(1, marks=pytest.mark.peer)])
