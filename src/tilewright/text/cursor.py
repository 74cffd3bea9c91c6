"""A cursor over tokens: lookahead, consumption, and located errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from tilewright.ir.types import DYNAMIC
from tilewright.support.diagnostics import InvalidValue, fail
from tilewright.support.location import Positions, Source, TextLoc
from tilewright.support.stack import DeepRecursion
from tilewright.text.lexer import TokenPositions, tokenize, unescape

if TYPE_CHECKING:
    from tilewright.support.diagnostics import Diagnostic

T = TypeVar("T")

DIGITS: Final = frozenset("0123456789")
LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
"""First characters of identifiers. `str.isalpha` would accept non-ASCII letters."""

MAX_NESTING: Final = 128
"""The combined nesting limit of regions, types, attributes and locations."""

BYTE_ORDER_MARK: Final = "\ufeff"
"""What some editors write in front of UTF-8."""

MAX_DIGITS: Final = 640
"""The digit limit of a number; Python accepts this many under every setting."""

# A region level takes about a dozen frames, so the maximum nesting exceeds the default limit.
_DEEP: Final = 32
_FRAMES: Final = 6000

_MAX_EXTENT: Final = (1 << 63) - 1


def describe(token: str) -> str:
    """Describe a token in a diagnostic."""
    if not token:
        return "end of input"
    if token == '"':
        return "a string without end"
    return f"'{token}'" if len(token) <= 40 else f"'{token[:40]}...'"


class Cursor:
    """The tokens of one text and the current position."""

    def __init__(self, text: str, name: str = "<stdin>") -> None:
        text = text.removeprefix(BYTE_ORDER_MARK)
        source = Source(name, text)
        if "\0" in text:
            location = TextLoc(Positions(source), text.index("\0"))
            fail("expected text without NUL characters, found one", location)
        self.tokens = tokenize(text)
        self.at = 0
        self.positions = TokenPositions(source)
        self.nesting = 0
        self.max_nesting = 0
        """The maximum nesting so far, including that of expanded aliases."""

    def peek(self) -> str:
        """Return the current token, or an empty one at the end."""
        return self.tokens[self.at]

    def next(self) -> str:
        """Consume and return the current token."""
        token = self.tokens[self.at]
        if not token:
            self.error("unexpected end of input")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        """Consume the current token if it is the given one."""
        if self.tokens[self.at] != token:
            return False
        self.at += 1
        return True

    def expect(self, token: str) -> None:
        """Consume the given token, or report that it is missing."""
        if self.tokens[self.at] != token:
            self.missing(token)
        self.at += 1

    def location(self, at: int | None = None) -> TextLoc:
        """Return the location of a token, by default the current one."""
        return TextLoc(self.positions, self.at if at is None else at)

    def error(self, message: str, at: int | None = None, *notes: Diagnostic) -> NoReturn:
        """Raise an error at a token, by default the current one."""
        fail(message, self.location(at), *notes)

    def unexpected(self, wanted: str) -> NoReturn:
        """Raise an error: `wanted` was expected instead of the current token."""
        self.error(f"expected {wanted}, got {describe(self.tokens[self.at])}")

    def missing(self, token: str) -> NoReturn:
        """Raise an error: this token is missing."""
        token_text = describe(self.tokens[self.at])
        fail(f"expected '{token}', got {token_text}", self._missing_location())

    def _missing_location(self) -> TextLoc:
        """Return the location of a missing token: here, or the end of the previous line."""
        source, here = self.positions.source, self.positions.offset(self.at)
        if self.at:
            end = self.positions.offset(self.at - 1) + len(self.tokens[self.at - 1])
            if "\n" in source.text[end:here]:
                return TextLoc(Positions(source), end)
        return self.location()

    def invalid(self, make: Callable[..., T], *arguments: object, at: int) -> T:
        """Construct a type or an attribute; report invalid ones at a token."""
        try:
            return make(*arguments)
        except InvalidValue as error:
            self.error(str(error), at)

    def enter(self) -> None:
        """Enter a nesting level."""
        self.nesting += 1
        if self.nesting > self.max_nesting:
            self.reach(self.nesting)

    def leave(self) -> None:
        """Leave a nesting level."""
        self.nesting -= 1

    def reach(self, nesting: int) -> None:
        """Record a new maximum nesting, and check the limit."""
        self.max_nesting = nesting
        if nesting > MAX_NESTING:
            self.error(f"nested more than {MAX_NESTING} levels deep")
        if nesting >= _DEEP:
            DeepRecursion.need(_FRAMES)

    def keyword(self) -> str:
        """Parse a bare identifier."""
        word = self.tokens[self.at]
        if word[:1] not in LETTERS:
            self.unexpected("a keyword")
        self.at += 1
        return word

    def is_integer(self) -> bool:
        """Return whether an integer follows, with an optional sign."""
        token = self.tokens[self.at]
        digits = self.tokens[self.at + 1] if token == "-" else token
        return digits[:1] in DIGITS and (digits.isdigit() or digits[:2] == "0x")

    def integer(self) -> int:
        """Parse a decimal or hexadecimal integer with an optional minus sign."""
        start = self.at
        negative = self.accept("-")
        token = self.tokens[self.at]
        if not self.is_integer() or token == "-":
            self.at = start
            self.unexpected("an integer")
        number = self.number(token, self.at)
        self.at += 1
        return -number if negative else number

    def number(self, digits: str, at: int) -> int:
        """Return the value of decimal or hexadecimal digits."""
        if len(digits) > MAX_DIGITS:
            self.error(f"integer literal of more than {MAX_DIGITS} digits", at)
        if digits.isdigit():
            return int(digits)
        if digits == "0x":
            self.error("expected hexadecimal digits after '0x'", at)
        try:
            return int(digits, 16)
        except ValueError:
            self.error(f"expected an integer, got {describe(digits)}", at)

    def string(self) -> str:
        """Parse a string literal; return its unescaped contents."""
        token = self.tokens[self.at]
        if token[:1] != '"' or token == '"':
            self.unexpected("a string")
        return self.unescaped(token)

    def symbol(self) -> str:
        """Parse `@name`; return the name."""
        token = self.tokens[self.at]
        if token[:1] != "@" or token == "@":
            self.unexpected("a symbol name")
        if token[1] == '"':
            return self.unescaped(token[1:])
        self.at += 1
        return token[1:]

    def unescaped(self, literal: str) -> str:
        """Consume the current token, and unescape its quoted part `literal`."""
        text = unescape(literal)
        if text is None:
            self.error("unknown escape in string literal")
        self.at += 1
        return text

    def listed(self, item: Callable[[], T], open: str = "", close: str = "") -> list[T]:
        """Parse a comma-separated list, which may be empty between `open` and `close`."""
        if open:
            self.expect(open)
        if close and self.accept(close):
            return []
        items = [item()]
        tokens = self.tokens
        while tokens[self.at] == ",":
            self.at += 1
            items.append(item())
        if close:
            self.expect(close)
        return items

    def closing(self, at: int) -> int:
        """Return the index after the bracket that closes the one at `at`.

        It is -1 if the bracket is not closed, or the nesting limit is exceeded.
        """
        tokens = self.tokens
        open = tokens[at]
        close = _CLOSERS[open]
        nesting = 0
        while token := tokens[at]:
            at += 1
            if token == open:
                nesting += 1
                if nesting > MAX_NESTING:
                    return -1
            elif token == close:
                nesting -= 1
                if not nesting:
                    return at
        return -1

    def extents(self) -> tuple[int, ...]:
        """Parse the extents before an element type, `4x?x`; none for rank 0."""
        token = self.tokens[self.at]
        if token[-1:] != "x" or token[0] not in _EXTENT_START:
            return ()
        shape = tuple([self.extent(text) for text in token[:-1].split("x")])
        self.at += 1
        return shape

    def shape(self) -> tuple[int, ...]:
        """Parse extents without an element type: `8x64`, `8`, `?x4`."""
        token = self.tokens[self.at]
        if token[:1] not in _EXTENT_START or token[-1] == "x":
            self.unexpected("a shape")
        shape = tuple([self.extent(text) for text in token.split("x")])
        self.at += 1
        return shape

    def extent(self, text: str) -> int:
        """Return the value of one extent of the current token."""
        if text == "?":
            return DYNAMIC
        extent = int(text) if text.isdigit() and len(text) < 20 else -1
        if not 0 <= extent <= _MAX_EXTENT:
            self.error(f"invalid dimension {describe(text)}")
        return extent

    def source_text(self, start: int, end: int) -> str:
        """Return the text of tokens, with whitespace collapsed to one space."""
        offset, tokens = self.positions.offset, self.tokens
        parts: list[str] = []
        end_offset = offset(start)
        for at in range(start, end):
            token, here = tokens[at], offset(at)
            parts.append(token if here == end_offset else f" {token}")
            end_offset = here + len(token)
        return "".join(parts)


_CLOSERS: Final = {"<": ">", "(": ")", "[": "]", "{": "}"}
_EXTENT_START: Final = DIGITS | {"?"}
