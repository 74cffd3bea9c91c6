"""Diagnostics with locations and caret rendering, the exception classes, and the sink."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Final, NoReturn

from tilewright.support.location import UNKNOWN, Location, innermost

if TYPE_CHECKING:
    from tilewright.support.remarks import Remark


REPORT_ASSEMBLER: Final = (
    "the program is not at fault: please report this with the command line and the input file"
)

MAX_CALLS: Final = 20
"""The innermost calls that a diagnostic shows."""


class Severity(Enum):
    """Severity of a diagnostic; the value is its spelling."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    REMARK = "remark"


class Diagnostic:
    """One message at one location, with attached notes."""

    __slots__ = ("location", "notes", "severity", "subject", "text")

    def __init__(
        self,
        message: str,
        location: Location = UNKNOWN,
        severity: Severity = Severity.ERROR,
        notes: tuple[Diagnostic, ...] = (),
        subject: str = "",
    ) -> None:
        self.text = message
        """The message without its subject."""
        self.subject = subject
        """The name of the operation that the message is about, if it is about one."""
        self.location = location
        self.severity = severity
        self.notes = notes

    @property
    def message(self) -> str:
        """The message; MLIR's form if it is about an operation."""
        return f"'{self.subject}' op {self.text}" if self.subject else self.text

    def headline(self) -> str:
        """`file:line:column: error: message` as one line, without the source line."""
        # Loaded only to report something.
        from tilewright.support.quoting import one_line  # noqa: PLC0415

        location = str(self.location)
        text = f"{self.severity.value}: {self._shown_message()}"
        return one_line(f"{location}: {text}" if location else text)

    def _shown_message(self) -> str:
        """The message; about a function of cuTile if the source is Python."""
        from tilewright.support.cutile_names import cutile_function  # noqa: PLC0415
        from tilewright.support.source_location import source_location  # noqa: PLC0415

        function = cutile_function(self.subject) if self.subject else None
        source = None if function is None else source_location(self.location)
        is_python = source is not None and source.is_python
        return f"{function}: {self.text}" if is_python else self.message

    def render(self) -> str:
        """The headline, the source line with a caret if available, the calls, and the notes."""
        from tilewright.support.quoting import excerpt  # noqa: PLC0415

        lines = [self.headline()]
        source = self.location.excerpt()
        if source is not None:
            lines += excerpt(*source)
        lines += [note.render() for note in (*self.call_stack(), *self.notes)]
        return "\n".join(lines)

    def call_stack(self) -> list[Diagnostic]:
        """A note for each call through which the code was inlined, the innermost call first."""
        from tilewright.support.source_location import call_sites, function_of  # noqa: PLC0415

        sites = call_sites(self.location)
        stack: list[Diagnostic] = []
        for site in sites[: -MAX_CALLS - 1 : -1]:
            function = function_of(site.caller)
            text = f"called from '{function}'" if function else "called from here"
            # One call each: the caller is a stack of its own.
            stack.append(note(text, innermost(site.caller)))
        if len(sites) > MAX_CALLS:
            stack.append(note(f"{len(sites) - MAX_CALLS} more calls"))
        return stack

    def __str__(self) -> str:
        return self.headline()

    def __repr__(self) -> str:
        return f"Diagnostic({self.headline()!r})"


def note(message: str, location: Location = UNKNOWN) -> Diagnostic:
    """Build a note to attach to another diagnostic."""
    return Diagnostic(message, location, Severity.NOTE)


class Error(Exception):
    """Base of errors about the input; carries all diagnostics."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.headline())

    def __str__(self) -> str:
        return self.render()

    def headline(self) -> str:
        """The headlines of all diagnostics, one per line, without source lines and notes."""
        return "\n".join(map(str, self.diagnostics))

    def render(self) -> str:
        """Render all diagnostics, with source lines and carets."""
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)

    @property
    def location(self) -> Location:
        """The location of the first diagnostic."""
        return self.diagnostics[0].location if self.diagnostics else UNKNOWN


class UserError(Error):
    """The program is invalid."""


class Unsupported(Error):
    """The program uses a `feature` that is not implemented yet."""

    def __init__(self, feature: str, location: Location = UNKNOWN) -> None:
        self.feature = feature
        super().__init__([Diagnostic(f"unsupported: {feature}", location)])


class AssemblerError(Error):
    """ptxas rejects the code that was generated, or ends abnormally; carries its text.

    The fault is Tilewright's or that of ptxas, never the user's: `Unsupported` and `UserError` are
    other classes, so that tests tell them apart.
    """

    def __init__(self, message: str) -> None:
        super().__init__([Diagnostic(message, notes=(note(REPORT_ASSEMBLER),))])


class InternalError(Exception):
    """A bug in Tilewright, never the user's fault; deliberately not an `Error`."""

    def __init__(self, message: str, location: Location = UNKNOWN) -> None:
        self.location = location
        prefix = str(location)
        super().__init__(f"{prefix}: {message}" if prefix else message)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a program runs; `diagnostic` says where it was."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))


class InvalidValue(ValueError):
    """An invalid type or attribute; readers turn it into a located `UserError`."""


def fail(message: str, location: Location = UNKNOWN, *notes: Diagnostic) -> NoReturn:
    """Raise a `UserError` with one diagnostic."""
    raise UserError([Diagnostic(message, location, notes=notes)])


class Sink:
    """Collects diagnostics, so that one run reports every error and not only the first.

    With `remarks` it also collects optimization remarks, which passes otherwise do not build.
    """

    __slots__ = ("counts", "diagnostics", "remarks", "wants_remarks")

    def __init__(self, *, remarks: bool = False) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.counts: dict[tuple[str, str], int] = {}
        """The statistics of passes, by pass and name."""
        self.remarks: list[Remark] = []
        self.wants_remarks = remarks

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic."""
        self.diagnostics.append(diagnostic)

    def error(self, message: str, location: Location = UNKNOWN, *notes: Diagnostic) -> None:
        """Keep an error."""
        self.add(Diagnostic(message, location, Severity.ERROR, notes))

    def warning(self, message: str, location: Location = UNKNOWN) -> None:
        """Keep a warning."""
        self.add(Diagnostic(message, location, Severity.WARNING))

    def remark(self, remark: Remark) -> None:
        """Keep an optimization remark, if remarks are enabled."""
        if self.wants_remarks:
            self.remarks.append(remark)

    def count(self, pass_name: str, statistic: str, amount: int) -> None:
        """Add to a statistic of a pass."""
        key = pass_name, statistic
        self.counts[key] = self.counts.get(key, 0) + amount

    @property
    def errors(self) -> Iterator[Diagnostic]:
        """The diagnostics of severity error."""
        return (entry for entry in self.diagnostics if entry.severity is Severity.ERROR)

    def raise_errors(self) -> None:
        """Raise a `UserError` with all collected errors, if any."""
        errors = tuple(self.errors)
        if errors:
            raise UserError(errors)
