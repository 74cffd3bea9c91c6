"""The index of requirements, and the tool that counts them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from requirements import Outcome, Requirement, load_index, report, status

SOURCE = Path(__file__).parents[3] / "shared" / "spec" / "requirements.md"


def outcome(result: str, test: str = "test_x", kind: str | None = None) -> Outcome:
    return Outcome("R9-001", test, kind, result)


@pytest.mark.skipif(
    not SOURCE.exists(), reason="the list of requirements is not beside this checkout"
)
def test_index_has_exactly_the_listed_ids() -> None:
    listed = re.findall(r"^\| (R\d-\d{3}) \|", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert list(load_index()) == listed


def test_index_has_375_distinct_titles_of_one_line() -> None:
    titles = [requirement.title for requirement in load_index().values()]
    assert len(titles) == 375
    assert all(0 < len(title) <= 80 and "\n" not in title for title in titles)


def test_unknown_stage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "index.toml"
    path.write_text('stages = ["a"]\n[requirements]\nR9-001 = { title = "t", later = "b" }\n')
    with pytest.raises(ValueError, match="R9-001: unknown stage 'b'"):
        load_index(path)


def test_later_and_waived_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="at most one of later and waived"):
        Requirement("R9-001", "t", later="a", waived="b")


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([], "open"),
        (["passed"], "covered"),
        (["skipped"], "open"),
        (["passed", "skipped"], "covered"),
        (["passed", "failed"], "open"),
    ],
)
def test_only_passing_tests_cover(results: list[str], expected: str) -> None:
    assert status(Requirement("R9-001", "t"), map(outcome, results)) == expected


def test_later_holds_although_a_test_passes() -> None:
    assert status(Requirement("R9-001", "t", later="a"), [outcome("passed")]) == "later"


def test_waived_holds_although_a_test_passes() -> None:
    assert status(Requirement("R9-001", "t", waived="a"), [outcome("passed")]) == "waived"


def test_report_lists_tests_once_and_names_what_failed() -> None:
    index = {"R9-001": Requirement("R9-001", "one"), "R9-002": Requirement("R9-002", "two", "soon")}
    outcomes = [
        outcome("passed", "test_x[0]", "behaviour"),
        outcome("failed", "test_x[1]", "behaviour"),
    ]
    assert list(report(index, outcomes)) == [
        "R9-001  open     one  [failed: test_x[1]]",
        "                  test_x  (2 cases, behaviour)",
        "R9-002  later    two  [soon]",
        "",
        "open: R9-001 (failed: test_x[1])",
        "requirements: 0 covered, 0 waived, 1 later, 1 open",
    ]
