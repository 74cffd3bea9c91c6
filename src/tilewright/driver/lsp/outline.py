"""The outline of a document: modules, functions and globals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.ir.traits import SYMBOL_TABLE

if TYPE_CHECKING:
    from tilewright.driver.lsp.analysis import Range
    from tilewright.text.index import Index, OpRecord


class Entry(NamedTuple):
    """A named operation, with those inside it."""

    name: str
    kind: str
    """`module`, `function` or `variable`."""
    operation: str
    range: Range
    name_range: Range
    children: list[Entry]


def outline(index: Index) -> list[Entry]:
    """Return the named operations that no other one contains."""
    top: list[Entry] = []
    entries: dict[OpRecord, Entry] = {}
    for record in index.operations:
        if record.symbol is None or record.kind is None:
            continue
        entry = Entry(
            record.symbol,
            _kind(record),
            record.kind.name,
            index.span(record.start, record.end),
            index.range(record.symbol_token),
            [],
        )
        entries[record] = entry
        around = record.parent
        while around is not None and around not in entries:
            around = around.parent
        (top if around is None else entries[around].children).append(entry)
    return top


def _kind(record: OpRecord) -> str:
    assert record.kind is not None
    if SYMBOL_TABLE in record.kind.traits:
        return "module"
    return "function" if "function_type" in record.kind.schema.inherent else "variable"
