"""One prologue for two consecutive pipelined loops: stage 0 of an iteration of one of them.

The loop with a causal mask computes what the loop without it does, but for the mask. The iteration
of the prologue belongs to the first loop if that has iterations, else to the second. So what both
compute is built once, and only values that differ are chosen by a branch:

    S = Q @ K[0]
    if the first loop has iterations: T = S, else T = S + mask
    P = softmax(T)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.ir.equivalence import equivalent
from tilewright.transforms.pipeline.iterations import branch

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class FirstPart(NamedTuple):
    """Stage 0 of an iteration of a pipelined loop."""

    ops: Sequence[Operation]
    arguments: Sequence[Value]
    """The arguments of the body: those of two loops correspond."""
    results: Sequence[Value]
    """The values that are passed on to the loop: those of two loops correspond."""

    def sources(self, value: Value, known: Collection[Value]) -> list[Operation]:
        """The operations from which a value is computed, without those of known values."""
        ops: set[Operation] = set()
        inside, pending = set(self.ops), [value]
        while pending:
            each = pending.pop()
            op = each.defining_op()
            if op is not None and each not in known and op in inside and op not in ops:
                ops.add(op)
                pending += [operand for inner in op.walk() for operand in inner.operands]
        return [op for op in self.ops if op in ops]

    def compute(self, build: Builder, value: Value, known: Mapping[Value, Value]) -> Value:
        """Build the operations from which a value is computed, but for known values."""
        values = dict(known)
        for op in self.sources(value, known):
            build.insert(op.clone(values))
        return values.get(value, value)


class SharedPrologue(NamedTuple):
    """The first parts of two loops, of which one is executed."""

    one: FirstPart
    other: FirstPart
    common: Mapping[Value, Value]
    """For values of the one part, those of the other that are the same."""
    partners: Mapping[Operation, Operation]
    """For operations of the other part, those of the one that do the same with other values."""

    @staticmethod
    def of(one: FirstPart, other: FirstPart) -> SharedPrologue | None:
        """Two parts with the same dots, loads and reductions; None if one has others."""
        common = _common_values(one, other)
        partners, differing = _pairs(one, other, common)
        own = [op for value, _ in differing for op in one.sources(value, common)]
        own += [op for _, value in differing for op in other.sources(value, set(common.values()))]
        return None if any(map(_is_costly, own)) else SharedPrologue(one, other, common, partners)

    def build(self, build: Builder, is_one: Value, arguments: Sequence[Value]) -> list[Value]:
        """Build the part of the one loop if a condition holds, else that of the other."""
        values = dict(zip(self.one.arguments, arguments, strict=True))
        for op in self.one.ops:
            if any(result in self.common for result in op.results):
                build.insert(op.clone(values))
        own = {twin: values[value] for value, twin in self.common.items()}
        merged: dict[tuple[Value, Value], Value] = {}

        def merge(value: Value, twin: Value) -> Value:
            if self.common.get(value, value) is twin:
                return own.get(twin, twin)
            if (value, twin) not in merged:
                merged[value, twin] = branch(
                    build,
                    is_one,
                    lambda inside: [self.one.compute(inside, value, values)],
                    lambda inside: [self.other.compute(inside, twin, own)],
                )[0]
            return merged[value, twin]

        for twin in self.other.ops:
            if (op := self.partners.get(twin)) is None:
                continue
            pairs = zip(op.operands, twin.operands, strict=True)
            copy = build.insert(twin.clone({each: merge(value, each) for value, each in pairs}))
            results = zip(op.results, twin.results, copy.results, strict=True)
            for value, each, result in results:
                merged[value, each] = result
        return [merge(*pair) for pair in zip(self.one.results, self.other.results, strict=True)]


def _common_values(one: FirstPart, other: FirstPart) -> dict[Value, Value]:
    """For values of the one part, those of the other that are computed alike from the same."""
    common = dict(zip(one.arguments, other.arguments, strict=True))
    pending = list(other.ops)
    for op in one.ops:
        twin = next((each for each in pending if equivalent(op, each, twins=common)), None)
        if twin is not None:
            pending.remove(twin)
            common.update(zip(op.results, twin.results, strict=True))
    return common


def _pairs(
    one: FirstPart, other: FirstPart, common: Mapping[Value, Value]
) -> tuple[dict[Operation, Operation], list[tuple[Value, Value]]]:
    """Pair operations, from the results on; returns the pairs, and the values that differ."""
    shared = {value.defining_op() for pair in common.items() for value in pair}
    ops = {*one.ops, *other.ops} - shared
    partners: dict[Operation, Operation] = {}
    differing: list[tuple[Value, Value]] = []
    pending = list(zip(one.results, other.results, strict=True))
    while pending:
        value, twin = pending.pop()
        op, each = value.defining_op(), twin.defining_op()
        if common.get(value, value) is twin:
            continue
        if op is None or each is None or value.index != twin.index:
            differing.append((value, twin))
        elif {op, each} <= ops and _are_alike(op, each):
            ops -= {op, each}
            partners[each] = op
            pending += zip(op.operands, each.operands, strict=True)
        elif partners.get(each) is not op:
            differing.append((value, twin))
    return partners, differing


def _are_alike(op: Operation, twin: Operation) -> bool:
    """Whether operations do the same with their operands, which correspond one to one."""
    pairs = set(zip(op.operands, twin.operands, strict=False))
    if not len(pairs) == len(set(op.operands)) == len(set(twin.operands)):
        return False
    if any(value.type is not other.type for value, other in pairs):
        return False
    return equivalent(op, twin, twins=dict(pairs))


def _is_costly(op: Operation) -> bool:
    """Whether an operation is not to be in one branch only: it loads, or is most of the code."""
    return isinstance(op, DotOp | LoadOp | TileLoadOp) or bool(op.regions)
