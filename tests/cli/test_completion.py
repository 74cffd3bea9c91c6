"""Completion scripts: every command, option and value is offered by the shell itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from command_line import Run

from tilewright.driver.cli import COMMANDS
from tilewright.driver.cli.completion import completion_script
from tilewright.target.arch import ARCHES

SHELLS = ("bash", "zsh", "fish")

# Bash splits words at `=`, as it does for COMP_WORDS.
BASH = r"""
source "$1"
cd "$2"
while IFS= read -r line; do
    read -r -a COMP_WORDS <<< "${line//=/ = }"
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _tilewright
    printf '%s\n' "${COMPREPLY[*]}"
done
"""

# The specifications are printed instead of being completed; a terminal is needed for that.
ZSH = r"""
_arguments() { print -r -- "${(j: :)@}" }
_describe() { print -r -- "${(P)@[-1]}" }
compdef() { : }
source "$1"
while IFS= read -r line; do
    words=(${(s: :)line})
    [[ $line == *' ' ]] && words+=('')
    CURRENT=$#words
    print -r -- "$(_tilewright | tr '\n' ' ')"
done
"""

FISH = r"""
source $argv[1]
cd $argv[2]
while read -l line
    echo (complete -C $line | string replace -r '\t.*' '')
end
"""

PROGRAMS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@cache
def script_of(shell: str) -> str:
    return completion_script(shell)


@pytest.fixture
def shell_folder(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    for shell in SHELLS:
        (tmp_path / f"script.{shell}").write_text(script_of(shell))
        (tmp_path / f"program.{shell}").write_text(PROGRAMS[shell])
    work = tmp_path / "work"
    (work / "kernels").mkdir(parents=True)
    (work / "add two.mlir").write_text("")
    return tmp_path


def completions(shell: str, folder: Path, lines: list[str]) -> dict[str, list[str]]:
    """What a shell offers at the end of each line."""
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [path, *quiet, folder / f"program.{shell}", folder / f"script.{shell}", folder / "work"],
        input="".join(f"{line}\n" for line in lines),
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    return dict(zip(lines, map(str.split, done.stdout.splitlines()), strict=True))


def long_options(command: str) -> set[str]:
    """The long options of a command, as its `--help` lists them."""
    text: str = import_module(f"tilewright.driver.cli.{COMMANDS[command][0]}").COMMAND.help()
    _, _, rows = text.partition("\noptions:\n")
    listed = rows.partition("\n\n")[0]
    heads = re.findall(r"^  (-.*?)(?:  |$)", listed, re.MULTILINE)
    return {name for head in heads for name in re.findall(r"--[a-z-]+", head)}


def test_help_lists_the_options_that_this_file_expects() -> None:
    assert {"--emit", "--arch", "--output", "--help", "--version"} <= long_options("compile")
    assert long_options("cache") == {"--help", "--version"}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_every_command_and_option_is_offered(shell: str, shell_folder: Path) -> None:
    lines = {command: f"tilewright {command} --" for command in COMMANDS}
    offered = completions(shell, shell_folder, ["tilewright ", "tilewright ptx ", *lines.values()])
    assert {name.split()[0] for name in COMMANDS} <= set(offered["tilewright "])
    assert offered["tilewright ptx "] == ["run"]
    for command, line in lines.items():
        names = {each.removesuffix("=") for each in offered[line]}
        assert long_options(command) <= names, command
        if command != "nvcc":
            assert names == long_options(command), command


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tilewright comp", ["compile", "completion"]),
        ("tilewright compile --arch ", list(ARCHES)),
        ("tilewright compile --arch sm_9", ["sm_90"]),
        ("tilewright opt --emit ", ["bytecode", "text"]),
        ("tilewright opt --schedule ", None),
        ("tilewright cache ", ["clear", "show", "tuned"]),
        ("tilewright completion ", ["bash", "fish", "zsh"]),
        ("tilewright remarks vector-al", ["vector-alignment"]),
        ("tilewright explain --sources ", ["kernels/"]),
        ("tilewright explain --kernel ", []),
        ("tilewright ptx run --cou", ["--counters", "--counters-json"]),
        ("tilewright verify ker", ["kernels/"]),
    ],
)
def test_values(shell: str, shell_folder: Path, line: str, expected: list[str] | None) -> None:
    offered = completions(shell, shell_folder, [line])[line]
    if expected is None:  # no option of the command
        expected = ["add", "two.mlir", "kernels/"]
    # A terminal adds the slash that bash does not list.
    plain = sorted(each.rstrip("/=") for each in offered)
    assert plain == sorted(each.rstrip("/") for each in expected)


def test_bash_completes_after_an_equals_sign(shell_folder: Path) -> None:
    lines = [
        "tilewright opt --emit=",
        "tilewright opt --emit=by",
        "tilewright opt --print-changed=",
        "tilewright opt --print-changed ker",
        "tilewright opt --unknown=",
    ]
    offered = completions("bash", shell_folder, lines)
    assert list(offered.values()) == [
        ["text", "bytecode"],
        ["bytecode"],
        ["ir", "diff"],
        ["kernels"],
        [],
    ]


def test_fish_completes_after_an_equals_sign(shell_folder: Path) -> None:
    lines = ["tilewright opt --emit=by", "tilewright opt --print-changed="]
    offered = completions("fish", shell_folder, lines)
    assert offered[lines[0]] == ["--emit=bytecode"]
    # Operands are files, and fish offers those as well where a value is optional.
    assert set(offered[lines[1]]) >= {"--print-changed=ir", "--print-changed=diff"}


def test_zsh_is_given_every_command_and_option(shell_folder: Path) -> None:
    lines = {command: f"tilewright {command} " for command in COMMANDS}
    offered = completions("zsh", shell_folder, ["tilewright ", "tilewright ptx ", *lines.values()])
    first = {each.partition(":")[0] for each in offered["tilewright "]}
    assert {name.split()[0] for name in COMMANDS} <= first
    for command, line in lines.items():
        specs = set(re.findall(r"(?<=\*)--[a-z-]+", " ".join(offered[line])))
        assert specs == long_options(command) or command == "nvcc", command


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_name_every_option(shell: str) -> None:
    """Also without the shell: the names stand in the script as it spells them."""
    script = script_of(shell)
    for command in COMMANDS:
        for name in long_options(command):
            spelling = f" -l {name[2:]} " if shell == "fish" else name
            assert spelling in script, (command, name)


def test_the_command_prints_the_script(run: Run) -> None:
    for shell in SHELLS:
        assert run("completion", shell) == (0, script_of(shell), "")
    code, out, err = run("completion", "tcsh")
    assert (code, out) == (2, "")
    assert "expected bash, zsh, fish, found 'tcsh'" in err
