"""`tilewright completion`: print the completion script of a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import HELP_NAMES, Command, output
from tilewright.driver.completion.bash import bash_script
from tilewright.driver.completion.fish import fish_script
from tilewright.driver.completion.words import completed_commands
from tilewright.driver.completion.zsh import zsh_script
from tilewright.driver.files import write_output

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.completion.words import CompletedCommand

SCRIPTS: Final[dict[str, Callable[[Sequence[CompletedCommand], Sequence[str]], str]]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}

COMMAND: Final = Command(
    "completion",
    "Print a script with which a shell completes commands, options and their values.",
    "the shell: bash, zsh or fish",
    (output("the script"),),
    "Shells look for it when they need it, and it is written again after an update:\n"
    "  bash  ~/.local/share/bash-completion/completions/tilewright\n"
    "  zsh   _tilewright in a folder that is in `fpath` before `compinit` runs\n"
    "  fish  ~/.config/fish/completions/tilewright.fish\n\n"
    "examples:\n"
    "  tilewright completion bash -o tilewright\n"
    "  tilewright completion zsh -o _tilewright\n"
    "  tilewright completion fish -o tilewright.fish",
    operand="SHELL",
    default="bash",
    words=tuple(SCRIPTS),
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    shell = arguments.file
    if shell not in SCRIPTS:
        COMMAND.fail(f"expected {', '.join(SCRIPTS)}, found '{shell}'")
    write_output(arguments["output"], completion_script(shell).encode())
    return 0


def completion_script(shell: str) -> str:
    """Return the completion script of a shell."""
    # The table of commands names this module.
    from tilewright.driver.cli import COMMANDS, VERSION_NAMES  # noqa: PLC0415

    first = dict.fromkeys(name.split()[0] for name in COMMANDS)
    commands = tuple(completed_commands(COMMANDS))
    return SCRIPTS[shell](commands, [*first, *HELP_NAMES, *VERSION_NAMES])
