"""The FileCheck runner rejects what a test must not let pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from filecheck_runner import cases, problem

PROGRAM = """
nv_tileaa.func @f(%x: i32) -> i32 {
  %y = nv_tileaa.muli %x, %x : i32
  nv_tileaa.return %y : i32
}
"""
RECURSION = """
nv_tileaa.func @f(%x: i32) -> i32 {{
  // expected-error{offset} {{{{{text}}}}}
  %y = nv_tileaa.call @f(%x) : (i32) -> i32
  nv_tileaa.return %y : i32
}}
"""
CHECKED = "// RUN: tilewright opt --pass canonicalize %s | filecheck %s\n"
VERIFIED = "// RUN: tilewright opt --pass inline-calls --verify-diagnostics %s\n"


def outcome(tmp_path: Path, text: str) -> str | None:
    (tmp_path / "case.mlir").write_text(text)
    (case,) = cases(tmp_path)
    return problem(case)


def test_a_check_must_match(tmp_path: Path) -> None:
    assert outcome(tmp_path, CHECKED + "// CHECK: muli\n" + PROGRAM) is None
    assert "divi" in (outcome(tmp_path, CHECKED + "// CHECK: divi\n" + PROGRAM) or "")
    assert outcome(tmp_path, CHECKED + "// CHECK-NOT: muli\n" + PROGRAM) is not None


def test_inputs_are_split_and_checked_together(tmp_path: Path) -> None:
    twice = f"{CHECKED}// CHECK-COUNT-2: muli\n{PROGRAM}// -----\n{PROGRAM}"
    assert outcome(tmp_path, twice) is None
    assert outcome(tmp_path, twice.replace("COUNT-2", "COUNT-3")) is not None


def test_check_prefixes_select_the_checks_of_a_run_line(tmp_path: Path) -> None:
    run = CHECKED.replace("filecheck %s", "filecheck %s --check-prefix=MUL")
    assert outcome(tmp_path, run + "// CHECK: divi\n// MUL: muli\n" + PROGRAM) is None


def test_diagnostics_are_expected_by_line_and_text(tmp_path: Path) -> None:
    expected = RECURSION.format(offset="@+1", text="'@f', which calls itself")
    assert outcome(tmp_path, VERIFIED + expected) is None
    elsewhere = RECURSION.format(offset="", text="'@f', which calls itself")
    assert "not reported" in (outcome(tmp_path, VERIFIED + elsewhere) or "")
    other = RECURSION.format(offset="@+1", text="something else")
    assert "not expected" in (outcome(tmp_path, VERIFIED + other) or "")
    assert outcome(tmp_path, VERIFIED + PROGRAM) is None


def test_an_unexpected_error_fails(tmp_path: Path) -> None:
    wrong = PROGRAM.replace("%x, %x", "%x, %z")
    assert "exit code 1" in (outcome(tmp_path, CHECKED + "// CHECK: func\n" + wrong) or "")


@pytest.mark.parametrize(
    "line", ["", "// RUN: tilewright opt %s\n", "// RUN: cat %s | filecheck %s\n"]
)
def test_a_file_without_a_usable_run_line_is_rejected(tmp_path: Path, line: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        outcome(tmp_path, line + PROGRAM)
