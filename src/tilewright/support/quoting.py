"""Text of the input in diagnostics: without control characters, and cut where it is long."""

from __future__ import annotations

import re
from typing import Final

MAX_WORD: Final = 300
"""The most characters of a word, such as a name or a path."""
MAX_MESSAGE: Final = 4000
MAX_EXCERPT: Final = 160
"""The most columns of a source line."""
MARK: Final = "..."

_LONG_WORD: Final = re.compile(rf"\S{{{MAX_WORD + 1},}}")
_MARGIN: Final = 40


def one_line(text: str) -> str:
    r"""Escape what would break a line or control a terminal, and cut long words.

    >>> one_line("a\x1b[1m\nb\u202e")
    'a\\x1b[1m\\nb\\u202e'
    """
    if len(text) > MAX_WORD:
        text = _cut(_LONG_WORD.sub(lambda word: _cut(word[0], MAX_WORD), text), MAX_MESSAGE)
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else repr(char)[1:-1] for char in text])


def _cut(text: str, most: int) -> str:
    """Replace the middle of a long text; the end of a path or a type says the most."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - len(MARK)]}{MARK}{text[-end:]}"


def excerpt(line: str, column: int) -> tuple[str, str]:
    """Return the part of a source line around a 1-based column, and a line with a caret below it.

    Tabs are kept, so that the caret lines up in any terminal; other control characters are `?`.
    """
    start, head, tail = 0, "", ""
    if len(line) > MAX_EXCERPT:
        start = min(max(0, column - MAX_EXCERPT + _MARGIN), len(line) - MAX_EXCERPT)
        head = MARK if start else ""
        tail = MARK if start + MAX_EXCERPT < len(line) else ""
    shown = line[start : start + MAX_EXCERPT]
    shown = "".join([char if char.isprintable() or char == "\t" else "?" for char in shown])
    margin = [char if char == "\t" else " " for char in shown[: column - 1 - start]]
    return f"{head}{shown}{tail}", f"{' ' * len(head)}{''.join(margin)}^"
