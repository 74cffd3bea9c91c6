"""A cursor over PTX text: skipping whitespace, matching patterns, errors with locations."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from tilewright.ptxsim.operands import parse_integer
from tilewright.support.diagnostics import Unsupported, fail
from tilewright.support.location import Location, Positions, Source, TextLoc

_SPACE: Final = re.compile(r"\s*")
_COMMENT: Final = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NOT_NEWLINE: Final = re.compile(r"[^\n]")
_NUMBER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)[uU]?")
_NAME: Final = re.compile(r"[%$_a-zA-Z][\w$%]*")
_EXCERPT: Final = re.compile(r"[\w.%$]+|\S")


def without_comments(text: str) -> str:
    """Replace comments by blanks, which keeps all offsets."""

    def blank(match: re.Match[str]) -> str:
        literal = match[0]
        return literal if literal[0] == '"' else _NOT_NEWLINE.sub(" ", literal)

    return _COMMENT.sub(blank, text)


class Cursor:
    """Reads a text from left to right."""

    def __init__(self, text: str, name: str) -> None:
        self.positions = Positions(Source(name, text))
        self.text = without_comments(text)
        self.at = 0
        self.skip()

    def skip(self) -> None:
        """Go to the next character that is no blank."""
        match = _SPACE.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def peek(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def location(self, at: int | None = None) -> Location:
        """The source location of an offset, or of the cursor."""
        return TextLoc(self.positions, self.at if at is None else at)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match at the cursor, and skip the match and the blanks after it."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            self.skip()
        return match

    def accept(self, literal: str) -> bool:
        """Skip the literal if it is next; return whether it was."""
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        self.skip()
        return True

    def expect(self, literal: str) -> None:
        """Skip the literal, which must be next."""
        if not self.accept(literal):
            self.fail(f"expected '{literal}'")

    def name(self) -> str:
        """Parse a name."""
        match = self.match(_NAME)
        if match is None:
            self.fail("expected a name")
        return match[0]

    def number(self) -> int:
        """Parse an integer."""
        match = self.match(_NUMBER)
        value = parse_integer(match[0]) if match else None
        if value is None:
            self.fail("expected an integer")
        return value

    def numbers(self) -> tuple[int, ...]:
        """Parse integers separated by commas, perhaps none."""
        numbers: list[int] = []
        while _NUMBER.match(self.text, self.at):
            numbers.append(self.number())
            if not self.accept(","):
                break
        return tuple(numbers)

    def until(self, stop: str) -> str:
        """Return the text before the next `stop`, and skip both."""
        end = self.text.find(stop, self.at)
        if end < 0:
            self.fail(f"expected '{stop}' before the end of the text")
        text = self.text[self.at : end]
        self.at = end + len(stop)
        self.skip()
        return text

    def line(self) -> str:
        """Return the rest of the line, and skip it."""
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at : end]
        self.at = end
        self.skip()
        return text

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Raise a syntax error: `expected`, got the text at the cursor."""
        offset = self.at if at is None else at
        match = _EXCERPT.match(self.text, offset)
        excerpt = f"'{match[0]}'" if match else "the end of the text"
        fail(f"{expected}, got {excerpt}", self.location(offset))

    def unsupported(self, feature: str, at: int | None = None) -> NoReturn:
        """Raise `Unsupported` for a PTX feature."""
        raise Unsupported(feature, self.location(at))
