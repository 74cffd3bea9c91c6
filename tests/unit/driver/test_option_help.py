"""The help of tools: LLVM's format, with the values of options."""

from __future__ import annotations

import pytest

from tilewright.driver.option_help import help_text
from tilewright.driver.tool_options import Option, Takes
from tilewright.tileiras import command_line

MODE = Option("mode", Takes.CHOICE, "How to do it", {"a": "Fast", "bc": "Slow"})
GROUPS = {
    "Own Options": {
        "m": MODE,
        "mode": MODE,
        "q": Option("q", Takes.FLAG, "Quiet"),
        "secret": Option("secret", Takes.FLAG),
        "to-a-file-of-a-name": Option("to-a-file-of-a-name", Takes.TEXT, "File", value_name="x"),
    }
}
GROUPED = """\
OVERVIEW: tool

USAGE: tool [options]

OPTIONS:

Generic Options:

  -h                        - Alias for --help
  --help                    - Display this text
  --help-hidden             - Alias for --help
  --help-list               - Display the options in one list
  --help-list-hidden        - Alias for --help-list
  --version                 - Display the version

Own Options:

  -m                        - Alias for --mode
  --mode=<value>            - How to do it
    =a                      -   Fast
    =bc                     -   Slow
  -q                        - Quiet
  --to-a-file-of-a-name=<x> - File

The end"""
LISTED = """\
OPTIONS:
  -h                        - Alias for --help
  --help                    - Display this text
  --help-hidden             - Alias for --help
  --help-list               - Display the options in one list
  --help-list-hidden        - Alias for --help-list
  -m                        - Alias for --mode
  --mode=<value>            - How to do it
    =a                      -   Fast
    =bc                     -   Slow
  -q                        - Quiet
  --to-a-file-of-a-name=<x> - File
  --version                 - Display the version

The end"""


def test_by_group() -> None:
    assert help_text("help", "tool", "tool [options]", GROUPS, "The end") == GROUPED


def test_in_one_list() -> None:
    text = help_text("help-list", "tool", "tool [options]", GROUPS, "The end")
    assert text.partition("\n\n")[2].partition("\n\n")[2] == LISTED


@pytest.mark.parametrize("question", ["help", "help-list"])
def test_every_value_of_tileiras_has_a_line(question: str) -> None:
    lines = command_line.help_text(question).splitlines()
    for option in command_line.OPTIONS.values():
        for word in option.choices:
            assert any(line.startswith(f"    ={word} ") for line in lines), word
    assert max(map(len, lines)) <= 100
