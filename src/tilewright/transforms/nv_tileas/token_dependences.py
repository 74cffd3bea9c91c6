"""Which accesses may come before others by their tokens, in this round of a loop or in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.memory import AccessOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp
from tilewright.ir.values import BlockArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class TokenDependences:
    """Follows tokens back to the accesses that gave them, through joins, loops and branches."""

    __slots__ = ("_sources",)

    def __init__(self) -> None:
        self._sources: dict[Value, tuple[Value, ...]] = {}

    def is_behind(self, op: Operation, others: Iterable[AccessOp]) -> bool:
        """Whether a path of tokens leads from one of the others to an operation."""
        wanted = set(others)
        seen: set[Value] = set()
        open_tokens = [value for value in op.operands if value.type is MEM_TOKEN]
        while open_tokens:
            token = open_tokens.pop()
            if token in seen:
                continue
            seen.add(token)
            made = token.defining_op()
            if isinstance(made, AccessOp) and made in wanted:
                return True
            open_tokens += self._before(token)
        return False

    def _before(self, token: Value) -> tuple[Value, ...]:
        """The tokens that a token directly depends on."""
        found = self._sources.get(token)
        if found is None:
            found = self._sources[token] = tuple(token_sources(token))
        return found


def token_sources(token: Value) -> Iterator[Value]:
    """The tokens that a token directly depends on."""
    made = token.defining_op()
    match made:
        case None:
            assert isinstance(token, BlockArgument)
            yield from _entering(token)
        case ForOp():
            yield made.init_args[token.index]
            yield from _end(made, 0, token.index)
        case WhileOp():
            yield from _asked(made, token.index)
        case IfOp():
            for number, region in enumerate(made.regions):
                if region.blocks:
                    yield from _end(made, number, token.index)
        case _:
            yield from (value for value in made.operands if value.type is MEM_TOKEN)


def _entering(argument: BlockArgument) -> Iterator[Value]:
    """What a token of a loop's body is in the first round, and in the others."""
    owner = argument.parent_block.parent_op
    if isinstance(owner, ForOp):
        yield owner.init_args[argument.index - 1]
        yield from _end(owner, 0, argument.index - 1)
    elif isinstance(owner, WhileOp):
        if argument.parent_block is owner.before.block:
            yield owner.init_args[argument.index]
            yield from _end(owner, 1, argument.index)
        else:
            yield from _asked(owner, argument.index)


def _end(op: Operation, region: int, number: int) -> Iterator[Value]:
    end = op.regions[region].block.terminator
    if end is not None:
        yield end.operands[number]


def _asked(op: WhileOp, number: int) -> Iterator[Value]:
    end = op.before.block.terminator
    if isinstance(end, ConditionOp):
        yield end.values[number]
