"""The order of memory: which operations a token stands behind, and which edges others imply.

The past of a token is the set of tokens that it comes after, itself included: `t` is in the past
of `u` if everything that had to happen before `t` had to happen before `u`. Pasts are sets of bits.

- An operation's token comes after the one that it takes; a joined one after each of its parts.
- A branch: what the tokens of all branches have in common. What happened inside of the one that
  was taken, and is in its past, is there too; inside of the others nothing happened.
- A loop: what its tokens start with and every iteration keeps. If each iteration's token comes
  after that of the one before, all that is in the past of the last one is.

So of operations inside of a loop, a past outside means all their executions since the loop began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.values import Value


class TokenOrder:
    """The pasts of all tokens of a function."""

    __slots__ = ("_bits", "_pasts", "_spans")

    def __init__(self, function: Operation) -> None:
        self._bits: dict[Value, int] = {}
        self._pasts: dict[Value, int] = {}
        self._spans: dict[Region, int] = {}
        """By region of a branch or loop, the bits of all tokens that are made inside."""
        for region in function.regions:
            self._number(region)
        for region in function.regions:
            self._region(region)

    def is_behind(self, later: Value, earlier: Value) -> bool:
        """Whether one token comes after another, or is the same."""
        return bool(self._pasts.get(later, 0) & self._bits.get(earlier, 0))

    def is_ordered(self, first: Operation, second: Operation) -> bool:
        """Whether the first operation always comes before the second.

        Within one iteration of the loops around both, that is; nothing follows for the next one.
        """
        made = first.results[-1] if first.results else None
        taken = [value for value in second.operands if value.type is MEM_TOKEN]
        return made is not None and any(self.is_behind(token, made) for token in taken)

    def implied(self, join: Operation) -> list[int]:
        """The operands of a joined token that come before others of it, or are there twice."""
        tokens = join.operands
        found: list[int] = []
        for number, token in enumerate(tokens):
            for other, rival in enumerate(tokens):
                is_first = other < number or not self.is_behind(token, rival)
                if other != number and is_first and self.is_behind(rival, token):
                    found.append(number)
                    break
        return found

    def _number(self, region: Region) -> None:
        """A bit for each token, those inside of one region in a row."""
        first = len(self._bits)
        for block in region.blocks:
            self._enter(block.args)
            for op in block:
                for inner in op.regions:
                    self._number(inner)
                self._enter(op.results)
        self._spans[region] = (1 << len(self._bits)) - (1 << first)

    def _enter(self, values: Sequence[Value]) -> None:
        for value in values:
            if value.type is MEM_TOKEN:
                self._bits[value] = 1 << len(self._bits)

    def _learn(self, value: Value, past: int) -> None:
        if value.type is MEM_TOKEN:
            self._pasts[value] = past | self._bits[value]

    def _past(self, value: Value) -> int:
        return self._pasts.get(value, 0)

    def _region(self, region: Region) -> None:
        for block in region.blocks:
            for argument in block.args:
                if argument not in self._pasts:
                    self._learn(argument, 0)
            self._block(block)

    def _block(self, block: Block) -> None:
        for op in block:
            if isinstance(op, IfOp):
                self._if(op)
            elif isinstance(op, ForOp):
                self._for(op)
            elif isinstance(op, WhileOp):
                self._while(op)
            else:
                self._plain(op)

    def _plain(self, op: Operation) -> None:
        for region in op.regions:
            self._region(region)
        results = op.results
        if not results or results[-1].type is not MEM_TOKEN:
            return
        past = 0
        for operand in op.operands:
            if operand.type is MEM_TOKEN:
                past |= self._past(operand)
        for result in results:
            self._learn(result, past)

    def _if(self, op: IfOp) -> None:
        ends: list[tuple[Sequence[Value], int]] = []
        for region in op.regions:
            self._region(region)
            last = region.blocks[-1].last if region.blocks else None
            if last is not None and len(last.operands) == len(op.results):
                ends.append((last.operands, self._spans[region]))
        for number, result in enumerate(op.results):
            common, own = -1 if ends else 0, 0
            for values, inside in ends:
                past = self._past(values[number])
                common &= past
                own |= past & inside
            self._learn(result, common | own)

    def _for(self, op: ForOp) -> None:
        """Start with what is carried in, and take away what an iteration loses."""
        end = op.body.block.last
        assert end is not None
        starts = [self._past(value) for value in op.init_args]
        ends: list[int] = []
        kept: list[int] | None = None
        while kept != starts:
            starts = starts if kept is None else kept
            for argument, past in zip(op.carried, starts, strict=True):
                self._learn(argument, past)
            self._region(op.body)
            ends = [self._past(value) for value in end.operands]
            kept = [start & past for start, past in zip(starts, ends, strict=True)]
        inside = self._spans[op.body]
        for result, argument, start, past in zip(op.results, op.carried, starts, ends, strict=True):
            all_along = past & inside if past & self._bits.get(argument, 0) else 0
            self._learn(result, start | all_along)

    def _while(self, op: WhileOp) -> None:
        """As a counted loop; what the test passes on is what the loop ends with."""
        asked, again = op.before.block.last, op.after.block.last
        assert isinstance(asked, ConditionOp)
        assert again is not None
        starts = [self._past(value) for value in op.init_args]
        ends: list[int] = []
        kept: list[int] | None = None
        while kept != starts:
            starts = starts if kept is None else kept
            for argument, past in zip(op.before.block.args, starts, strict=True):
                self._learn(argument, past)
            self._region(op.before)
            for argument, value in zip(op.after.block.args, asked.values, strict=True):
                self._learn(argument, self._past(value))
            self._region(op.after)
            ends = [self._past(value) for value in again.operands]
            kept = [start & past for start, past in zip(starts, ends, strict=True)]
        for result, value in zip(op.results, asked.values, strict=True):
            self._learn(result, self._left(op, self._past(value), ends))

    def _left(self, op: WhileOp, past: int, ends: Sequence[int]) -> int:
        """The last test comes after all iterations that are in the past of what was carried."""
        earlier = 0
        tested = self._spans[op.before]
        inside = tested | self._spans[op.after]
        for argument, end in zip(op.before.block.args, ends, strict=True):
            bit = self._bits.get(argument, 0)
            if past & bit and end & bit:
                earlier |= end & inside
        # What the test does happens once more than what the iterations do.
        return (past & ~inside) | (earlier & ~tested) | (earlier & past & tested)
