"""Formats of print operations, at every level that has one."""

from __future__ import annotations

from dialect_text import errors
from each_case import each_case

from tilewright.dialects.print_format import Conversion, format_problem, parse_format

LEVELS = {
    "cuda_tile": 'cuda_tile.entry @k(%n: !cuda_tile.tile<i32>) {{ %t = cuda_tile.print_tko "{}", '
    "%n : !cuda_tile.tile<i32> -> !cuda_tile.token\n cuda_tile.return }}",
    "nv_tileaa": 'nv_tileaa.func @k(%n: i32) {{ %t = nv_tileaa.print "{}", %n : i32\n '
    "nv_tileaa.return }}",
    "nv_tileas": 'nv_tileaa.func @k(%n: i32) {{ %t = nv_tileas.print "{}", %n : i32\n '
    "nv_tileaa.return }}",
    "gpu": 'gpu.module @m {{ gpu.func @k(%n: i32) {{ gpu.printf "{}", %n : i32\n gpu.return }} }}',
}


@each_case("level", LEVELS)
@each_case(
    ("format", "problem"),
    [
        ("ok %n", "unsupported conversion '%n' at character 4 of the format: expected '%%', or "),
        ("%*d", "unsupported conversion '%*' at character 1 of the format: expected '%%', or "),
        ("100%", "incomplete conversion '%' at character 4 of the format: expected '%%', or "),
        ("%99999999d", "conversion '%99999999d' at character 1 of the format: expected a width of"),
        ("%.4096f", "conversion '%.4096f' at character 1 of the format: expected a precision of"),
        ("none\\00%d", "expected 0 operands, one for each conversion, got 1"),
    ],
)
def test_wrong_formats_at_every_level(level: str, format: str, problem: str) -> None:
    (message,) = errors(LEVELS[level].format(format))
    assert message.partition(" op ")[2].startswith(problem)


@each_case("level", LEVELS)
@each_case("format", ["%d\\0A\\00", "%-04095lld 50%%", "%+8.4095f"])
def test_correct_formats_at_every_level(level: str, format: str) -> None:
    assert errors(LEVELS[level].format(format)) == []


def test_strings_are_for_lower_levels_only() -> None:
    assert "unsupported conversion '%s'" in errors(LEVELS["cuda_tile"].format("%s"))[0]
    assert errors(LEVELS["gpu"].format("%s")) == []


def test_a_format_is_split() -> None:
    pieces = parse_format("a %-5.2lf%%%llx\0 %n")
    assert pieces == ["a ", Conversion("-5.2", "f"), "%", Conversion("", "x")]


def test_a_width_with_more_digits_than_python_converts() -> None:
    problem = format_problem(f"%{'9' * 10_000}d", 1)
    assert problem is not None
    assert problem.endswith("expected a width of at most 4095")
    assert format_problem(f"%{'0' * 10_000}d", 1) is None
