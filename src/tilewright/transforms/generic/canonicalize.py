"""Canonicalization: the rules and folds of every dialect in the program, until none applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import UnregisteredOp
from tilewright.ir.passes import Pass, option
from tilewright.ir.rules import ByRoot, Rule, Rules, apply_rules
from tilewright.ir.traits import CONSTANT_LIKE
from tilewright.transforms.generic.constant_pool import ConstantPool
from tilewright.transforms.generic.fold import Folder

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement
    from tilewright.support.diagnostics import Sink


class DialectRules:
    """Finds the rules for an operation class: those of its own dialect.

    No other dialect is asked: which ones are loaded depends on what the process did before, and
    the result must not.
    """

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[type[Operation], Rules] = {}

    def __call__(self, kind: type[Operation]) -> Rules:
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = _rules_of(kind)
        return found


_by_dialect: dict[Dialect, ByRoot[Rule]] = {}


def _rules_of(kind: type[Operation]) -> Rules:
    if issubclass(kind, UnregisteredOp):
        return ()
    dialect = Dialect.loaded.get(kind.name.partition(".")[0])
    if dialect is None:
        return ()
    rules = _by_dialect.get(dialect)
    if rules is None:
        rules = _by_dialect[dialect] = ByRoot(dialect.rules)
    return rules(kind)


class Canonicalize(Pass):
    """Bring the program into its simplest form: fold, rewrite, delete what is dead.

    Equal constants become one, at the head of the kernel.
    """

    name = "canonicalize"
    max_rewrites: int = option(default=0, doc="when to give up; 0 for many an operation")

    def run(self, op: Operation, sink: Sink) -> None:
        limit = self.max_rewrites or None
        pool, folder = ConstantPool(), Folder()

        def fold(op: Operation, build: Rewriter) -> Replacement:
            return (pool if CONSTANT_LIKE in op.traits else folder)(op, build)

        apply_rules(op, DialectRules(), fold=fold, limit=limit, sink=sink)
