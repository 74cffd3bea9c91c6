"""Copies of loops whose dots by `mma.sync` depend on each other, as in decode attention.

Threads issue such dots in order, and wait between them. Copies of a later iteration are masked off
if it does not exist, instead of skipped: without a branch, ptxas interleaves them with dots and
reductions. The copy of each tile follows the dot that reads the tile, so that each dot hides some
of the copies. Masked copies fill a stage with zeros, for which the program waits after the loop.

A tile is waited for where it is used: the first dot starts when its own tiles have arrived. Where
warps exchange an operand of a later dot, such as P, the barrier of that exchange also shows that
the copies of all threads have arrived, so that the second wait takes no barrier of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerWaitOp,
    ProducerCommitOp,
)
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, Rearrangement
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.transforms.nv_tileas.shared_accesses import synchronizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.nv_tileas.stage_copies import StageCopies


def dot_chain(loop: ForOp) -> list[DotOp]:
    """The dots of a loop with several, of which the first ones are computed for the last one.

    Only instructions that read operands from registers: their threads are busy with dots, and
    between two of them they wait for each other.
    """
    dots = [op for op in loop.body.block if isinstance(op, DotOp)]
    is_chain = len(dots) > 1 and all(op.atom.holds_warps for op in dots)
    return dots if is_chain else []


def masked_copies(loop: ForOp, copies: StageCopies, distance: int) -> MaskedCopies | None:
    """The copies of a loop with a chain of dots; None if they are skipped by a branch."""
    is_chain = not copies.is_private and bool(dot_chain(loop))
    return MaskedCopies(loop, copies, distance) if is_chain and copies.may_be_masked else None


class MaskedCopies:
    """The copies of a loop with a chain of dots, in groups that are waited for separately."""

    __slots__ = ("_copies", "_distance", "_dots", "_exchanges", "_loop")

    def __init__(self, loop: ForOp, copies: StageCopies, distance: int) -> None:
        self._loop, self._copies, self._distance = loop, copies, distance
        self._dots = _first_dots(loop, copies.tiles)
        """The dot that reads each tile; those of later tiles are not earlier ones."""
        later = list(dict.fromkeys(self._dots))[1:]
        exchanges = {dot: _exchange_before(dot, copies.tiles) for dot in later}
        is_split = distance > 0 and all(exchanges.values())
        self._exchanges = {d: op for d, op in exchanges.items() if op} if is_split else {}
        """The exchange of an operand between warps before each dot that is waited for."""

    @property
    def pending(self) -> int:
        """The groups that are committed after the first one, where the loop waits for it."""
        return self._distance * (1 + len(self._exchanges)) - 1

    def copy(self, build: Builder, iterator: Value, exists: Value) -> None:
        """Copy the tiles of an iteration: the first one here, others after their dots."""
        token, points, ends = self._copies.acquire(build, iterator), [build], [build]
        for dot, before in zip(self._dots[1:], self._dots, strict=False):
            if dot is not before:
                build = Builder(InsertPoint.after(dot), self._loop.location)
            points.append(build)
            if dot is not before and dot in self._exchanges:
                # The tiles before are a group, which is waited for separately.
                ends.append(build)
            else:
                ends[-1] = build
        self._copies.start(points[0], token, points=points, mask=exists)
        for end in ends:
            self._copies.commit(end, token)

    def wait_late(self, wait: ConsumerWaitOp) -> None:
        """Wait for the groups after the first one where their tiles are used.

        The barrier of the exchange serves if all reads follow it; else the wait has its own.
        """
        reads = [op for op in wait.token.users if isinstance(op, ConsumerReadOp)]
        for number, (dot, exchange) in enumerate(self._exchanges.items(), 1):
            late = [op for op in reads if op.number is not None and self._dots[op.number] is dot]
            ops = list(self._loop.body.block)
            first = min([exchange, *late], key=ops.index)
            committed = sum(isinstance(op, ProducerCommitOp) for op in ops[: ops.index(first)])
            own = Builder(InsertPoint.before(first), first.location).create(
                ConsumerWaitOp,
                pipeline=wait.pipeline,
                iterator=wait.iterator,
                pending=self.pending - number + committed,
                own_copies=first is exchange,
            )
            for read in late:
                read.replace_operand(wait.token, own.token)

    def wait_after(self, loop: ForOp) -> None:
        """Wait after the loop for copies that are masked off."""
        build = Builder(InsertPoint.after(loop), loop.location)
        pipeline, iterator = self._copies.pipeline, loop.results[-2]
        build.create(ConsumerWaitOp, pipeline=pipeline, iterator=iterator, pending=0)


def _first_dots(loop: ForOp, tiles: Sequence[Value]) -> list[DotOp]:
    """For each tile of a stage the first dot that reads it, or that of the tile before if later."""
    dots = dot_chain(loop)
    reading: list[DotOp] = []
    at = 0
    for tile in tiles:
        numbers = [n for n, dot in enumerate(dots) if tile in (_root(dot.a), _root(dot.b))]
        at = max(at, min(numbers, default=at)) if reading else 0
        reading.append(dots[at])
    return reading


def _root(value: Value) -> Value:
    """The value of which this one is another shape or layout."""
    op = value.defining_op()
    while isinstance(op, Rearrangement | ConvertLayoutOp):
        value = op.source
        op = value.defining_op()
    return value


def _exchange_before(dot: DotOp, tiles: Sequence[Value]) -> Operation | None:
    """The exchange between warps of an operand that is computed in the loop; None if there is none.

    It follows all dots before this one, whose tiles may be copied again then.
    """
    op = next((_exchange(each) for each in (dot.a, dot.b) if _root(each) not in tiles), None)
    if op is None or dot.parent is None or op.parent is not dot.parent:
        return None
    ops = list(dot.parent)
    between = ops[ops.index(op) : ops.index(dot)]
    return None if any(isinstance(each, DotOp) for each in between) else op


def _exchange(value: Value) -> Operation | None:
    op = value.defining_op()
    while isinstance(op, Rearrangement):
        op = op.source.defining_op()
    return op if isinstance(op, ConvertLayoutOp) and synchronizes(op) else None
