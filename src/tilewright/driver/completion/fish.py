"""The completion script of fish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.driver.completion.words import FILES, FOLDERS, two_word_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.driver.completion.words import CompletedCommand, CompletedOption, Values

_FUNCTIONS: Final = """\
# Completion of fish for tilewright, written by `tilewright completion fish`.

function __tilewright_words -d 'Whether exactly these words follow tilewright'
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end

function __tilewright_command -d 'Whether these words are the command'
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

complete -c tilewright -f
"""

_COMPLETE: Final = "complete -c tilewright"


def fish_script(commands: Sequence[CompletedCommand], first: Sequence[str]) -> str:
    """Return the script for subcommands; `first` completes the first word."""
    known = {command.name: command.summary for command in commands}
    lines = [_word("__tilewright_words", word, known.get(word, "")) for word in first]
    for group, members in two_word_commands(commands).items():
        condition = f"__tilewright_words {group}"
        lines += [_word(condition, word, each.summary) for word, each in members.items()]
    lines += [line for command in commands for line in _command(command)]
    return _FUNCTIONS + "\n".join(lines) + "\n"


def _word(condition: str, word: str, help: str) -> str:
    described = f" -d {_quote(help)}" if help else ""
    return f"{_COMPLETE} -n {_quote(condition)} -a {_quote(word)}{described}"


def _command(command: CompletedCommand) -> Iterator[str]:
    start = f"{_COMPLETE} -n {_quote(f'__tilewright_command {command.name}')}"
    for option in command.options:
        yield f"{start}{_names(option)}{_option_values(option)} -d {_quote(option.help)}"
    operand = _values(command.operand)
    if operand:
        yield f"{start}{operand}"


def _names(option: CompletedOption) -> str:
    return "".join(
        f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names
    )


def _option_values(option: CompletedOption) -> str:
    if option.values is None:
        return ""
    # Fish takes a required value from the next word, and an optional one after an equals sign.
    required = "" if option.is_optional else " -r"
    return f"{required}{_values(option.values) or ' -f'}"


def _values(values: Values) -> str:
    if values.words:
        return f" -f -a {_quote(' '.join(values.words))}"
    if values.paths == FOLDERS:
        return " -f -a '(__fish_complete_directories)'"
    return " -F" if values.paths == FILES else ""


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
