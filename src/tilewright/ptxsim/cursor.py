"""A position in a PTX text: skipping blanks, matching patterns, errors that point somewhere."""

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
    """The text with blanks for comments, so that every offset stays where it was."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        return found if found[0] == '"' else _NOT_NEWLINE.sub(" ", found)

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
        """The place of an offset, or of the cursor."""
        return TextLoc(self.positions, self.at if at is None else at)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The match at the cursor, which then stands behind it and the blanks that follow."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            self.skip()
        return match

    def accept(self, literal: str) -> bool:
        """Whether the literal comes next; if so, go behind it."""
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        self.skip()
        return True

    def expect(self, literal: str) -> None:
        """Go behind the literal, which must come next."""
        if not self.accept(literal):
            self.fail(f"expected '{literal}'")

    def name(self) -> str:
        """A name, which must come next."""
        match = self.match(_NAME)
        if match is None:
            self.fail("expected a name")
        return match[0]

    def number(self) -> int:
        """An integer, which must come next."""
        match = self.match(_NUMBER)
        value = parse_integer(match[0]) if match else None
        if value is None:
            self.fail("expected an integer")
        return value

    def numbers(self) -> tuple[int, ...]:
        """Integers with commas between them, perhaps none."""
        found: list[int] = []
        while _NUMBER.match(self.text, self.at):
            found.append(self.number())
            if not self.accept(","):
                break
        return tuple(found)

    def until(self, stop: str) -> str:
        """The text before the next `stop`, behind which the cursor then stands."""
        end = self.text.find(stop, self.at)
        if end < 0:
            self.fail(f"expected '{stop}' before the end of the text")
        found = self.text[self.at : end]
        self.at = end + len(stop)
        self.skip()
        return found

    def line(self) -> str:
        """The rest of the line."""
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        found = self.text[self.at : end]
        self.at = end
        self.skip()
        return found

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Stop: something else was expected here."""
        where = self.at if at is None else at
        match = _EXCERPT.match(self.text, where)
        found = f"'{match[0]}'" if match else "the end of the text"
        fail(f"{expected}, got {found}", self.location(where))

    def unsupported(self, feature: str, at: int | None = None) -> NoReturn:
        """Stop: we know no such thing."""
        raise Unsupported(feature, self.location(at))
