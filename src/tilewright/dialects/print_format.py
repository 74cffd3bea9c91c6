"""The formats of print operations: C's `printf`, checked and split into conversions."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tilewright.support.diagnostics import InvalidValue

MOST_CHARACTERS: Final = 4095
"""The largest width and precision: C guarantees no more characters of one conversion."""

NUMBERS: Final = "diuoxXeEfFgGaAcp"
"""The conversions of numbers. `%n` would write through its operand, `%s` read through it."""

_SPECIFIER: Final = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>[0-9]*)(?:\.(?P<precision>[0-9]*))?"
    r"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>[^\0])?",
    re.DOTALL,
)


class Conversion(NamedTuple):
    """A conversion specifier such as `%-5.2f`; `flags` has the width and the precision, too."""

    flags: str
    kind: str


def parse_format(format: str, kinds: str = NUMBERS) -> list[str | Conversion]:
    """Split a format into texts, where `%%` is `%`, and the conversions between them.

    A zero byte ends the format, as in C.
    """
    format = format.partition("\0")[0]
    pieces: list[str | Conversion] = []
    end = 0
    for match in _SPECIFIER.finditer(format):
        pieces.append(format[end : match.start()])
        end = match.end()
        if match[0] == "%%":
            pieces.append("%")
            continue
        _check(match, kinds)
        flags = format[match.start() + 1 : match.start("kind") - len(match["length"] or "")]
        pieces.append(Conversion(flags, match["kind"]))
    pieces.append(format[end:])
    return [piece for piece in pieces if piece]


def _check(match: re.Match[str], kinds: str) -> None:
    what = f"conversion '{match[0]}' at character {match.start() + 1} of the format"
    if match["kind"] is None or match["kind"] not in kinds:
        problem = "incomplete" if match["kind"] is None else "unsupported"
        raise InvalidValue(
            f"{problem} {what}: expected '%%', or '%', flags, a width, a precision, a length and "
            f"one of {' '.join(kinds)}"
        )
    for name in ("width", "precision"):
        digits = (match[name] or "").lstrip("0")
        if len(digits) > len(str(MOST_CHARACTERS)) or int(digits or 0) > MOST_CHARACTERS:
            raise InvalidValue(f"{what}: expected a {name} of at most {MOST_CHARACTERS}")


def format_problem(format: str, operands: int, kinds: str = NUMBERS) -> str | None:
    """Say what is wrong with the format of an operation with this many operands to print."""
    try:
        pieces = parse_format(format, kinds)
    except InvalidValue as error:
        return str(error)
    expected = sum(isinstance(piece, Conversion) for piece in pieces)
    if operands != expected:
        return f"expected {expected} operands, one for each conversion, got {operands}"
    return None
