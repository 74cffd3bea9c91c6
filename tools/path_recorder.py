"""Record what a compilation uses: operations, attributes, passes, folds, rules, conversions.

    with recording() as recorder:
        facts = recorder.facts_of(module, settings)

The facts are the lines that `tools/tile_ir_path.py` describes. While it records, methods of the
rewrite and conversion drivers are wrapped: one recorder at a time.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from tilewright.driver.compile import Compilation, Observers, Settings
from tilewright.ir import rules
from tilewright.ir.conversion_builder import ConversionBuilder
from tilewright.ir.operation import Operation
from tilewright.ir.passes import Instrument, Pass

Facts = set[str]


class Recorder(Instrument):
    """Records the passes that run and the operations that each leaves."""

    __slots__ = ("facts",)

    def __init__(self) -> None:
        self.facts: Facts = set()

    def after(self, step: Pass, op: Operation) -> None:
        self.facts.add(f"pass {step.name}")
        for inner in op.walk():
            self.facts.add(f"op {inner.name}")
            self.facts.update(f"attribute {inner.name} {key}" for key in chosen_attributes(inner))

    def facts_of(self, module: Operation, settings: Settings) -> Facts:
        """Lower a module to nvvm; return what that used."""
        self.facts.clear()
        Compilation(module, settings, Observers([self])).lower("nvvm")
        return set(self.facts)


def chosen_attributes(op: Operation) -> Iterator[str]:
    """The attributes of an operation that are not at their defaults."""
    fields = {each.spelling: each for each in op.schema.attributes}
    for key in op.attributes:
        field = fields.get(key)
        if field is None or getattr(op, field.name) != field.default:
            yield key


@contextmanager
def recording() -> Generator[Recorder, None, None]:
    """Let the drivers record rewrites and conversions."""
    recorder = Recorder()
    driver: Any = ConversionBuilder
    greedy: Any = rules._Greedy
    commit = greedy._commit
    convert, transfer, keep = driver._convert, driver._transfer, driver._keep
    greedy._commit = _rewrites(recorder.facts, commit)
    _record_conversions(recorder.facts)
    try:
        yield recorder
    finally:
        greedy._commit = commit
        driver._convert, driver._transfer, driver._keep = convert, transfer, keep


def _rewrites(facts: Facts, commit: Any) -> Any:
    """Record each fold, and each rule that applied."""

    def recorded(
        self: rules._Greedy, op: Operation, replacement: rules.Replacement, name: str
    ) -> None:
        if name == "fold":
            facts.add(f"fold {op.name}")
        else:
            result = replacement.name if isinstance(replacement, Operation) else "value"
            facts.add(f"rule {name} -> {result}")
        commit(self, op, replacement, name)

    return recorded


def _record_conversions(facts: Facts) -> None:
    """Record what each operation is converted to, and what stays."""
    driver: Any = ConversionBuilder
    convert, transfer, keep = driver._convert, driver._transfer, driver._keep

    def add(op: Operation, made: list[object]) -> None:
        news = [new.name for new in made if isinstance(new, Operation)]
        # Operations after the first come from the regions of the operation.
        facts.update({f"{op.name} -> {new}" for new in (news[:1] if op.regions else news)})
        facts.update({f"made {new}" for new in news})
        if not news:
            facts.add(f"{op.name} -> value")

    def converted(self: Any, op: Operation, patterns: object, new: bool) -> object:
        mark = len(self._made)
        reasons = convert(self, op, patterns, new)
        if reasons is None:
            add(op, self._made[mark:])
        return reasons

    def transferred(self: Any, op: Operation, make: object) -> bool:
        mark = len(self._made)
        if succeeded := transfer(self, op, make):
            add(op, self._made[mark:])
        return succeeded

    def kept(self: Any, op: Operation) -> None:
        facts.add(f"keep {op.name}")
        keep(self, op)

    driver._convert, driver._transfer, driver._keep = converted, transferred, kept
