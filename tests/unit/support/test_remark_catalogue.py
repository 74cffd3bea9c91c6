"""The catalogue of remarks: it is complete, documented, and the only source of remarks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from each_case import each_case
from remarks_page import page

from tilewright.support import remark_catalogue
from tilewright.support.remark_catalogue import CATALOGUE, CATEGORIES, KINDS, RemarkEntry

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "src" / "tilewright"
DECLARATIONS = SOURCES / "support" / "remark_catalogue.py"
UNPACKED = SOURCES / "driver" / "remarks.py"
"""Remarks of the cache, by their id."""


@each_case("entry", CATALOGUE.values(), ids=lambda entry: entry.id)
def test_entries_are_whole(entry: RemarkEntry) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", entry.id)
    assert re.fullmatch(r"Remark[A-Z]\w+", entry.name)
    assert entry.kind in KINDS
    assert entry.category in CATEGORIES
    assert entry.meaning.endswith(".")
    assert entry.why.endswith(".")
    assert bool(entry.remedy) or entry.kind in ("passed", "analysis")


def test_ids_are_those_of_entries() -> None:
    declared = [each for each in vars(remark_catalogue).values() if isinstance(each, RemarkEntry)]
    assert declared == list(CATALOGUE.values())
    assert all(id == entry.id for id, entry in CATALOGUE.items())


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for path in SOURCES.rglob("*.py"):
        text = path.read_text("utf-8")
        if "emark" in text:
            yield path, ast.parse(text)


def called(node: ast.AST) -> str | None:
    """The name of a called function or class."""
    if not isinstance(node, ast.Call):
        return None
    return getattr(node.func, "id", None) or getattr(node.func, "attr", None)


def test_only_the_catalogue_declares_entries() -> None:
    makers = {
        path
        for path, tree in sources()
        for node in ast.walk(tree)
        if called(node) in ("RemarkEntry", "_declare")
    }
    assert makers == {DECLARATIONS}


def test_no_remark_is_built_from_text() -> None:
    """The first argument is an entry, as its type says: here none is made from a string."""
    calls = [
        (path, node)
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) == "Remark"
    ]
    assert len(calls) > 20
    for path, node in calls:
        first = node.args[0]
        table = first.value if isinstance(first, ast.Subscript) else first
        assert isinstance(table, ast.Name), path
        # Constants, variables of the type, the table of facts, and the catalogue for the cache.
        assert table.id in ("entry", "ENTRIES", *vars(remark_catalogue)), path
        assert table.id != "CATALOGUE" or path == UNPACKED, path


def test_every_entry_is_used() -> None:
    names = {name for name, each in vars(remark_catalogue).items() if isinstance(each, RemarkEntry)}
    used = {
        name
        for path, tree in sources()
        if path != DECLARATIONS
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
        and (name := node.id if isinstance(node, ast.Name) else node.attr) in names
    }
    assert used == names


def test_the_page_is_up_to_date() -> None:
    """`python tools/remarks_page.py > docs/remarks.md` writes it."""
    assert (ROOT / "docs" / "remarks.md").read_text("utf-8") == page()
