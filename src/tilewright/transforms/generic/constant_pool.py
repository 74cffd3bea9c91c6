"""Uniquing of constants: one operation for each constant of a kernel, before all uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tilewright.ir.builder import InsertPoint
from tilewright.ir.traits import CONSTANT_LIKE

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement

_Key: TypeAlias = tuple[object, ...]


class ConstantPool:
    """A `Fold` hook for constants: equal ones are merged at the start of the kernel.

    That is the start of the outermost block within an isolated operation, so that every region of a
    kernel shares its constants.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Block, dict[_Key, Operation]] = {}

    def __call__(self, op: Operation, build: Rewriter) -> Replacement:
        """Merge a constant with an equal one, or hoist it to the start of the kernel."""
        home = _home(op)
        known = self._known.get(home)
        if known is None:
            known = self._known[home] = _leading(home)
        key = _key(op)
        other = known.get(key)
        if other is op:
            return None
        if other is not None and other.parent is home:
            return other
        known[key] = op
        build.move(op, InsertPoint.at_start(home))
        return op


def _home(op: Operation) -> Block:
    """The outermost block around an operation within the nearest isolated one."""
    block = op.parent
    assert block is not None
    while (owner := block.parent_op) is not None and not owner.is_isolated:
        if owner.parent is None:
            break
        block = owner.parent
    region = block.parent
    return block if region is None else region.blocks[0]


def _leading(block: Block) -> dict[_Key, Operation]:
    """The constants that a block starts with."""
    constants: dict[_Key, Operation] = {}
    for op in block:
        if CONSTANT_LIKE not in op.traits:
            break
        constants.setdefault(_key(op), op)
    return constants


def _key(op: Operation) -> _Key:
    return (type(op), *[result.type for result in op.results], frozenset(op.attributes.items()))
