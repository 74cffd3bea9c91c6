"""Comments that expect diagnostics, and their comparison with those of a run."""

from __future__ import annotations

import pytest

from tilewright.driver.expected_diagnostics import check_diagnostics, read_expected
from tilewright.support.diagnostics import Diagnostic, Severity, note
from tilewright.support.location import UNKNOWN, CallSiteLoc, FileLoc, NameLoc
from tilewright.support.remark_catalogue import TMA_LOAD_REFUSED
from tilewright.support.remarks import Remark

TEXT = """\
first
// expected-error@above {{one}}
// expected-warning@above {{two}}
// expected-note@below {{three}}
// expected-remark@+1 {{four}}
second // expected-error {{five}}
// expected-error@-2 {{six}}
// expected-error@unknown {{seven}}
"""


def test_the_lines_that_comments_name() -> None:
    expected = [(each.severity.value, each.line, each.text) for each in read_expected(TEXT, "k")]
    assert expected == [
        ("error", 1, "one"),
        ("warning", 1, "two"),
        ("note", 6, "three"),
        ("remark", 6, "four"),
        ("error", 6, "five"),
        ("error", 5, "six"),
        ("error", None, "seven"),
    ]


@pytest.mark.parametrize(
    ("text", "message", "matches"),
    [
        ("expected-error {{a.b}}", "x a.b y", True),
        ("expected-error {{a.b}}", "x aab y", False),
        ("expected-error-re {{a{{[0-9]+}}.b}}", "a17.b", True),
        ("expected-error-re {{a{{[0-9]+}}.b}}", "a17xb", False),
        ("expected-error {{}}}}", "a }} b", True),
    ],
)
def test_texts_and_patterns(text: str, message: str, matches: bool) -> None:
    diagnostic = Diagnostic(message, FileLoc("k", 1, 4))
    problems = check_diagnostics(read_expected(f"// {text}", "k"), [diagnostic], [], "k")
    assert not problems == matches
    assert len(problems) == (0 if matches else 2)


def test_locations_that_are_made_of_others_and_of_other_files() -> None:
    here = NameLoc("x", CallSiteLoc(FileLoc("k", 1, 1), FileLoc("k", 9, 1)))
    elsewhere = Diagnostic("b", FileLoc("other", 1, 1))
    diagnostics = [Diagnostic("a", here, notes=(note("n", UNKNOWN),)), elsewhere]
    text = (
        "// expected-error {{a}}\n"
        "// expected-note@unknown {{n}}\n"
        "// expected-error@unknown {{b}}\n"
    )  # fmt: skip
    assert check_diagnostics(read_expected(text, "k"), diagnostics, [], "k") == []
    [problem] = check_diagnostics(read_expected(text[:60], "k"), diagnostics, [], "k")
    assert problem.message == "unexpected error: b"


def test_a_diagnostic_meets_one_expectation() -> None:
    expected = read_expected("// expected-error {{a}}", "k")
    twice = [Diagnostic("a", FileLoc("k", 1, 1)), Diagnostic("a", FileLoc("k", 1, 5))]
    [problem] = check_diagnostics(expected, twice, [], "k")
    assert (problem.message, str(problem.location)) == ("unexpected error: a", "k:1:5")


def test_optimization_remarks_need_not_be_expected() -> None:
    remark = Remark(TMA_LOAD_REFUSED, "not copied", "pass", "f", FileLoc("k", 1, 1))
    assert check_diagnostics([], [], [remark], "k") == []
    expected = read_expected("// expected-remark {{not copied}}", "k")
    assert check_diagnostics(expected, [], [remark], "k") == []
    [problem] = check_diagnostics(expected, [], [], "k")
    assert problem.severity is Severity.ERROR
    assert problem.message == 'expected remark "not copied" was not produced'
