"""Token dependences: which accesses are ordered before others, also across iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.slices import closure
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp
from tilewright.ir.values import BlockArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.dialects.nv_tileaa.memory import AccessOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def depends_on(op: Operation, others: Iterable[AccessOp]) -> bool:
    """Whether a chain of tokens, through joins, loops and branches, leads from another access."""
    sources: set[Operation | None] = set(others)
    tokens = [value for value in op.operands if value.type is MEM_TOKEN]
    return any(token.defining_op() in sources for token in closure(tokens, token_sources))


def token_sources(token: Value) -> Iterator[Value]:
    """The tokens that a token directly depends on."""
    producer = token.defining_op()
    match producer:
        case None:
            assert isinstance(token, BlockArgument)
            yield from _block_argument_sources(token)
        case ForOp():
            yield producer.init_args[token.index]
            yield from _yielded(producer, 0, token.index)
        case WhileOp():
            yield from _condition_operand(producer, token.index)
        case IfOp():
            for number, region in enumerate(producer.regions):
                if region.blocks:
                    yield from _yielded(producer, number, token.index)
        case _:
            yield from (value for value in producer.operands if value.type is MEM_TOKEN)


def _block_argument_sources(argument: BlockArgument) -> Iterator[Value]:
    """The values of a loop-carried token: at entry, and at the back edge."""
    owner = argument.parent_block.parent_op
    if isinstance(owner, ForOp):
        yield owner.init_args[argument.index - 1]
        yield from _yielded(owner, 0, argument.index - 1)
    elif isinstance(owner, WhileOp):
        if argument.parent_block is owner.before.block:
            yield owner.init_args[argument.index]
            yield from _yielded(owner, 1, argument.index)
        else:
            yield from _condition_operand(owner, argument.index)


def _yielded(op: Operation, region: int, number: int) -> Iterator[Value]:
    end = op.regions[region].block.terminator
    if end is not None:
        yield end.operands[number]


def _condition_operand(op: WhileOp, number: int) -> Iterator[Value]:
    end = op.before.block.terminator
    if isinstance(end, ConditionOp):
        yield end.values[number]
