"""Command lines that run another program: `[options] (SCRIPT | -m MODULE) [ARGS...]`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

WRONG_USAGE: Final = 2
"""The exit code for an error in the command line."""


class UsageError(Exception):
    """An error in the command line."""


class Given(NamedTuple):
    """What an option without a value stands for: a parameter and its value."""

    name: str
    value: Any


Values = Mapping[str, Callable[[str, str], Any]]
"""How the text after each option with a value is read: a function of the option and the text."""


class ProgramLine:
    """The options that are given, and the program with its own arguments."""

    def __init__(self, words: list[str], flags: Mapping[str, Given], values: Values) -> None:
        self.given: dict[str, Any] = {}
        """By the names of parameters, without those that are not given."""
        self.is_module = False
        self.is_help = False
        self.program: list[str] = []
        self._flags, self._values = flags, values
        rest = list(words)
        while rest and not self.program and not self.is_help:
            self._read(rest)
        if not self.program and not self.is_help:
            raise UsageError("expected a script or '-m' and a module")

    def _read(self, rest: list[str]) -> None:
        """Consume the next option, or the program with its arguments."""
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            self.is_help = True
        elif name in self._values:
            text = value if equals else _value(rest, name)
            self.given[name[2:].replace("-", "_")] = self._values[name](name, text)
        elif word in self._flags:
            given = self._flags[word]
            self.given[given.name] = given.value
        elif word.startswith("-m"):
            self.is_module = True
            self.program = [word[2:] or _value(rest, "-m"), *rest]
        elif word.startswith("-"):
            raise UsageError(f"unknown option '{word}'")
        else:
            self.program = [word, *rest]


def _value(rest: list[str], option: str) -> str:
    if not rest:
        raise UsageError(f"expected a value after '{option}'")
    return rest.pop(0)


def number(option: str, text: str) -> int:
    """Read a number from 0 on."""
    if not text.isdecimal():
        raise UsageError(f"expected a number after '{option}', found '{text}'")
    return int(text)


def line_of_process(
    read: Callable[[list[str]], ProgramLine], usage: str, help: str
) -> ProgramLine | int:
    """Read the command line of this process; if it starts no program, return the exit code."""
    try:
        line = read(sys.argv[1:])
    except UsageError as wrong:
        print(f"{usage}\nerror: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    if line.is_help:
        print(help)
        return 0
    return line
