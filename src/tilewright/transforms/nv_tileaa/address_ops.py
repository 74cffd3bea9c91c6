"""Operations of a loop that compute the operands of a load, in order to load for a later iteration.

Some are speculatable: they may run for an iteration that does not exist. Divisions, assumptions and
loads of indices run only if the iteration does, in a branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.early_execution import is_repeatable
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.ir.effects import is_effect_free
from tilewright.ir.types import IntegerType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilewright.dialects.nv_tileaa.early_execution import AnyLoad
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

MAX_ADDRESS_OPS: Final = 64
"""At most this many operations compute the operands of a load."""


def find_address_ops(load: Operation, loop: ForOp) -> list[Operation] | None:
    """The operations that compute the operands of a load from the induction variable, in order.

    None if the operands depend on another value of the loop, or not on the induction variable.
    """
    body, counter = loop.body.block, loop.induction_variable
    worklist: list[Operation] = [load]
    address_ops: set[Operation] = set()
    uses_counter = False
    while worklist:
        for value in worklist.pop().operands:
            if not value.is_inside(loop):
                continue
            uses_counter |= value is counter
            op = value.defining_op()
            if op in address_ops or value is counter:
                continue
            if op is None or not _can_repeat(op, body) or len(address_ops) == MAX_ADDRESS_OPS:
                return None
            address_ops.add(op)
            worklist.append(op)
    return [op for op in body if op in address_ops] if uses_counter else None


def _can_repeat(op: Operation, body: Block) -> bool:
    """Whether an operation may also run earlier, for an iteration that exists."""
    if op.parent is not body or op.regions:
        return False
    return is_effect_free(op) or is_index_load(op)


def is_index_load(op: Operation) -> bool:
    """Whether an operation loads integers, and no token orders it with another access."""
    if not isinstance(op, LoadOp | TileLoadOp) or not is_repeatable(op):
        return False
    return isinstance(element_of(op.results[0].type), IntegerType)


def find_index_loads(load: AnyLoad, address_ops: Sequence[Operation]) -> list[AnyLoad]:
    """The loads from whose results the operands of a load are computed without further loads."""
    _, loads = _needed(load, address_ops, lambda op: isinstance(op, LoadOp | TileLoadOp))
    return [op for op in loads if isinstance(op, LoadOp | TileLoadOp)]


def clone_address_ops(
    build: Builder,
    load: Operation,
    address_ops: Sequence[Operation],
    values: dict[Value, Value],
) -> None:
    """Repeat what computes the operands of a load, except for what has a value already.

    `values` maps results of the loop's operations to those of another iteration.
    """
    repeated, _ = _needed(load, address_ops, lambda op: op.results[0] in values)
    for op in repeated:
        build.insert(op.clone(values))


def _needed(
    load: Operation, address_ops: Sequence[Operation], is_given: Callable[[Operation], bool]
) -> tuple[list[Operation], list[Operation]]:
    """What computes the operands of a load from what is given, and what of that it takes."""
    users: list[Operation] = [load]
    given: list[Operation] = []
    for op in reversed(address_ops):
        if any(user in users for result in op.results for user in result.users):
            (given if is_given(op) else users).append(op)
    return users[:0:-1], given[::-1]


def erase_unused(address_ops: Sequence[Operation]) -> None:
    """Erase what only computed the addresses of loads that are erased."""
    for op in reversed(address_ops):
        if op.parent is not None and not any(result.is_used for result in op.results):
            op.erase()
