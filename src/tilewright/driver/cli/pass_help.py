"""Describe passes: what each does, its options and its statistics."""

from __future__ import annotations

from inspect import cleandoc
from textwrap import wrap
from typing import TYPE_CHECKING

from tilewright.driver.cli.options import WIDTH
from tilewright.driver.pipelines import DEPRECATED_PASSES, PASSES
from tilewright.ir.pipeline_text import load_pass

if TYPE_CHECKING:
    from tilewright.ir.passes import Option, Pass


def all_passes_text() -> str:
    """Return the text of `--help-passes`."""
    return "\n\n".join(_pass_text(name, _kind(name)) for name in sorted(PASSES))


def pass_text(name: str) -> str | None:
    """Return the text of `--help PASS`, or None if there is no such pass."""
    name = DEPRECATED_PASSES.get(name, name)
    return _pass_text(name, _kind(name)) if name in PASSES else None


def _kind(name: str) -> type[Pass]:
    return load_pass(PASSES[name])


def _pass_text(name: str, kind: type[Pass]) -> str:
    lines = [name if name == kind.name else f"{name} (another name of {kind.name})"]
    for paragraph in cleandoc(kind.__doc__ or "").split("\n\n"):
        lines += _wrapped(paragraph, 2)
    options = kind.options().values()
    lines += ["  options:"] if options else []
    for option in options:
        lines += _wrapped(_option_text(option), 4)
    statistics = kind.statistics()
    lines += ["  statistics:"] if statistics else []
    for each in statistics:
        lines += _wrapped(f"{each.name}: {each.doc}", 4)
    return "\n".join(lines)


def _wrapped(text: str, columns: int) -> list[str]:
    indent = " " * columns
    words = " ".join(text.split())
    return wrap(words, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _option_text(option: Option[object]) -> str:
    default = option.default
    shown = str(default).lower() if isinstance(default, bool) else repr(default)
    shown = shown.replace("'", '"')
    return f"{option.spelling}={type(default).__name__} (default: {shown}): {option.doc}"
