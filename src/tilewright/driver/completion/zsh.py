"""The completion script of zsh."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tilewright.driver.completion.words import FILES, FOLDERS, two_word_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.driver.completion.words import CompletedCommand, CompletedOption, Values

# The file is either a function that zsh loads from `fpath`, or it is sourced.
_SCRIPT: Final = """\
#compdef tilewright
# Completion of zsh for tilewright, written by `tilewright completion zsh`.

_tilewright() {{
    local -a commands options
    commands=(
{summaries}
    )
    options=({first})
    if ((CURRENT == 2)); then
        _describe -t commands command commands
        _describe -o option options
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{groups}
    esac
    case $command in
{commands}
    esac
}}

if [[ $funcstack[1] == _tilewright ]]; then
    _tilewright "$@"
else
    compdef _tilewright tilewright
fi
"""

_ACTIONS: Final = {FILES: "_files", FOLDERS: "_files -/", "": " "}


def zsh_script(commands: Sequence[CompletedCommand], first: Sequence[str]) -> str:
    """Return the script for subcommands; those of `first` with dashes are options."""
    known = {command.name: command.summary for command in commands}
    summaries = [
        f"{word}:{known.get(word, 'commands of two words')}"
        for word in first
        if not word.startswith("-")
    ]
    return _SCRIPT.format(
        summaries="\n".join(f"        {_quote(each)}" for each in summaries),
        first=" ".join(word for word in first if word.startswith("-")),
        groups="\n".join(_groups(commands)),
        commands="\n".join(_command(command) for command in commands),
    )


def _groups(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    """Yield a case for each first word of a command with two words."""
    for group, members in two_word_commands(commands).items():
        listed = " ".join(_quote(f"{word}:{each.summary}") for word, each in members.items())
        yield (
            f"        ({group})\n"
            "            if ((CURRENT == 2)); then\n"
            f"                commands=({listed})\n"
            "                _describe -t commands command commands\n"
            "                return\n"
            "            fi\n"
            '            command="$command $words[2]"\n'
            "            shift words\n"
            "            ((CURRENT--))\n"
            "            ;;"
        )


def _command(command: CompletedCommand) -> str:
    specs = [spec for option in command.options for spec in _specs(option)]
    specs.append(f"*:{command.operand.name}:{_action(command.operand)}")
    listed = "".join(f" \\\n                {_quote(spec)}" for spec in specs)
    return f"        ({_quote(command.name)})\n            _arguments{listed}\n            ;;"


def _specs(option: CompletedOption) -> Iterator[str]:
    """Yield the specification of each name; every option may be repeated."""
    help = re.sub(r"([\[\]\\:])", r"\\\1", option.help)
    for name in option.names:
        if option.values is None:
            yield f"*{name}[{help}]"
            continue
        # A value follows in a word of its own, or in that of the option.
        start = f"{name}=" if name.startswith("--") else f"{name}+"
        colon = ":"
        if option.is_optional:
            start, colon = f"{name}=-", "::"
        yield f"*{start}[{help}]{colon}{option.values.name}:{_action(option.values)}"


def _action(values: Values) -> str:
    return f"({' '.join(values.words)})" if values.words else _ACTIONS[values.paths]


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
