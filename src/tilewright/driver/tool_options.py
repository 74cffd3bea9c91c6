"""Command-line parsing as in NVIDIA's tools, which follow LLVM's `cl` conventions."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

BOOLEANS: Final = {
    **dict.fromkeys(("", "true", "TRUE", "True", "1"), True),
    **dict.fromkeys(("false", "FALSE", "False", "0"), False),
}


class Takes:
    """The kinds of option values.

    Plain constants: creating an `Enum` takes longer than parsing a command line.
    """

    NOTHING: Final = "nothing: it asks for a text and ends the program"
    FLAG: Final = "perhaps `=true` or `=false`"
    TEXT: Final = "any text"
    NUMBER: Final = "an integer"
    CHOICE: Final = "one of several words"


NO_CHOICES: Final[Mapping[str, str]] = {}


class Option(NamedTuple):
    """An option by its full name."""

    name: str
    takes: str
    text: str = ""
    """What it does, for the help; hidden there if empty."""
    choices: Mapping[str, str] = NO_CHOICES
    """The words that can be chosen, with what they mean."""
    value_name: str = "value"
    attached: bool = False
    """Whether the value is joined to its letter, as in `-O3`."""


HELP: Final = Option("help", Takes.NOTHING, "Display this text")
HELP_LIST: Final = Option("help-list", Takes.NOTHING, "Display the options in one list")
VERSION: Final = Option("version", Takes.NOTHING, "Display the version")
EVERYWHERE: Final[Mapping[str, Option]] = {
    **dict.fromkeys(("h", "help", "help-hidden"), HELP),
    **dict.fromkeys(("help-list", "help-list-hidden"), HELP_LIST),
    "version": VERSION,
    # Accepted and ignored.
    **{name: Option(name, Takes.FLAG) for name in ("color", "print-all-options", "print-options")},
}
"""Options common to all tools."""


class Asked(Exception):
    """The command line requests help or the version."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


def complain(text: str) -> None:
    """Print an error to standard error."""
    print(text, file=sys.stderr)


class ToolLine:
    """A parsed command line. Errors are reported as they occur, and parsing continues."""

    __slots__ = ("_options", "_say", "_tool", "files", "values", "wrong")

    def __init__(
        self,
        tool: str,
        options: Mapping[str, Option],
        arguments: Sequence[str],
        say: Callable[[str], object] = complain,
    ) -> None:
        self._tool = tool
        self._say = say
        self._options = {**EVERYWHERE, **options}
        self.files: list[str] = []
        self.values: dict[str, str] = {}
        """Values by full option name; the last occurrence wins."""
        self.wrong = False
        words = self._expanded(arguments)
        for word in words:
            if word == "--":
                self.files += words
            elif word == "-" or not word.startswith("-"):
                self.files.append(word)
            else:
                self._read(word, word.removeprefix("-").removeprefix("-"), words)
        if len(self.files) > 1:
            self._mistake(
                "Too many positional arguments specified!\n"
                f"Can specify at most 1 positional arguments: See: {tool} --help"
            )

    def flag(self, name: str) -> bool:
        """Whether an option is set."""
        return name in self.values and BOOLEANS[self.values[name]]

    def _expanded(self, arguments: Iterable[str], inside: tuple[str, ...] = ()) -> Iterator[str]:
        """Expand response files (`@file`) recursively.

        A word that names no existing file is kept.
        """
        for word in arguments:
            path = word[1:]
            if not word.startswith("@") or not os.path.exists(path):
                yield word
            elif path in inside:
                self._mistake(f"'{path}' names itself as a file of arguments")
            else:
                yield from self._expanded(self._arguments(path), (*inside, path))

    def _arguments(self, path: str) -> list[str]:
        """Tokenize a response file by the rules of a shell."""
        import shlex  # noqa: PLC0415

        try:
            with open(path, "rb") as file:
                data = file.read()
            if b"\0" in data:
                raise ValueError("it is no text")
            return shlex.split(os.fsdecode(data))
        except (OSError, ValueError) as error:
            self._mistake(f"cannot read '{path}': {getattr(error, 'strerror', error)}")
            return []

    def _mistake(self, text: str) -> None:
        self.wrong = True
        self._say(f"{self._tool}: {text}")

    def _read(self, word: str, body: str, words: Iterator[str]) -> None:
        name, equals, value = body.partition("=")
        option = self._options.get(name)
        letter = self._options.get(body[:1])
        if letter is not None and letter.attached and (option is None or option is letter):
            self._set(letter, f"-{body[:1]}", body[1:] or None)
        elif option is not None:
            spelled = f"-{name}" if len(name) == 1 else f"--{name}"
            if not equals and option.takes in (Takes.TEXT, Takes.NUMBER, Takes.CHOICE):
                self._set(option, spelled, next(words, None))
            else:
                self._set(option, spelled, value if equals else "", given=bool(equals))
        elif letter is not None and letter.takes in (Takes.NOTHING, Takes.FLAG):
            # Single-letter flags may be grouped.
            self._set(letter, f"-{body[:1]}", "", given=False)
            self._read(word, body[1:], words)
        else:
            self._unknown(word)

    def _unknown(self, word: str) -> None:
        self._mistake(f"Unknown command line argument '{word}'.  Try: '{self._tool} --help'")
        # Loaded only to report an error.
        from tilewright.support.suggestions import similar_names  # noqa: PLC0415

        name, equals, value = word.lstrip("-").partition("=")
        for near in similar_names(name, self._options):
            dashes = "-" if len(near) == 1 else "--"
            self._mistake(f"Did you mean '{dashes}{near}{equals}{value}'?")

    def _set(self, option: Option, spelled: str, value: str | None, *, given: bool = True) -> None:
        problem = _problem(option, value, given)
        if problem is not None:
            # As in LLVM, a missing value is reported with the spelling on the command line.
            name = spelled if value is None else f"--{option.name}"
            self._mistake(f"for the {name} option: {problem}")
        elif option.takes == Takes.NOTHING:
            raise Asked(option.name)
        else:
            assert value is not None
            self.values[option.name] = value


def _problem(option: Option, value: str | None, given: bool) -> str | None:
    """Validate the value of an option; return the error message, or None."""
    if value is None:
        return "requires a value!"
    match option.takes:
        case Takes.NOTHING if given:
            return f"does not allow a value! '{value}' specified."
        case Takes.FLAG if value not in BOOLEANS:
            return f"'{value}' is invalid value for boolean argument! Try 0 or 1"
        case Takes.NUMBER if not _is_number(value):
            return f"'{value}' value invalid for integer argument!"
        case Takes.CHOICE if value not in option.choices:
            known = ", ".join(option.choices)
            return f"Cannot find option named '{value}'! Expected one of {known}"
        case _:
            return None


def _is_number(text: str) -> bool:
    try:
        integer(text)
    except ValueError:
        return False
    return True


def integer(text: str) -> int:
    """Parse a 32-bit integer in C notation, as LLVM does."""
    digits = text.removeprefix("-")
    # Python accepts spaces, underscores and Unicode digits, but not C's octal numbers.
    if not (digits.isascii() and digits.isalnum()):
        raise ValueError(text)
    octal = digits.startswith("0") and digits.isdecimal()
    value = int(text, 8 if octal else 0)
    if not -(2**31) <= value < 2**31:
        raise ValueError(text)
    return value
