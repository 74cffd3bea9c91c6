"""Conversion targets: which operations are legal after a conversion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from tilewright.support.diagnostics import Diagnostic

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

Subject: TypeAlias = "str | type[Operation]"
"""A dialect by name, or an operation by full name or class."""


class Legality(Enum):
    """Whether a conversion may leave an operation as it is."""

    LEGAL = "legal"
    ILLEGAL = "illegal"
    UNKNOWN = "unknown"
    """Unknown to the target: a partial conversion may leave it, a full conversion may not."""


Judge: TypeAlias = Callable[[Any], bool | None]
"""Dynamic legality: called with an operation of the registered class; `None` if undecided."""


class ConversionTarget:
    """Says of every operation whether it is legal; what is said of it beats its dialect.

    A judge in `dynamic` decides for each operation; `None` from it means unknown. `unknown` is the
    judge of operations of which nothing else is said.
    """

    __slots__ = ("_found", "_said", "_unknown")

    def __init__(
        self,
        legal: Iterable[Subject] = (),
        illegal: Iterable[Subject] = (),
        dynamic: Mapping[Subject, Judge] | None = None,
        unknown: Judge | None = None,
    ) -> None:
        self._unknown: Legality | Judge = Legality.UNKNOWN if unknown is None else unknown
        self._said: dict[str, Legality | Judge] = {}
        self._said.update((_name(subject), Legality.LEGAL) for subject in legal)
        self._said.update((_name(subject), Legality.ILLEGAL) for subject in illegal)
        self._said.update((_name(subject), judge) for subject, judge in (dynamic or {}).items())
        self._found: dict[str, Legality | Judge] = {}

    def legality(self, op: Operation) -> Legality:
        """The legality of an operation."""
        said = self._found.get(op.name)
        if said is None:
            said = self._find(op)
        if isinstance(said, Legality):
            return said
        answer = said(op)
        if answer is None:
            return Legality.UNKNOWN
        return Legality.LEGAL if answer else Legality.ILLEGAL

    def is_settled(self, op: Operation) -> bool:
        """Whether the legality of operations of this name does not depend on the operation."""
        return isinstance(self._find(op), Legality)

    def _find(self, op: Operation) -> Legality | Judge:
        """Look up what is said of an operation, or of its dialect; cached by its name."""
        said = self._said.get(op.name) or self._said.get(op.dialect) or self._unknown
        self._found[op.name] = said
        return said

    def problems(self, root: Operation) -> Iterator[Diagnostic]:
        """All operations nested in `root` that are not legal."""
        for op in root.walk():
            if op is not root and self.legality(op) is not Legality.LEGAL:
                yield op.error("is not legal here")


def _name(subject: Subject) -> str:
    return subject if isinstance(subject, str) else subject.name
