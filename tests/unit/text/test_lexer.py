"""Tokens and where they stand."""

from __future__ import annotations

from each_case import each_case

from tilewright.support.location import Source
from tilewright.text.lexer import LOOKAHEAD, TokenPositions, tokenize, unescape


def tokens_of(text: str) -> list[str]:
    tokens = tokenize(text)
    assert tokens[-LOOKAHEAD:] == [""] * LOOKAHEAD
    return [token for token in tokens if token]


@each_case(
    ("text", "expected"),
    [
        ("%a = foo.bar$1 %0, %x-1.y", ["%a", "=", "foo.bar$1", "%0", ",", "%x-1.y"]),
        ("%r:2 %r#1", ["%r", ":", "2", "%r#1"]),
        ('@a::@"b c"', ["@a", "::", '@"b c"']),
        ("^bb0(): ^1", ["^bb0", "(", ")", ":", "^1"]),
        ("#map !t #d.a<b>", ["#map", "!t", "#d.a", "<", "b", ">"]),
        ("-> ... ? - + * / | == >=", ["->", "...", "?", "-", "+", "*", "/", "|", "=", "=", ">="]),
        ("1 0x1F 1.5 1. 2.0e-3 1.0E+5", ["1", "0x1F", "1.5", "1.", "2.0e-3", "1.0E+5"]),
        ("-5 ->", ["-", "5", "->"]),
        ("1e5", ["1", "e5"]),
        ('a // b "c\n"d // e" f', ["a", '"d // e"', "f"]),
        ("{-# a #-} {a}", ["{-#", "a", "#-}", "{", "a", "}"]),
        ("", []),
        (" \t\r\n// only a comment", []),
        ("a//", ["a"]),
        ("ünï", ["ü", "n", "ï"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens_of(text) == expected


@each_case(
    ("text", "expected"),
    [
        ("4x8xf32", ["4x8x", "f32"]),
        ("?x64xf32", ["?x64x", "f32"]),
        ("8x64)", ["8x64", ")"]),
        ("?x?", ["?x?"]),
        ("4x!cuda_tile.ptr<f32>", ["4x", "!cuda_tile.ptr", "<", "f32", ">"]),
        ("1x1xptr<f32>", ["1x1x", "ptr", "<", "f32", ">"]),
        ("4x[8]x[2]xf32", ["4x[8]x[2]x", "f32"]),
        ("[4]xf32 [4]", ["[4]x", "f32", "[", "4", "]"]),
        ("<*xf32>", ["<", "*x", "f32", ">"]),
        ("2*x", ["2", "*", "x"]),
        # Zeros: digits make a number, anything else a shape.
        ("0x10", ["0x10"]),
        ("0xFF800000", ["0xFF800000"]),
        ("0xi32", ["0x", "i32"]),
        ("0xf8E4M3FN", ["0x", "f8E4M3FN"]),
        ("0x4xf32", ["0x4x", "f32"]),
        ("0x?xf32", ["0x?x", "f32"]),
        ("4x0xf32", ["4x0x", "f32"]),
        ("0xf32", ["0xf32"]),
    ],
)
def test_shapes(text: str, expected: list[str]) -> None:
    assert tokens_of(text) == expected


def test_string_without_end_leaves_a_lone_quote() -> None:
    assert tokens_of('a "b\nc"') == ["a", '"', "b", "c", '"']
    assert tokens_of(r'"a\"') == ['"', "a", "\\", '"']


@each_case(
    ("literal", "expected"),
    [
        (r'"plain"', "plain"),
        (r'"a\0Ab"', "a\nb"),
        (r'"\"\\\n\t"', '"\\\n\t'),
        (r'"\C3\A9"', "é"),
        (r'"é\41"', "éA"),
        (r'"\FF"', "\udcff"),
        (r'"\q"', None),
        (r'"\4"', None),
    ],
)
def test_unescape(literal: str, expected: str | None) -> None:
    assert unescape(literal) == expected


def test_positions_are_found_for_every_token() -> None:
    text = "%a = // no\n  4x8xf32 "
    positions = TokenPositions(Source("f", text))
    offsets = [text.index(token) for token in tokens_of(text)]
    assert [positions.offset(at) for at in range(len(offsets))] == offsets
    assert positions.offset(len(offsets)) == len(text)


def test_much_blank_space_takes_linear_time() -> None:
    assert tokens_of("a" + " " * 2_000_000 + "/" * 1_000_000) == ["a"]
