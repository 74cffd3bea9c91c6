"""The help of tools with NVIDIA's command line, in the format of LLVM's `cl` library.

Front ends search this text: FlashInfer takes a GPU for supported if `=sm_90` is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.driver.tool_options import EVERYWHERE, HELP_LIST, Takes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tilewright.driver.tool_options import Option


def help_text(
    question: str, title: str, usage: str, groups: Mapping[str, Mapping[str, Option]], notes: str
) -> str:
    """Describe the options of a tool: by group, or as one list if the question is `--help-list`."""
    every_group = {"Generic Options": EVERYWHERE, **groups}
    shown = {name: _shown(options) for name, options in every_group.items()}
    every = {name: option for options in shown.values() for name, option in options.items()}
    width = max(len(_spelled(name, option)) for name, option in every.items())
    if question == HELP_LIST.name:
        parts = [f"OPTIONS:\n{_table(every, width)}"]
    else:
        tables = (f"{name}:\n\n{_table(options, width)}" for name, options in shown.items())
        parts = ["OPTIONS:", *tables]
    return "\n\n".join((f"OVERVIEW: {title}", f"USAGE: {usage}", *parts, notes))


def _shown(options: Mapping[str, Option]) -> dict[str, Option]:
    return {name: option for name, option in options.items() if option.text}


def _table(options: Mapping[str, Option], width: int) -> str:
    lines = (line for name in sorted(options) for line in _lines(name, options[name], width))
    return "\n".join(lines)


def _lines(name: str, option: Option, width: int) -> Iterator[str]:
    """Describe an option and its values."""
    alias = name != option.name
    text = f"Alias for --{option.name}" if alias else option.text
    yield f"  {_spelled(name, option):{width}} - {text}"
    for word, meaning in () if alias else option.choices.items():
        yield f"    {'=' + word:{width - 2}} -   {meaning}"


def _spelled(name: str, option: Option) -> str:
    dashes = "-" if len(name) == 1 else "--"
    has_value = name == option.name and option.takes not in (Takes.NOTHING, Takes.FLAG)
    return f"{dashes}{name}=<{option.value_name}>" if has_value else f"{dashes}{name}"
