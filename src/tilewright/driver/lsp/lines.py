"""Convert character offsets to the lines and columns of an editor, and back."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_ENCODINGS: Final = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": None}


class Lines:
    """The lines of one text; columns count the units of the encoding that the editor uses."""

    __slots__ = ("_codec", "_starts", "_text")

    def __init__(self, text: str, encoding: str) -> None:
        self._text = text
        self._codec = _ENCODINGS[encoding]
        """The codec and the bytes of a unit; None where a unit is a character."""
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character, both from 0."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset]
        if self._codec is None or before.isascii():
            return line, len(before)
        codec, size = self._codec
        return line, len(before.encode(codec, "surrogatepass")) // size

    def offset(self, line: int, column: int) -> int:
        """Return the character at a line and a column; the end of the line if it is shorter."""
        if line >= len(self._starts):
            return len(self._text)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)
        text = self._text[start:end].rstrip("\r\n")
        if self._codec is None or text.isascii():
            return start + min(column, len(text))
        codec, size = self._codec
        units = text.encode(codec, "surrogatepass")[: column * size]
        return start + len(units.decode(codec, "ignore"))
