"""The completion script of bash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.driver.completion.words import FILES, FOLDERS, two_word_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.driver.completion.words import CompletedCommand, Values

# `=` is a word of its own in COMP_WORDS: `--emit=ptx` is three words. Bash 3.2, which macOS has,
# knows neither `mapfile` nor `compopt`.
_SCRIPT: Final = """\
# Completion of bash for tilewright, written by `tilewright completion bash`.

_tilewright() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    local command=${{COMP_WORDS[1]}} options='' words='' paths='' IFS=$' \\t\\n'
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W '{first}' -- "$current"))
        return
    fi
    case $command in
{groups}
    esac
    if [[ $current == '=' ]]; then
        current='' previous="$previous="
    elif [[ $previous == '=' ]]; then
        previous="${{COMP_WORDS[COMP_CWORD-2]}}="
    fi
    case "$command $previous" in
{values}
        *' --'*=) return ;;
        *)
            case $command in
{commands}
            esac
            if [[ $current == -* ]]; then
                words=$options paths=''
            fi
            ;;
    esac
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    elif [[ -n $paths ]]; then
        compopt -o filenames 2>/dev/null
        IFS=$'\\n'
        COMPREPLY=($(compgen "$paths" -- "$current"))
    fi
}}

complete -F _tilewright tilewright
"""

_COMPGEN: Final = {FILES: "-f", FOLDERS: "-d"}


def bash_script(commands: Sequence[CompletedCommand], first: Sequence[str]) -> str:
    """Return the script for subcommands; `first` completes the first word."""
    return _SCRIPT.format(
        first=" ".join(first),
        groups="\n".join(_groups(commands)),
        values="\n".join(line for command in commands for line in _values(command)),
        commands="\n".join(_command(command) for command in commands),
    )


def _groups(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    """Yield a case for each first word of a command with two words."""
    for group, members in two_word_commands(commands).items():
        seconds = " ".join(members)
        yield (
            f"        {group})\n"
            "            if ((COMP_CWORD == 2)); then\n"
            f"                COMPREPLY=($(compgen -W '{seconds}' -- \"$current\"))\n"
            "                return\n"
            "            fi\n"
            '            command="$command ${COMP_WORDS[2]}"\n'
            "            ;;"
        )


def _values(command: CompletedCommand) -> Iterator[str]:
    """Yield a case for each option with a value."""
    for option in command.options:
        if option.values is None:
            continue
        spellings = [] if option.is_optional else list(option.names)
        spellings += [f"{name}=" for name in option.names if name.startswith("--")]
        cases = "|".join(f"'{command.name} {spelling}'" for spelling in spellings)
        yield f"        {cases}) {_assignment(option.values)} ;;"


def _command(command: CompletedCommand) -> str:
    names = " ".join(name for option in command.options for name in option.names)
    operand = _assignment(command.operand)
    return f"                '{command.name}') options='{names}' {operand} ;;"


def _assignment(values: Values) -> str:
    if values.words:
        return f"words='{' '.join(values.words)}'"
    return f"paths='{_COMPGEN.get(values.paths, '')}'"
