"""Tokenize MLIR text in one pass; token offsets are computed on demand."""

from __future__ import annotations

import re
from typing import Final

from tilewright.support.location import Positions, Source

# Possessive quantifiers throughout: matching never backtracks.
_SPACE: Final = r"[ \t\r\n]*+(?://[^\r\n]*+[ \t\r\n]*+)*+"
_STRING: Final = r'"(?:[^"\\\n\v\f]|\\[^\n\v\f])*+"'
_SUFFIX: Final = r"(?:[0-9]++|[A-Za-z_$.-][\w$.-]*+)"

# Two spellings of MLIR depend on where they stand: `0x10` is a number, but extents in a shape,
# and `4x8xf32` is a number and a name, but extents and a type. Here `4x8x` is one token, the
# extents up to the element type, and so is `8x64`, extents alone. A zero that starts hexadecimal
# digits is a number; the parser of shapes splits it (`Cursor.shaped`). Digits that run on
# into a name are no number: `0xf8E4M3FN` is `0x` and `f8E4M3FN`. And `>=` is one token, lest the
# comparisons of an affine set look like the bracket that closes it.
_EXTENT: Final = r"(?:[0-9]++|\?|\[[0-9]++\])"
_TOKEN: Final = re.compile(
    _SPACE
    + "("
    + "|".join(
        (
            rf"%{_SUFFIX}(?:#[0-9]++)?+",
            r"[A-Za-z_][\w$.]*+",
            r"[<(),=}]|>=?",
            r"0x[0-9A-Fa-f]++(?![\w$?\[])",
            rf"(?:{_EXTENT}x)++(?:[0-9]++|\?)?+",
            r"[0-9]++(?:\.[0-9]*+(?:[eE][-+]?[0-9]++)?+)?+",
            r"::?|->|\{-#|#-\}",
            _STRING,
            rf"@(?:[A-Za-z_][\w$.]*+|{_STRING})",
            rf"[!#^]{_SUFFIX}",
            r"(?<=<)\*x|\.\.\.|\Z",
            r".",
        )
    )
    + ")",
    re.ASCII | re.DOTALL,
)

LOOKAHEAD: Final = 8
"""The number of empty tokens after the last one, for lookahead past the end."""


def tokenize(text: str) -> list[str]:
    """Split a text into tokens; a character that starts no token is one by itself."""
    tokens: list[str] = _TOKEN.findall(text)
    tokens += [""] * LOOKAHEAD
    return tokens


class TokenPositions(Positions):
    """Positions as token indices; their offsets are computed by a second pass on demand."""

    __slots__ = ("_offsets",)

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._offsets: list[int] | None = None

    def offset(self, position: int) -> int:
        """Return the character offset of a token."""
        offsets = self.offsets()
        return offsets[position] if position < len(offsets) else len(self.source.text)

    def offsets(self) -> list[int]:
        """Return the character offsets of all tokens, and of the end of the text."""
        offsets = self._offsets
        if offsets is None:
            matches = _TOKEN.finditer(self.source.text)
            offsets = self._offsets = [match.start(1) for match in matches]
        return offsets


_ESCAPE: Final = re.compile(rb'\\(?:([0-9A-Fa-f]{2})|(["\\nt])|(.))', re.DOTALL)
_NAMED: Final = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}


def unescape(literal: str) -> str | None:
    """Decode a string literal; None if it has an escape that MLIR does not support.

    Escapes name bytes of UTF-8. Bytes that are no UTF-8 become lone surrogates, so that they
    survive to the output.
    """
    text = literal[1:-1]
    if "\\" not in text:
        return text
    unknown = False

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal unknown
        digits, named, other = match.groups()
        unknown |= other is not None
        return bytes((int(digits, 16),)) if digits else _NAMED.get(named, b"")

    data = _ESCAPE.sub(replace, text.encode("utf-8", "surrogateescape"))
    return None if unknown else data.decode("utf-8", "surrogateescape")
