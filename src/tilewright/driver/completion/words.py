"""What can be completed after each subcommand, derived from the declarations of its options."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tilewright.driver.cli.options import Command, Option

FILES: Final = "files"
FOLDERS: Final = "folders"

_PATHS: Final = {"FILE": FILES, "ARGS": FILES, "FOLDER": FOLDERS, "KIT": FOLDERS}
"""The paths that an operand or a value with a metavariable names."""


class Values(NamedTuple):
    """What completes a value or an operand: words, or paths. Neither completes a free one."""

    name: str
    words: tuple[str, ...] = ()
    paths: str = ""


class CompletedOption(NamedTuple):
    """An option; a flag has no values. Optional values follow an equals sign."""

    names: tuple[str, ...]
    help: str
    values: Values | None = None
    is_optional: bool = False


class CompletedCommand(NamedTuple):
    """A subcommand of one or two words."""

    name: str
    summary: str
    options: tuple[CompletedOption, ...]
    operand: Values


def completed_commands(
    commands: Mapping[str, tuple[str, str]],
) -> Iterator[CompletedCommand]:
    """Yield every subcommand of a table of modules and summaries; loads all of them."""
    for name, (module, summary) in commands.items():
        command: Command = import_module(f"tilewright.driver.cli.{module}").COMMAND
        yield CompletedCommand(name, summary, tuple(_options(command)), _operand(command))


def two_word_commands(
    commands: Iterable[CompletedCommand],
) -> dict[str, dict[str, CompletedCommand]]:
    """Return the commands of two words: by the first word, by the second."""
    groups: dict[str, dict[str, CompletedCommand]] = {}
    for command in commands:
        group, blank, second = command.name.partition(" ")
        if blank:
            groups.setdefault(group, {})[second] = command
    return groups


def _options(command: Command) -> Iterator[CompletedOption]:
    yield CompletedOption(tuple(command.help_names), "show the help of the command")
    yield CompletedOption(("--version",), "show the version")
    for option in command.options:
        values = _values(option) if option.metavar else None
        yield CompletedOption(option.names, option.help, values, bool(option.implied))


def _values(option: Option) -> Values:
    if option.choices:
        return Values(option.key, tuple(option.choices))
    words = tuple(ARCHES) if option.metavar == "GPU" else ()
    return Values(option.metavar, words, _PATHS.get(option.metavar, ""))


def _operand(command: Command) -> Values:
    paths = "" if command.words else _PATHS.get(command.operand, "")
    return Values(command.operand, tuple(command.words), paths)
