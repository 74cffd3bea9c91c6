"""The grammars of editors are those of the declarations, and colour programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import editor_grammars
import pytest

from tilewright.driver.lsp.words import CUSTOM_WORDS, OTHER_WORDS, dialects, keywords

ROOT = Path(__file__).parents[4]
PARSED_WORD = re.compile(r'(?:expect|accept)\("([a-z_]{2,})"')


@pytest.mark.parametrize("file", editor_grammars.FILES, ids=lambda file: file.name)
def test_a_grammar_is_current(file: Path) -> None:
    """`python tools/editor_grammars.py` writes them."""
    assert file.read_text("utf-8") == editor_grammars.FILES[file]()


def test_words_that_functions_parse_are_known() -> None:
    sources = (ROOT / "src" / "tilewright" / "dialects").rglob("*.py")
    parsed = {word for source in sources for word in PARSED_WORD.findall(source.read_text())}
    known = {*OTHER_WORDS, *(word for words in CUSTOM_WORDS.values() for word in words)}
    assert parsed <= known
    operations = {name for dialect in dialects() for name in dialect.ops}
    assert set(CUSTOM_WORDS) <= operations


def test_words_of_declared_formats_are_known() -> None:
    (kind,) = [d.ops["cuda_tile.addf"] for d in dialects() if d.name == "cuda_tile"]
    assert keywords(kind) == ["rounding", "flush_to_zero"]


def coloured(line: str) -> dict[str, str]:
    """The scope of each part of a line: at each character, the first rule that matches."""
    rules = json.loads(editor_grammars.textmate())["patterns"]
    parts: dict[str, str] = {}
    at = 0
    while at < len(line):
        matches = [
            (rule, re.compile(rule.get("match", '"[^"]*"')).search(line, at)) for rule in rules
        ]
        matched = [(rule, match) for rule, match in matches if match is not None]
        if not matched:
            break
        rule, match = min(matched, key=lambda each: each[1].start())
        group = 1 if "captures" in rule else 0
        name = rule["captures"]["1"]["name"] if group else rule["name"]
        parts[match[group]] = name.removesuffix(".tileir")
        at = max(match.end(), at + 1)
    return parts


def test_the_colours_of_a_line() -> None:
    line = '  %x = addf %a#1, %b rounding<nearest_even> : tile<64x?xf16> loc("k") // addf'
    assert coloured(line) == {
        "%x": "variable.other",
        "addf": "support.function.operation",
        "%a#1": "variable.other",
        "%b": "variable.other",
        "rounding": "keyword.other",
        "nearest_even": "constant.language",
        "tile": "storage.type",
        "64x?x": "constant.numeric.shape",
        "f16": "storage.type.builtin",
        "loc": "keyword.other",
        '"k"': "string.quoted.double",
        "// addf": "comment.line.double-slash",
    }
    line = "  llvm.br ^bb1(%0 : !llvm.ptr) {a = #x, b = 4 : i32, c = @f}"
    assert coloured(line) == {
        "llvm.br": "support.function.operation",
        "^bb1": "entity.name.label",
        "%0": "variable.other",
        "!llvm.ptr": "storage.type",
        "#x": "constant.other.attribute",
        "4": "constant.numeric",
        "i32": "storage.type.builtin",
        "@f": "entity.name.function",
    }
