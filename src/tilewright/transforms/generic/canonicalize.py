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
    """Finds the rules for an operation class in its own dialect, then among `others`.

    No other dialect is asked: which ones are loaded depends on what the process did before, and
    the result must not.
    """

    __slots__ = ("_by_dialect", "_found", "_others")

    def __init__(self, others: Rules = ()) -> None:
        self._others = ByRoot(others)
        self._by_dialect: dict[str, ByRoot[Rule]] = {}
        self._found: dict[type[Operation], Rules] = {}

    def __call__(self, kind: type[Operation]) -> Rules:
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = self._own(kind) + self._others(kind)
        return found

    def _own(self, kind: type[Operation]) -> Rules:
        if issubclass(kind, UnregisteredOp):
            return ()
        name = kind.name.partition(".")[0]
        rules = self._by_dialect.get(name)
        if rules is None:
            dialect = Dialect.loaded.get(name)
            rules = self._by_dialect[name] = ByRoot(() if dialect is None else dialect.rules)
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
