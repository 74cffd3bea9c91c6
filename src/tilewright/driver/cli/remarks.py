"""`tilewright remarks`: list the remarks of the compiler, or explain some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import WIDTH, Command
from tilewright.driver.files import write_line
from tilewright.support.remark_catalogue import CATALOGUE, CATEGORIES
from tilewright.support.suggestions import similar_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.driver.cli.options import Arguments
    from tilewright.support.remark_catalogue import RemarkEntry

ALL: Final = "all"
INDENT: Final = "  "
COLUMN: Final = 30

COMMAND: Final = Command(
    "remarks",
    "List the remarks of `tilewright compile --remarks` and `tileiras --remarks`, or explain some.",
    "the remark to explain, by the id that is printed with it; all: list them",
    (),
    "examples:\n"
    "  tilewright remarks\n"
    "  tilewright remarks vector-alignment\n"
    "  tilewright compile kernel.mlir -o kernel.cubin --remarks",
    many=True,
    operand="ID",
    default=ALL,
    words=(ALL, *CATALOGUE),
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    ids = arguments.files
    for id in ids:
        if id != ALL and id not in CATALOGUE:
            COMMAND.fail(_unknown(id))
    texts = [listing() if id == ALL else explanation(CATALOGUE[id]) for id in ids]
    write_line("\n\n".join(texts))
    return 0


def _unknown(id: str) -> str:
    similar = similar_names(id, CATALOGUE, 3)
    hint = f"; similar ones: {', '.join(similar)}" if similar else ""
    return f"unknown remark '{id}'{hint} (`tilewright remarks` lists all)"


def listing() -> str:
    """All ids by category, with what each says."""
    return "\n".join(line for category in CATEGORIES for line in _section(category)).strip("\n")


def _section(category: str) -> Iterator[str]:
    from textwrap import wrap  # noqa: PLC0415

    yield f"\n{category}:"
    for entry in CATALOGUE.values():
        if entry.category == category:
            first, *rest = wrap(f"{entry.kind}: {entry.meaning}", WIDTH - COLUMN)
            yield f"{INDENT}{entry.id}".ljust(COLUMN) + first
            yield from (" " * COLUMN + line for line in rest)


def explanation(entry: RemarkEntry) -> str:
    """What a remark says, why, and what to change."""
    from textwrap import fill  # noqa: PLC0415

    paragraphs = [entry.meaning, f"Why: {entry.why}"]
    if entry.remedy:
        paragraphs.append(f"Remedy: {entry.remedy}")
    head = f"{entry.id} ({entry.kind}, {entry.category}; {entry.name} in YAML)"
    texts = [fill(each, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
             for each in paragraphs]  # fmt: skip
    return "\n\n".join([head, *texts])
