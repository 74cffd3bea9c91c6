"""Dots by FMA that multiply one matrix in shared memory with several tiles, joined to one.

Each thread holds its lines of the other operand in registers, and loads the matrix once for every
dot. Lines of two tiles side by side are one dot, for which it is loaded once: registers count the
tiles, so no data is exchanged between threads. Multiplications of complex matrices are such dots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import Atom, in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.shape import CatOp, ExtractSliceOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.ir.types import I32
from tilewright.layout.linear import REGISTER
from tilewright.layout.parts import beside
from tilewright.plans.mma import FmaDotPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

MOST_REGISTERS: Final = 64
"""The most registers per thread that the accumulators of a joined dot take, and its lines."""


class JoinDots(Pass):
    """Join pairs of FMA dots of one block that read the same matrix from shared memory."""

    name = "join-dots"

    def run(self, op: Operation, sink: Sink) -> None:
        dots = {dot: key for dot in _dots(op) if (key := _key(dot)) is not None}
        if len(dots) == len(set(dots.values())):
            return
        numbers = {inner: number for number, inner in enumerate(op.walk())}
        waiting: dict[_Key, DotOp] = {}
        for dot, key in dots.items():
            earlier = waiting.pop(key, None)
            if earlier is not None and _can_join(earlier, dot, numbers):
                _join(earlier, dot, holds_b=key.holds_b)
            else:
                waiting[key] = dot


def _dots(op: Operation) -> Iterator[DotOp]:
    return (inner for inner in op.walk() if isinstance(inner, DotOp) and inner.atom is Atom.FMA)


class _Key(NamedTuple):
    """What two dots have in common that can be joined."""

    block: Block
    matrix: Value
    accumulators: Type
    held: Type
    """The type of the operand that threads hold."""
    holds_b: bool
    attributes: tuple[tuple[str, Attribute], ...]


def _key(dot: DotOp) -> _Key | None:
    """The key of a dot; None if it is not joined with any."""
    plan = FmaDotPlan.of(dot)
    if plan is None or dot.parent is None or (plan.a is None) == (plan.b is None):
        return None
    holds_b = plan.b is not None
    matrix, held = (dot.a, dot.b) if holds_b else (dot.b, dot.a)
    registers = max(layout_of(tile).extent(REGISTER) for tile in (held, dot.c))
    if not in_shared_memory(matrix) or 2 * registers > MOST_REGISTERS:
        return None
    attributes = tuple(sorted(dot.attributes.items()))
    return _Key(dot.parent, matrix, dot.c.type, held.type, holds_b, attributes)


def _can_join(first: DotOp, second: DotOp, numbers: Mapping[Operation, int]) -> bool:
    """Whether the operands of a dot exist where an earlier one of its block is."""
    for value in second.operands:
        definition = value.defining_op()
        if definition is None or definition.parent is not first.parent:
            continue
        # What this pass has inserted has no number.
        if numbers.get(definition, numbers[first]) >= numbers[first]:
            return False
    return True


def _join(first: DotOp, second: DotOp, *, holds_b: bool) -> None:
    """Replace two dots by one where the first of them is."""
    rank = len(shape(first.c.type))
    axis = rank - 1 if holds_b else rank - 2
    build = Builder(InsertPoint.before(first), first.location)
    held = [dot.b if holds_b else dot.a for dot in (first, second)]
    lines = _side_by_side(build, held, axis)
    accumulators = _side_by_side(build, [first.c, second.c], axis)
    operands = [first.a, lines] if holds_b else [lines, first.b]
    joined = build.insert(first.like([*operands, accumulators], [accumulators.type]))
    for number, dot in enumerate((first, second)):
        indices = [number if each == axis else 0 for each in range(rank)]
        part = build.create(
            ExtractSliceOp,
            source=joined.results[0],
            indices=_constants(build, indices),
            types=[dot.result.type],
        )
        dot.result.replace_all_uses_with(part.result)
    for dot in (first, second):
        dot.erase()


def _side_by_side(build: Builder, tiles: Sequence[Value], axis: int) -> Value:
    extents = list(shape(tiles[0].type))
    extents[axis] *= 2
    type = laid_out(element_of(tiles[0].type), beside(layout_of(tiles[0]), extents))
    return build.create(CatOp, lhs=tiles[0], rhs=tiles[1], axis=axis, types=[type]).result


def _constants(build: Builder, numbers: Sequence[int]) -> list[Value]:
    return [
        build.create(ConstantOp, value=IntegerAttr(each, I32), types=[I32]).result
        for each in numbers
    ]
