"""The 32-bit words of the tiles that are live together in a kernel, before layouts are chosen.

One estimate for any kernel: in loops, branches and straight-line code, carried tiles included.
Constants, ranges and broadcast tiles take no registers, as each use computes their elements anew;
nor does an operand of a dot that is loaded, which a copy brings to shared memory. What is computed
of ranges before a loop, such as addresses, counts: it is kept. In a loop it does not, as that of a
mask: it changes with the iteration, and is computed where it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import MakeRangeOp, Rearrangement, SplatOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.plans.rematerialization import Rematerializable
from tilewright.schedule.tile_words import tile_words
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


FREE: Final = (ConstantOp, MakeRangeOp, SplatOp)
"""Operations whose tiles take no registers: each use computes its elements anew."""


def live_words(kernel: Operation) -> int:
    """The most words of tiles that are live together after an operation of a kernel."""
    blocks = [block for region in kernel.regions for block in region.blocks]
    tiles = _Liveness()
    return max([tiles.most(block) for block in blocks], default=0)


class _Liveness:
    """The tiles of a kernel, each with the words that it takes."""

    __slots__ = ("_read", "_remade", "_words")

    def __init__(self) -> None:
        self._remade = Rematerializable()
        self._words: dict[Value, int] = {}
        self._read: dict[Operation, list[Value]] = {}

    def most(self, block: Block) -> int:
        """The most words that are live after an operation of a block: those of its own values.

        The values that it uses from outside are live in the block around it.
        """
        last = self._last_uses(block)
        ends: dict[int, int] = {}
        live = most = sum([self._take(value, last, ends) for value in block.args])
        for number, op in enumerate(block):
            if op.regions:
                inside = [self.most(each) for region in op.regions for each in region.blocks]
                carried = self._first_values(op, block, last, number)
                most = max([most, *[live - carried + words for words in inside]])
            # An operation may write its results over the operands that it uses last.
            live -= ends.pop(number, 0)
            live += sum([self._take(value, last, ends) for value in op.results])
            most = max(most, live)
        return most

    def _take(self, value: Value, last: dict[Value, int], ends: dict[int, int]) -> int:
        """The words of a value that a block computes, until its last use."""
        end = last.get(value)
        words = 0 if end is None else self._words_of(value)
        if end is not None and words:
            ends[end] = ends.get(end, 0) + words
        return words

    def _first_values(
        self, op: Operation, block: Block, last: dict[Value, int], number: int
    ) -> int:
        """The words of values that a loop starts with, and nothing uses later or in the loop.

        The arguments of its block have their registers.
        """
        inside = {tile for inner in op.walk() if inner is not op for tile in self._tiles(inner)}
        return sum(
            self._words_of(tile)
            for tile in {*self._tiles(op)} - inside
            if tile.parent_block is block and last.get(tile) == number
        )

    def _last_uses(self, block: Block) -> dict[Value, int]:
        """The number of the last operation of a block that uses each tile, itself or inside."""
        last: dict[Value, int] = {}
        for number, op in enumerate(block):
            for inner in op.walk() if op.regions else (op,):
                for tile in self._tiles(inner):
                    last[tile] = number
        return last

    def _tiles(self, op: Operation) -> list[Value]:
        """The tiles whose registers an operation reads."""
        known = self._read.get(op)
        if known is None:
            known = self._read[op] = [_source(each) for each in op.operands if is_tile(each)]
        return known

    def _words_of(self, value: Value) -> int:
        known = self._words.get(value)
        if known is None:
            known = self._words[value] = self._compute(value)
        return known

    def _compute(self, value: Value) -> int:
        """Tiles of less than a register of each thread of a warp, as reduced ones, do not count."""
        if not is_tile(value) or isinstance(value.defining_op(), Rearrangement):
            return 0
        words = tile_words(value.type)
        if words < WARP_SIZE or isinstance(value.defining_op(), FREE) or _is_staged(value):
            return 0
        return 0 if _is_repeated(value) and value in self._remade else words


def _source(value: Value) -> Value:
    """The tile whose registers a value has."""
    while isinstance(op := value.defining_op(), Rearrangement):
        value = op.source
    return value


def _is_repeated(value: Value) -> bool:
    """Whether a tile is computed in a loop."""
    op = value.defining_op()
    return op is not None and any(outer.loop_body is not None for outer in op.ancestors())


def _is_staged(value: Value) -> bool:
    """Whether a tile is loaded for dots alone, which read it from shared memory."""
    users = list(_users(value))
    return isinstance(value.defining_op(), LoadOp | TileLoadOp) and all(
        isinstance(user, DotOp) for user in users
    )


def _users(value: Value) -> Iterator[Operation]:
    """The operations that use a tile, or a rearrangement of it."""
    for user in value.users:
        if isinstance(user, Rearrangement):
            yield from _users(user.result)
        else:
            yield user
