"""Facts about values, carried forward through structured control flow to a fixed point.

A lattice has a top, which says nothing, and a join: the strongest fact that follows from either of
two. Facts start strong and only get weaker: each operation is looked at once in program order, and
again whenever a fact that it read has become weaker. So loops cost what they change and no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

F = TypeVar("F")

Rule = Callable[[Any, Any], Any]
"""From the analysis and an operation to the fact of its only result, or to one for each."""

PATIENCE: Final = 4
"""How often the fact of a value that is passed on may become weaker before it is widened."""


class Analysis(Generic[F]):
    """Base of the analyses: the facts of all values of a function."""

    __slots__ = ("_changes", "_facts", "_queue")

    rules: ClassVar[dict[type[Operation], Rule | None]]
    """The transfer function of each operation; without one, the result is top."""

    def __init__(self, function: Operation) -> None:
        self._facts: dict[Value, F] = {}
        self._changes: dict[Value, int] = {}
        self._queue: deque[Operation] = deque()
        self._solve(function)

    def top(self, value: Value) -> F:
        """The top element for a type."""
        raise NotImplementedError

    def join(self, a: F, b: F) -> F:
        """The join of two facts."""
        raise NotImplementedError

    def widen(self, value: Value, a: F, b: F) -> F:
        """A fact that follows from both, and after a few times is the last."""
        return self.join(a, b)

    def tracks(self, value: Value) -> bool:
        """Whether there are facts about values of this type at all."""
        raise NotImplementedError

    def counter(self, loop: ForOp) -> F:
        """The fact of the index of a loop."""
        raise NotImplementedError

    def default_rule(self, kind: type[Operation]) -> Rule | None:
        """The rule of an operation that has none of its own."""
        return None

    def of(self, value: Value) -> F:
        """The fact of a value."""
        fact = self._facts.get(value)
        return self.top(value) if fact is None else fact

    def _solve(self, function: Operation) -> None:
        for op in function.walk():
            self._visit(op)
        queue = self._queue
        while queue:
            self._visit(queue.popleft())

    def _visit(self, op: Operation) -> None:
        kind = type(op)
        try:
            rule = self.rules[kind]
        except KeyError:
            rule = self.rules[kind] = _CONTROL.get(kind) or self.default_rule(kind)
        if rule is None:
            return
        fact = rule(self, op)
        if fact is None:
            return
        results = op.results
        if len(results) == 1:
            self.learn(results[0], fact)
            return
        for result, each in zip(results, fact, strict=False):
            self.learn(result, each)

    def learn(self, value: Value, fact: F, is_passed: bool = False) -> None:
        """Let a fact hold besides what held before; what is passed on ends after a few steps."""
        facts = self._facts
        old = facts.get(value)
        if old is None:
            facts[value] = fact
            return
        if old == fact:
            return
        new = self._weaker(value, old, fact) if is_passed else self.join(old, fact)
        if new != old:
            facts[value] = new
            self._queue.extend(value.users)

    def _weaker(self, value: Value, old: F, new: F) -> F:
        changes = self._changes[value] = self._changes.get(value, 0) + 1
        return self.widen(value, old, new) if changes > PATIENCE else self.join(old, new)

    def flow(self, sources: Iterable[Value], targets: Iterable[Value]) -> None:
        """Let values be passed on."""
        for source, target in zip(sources, targets, strict=True):
            if self.tracks(target):
                self.learn(target, self.of(source), True)


def _for(at: Analysis[Any], op: ForOp) -> None:
    """The index counts; what is carried, and the results, may be what they start with."""
    if at.tracks(op.induction_variable):
        at.learn(op.induction_variable, at.counter(op))
    at.flow(op.init_args, op.carried)
    at.flow(op.init_args, op.results)


def _while(at: Analysis[Any], op: WhileOp) -> None:
    """Flow the initial values into the loop-carried values."""
    at.flow(op.init_args, op.before.block.args)


def _yield(at: Analysis[Any], op: YieldOp) -> None:
    """Flow yielded values to the results and to the next iteration."""
    outer = op.parent_op
    if isinstance(outer, ForOp):
        at.flow(op.operands, outer.carried)
        at.flow(op.operands, outer.results)
    elif isinstance(outer, WhileOp):
        at.flow(op.operands, outer.before.block.args)
    elif isinstance(outer, IfOp):
        at.flow(op.operands, outer.results)


def _condition(at: Analysis[Any], op: ConditionOp) -> None:
    """Flow the operands of the condition to the loop body and to the results."""
    outer = op.parent_op
    assert isinstance(outer, WhileOp)
    at.flow(op.values, outer.after.block.args)
    at.flow(op.values, outer.results)


_CONTROL: Final[dict[type[Operation], Rule]] = {
    ForOp: _for,
    WhileOp: _while,
    YieldOp: _yield,
    ConditionOp: _condition,
}
