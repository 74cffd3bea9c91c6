"""Gives values names that a debugger knows them by: those of the source, or those of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.ir.passes import Pass
from tilewright.support.location import NameLoc
from tilewright.support.source_place import source_place
from tilewright.text.naming import Names

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

BODIES: Final = (".reduce", ".scan", ".generate")
"""What makes tiles by bodies on scalars, at all levels."""


class NameValues(Pass):
    """Put the names of its values into the location of each operation that has none there.

    Names go with locations down to the last level. They are those that the program has as text.
    """

    name = "name-values"

    def run(self, op: Operation, sink: Sink) -> None:
        names = Names(op, "public", hinted=True).of
        taken: set[str] = set()
        for inner in op.walk():
            if inner.is_isolated:
                taken.clear()
            if not inner.results or isinstance(inner.location, NameLoc) or _is_in_body(inner):
                continue
            if source_place(inner.location) is not None:
                found = [_fresh(spelled(names[result]), taken) for result in inner.results]
                inner.location = NameLoc(",".join(found), inner.location)


def _is_in_body(op: Operation) -> bool:
    """Whether an operation runs many times for one value, which has a name itself."""
    return any(outer.name.endswith(BODIES) for outer in op.ancestors())


def _fresh(name: str, taken: set[str]) -> str:
    """A name that no other value of the function has: regions side by side share those of text."""
    found, count = name, 0
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    taken.add(found)
    return found


def spelled(name: str) -> str:
    """The name of a value as an identifier of C."""
    plain = "".join([letter if letter.isalnum() else "_" for letter in name.lstrip("%")])
    return f"v{plain}" if plain[:1].isdigit() else plain
