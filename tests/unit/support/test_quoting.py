"""Names of the input in diagnostics: no control characters, no endless lines."""

from __future__ import annotations

import pytest
from each_case import each_case

import tilewright
from tilewright.support.quoting import MAX_EXCERPT, excerpt, one_line

LONG = "x" * 100_000
ADD = "entry @k(%n: tile<i32>) {{ %x = addf %n, %n : tile<i32> %s\n return }}"
NAMES = {
    "symbol": 'entry @"{0}"() {{ return }}\nentry @"{0}"() {{ return }}',
    "reference": 'entry @k() {{ %p = get_global @"{0}" : tile<ptr<i32>>\n return }}',
    "file": ADD.replace("%s", 'loc("{0}":1:1)'),
    "operation": 'entry @k() {{ "{0}.x"() : () -> ()\n return }}',
    "attribute": ADD.replace("addf %n, %n", 'addi %n, %n overflow<"{0}">').replace("%s", ""),
    "debug file": '#f = #cuda_tile.di_file<"{0}" in "/">\n'
    "#u = #cuda_tile.di_compile_unit<file = #f>\n"
    '#s = #cuda_tile.di_subprogram<file = #f, line = 1, name = "{0}", '
    'linkageName = "{0}", compileUnit = #u>\n'
    'entry @k() {{ return }} loc(#cuda_tile.di_loc<loc("a":1:1) in #s>)',
}


def rendered(text: str) -> str:
    with pytest.raises(tilewright.Error) as caught:
        tilewright.read(text)
    return caught.value.render()


@each_case("name", NAMES)
@each_case("text", ["\\1B[2J\\0A\\07", "\\C2\\9B31m", "\\E2\\80\\AE", "\\FF\\FE"])
def test_names_cannot_control_a_terminal(name: str, text: str) -> None:
    message = rendered(NAMES[name].format(text))
    assert message.replace("\n", "").isprintable()
    assert len(message.splitlines()) <= 6


@each_case("name", NAMES)
def test_long_names_are_cut(name: str) -> None:
    lines = rendered(NAMES[name].format(LONG)).splitlines()
    assert max(map(len, lines)) < 1000
    assert "xxx..." in lines[0]


def test_source_lines_are_printed_without_control_characters() -> None:
    message = rendered(ADD.format().replace("%s", "// \x1b[31m\x9b"))
    assert message.splitlines()[1].endswith("// ?[31m?")


@each_case("before", [0, 100, 50_000])
@each_case("after", [0, 100, 50_000])
def test_the_caret_stays_below_its_column(before: int, after: int) -> None:
    line = f"{' ' * before}!{' ' * after}"
    shown, caret = excerpt(line, before + 1)
    assert len(shown) <= MAX_EXCERPT + 6
    assert shown[caret.index("^")] == "!"
    assert caret.strip() == "^"


def test_a_column_past_the_end_of_the_line() -> None:
    assert excerpt("ab", 3) == ("ab", "  ^")
    shown, caret = excerpt("a" * 1000, 1001)
    assert len(caret) == len(shown) + 1


def test_tabs_are_kept_above_and_below() -> None:
    assert excerpt("\tx\ty", 4) == ("\tx\ty", "\t \t^")


def test_ordinary_text_is_not_changed() -> None:
    text = "k.mlir:1:2: error: expected 'größe', found \\x1b"
    assert one_line(text) == text


NUL = {
    "symbol": (NAMES["symbol"], "expected a symbol name without NUL characters, got 'a\\x00b'"),
    "file": (NAMES["file"], "expected a name without NUL characters"),
    "value": (ADD.replace("%s", 'loc("{0}")'), "expected a name without NUL characters"),
    "debug file": (NAMES["debug file"], "expected names without NUL characters"),
}


@each_case("name", NUL)
def test_a_nul_in_a_name_is_an_error(name: str) -> None:
    text, message = NUL[name]
    lines = rendered(text.format("a\\00b")).splitlines()
    assert message in lines[0]
    assert lines[0].startswith("<input>:")


def test_a_nul_in_the_text_is_an_error() -> None:
    assert rendered("entry @a() {\n \0 return }").startswith(
        "<input>:2:2: error: expected text without NUL characters, found one\n"
    )


def test_a_nul_in_a_name_of_bytecode_is_an_error() -> None:
    text = 'entry @nulnul() { return } loc(#cuda_tile.di_loc<loc("file.py":1:1) in #s>)\n'
    scope = NAMES["debug file"].split("entry")[0].format("nulnul")
    data = tilewright.write_bytecode(tilewright.read(scope + text))
    with pytest.raises(tilewright.Error, match=r"symbol name without NUL .* 'nul\\x00ul'|found"):
        tilewright.read(data.replace(b"nulnul", b"nu\0nul"))
    with pytest.raises(tilewright.Error, match="expected a name without NUL characters, found"):
        tilewright.read(data.replace(b"file.py", b"file\0py"))


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfentry @k() { return }", "\ufeffentry @k() { return }"]
)
def test_a_byte_order_mark_is_accepted(data: bytes | str) -> None:
    assert "entry @k" in str(tilewright.read(data))


def test_columns_do_not_count_the_byte_order_mark() -> None:
    assert rendered("\ufefffrob").startswith("<input>:1:1: error: ")


@each_case("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    with pytest.raises(tilewright.Error, match="found UTF-16: save the file as UTF-8"):
        tilewright.read(f"{mark}entry @k() {{ return }}".encode(encoding))
