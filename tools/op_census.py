"""Record the operations that each pass builds and that are in the IR after it.

    census = OpCensus()
    Compilation(module, settings, Observers([census])).lower("nvvm")
    census.built["convert-tileas-to-nvgpu"]["nvgpu.mma.sync"]  # the number that pass built

An operation that a conversion builds and converts further within the same pass is in `built` and
not in `left`. While a pass runs, the constructor of `Operation` is wrapped: one census at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from tilewright.ir.operation import Operation
from tilewright.ir.passes import Instrument, Pass


class OpCensus(Instrument):
    """Counts operations by pass and by name; several compilations may share one."""

    def __init__(self) -> None:
        self.built: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """The operations that each pass constructed."""
        self.left: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """The operations in the IR after each pass."""
        self._construct: Callable[..., None] | None = None

    def before(self, step: Pass, op: Operation) -> None:
        construct = self._construct = Operation.__init__
        built = self.built[step.name]

        def counting(self: Operation, *arguments: Any, **keywords: Any) -> None:
            built[self.name] += 1
            construct(self, *arguments, **keywords)

        Operation.__init__ = counting

    def after(self, step: Pass, op: Operation) -> None:
        self._restore()
        self.left[step.name].update([each.name for each in op.walk()])

    def failed(self, step: Pass, op: Operation) -> None:
        self._restore()

    def _restore(self) -> None:
        assert self._construct is not None
        Operation.__init__ = self._construct

    @property
    def names(self) -> frozenset[str]:
        """The names of all operations that some pass built or that were in the IR after one."""
        counts = (*self.built.values(), *self.left.values())
        return frozenset(name for each in counts for name in each)
