"""Canonicalization: the rules and folds of every dialect in the program, until none applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import UnregisteredOp
from tilewright.ir.passes import Pass, option, statistic
from tilewright.ir.rules import ByRoot, Rule, Rules, apply_rules
from tilewright.ir.traits import CONSTANT_LIKE
from tilewright.transforms.generic.constant_pool import ConstantPool
from tilewright.transforms.generic.fold import fold_of

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rules import Fold
    from tilewright.support.diagnostics import Sink


_by_dialect: dict[Dialect, ByRoot[Rule]] = {}
_by_kind: dict[type[Operation], Rules] = {}


def rules_of(kind: type[Operation]) -> Rules:
    """The rules for an operation class: those of its own dialect.

    Other dialects are not consulted: which ones are loaded depends on what the process did before,
    and the result must not.
    """
    rules = _by_kind.get(kind)
    if rules is None:
        rules = _by_kind[kind] = _find_rules(kind)
    return rules


def _find_rules(kind: type[Operation]) -> Rules:
    dialect = None if issubclass(kind, UnregisteredOp) else Dialect.of(kind)
    if dialect is None:
        return ()
    rules = _by_dialect.get(dialect)
    if rules is None:
        rules = _by_dialect[dialect] = ByRoot(dialect.rules)
    return rules(kind)


class Canonicalize(Pass):
    """Canonicalize the program: fold, apply rules, delete dead operations.

    Equal constants are merged, at the start of the kernel.
    """

    name = "canonicalize"
    max_rewrites: int = option(default=0, doc="when to give up; 0 for many an operation")
    edits = statistic("operations inserted, replaced, changed or erased")

    def run(self, op: Operation, sink: Sink) -> None:
        limit = self.max_rewrites or None
        pool = ConstantPool()

        def find(kind: type[Operation]) -> Fold | None:
            return pool if CONSTANT_LIKE in kind.traits else fold_of(kind)

        edits = apply_rules(op, rules_of, fold=find, limit=limit, sink=sink)
        self.edits.add(sink, edits)
