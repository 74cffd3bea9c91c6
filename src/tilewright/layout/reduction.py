"""Reductions along a dimension: the threads that hold parts of one line, and their exchanges.

Two threads that hold different elements of a line combine what they have; two that hold the same
elements must not. So a direction is a change of the thread's number that leads to other elements
of the same lines.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tilewright.layout import gf2
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.pieces import piece_bits

if TYPE_CHECKING:
    from collections.abc import Sequence


class Direction(NamedTuple):
    """The partner of a thread, and the register of the partner with the same line."""

    bits: int
    """Exclusive or of the lane, or of the warp."""
    registers: int
    """Exclusive or of the register of the partial results."""
    leading: int
    """The bit in which the two partners differ."""


class Reduction(NamedTuple):
    """The steps of a reduction."""

    groups: list[list[int]]
    """For each register of the partial results, the source registers that it combines."""
    partial: Layout
    """The layout of the partial results: that of the source without the dimension."""
    registers: list[int]
    """Exclusive ors that lead from a register of the source to others of its line, the farthest
    first; no two have the same highest bit."""
    lanes: list[Direction]
    warps: list[Direction]

    def iterations(self, bytes: int) -> tuple[int, ...]:
        """The bits of a line that select the iteration in which warps exchange their parts of it.

        Each line takes `bytes` bytes; a tile of many lines takes several iterations.
        """
        return piece_bits(self.partial, self.partial, bytes << len(self.warps))


@lru_cache(maxsize=256)
def reduction(source: Layout, axis: int) -> Reduction:
    """How a tile in a layout is reduced along a dimension.

    >>> from tilewright.layout.spread import spread
    >>> steps = reduction(spread((4, 64), warps=4, vector=2), axis=1)
    >>> [step.bits for step in steps.lanes], steps.warps, steps.groups
    ([1, 2, 4, 8, 16], [], [[0, 1]])
    """
    dropped = source.drop(axis)
    partial = dropped.distinct_registers()
    groups: dict[int, list[int]] = {}
    for register in range(source.extent(REGISTER)):
        groups.setdefault(dropped.packed(register=register), []).append(register)
    order = [groups[partial.packed(register=r)] for r in range(partial.extent(REGISTER))]
    seen = gf2.Basis(source.vectors(REGISTER))
    lines = gf2.Basis(partial.vectors(REGISTER))
    count = len(partial.vectors(REGISTER))
    lanes = _directions(source.vectors(LANE), dropped.vectors(LANE), seen, lines, count)
    count += len(source.vectors(LANE))
    warps = _directions(source.vectors(WARP), dropped.vectors(WARP), seen, lines, count)
    return Reduction(order, partial, _leaders(groups[0]), lanes, warps)


def _leaders(line: Sequence[int]) -> list[int]:
    """For each highest bit among the registers of a line, the first register that has it."""
    leaders: dict[int, int] = {}
    for register in line:
        if register:
            leaders.setdefault(register.bit_length(), register)
    return [leaders[bits] for bits in sorted(leaders, reverse=True)]


def _directions(
    vectors: Sequence[int],
    dropped: Sequence[int],
    seen: gf2.Basis,
    lines: gf2.Basis,
    start: int,
) -> list[Direction]:
    """The bits of a thread's number that lead to other elements of the same lines.

    `lines` holds the bits that distinguish lines: registers, then lanes, then warps; the bits of
    this input begin at `start`.
    """
    own = (1 << start) - 1
    directions: list[Direction] = []
    for bit, (vector, line) in enumerate(zip(vectors, dropped, strict=True)):
        if not seen.offer(start + bit, vector):
            continue
        same = lines.express(line)
        if same is None:
            lines.offer(start + bit, line)
        else:
            directions.append(Direction(same >> start | 1 << bit, same & own, bit))
    return directions
