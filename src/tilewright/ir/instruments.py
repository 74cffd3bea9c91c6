"""Pass instrumentation: timing, verification after each pass, printing of the IR."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Final

from tilewright.ir.passes import Instrument
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import InternalError, Sink

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Pass


class Timing(Instrument):
    """Adds up the time of each pass; `report` makes a table of it.

    Put it last in the list of instruments, so that it does not time the others.
    """

    __slots__ = ("_now", "_started", "runs", "seconds")

    def __init__(self, now: Callable[[], float] = perf_counter) -> None:
        self._now = now
        self.seconds: dict[str, float] = {}
        self.runs: dict[str, int] = {}
        self._started = 0.0

    def before(self, step: Pass, op: Operation) -> None:
        self._started = self._now()

    def after(self, step: Pass, op: Operation) -> None:
        self._add(step.name, self._now() - self._started)

    def failed(self, step: Pass, op: Operation) -> None:
        self.after(step, op)

    @contextmanager
    def measure(self, name: str) -> Generator[None]:
        """Time a section that is not a pass."""
        started = self._now()
        try:
            yield
        finally:
            self._add(name, self._now() - started)

    def _add(self, name: str, elapsed: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + elapsed
        self.runs[name] = self.runs.get(name, 0) + 1

    def report(self) -> str:
        """One line a pass, in the order in which they first ran, and the sum."""
        total = sum(self.seconds.values())
        lines = ["   seconds      %   runs  pass"]
        for name, seconds in self.seconds.items():
            share = 100 * seconds / total if total else 0.0
            lines.append(f"{seconds:10.4f}  {share:5.1f}  {self.runs[name]:5}  {name}")
        lines.append(f"{total:10.4f}  100.0  {sum(self.runs.values()):5}  total")
        return "\n".join(lines)


class VerifyEach(Instrument):
    """Verify after every pass; an invalid program is a bug of the pass."""

    __slots__ = ()

    def after(self, step: Pass, op: Operation) -> None:
        sink = Sink()
        verify(op, sink)
        for error in sink.errors:
            raise InternalError(
                f"invalid program after pass '{step.name}': {error.message}", error.location
            )


class _Every:
    def __contains__(self, name: object) -> bool:
        return True


EVERY: Final[Container[str]] = _Every()
"""All names."""


class PrintEach(Instrument):
    """Prints the program before and after the passes that are named, and where one fails."""

    __slots__ = ("_after", "_before", "_render", "_write")

    def __init__(
        self,
        render: Callable[[Operation], str],
        write: Callable[[str], object],
        before: Container[str] = (),
        after: Container[str] = (),
    ) -> None:
        self._render = render
        self._write = write
        self._before = before
        self._after = after

    def before(self, step: Pass, op: Operation) -> None:
        if step.name in self._before:
            self._print(f"before {step.name}", op)

    def after(self, step: Pass, op: Operation) -> None:
        if step.name in self._after:
            self._print(f"after {step.name}", op)

    def failed(self, step: Pass, op: Operation) -> None:
        if step.name in self._after:
            self._print(f"{step.name} failed", op)

    def _print(self, title: str, op: Operation) -> None:
        self._write(f"{banner(title, op)}\n{self._render(op).rstrip()}\n\n")


class PrintChanged(Instrument):
    """Prints the program after each pass that changes its text: all of it, or a unified diff."""

    __slots__ = ("_as_diff", "_before", "_render", "_write")

    def __init__(
        self,
        render: Callable[[Operation], str],
        write: Callable[[str], object],
        *,
        as_diff: bool = False,
    ) -> None:
        self._render = render
        self._write = write
        self._as_diff = as_diff
        self._before = ""

    def before(self, step: Pass, op: Operation) -> None:
        self._before = self._render(op)

    def after(self, step: Pass, op: Operation) -> None:
        before, after = self._before, self._render(op)
        if before == after:
            return
        if self._as_diff:
            # Loaded only to print diffs.
            from difflib import unified_diff  # noqa: PLC0415

            names = f"before {step.name}", f"after {step.name}"
            lines = unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
            after = "\n".join(lines)
        self._write(f"{banner(f'after {step.name}', op)}\n{after.rstrip()}\n\n")


def banner(title: str, op: Operation) -> str:
    """The line that precedes a printed program."""
    return f"// -----// {title} ('{op.name}') //----- //"
