"""Pass statistics: operations before and after each pass, and what passes count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tilewright.ir.passes import Instrument

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Pass


class PassRun(NamedTuple):
    """The operations inside the root of a pass before and after it."""

    name: str
    before: int
    after: int


class PassStatistics(Instrument):
    """Counts the operations before and after each run of a pass."""

    __slots__ = ("_before", "_passes", "runs")

    def __init__(self) -> None:
        self.runs: list[PassRun] = []
        self._passes: dict[str, type[Pass]] = {}
        self._before = 0

    def before(self, step: Pass, op: Operation) -> None:
        self._before = _operations(op)

    def after(self, step: Pass, op: Operation) -> None:
        self.runs.append(PassRun(step.name, self._before, _operations(op)))
        self._passes[step.name] = type(step)

    def report(self, counts: Mapping[tuple[str, str], int]) -> str:
        """One line a run, then one a statistic of the passes; `counts` are those of the sink."""
        lines = ["ops before   ops after      change  pass"]
        lines += [
            f"{run.before:10}  {run.after:10}  {run.after - run.before:+10}  {run.name}"
            for run in self.runs
        ]
        counted = [
            f"{counts.get((name, each.name), 0):10}  {name}: {each.name}, {each.doc}"
            for name, kind in self._passes.items()
            for each in kind.statistics()
        ]
        if counted:
            lines += ["", "     count  statistic", *counted]
        return "\n".join(lines)


def _operations(op: Operation) -> int:
    return sum(1 for _ in op.walk())
