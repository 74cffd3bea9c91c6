"""Hover, completion, outline and diagnostics of a document, without an editor."""

from __future__ import annotations

import pytest

from tilewright.driver.lsp.analysis import Analysis, analyse
from tilewright.driver.lsp.completion import completions
from tilewright.driver.lsp.hover import hover
from tilewright.driver.lsp.lines import Lines
from tilewright.driver.lsp.outline import Entry, outline
from tilewright.support.diagnostics import Severity
from tilewright.text.index import Index

NEWEST = (13, 4)

PROGRAM = """\
!number = f32
cuda_tile.module @kernels {
  global @table <f32: [1.0, 2.0]> : tile<2xf32>
  entry @add(%a: tile<!number>, %b: tile<f32>) {
    %sum = addf %a, %b rounding<nearest_even> : tile<f32> loc(#source)
    %twice = mulf %sum, %sum : tile<f32>
    return
  }
}
#source = loc("kernel.py":3:4)
"""


def document(text: str = PROGRAM) -> tuple[Analysis, Index]:
    analysis = analyse(text, "k.mlir", NEWEST)
    assert analysis.index is not None
    return analysis, analysis.index


def page(word: str, text: str = PROGRAM, last: bool = False) -> str | None:
    """What is shown over a word, at its first occurrence or at its last."""
    _, index = document(text)
    answer = hover(index, text, text.rindex(word) if last else text.index(word))
    if answer is None:
        return None
    shown, (start, end) = answer
    assert text[start:end].startswith(word)
    return shown


def proposed(before: str, after: str) -> list[str]:
    """The completions between two texts."""
    analysis, index = document(before + after)
    _, candidates = completions(index, analysis.text, len(before))
    return [candidate.text for candidate in candidates]


def test_the_documentation_of_an_operation_is_that_of_its_declaration() -> None:
    shown = page("addf")
    assert shown is not None
    assert shown.startswith("**`cuda_tile.addf`**\n\nAddition: `result[i] = lhs[i] + rhs[i]`.")
    assert (
        "addf $lhs, $rhs [rounding<$rounding_mode>] [flush_to_zero] attr-dict : type($result)"
        in shown
    )
    assert "- `lhs`: " in shown
    assert "(default: `nearest_even`)" in shown
    assert shown.endswith("Since Tile IR 13.1.")


def test_a_value_has_its_type_and_its_definition() -> None:
    assert page("%sum", last=True) == (
        "```mlir\n%sum : !cuda_tile.tile<f32>\n```\n\nresult of `cuda_tile.addf`, defined in line 5"
    )
    assert page("%a", last=True) == (
        "```mlir\n%a : !cuda_tile.tile<f32>\n```\n\n"
        "argument of `cuda_tile.entry`, defined in line 4"
    )


def test_an_alias_has_its_target() -> None:
    target = '```mlir\n#source = loc("kernel.py":3:4)\n```\n\nkernel.py:3:5'
    assert page("#source") == page("#source", last=True) == target
    shown = page("!number", last=True)
    assert shown is not None
    assert shown.startswith("```mlir\n!number = f32\n```")


@pytest.mark.parametrize(
    ("word", "beginning"),
    [
        ("tile<", "**`tile`**\n\n"),
        ("f32", "**`f32`**\n\n"),
        ("nearest_even", "**`cuda_tile.rounding: nearest_even`**\n\nThe rounding mode"),
        ("@add", "```mlir\nentry @add(%a: tile<!number>, %b: tile<f32>)\n```"),
        ("cuda_tile.module", "**`cuda_tile.module`**\n\nDefine a module"),
    ],
)
def test_words_have_the_documentation_of_their_declaration(word: str, beginning: str) -> None:
    _, index = document()
    answer = hover(index, PROGRAM, PROGRAM.index(word))
    assert answer is not None
    assert answer[0].startswith(beginning)


def test_nothing_is_shown_over_comments_and_punctuation() -> None:
    text = "// addf\n" + PROGRAM
    _, index = document(text)
    assert hover(index, text, 4) is None
    assert hover(index, text, text.index("= addf")) is None


def test_prefixed_types_and_attributes() -> None:
    text = "llvm.func @f(%p: !llvm.ptr) {\n  llvm.return\n}\n"
    shown = page("!llvm.ptr", text)
    assert shown is not None
    assert shown.startswith("**`!llvm.ptr`**\n\n")


HEAD = "entry @f(%a: tile<f32>) {\n  %b = addf %a, %a : tile<f32>\n"


def test_operations_are_completed_without_the_prefix_of_their_dialect() -> None:
    for start in ("  ", "  ad", "  %c = ", "  %c, %d:2 = ad"):
        names = proposed(HEAD + start, "\n  return\n}\n")
        assert {"addf", "addi", "for", "return"} <= set(names)
        assert not any("." in name for name in names if not name.startswith("token."))
        # Only an `if` or a reduction has this terminator, and only a module has kernels.
        assert "yield" not in names
    assert "entry" in proposed("cuda_tile.module @m {\n  ", "\n}\n")
    assert "addf" not in proposed("cuda_tile.module @m {\n  ", "\n}\n")


def test_the_terminators_of_an_if() -> None:
    body = "  %p = constant <i1: true> : tile<i1>\n  if %p {\n    "
    names = proposed(HEAD + body, "\n  }\n  return\n}\n")
    assert {"yield", "return"} <= set(names)


def test_operations_of_lower_levels_have_their_prefix() -> None:
    names = proposed("func.func @f(%a: i32) {\n  %b = ", "\n  func.return\n}\n")
    assert {"arith.addi", "llvm.add", "nvvm.barrier0"} <= set(names)
    assert "cuda_tile.addf" not in names
    assert "addf" not in names
    names = proposed("module {\n  ", "\n}\n")
    assert {"func.func", "gpu.module", "llvm.func"} <= set(names)
    assert "arith.addi" not in names


def test_values_in_scope_are_completed() -> None:
    names = proposed(HEAD + "  %c = addf %", "\n  %d = addf %a, %a : tile<f32>\n  return\n}\n")
    assert sorted(names) == ["%a", "%b"]
    inner = HEAD + "  %n = constant <i32: 1> : tile<i32>\n"
    inner += "  for %i in (%n to %n, step %n) : tile<i32> {\n    %x = addi %"
    after = "\n  }\n  return\n}\nentry @g(%other: tile<f32>) {\n  return\n}\n"
    assert sorted(proposed(inner, after)) == ["%a", "%b", "%i", "%n"]


def test_words_of_an_operation_are_completed() -> None:
    names = proposed(HEAD + "  %c = addf %a, %b r", "\n  return\n}\n")
    assert {"rounding", "flush_to_zero", "nearest_even", "tile", "f32", "loc"} <= set(names)
    assert "less_than" not in names


def test_symbols_labels_and_aliases_are_completed() -> None:
    text = "module {\n  llvm.func @callee()\n  llvm.func @f() {\n    llvm.call @"
    assert sorted(proposed(text, "\n    llvm.return\n  }\n}\n")) == ["@callee", "@f"]
    text = "llvm.func @f() {\n  llvm.br ^bb1\n^bb1:\n  llvm.br ^"
    assert proposed(text, "\n}\n") == ["^bb1"]
    assert "!mine" in proposed("!mine = i32\nentry @f(%a: tile<!", ">) {\n  return\n}\n")
    assert "!llvm.ptr" in proposed("llvm.func @f(%p: !", ") {\n  llvm.return\n}\n")
    assert "#mine" in proposed('#mine = loc("x")\nentry @f() {\n  return loc(#', ")\n}\n")


def test_the_whole_word_before_the_cursor_is_replaced() -> None:
    for word in ("arith.ad", "ad", "%a", ""):
        before = f"func.func @f() {{\n  %b = {word}"
        _, index = document(before + "\n}\n")
        start, _ = completions(index, before + "\n}\n", len(before))
        assert before[start:] == word


def test_nothing_is_completed_in_comments_and_strings() -> None:
    assert proposed(HEAD + "  // ", "\n  return\n}\n") == []
    assert proposed(HEAD + '  %c = nope "', "\n  return\n}\n") == []


def names(entries: list[Entry]) -> list[object]:
    return [(entry.kind, entry.name, names(entry.children)) for entry in entries]


def test_the_outline_has_modules_functions_and_globals() -> None:
    _, index = document()
    entries = outline(index)
    members = [("variable", "table", []), ("function", "add", [])]
    assert names(entries) == [("module", "kernels", members)]
    start, end = entries[0].range
    assert PROGRAM[start:end].startswith("cuda_tile.module @kernels {")
    assert PROGRAM[start:end].endswith("\n}")
    start, end = entries[0].children[1].name_range
    assert PROGRAM[start:end] == "@add"


def shown(text: str, version: tuple[int, int] = NEWEST) -> list[tuple[str, str]]:
    """The text and the message of each problem."""
    analysis = analyse(text, "k.mlir", version)
    return [(text[slice(*each.range)], each.message) for each in analysis.problems]


def test_a_valid_program_has_no_problems() -> None:
    assert shown(PROGRAM) == []


def test_every_error_of_the_parser_and_of_the_verifier_is_reported() -> None:
    wrong = PROGRAM.replace("mulf", "mulg").replace("%b rounding", "%c rounding")
    assert shown(wrong) == [
        ("%c", "use of undefined value '%c'"),
        ("mulg", "unknown operation 'mulg'; did you mean 'muli'?"),
    ]
    # Locations that the text states are those of the source; the editor shows the text.
    wrong = PROGRAM.replace("f32", "i32").replace("[1.0, 2.0]", "[1, 2]")
    wrong = wrong.replace("loc(#source)", 'loc("a.py":1:2)')
    rejected = [text for text, _ in shown(wrong)]
    assert rejected == ["addf", "mulf"]


def test_notes_are_related_information() -> None:
    text = "entry @f(%a: tile<f32>) {\n  %b = addf %a, %a : tile<i32>\n  return\n}\n"
    (problem,) = analyse(text, "k.mlir", NEWEST).problems
    assert problem.severity is Severity.ERROR
    assert problem.message.startswith("value '%a' has type")
    start = text.index("%a")
    assert problem.notes == (((start, start + 2), "defined here"),)


def test_operations_that_the_version_lacks_are_reported() -> None:
    text = "entry @f(%a: tile<f32>) {\n  %b = atan2 %a, %a : tile<f32>\n  return\n}\n"
    assert shown(text) == []
    ((word, message),) = shown(text, (13, 1))
    assert word == "atan2"
    assert "13.1" in message


def test_texts_without_programs() -> None:
    for text in ("", "// nothing\n", "\ufeff" + PROGRAM):
        assert shown(text) == []
    ((_, message),) = shown("a\0b")
    assert "NUL" in message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_count_the_units_of_the_encoding(encoding: str) -> None:
    text = "ab\r\n😀é%c\nd\re"
    lines = Lines(text, encoding)
    before = {"utf-8": 6, "utf-16": 3, "utf-32": 2}[encoding]
    assert lines.position(text.index("%")) == (1, before)
    assert lines.offset(1, before) == text.index("%")
    for offset, character in enumerate(text):
        if character not in "\r\n":
            assert lines.offset(*lines.position(offset)) == offset
    assert lines.position(text.index("e")) == (3, 0)
    assert lines.offset(0, 100) == 2
    assert lines.offset(9, 0) == len(text)
