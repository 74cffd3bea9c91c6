"""Optimization remarks: what passes and ptxas report about their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.support.location import UNKNOWN, Location

if TYPE_CHECKING:
    from tilewright.support.diagnostics import Diagnostic
    from tilewright.support.remark_catalogue import RemarkEntry

Details = tuple[tuple[str, str], ...]


class Remark(NamedTuple):
    """One decision about one function, in the form of LLVM's optimization remarks."""

    entry: RemarkEntry
    """The declaration in the catalogue."""
    text: str
    """The decision, without the reason."""
    pass_name: str
    """The pass that made the decision, or `ptxas`."""
    function: str
    location: Location = UNKNOWN
    reason: str = ""
    details: Details = ()
    """Further arguments of the remark: key and value."""

    @property
    def id(self) -> str:
        """The id to look up in the catalogue."""
        return self.entry.id

    @property
    def kind(self) -> str:
        """passed, missed, failed or analysis."""
        return self.entry.kind

    @property
    def category(self) -> str:
        """The category of the entry."""
        return self.entry.category

    @property
    def name(self) -> str:
        """The name in remark files."""
        return self.entry.name

    @property
    def remedy(self) -> str:
        """What to change in the program, if anything."""
        return self.entry.remedy

    @property
    def message(self) -> str:
        """The decision and its reason."""
        return f"{self.text}: {self.reason}" if self.reason else self.text

    def diagnostic(self) -> Diagnostic:
        """The remark as command lines print it: with details and the remedy as notes."""
        from tilewright.support.diagnostics import Diagnostic, Severity, note  # noqa: PLC0415

        notes: list[Diagnostic] = []
        if self.details:
            notes.append(note(", ".join(f"{key} = {value}" for key, value in self.details)))
        if self.remedy:
            notes.append(note(f"remedy: {self.remedy}"))
        kernel = f"'@{self.function}'"
        is_named = not self.function or self.location is not UNKNOWN or kernel in self.text
        prefix = "" if is_named else f"{kernel}: "
        message = f"{prefix}{self.message} [{self.kind}: {self.id}]"
        return Diagnostic(message, self.location, Severity.REMARK, tuple(notes))
