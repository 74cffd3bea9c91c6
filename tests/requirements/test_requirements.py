"""The index of requirements, and the tool that counts them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from each_case import each_case
from requirements import (
    Measurement,
    Outcome,
    Requirement,
    load_index,
    load_measurement,
    reach,
    report,
    status,
)

from tilewright.driver.pipelines import PASSES
from tilewright.driver.registry import DIALECTS, context

SOURCE = Path(__file__).parents[3] / "shared" / "spec" / "requirements.md"
MEASURED = Measurement(
    "measure", 2, 1, {"op a.b": "x sm_90", "pass c": "x sm_90"}, {"op a.c": "x -O0"}
)


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


def test_unknown_stage_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "index.toml"
    path.write_text('stages = ["a"]\n[requirements]\nR9-001 = { title = "t", later = "b" }\n')
    with pytest.raises(ValueError, match="R9-001: unknown stage 'b'"):
        load_index(path)


def test_later_and_waived_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="at most one of later and waived"):
        Requirement("R9-001", "t", later="a", waived="b")


@each_case(
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


def test_every_requirement_has_evidence_or_a_subject() -> None:
    for requirement in load_index().values():
        given = bool(requirement.evidence) + bool(requirement.about) + bool(requirement.waived)
        assert given == 1, requirement.id


def is_op(name: str) -> bool:
    return name == "value" or context().op(name) is not None


def rule_names() -> set[str]:
    dialects = [context().dialect(name) for name in DIALECTS]
    return {rule.name for dialect in dialects if dialect is not None for rule in dialect.rules}


def is_fact(fact: str, rules: set[str]) -> bool:
    """Return whether a fact has a form that is measured and names existing operations."""
    match fact.split():
        case ["pass", name]:
            return name in PASSES
        case ["op" | "fold" | "keep", name]:
            return is_op(name)
        case ["attribute", name, key]:
            kind = context().op(name)
            # Other attributes of Tile IR programs have no field of their own.
            known = () if kind is None else [each.spelling for each in kind.schema.attributes]
            return key in known or (name, key) == ("cuda_tile.addf", "fastmath")
        case ["rule", name, "->", made]:
            return name in rules and is_op(made)
        case [name, "->", made]:
            return is_op(name) and is_op(made)
    return False


def test_evidence_names_existing_operations() -> None:
    rules = rule_names()
    wrong = [
        (requirement.id, fact)
        for requirement in load_index().values()
        for fact in requirement.evidence
        if not is_fact(fact, rules)
    ]
    assert wrong == []


def test_the_measurement_names_its_command() -> None:
    measured = load_measurement()
    assert measured.command.startswith("python tools/tile_ir_path.py")
    assert measured.compilations >= measured.programs > 0


@each_case(
    ("row", "expected"),
    [
        ({"evidence": ["op a.b", "pass c"]}, "path"),
        ({"evidence": ["op a.b", "op a.c"]}, "hand-written"),
        ({"about": "front end"}, "front end"),
        ({"about": "interface"}, "interface"),
        ({"evidence": ["op a.b"], "waived": "so"}, "-"),
        ({}, "-"),
    ],
)
def test_all_evidence_must_be_measured(row: dict[str, Any], expected: str) -> None:
    assert reach(Requirement("R9-001", "t", **row), MEASURED) == expected


def test_requirements_are_about_known_things() -> None:
    with pytest.raises(ValueError, match="R9-001: expected about to be one of front end"):
        Requirement("R9-001", "t", about="weather")


def test_report_lists_tests_once_and_names_failures() -> None:
    index = {
        "R9-001": Requirement("R9-001", "one", evidence=["op a.b", "op a.c"]),
        "R9-002": Requirement("R9-002", "two", "soon"),
    }
    outcomes = [
        outcome("passed", "test_x[0]", "behaviour"),
        outcome("failed", "test_x[1]", "behaviour"),
    ]
    assert list(report(index, outcomes, MEASURED)) == [
        "R9-001  open     hand-written one  [failed: test_x[1]]",
        "                               seen: op a.b, in x sm_90",
        "                               not seen: op a.c",
        "                               test_x  (2 cases, behaviour)",
        "R9-002  later    -            two  [soon]",
        "",
        "open: R9-001 (failed: test_x[1])",
        "requirements: 0 covered, 0 waived, 1 later, 1 open",
        "on the path from Tile IR: 0 path, 1 hand-written, 0 front end, 0 interface",
        "measured by 2 compilations of 1 programs at default settings: measure",
    ]
