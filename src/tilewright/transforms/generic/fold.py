"""Constant folding: operations on constants become constants, by the tables of their dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.ir.attributes import Attribute
from tilewright.ir.dialect import Dialect
from tilewright.ir.passes import Pass, statistic
from tilewright.ir.rules import Constants, Folded, Replacement, apply_rules, constant_of
from tilewright.ir.rules import Fold as FoldHook
from tilewright.ir.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.support.diagnostics import Sink


_folds: dict[type[Operation], FoldHook | None] = {}


def fold_of(kind: type[Operation]) -> FoldHook | None:
    """The folder of an operation class, if its dialect has one: a finder for `apply_rules`."""
    if kind not in _folds:
        dialect = Dialect.of(kind)
        function = None if dialect is None else dialect.folds.get(kind)
        _folds[kind] = None if function is None else _hook(function)
    return _folds[kind]


def _hook(function: Callable[[Any, Constants], Folded]) -> FoldHook:
    def fold(op: Operation, build: Rewriter) -> Replacement:
        folded = function(op, tuple([constant_of(value) for value in op.operands]))
        if folded is None:
            return None
        parts = [folded] if isinstance(folded, Attribute | Value) else folded
        return _materialized(op, parts, build)

    return fold


def _materialized(
    op: Operation, parts: Sequence[Attribute | Value], build: Rewriter
) -> Replacement:
    """Materialize the values of a fold; if one cannot be, erase those already created."""
    values: list[Value] = []
    made: list[Operation] = []
    edits = build.edits
    for part, result in zip(parts, op.results, strict=True):
        if isinstance(part, Value):
            values.append(part)
            continue
        constant = Dialect.loaded[op.dialect].materialize(part, result.type, build)
        if constant is None:
            for other in made:
                build.erase(other)
            build.edits = edits
            return None
        made.append(constant)
        values += constant.results
    return values


class Fold(Pass):
    """Fold operations on constants, and delete operations that become dead."""

    name = "fold"
    edits = statistic("operations inserted, replaced or erased")

    def run(self, op: Operation, sink: Sink) -> None:
        self.edits.add(sink, apply_rules(op, (), fold=fold_of, sink=sink))
