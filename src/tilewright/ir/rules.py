"""Rewrite rules, and the greedy driver that applies them until a fixed point.

@rule(SubFOp)
def subtract_negation(op: SubFOp, build: Rewriter) -> Replacement:
    \"\"\"`x - (-y)` becomes `x + y`: negation is exact, so the modifiers carry over.\"\"\"
    if (negation := op.rhs.defined_by(NegFOp)) is None:
        return None
    build.fuse(negation)
    return build.create(AddFOp, lhs=op.lhs, rhs=negation.source)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, TypeVar

from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr, element_bytes
from tilewright.ir.builder import InsertPoint
from tilewright.ir.effects import is_dead
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rewriter import Listener, Rewriter
from tilewright.ir.traits import CONSTANT_LIKE, SPLAT_LIKE, Effects
from tilewright.ir.types import IntegerType
from tilewright.ir.values import Value
from tilewright.support.bits import mask
from tilewright.support.diagnostics import Diagnostic, InternalError, Severity, Sink

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.builder import Builder

OpT = TypeVar("OpT", bound=Operation)

Replacement: TypeAlias = Operation | Value | Sequence[Value] | None
"""The result of a rule: replacements for the results of the operation.

The values, or the operation that defines them; `()` erases an operation without results; the
operation itself if it was updated in place. `None`: the rule does not apply and changed nothing."""

Fold: TypeAlias = Callable[[Operation, Rewriter], Replacement]
"""Tried on an operation before the rules."""

FoldFinder: TypeAlias = Callable[[type[Operation]], "Fold | None"]
"""The folder of an operation class, if it has one."""

Constants: TypeAlias = tuple["Attribute | None", ...]
Folded: TypeAlias = "Attribute | Value | Sequence[Attribute | Value] | None"
Folds: TypeAlias = Mapping[type[Operation], Callable[[Any, Constants], Folded]]
"""Constant folders: from an operation and its constant operands (`None` for the others) to a
constant or an existing value for each result, or `None`."""

Materialize: TypeAlias = "Callable[[Attribute, Type, Builder], Operation | None]"
"""Materializes a constant of a type, where the dialect has a constant operation."""


class Rooted(Protocol):
    """Base of entries that apply to operations of certain classes."""

    @property
    def roots(self) -> tuple[type[Operation], ...]:
        """The classes, or base classes of them."""
        ...


RootedT = TypeVar("RootedT", bound=Rooted)


class Rule:
    """A rewrite of operations of the classes `roots`; see `Replacement` for what `apply` gives."""

    __slots__ = ("apply", "name", "roots")

    def __init__(
        self, roots: tuple[type[Operation], ...], apply: Callable[[Any, Rewriter], Replacement]
    ) -> None:
        self.roots = roots
        self.apply = apply
        self.name = apply.__name__

    @property
    def documentation(self) -> str:
        """The rewrite, and why it is sound."""
        return self.apply.__doc__ or ""

    def __repr__(self) -> str:
        return f"<rule {self.name}>"


Rules: TypeAlias = tuple[Rule, ...]
"""Rules in the order in which they are tried."""


def rule(
    *roots: type[OpT],
) -> Callable[[Callable[[OpT, Rewriter], Replacement]], Rule]:
    """Make a rule of a function whose docstring says what it rewrites, and why that is sound."""

    def declare(apply: Callable[[OpT, Rewriter], Replacement]) -> Rule:
        return Rule(roots, apply)

    return declare


def constant_of(value: Value) -> Attribute | None:
    """The attribute that a value is known to be: that of a constant, or of one in every element."""
    op = value.defining_op()
    if op is None:
        return None
    traits = op.traits
    if CONSTANT_LIKE in traits:
        return op.attributes.get("value")
    return _spread(constant_of(op.operands[0]), value.type) if SPLAT_LIKE in traits else None


def _spread(number: Attribute | None, type: Type) -> DenseElementsAttr | None:
    """A shaped constant with the same number everywhere."""
    match number:
        case FloatAttr():
            pattern = number.bits
        case IntegerAttr(type=IntegerType() as element):
            pattern = number.value & mask(element.width)
        case _:
            return None
    return DenseElementsAttr(pattern.to_bytes(element_bytes(number.type), "little"), type)


class ByRoot(Generic[RootedT]):
    """Entries by the operation classes they apply to, base classes included, in order."""

    __slots__ = ("_by_kind", "_entries", "_positions")

    def __init__(self, entries: Iterable[RootedT]) -> None:
        self._entries = tuple(entries)
        self._by_kind: dict[type[Operation], tuple[RootedT, ...]] = {}
        self._positions: dict[type, list[int]] = {}
        for position, entry in enumerate(self._entries):
            for root in entry.roots:
                self._positions.setdefault(root, []).append(position)

    def __call__(self, kind: type[Operation]) -> tuple[RootedT, ...]:
        entries = self._by_kind.get(kind)
        if entries is None:
            positions = {i for base in kind.__mro__ for i in self._positions.get(base, ())}
            entries = self._by_kind[kind] = tuple([self._entries[i] for i in sorted(positions)])
        return entries


RuleFinder: TypeAlias = Callable[[type[Operation]], Rules]


def apply_rules(
    root: Operation,
    rules: Rules | RuleFinder,
    *,
    fold: FoldFinder | None = None,
    limit: int | None = None,
    sink: Sink | None = None,
) -> int:
    """Fold, delete what is dead and apply rules to all inside `root` until nothing changes.

    Returns the number of edits. After `limit` rewrites (by default many for each operation) the
    rules are taken to undo each other: that is an `InternalError`, or a warning in `sink`, since
    the program is right all the same.
    """
    finder = rules if callable(rules) else ByRoot(rules)
    return _Greedy(root, finder, fold, limit, sink).run()


_Plan: TypeAlias = tuple[bool, "Fold | None", Rules]
"""Whether an operation may be dead, how it folds, and its rules."""

_REWRITES_PER_OP: Final = 64
_REMEMBERED: Final = 8


class _Greedy(Listener):
    """The worklist holds operations that may have become rewritable, the most recent on top."""

    __slots__ = (
        "_build",
        "_finder",
        "_fold",
        "_limit",
        "_plans",
        "_recent",
        "_root",
        "_sink",
        "_worklist",
    )

    def __init__(
        self,
        root: Operation,
        finder: RuleFinder,
        fold: FoldFinder | None,
        limit: int | None,
        sink: Sink | None,
    ) -> None:
        self._root = root
        self._finder = finder
        self._fold = fold
        self._limit = limit
        self._sink = sink
        self._plans: dict[type[Operation], _Plan] = {}
        self._worklist: dict[Operation, None] = {}
        self._recent: list[str] = []
        self._build = Rewriter(InsertPoint(Block()), listener=self)

    def inserted(self, op: Operation) -> None:
        self._worklist[op] = None

    def changed(self, op: Operation) -> None:
        self._worklist[op] = None

    def erased(self, op: Operation) -> None:
        worklist = self._worklist
        inside = tuple(op.walk()) if op.regions else (op,)
        for gone in inside:
            for value in gone.operands:
                # Its definition may be dead now, or have become the only user of something.
                definition = value.defining_op()
                if definition is not None:
                    worklist[definition] = None
        for gone in inside:
            worklist.pop(gone, None)

    def run(self) -> int:
        """Sweep until a fixed point; returns the number of edits."""
        while True:
            before = self._build.edits
            self._sweep()
            if self._build.edits == before or self._is_exhausted:
                return self._build.edits

    @property
    def _is_exhausted(self) -> bool:
        return self._limit is not None and len(self._recent) >= self._limit

    def _sweep(self) -> None:
        root, worklist = self._root, self._worklist
        ops = list(root.walk())
        if self._limit is None:
            self._limit = _REWRITES_PER_OP * len(ops) + _REWRITES_PER_OP
        ops.reverse()
        worklist.update(dict.fromkeys(ops))
        is_isolated = root.is_isolated
        while worklist:
            op, _ = worklist.popitem()
            if op is not root and (is_isolated or root.is_ancestor_of(op)):
                self._visit(op)

    def _plan(self, kind: type[Operation]) -> _Plan:
        fold = None if self._fold is None else self._fold(kind)
        may_die = kind.effects is not Effects.UNKNOWN and not kind.is_terminator
        plan = self._plans[kind] = (may_die, fold, self._finder(kind))
        return plan

    def _visit(self, op: Operation) -> None:
        kind = type(op)
        may_die, fold, rules = self._plans.get(kind) or self._plan(kind)
        build = self._build
        results = op.results
        # Most operations show at a glance that they are not dead.
        if may_die and not (results and results[0].users) and is_dead(op):
            build.erase(op)
            return
        if fold is None and not rules:
            return
        build.aim(op)
        before = build.edits
        if fold is not None and (folded := fold(op, build)) is not None:
            self._commit(op, folded, "fold")
            return
        for candidate in rules:
            replacement = candidate.apply(op, build)
            if replacement is not None:
                self._commit(op, replacement, candidate.name)
                return
            if build.edits != before:
                raise InternalError(
                    f"rule '{candidate.name}' changed the program and did not apply", op.location
                )

    def _commit(self, op: Operation, replacement: Replacement, name: str) -> None:
        if replacement is op:
            self._build.touch(op)
        else:
            self._build.replace(op, *_values(replacement))
        self._recent.append(name)
        if self._is_exhausted:
            self._give_up(op)

    def _give_up(self, op: Operation) -> None:
        """Report rules that seem to undo each other, and stop."""
        self._worklist.clear()
        last = ", ".join(dict.fromkeys(self._recent[-_REMEMBERED:]))
        message = f"no end after {len(self._recent)} rewrites; the last were by {last}"
        if self._sink is None:
            raise InternalError(message, op.location)
        self._sink.add(Diagnostic(message, op.location, Severity.WARNING))


def _values(replacement: Replacement) -> Sequence[Value]:
    if isinstance(replacement, Operation):
        return replacement.results
    if isinstance(replacement, Value):
        return (replacement,)
    return replacement or ()
