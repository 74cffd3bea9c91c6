"""Substitutes for values whose definition is removed, and removal of operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp as ArithConstantOp
from tilewright.dialects.cuda_tile.core import ConstantOp as TileConstantOp
from tilewright.dialects.cuda_tile.memory import MakeTokenOp
from tilewright.dialects.cuda_tile.tile_types import TileType, TokenType
from tilewright.dialects.llvm.constants import ConstantOp as LLVMConstantOp
from tilewright.dialects.llvm.constants import ZeroOp
from tilewright.dialects.llvm.types import PointerType, StructType
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileaa.types import MemTokenType
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr, IntegerAttr, element_bytes
from tilewright.ir.effects import is_dead
from tilewright.ir.traits import CONSTANT_LIKE
from tilewright.ir.types import (
    FloatType,
    IndexType,
    IntegerType,
    ShapedType,
    TensorType,
    VectorType,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

Substitute = Callable[["Value", "Operation"], "Value | None"]
"""Finds a value of the same type for a result of an operation, to use after it."""


def is_inside(op: Operation, root: Operation) -> bool:
    """Whether an operation has not been removed from a module."""
    return root.is_ancestor_of(op)


def same_operand(value: Value, op: Operation) -> Value | None:
    """An operand of the operation; of several that of the same position counted from the end.

    That is the initial value of a loop-carried value.
    """
    from_end = len(op.operands) - len(op.results) + value.index
    if 0 <= from_end < len(op.operands) and op.operands[from_end].type is value.type:
        return op.operands[from_end]
    return next((each for each in op.operands if each.type is value.type), None)


def source_value(value: Value, op: Operation) -> Value | None:
    """The nearest value of the type among those that the operation is computed from."""
    seen: set[Value] = set()
    values: list[Value] = list(op.operands)
    while values:
        for each in values:
            if each.type is value.type:
                return each
        seen.update(values)
        makers = [maker for each in values if (maker := each.defining_op()) is not None]
        deeper = [each for maker in makers for each in maker.operands if each not in seen]
        values = list(dict.fromkeys(deeper))
    return None


def visible_value(value: Value, op: Operation) -> Value | None:
    """The first value of the type that is defined before the operation in every execution."""
    best: Value | None = None
    for each in visible_values(op):
        if each.type is value.type and each is not value:
            best = each
    return best


def visible_values(op: Operation) -> Iterator[Value]:
    """The values that are visible to an operation, from the nearest to the outermost."""
    inner: Operation | None = op
    while inner is not None and inner.parent is not None:
        block = inner.parent
        before = inner.prev
        while before is not None:
            yield from before.results
            before = before.prev
        yield from block.args
        region = block.parent
        if region is not None and block is not region.blocks[0]:
            yield from _values_of(region.blocks[0])
        inner = block.parent_op
        if inner is not None and inner.is_isolated:
            return


def _values_of(block: Block) -> Iterator[Value]:
    """The values of a block, the last first."""
    for op in reversed(block):
        yield from op.results
    yield from block.args


def constant(value: Value, op: Operation) -> Value | None:
    """A constant of the type before the operation: an existing one, or a new zero."""
    existing = visible_constant(value, op)
    if existing is not None:
        return existing
    made = zero(value.type, in_llvm=_in_llvm(op))
    if made is None:
        return None
    made.location = op.location
    made.insert_before(op)
    return made.results[0]


def visible_constant(value: Value, op: Operation) -> Value | None:
    """A constant of the type that is visible to the operation."""
    for each in visible_values(op):
        maker = each.defining_op()
        if each.type is value.type and maker is not None and CONSTANT_LIKE in maker.traits:
            return each
    return None


def any_substitute(value: Value, op: Operation) -> Value | None:
    """An operand, else a constant, else any visible value."""
    return same_operand(value, op) or constant(value, op) or visible_value(value, op)


def constant_or_value(value: Value, op: Operation) -> Value | None:
    """A constant, else any visible value."""
    return constant(value, op) or visible_value(value, op)


def value_or_constant(value: Value, op: Operation) -> Value | None:
    """Any visible value, else a constant."""
    return visible_value(value, op) or constant(value, op)


def source_or_constant(value: Value, op: Operation) -> Value | None:
    """A value that the operation is computed from, else a constant."""
    return source_value(value, op) or constant(value, op)


SUBSTITUTES: Final[dict[str, Substitute]] = {
    "operands": any_substitute,
    "sources": source_or_constant,
    "constants": constant_or_value,
    "values": value_or_constant,
}
"""The ways to replace the results of an operation, by what they prefer."""


def _in_llvm(op: Operation) -> bool:
    return any(outer.name == "llvm.func" for outer in op.ancestors())


def zero(type: Type, *, in_llvm: bool) -> Operation | None:
    """An operation without operands that makes a zero, a null pointer or a token of a type."""
    if isinstance(type, TokenType):
        return MakeTokenOp((), [type])
    if isinstance(type, MemTokenType):
        return CreateMemTokenOp((), [type])
    if isinstance(type, PointerType | StructType):
        return ZeroOp((), [type])
    number = zero_attribute(type)
    if number is None:
        return None
    if isinstance(type, TileType):
        return TileConstantOp((), [type], {"value": number})
    kind = LLVMConstantOp if in_llvm else ArithConstantOp
    return kind((), [type], {"value": number})


def zero_attribute(type: Type) -> Attribute | None:
    """The zero of a number, or of numbers in a shape."""
    match type:
        case IntegerType() | IndexType():
            return IntegerAttr(0, type)
        case FloatType():
            return FloatAttr(0, type)
        case TileType() | VectorType() | TensorType():
            element = type.element
            is_number = isinstance(element, IntegerType | IndexType | FloatType)
            is_known = not isinstance(type, TensorType) or type.shape is not None
            if is_number and is_known and not isinstance(element, IndexType):
                return DenseElementsAttr(bytes(element_bytes(element)), type)
            return None
        case _:
            return None


def is_number(type: Type) -> bool:
    """Whether a type is of numbers."""
    element = type.element if isinstance(type, ShapedType) else type
    return isinstance(element, IntegerType | IndexType | FloatType)


def remove(op: Operation, substitute: Substitute) -> bool:
    """Remove an operation, with all inside; False if a result has no substitute."""
    used = [result for result in op.results if result.users]
    substitutes = [substitute(result, op) for result in used]
    if None in substitutes:
        return False
    for result, other in zip(used, substitutes, strict=True):
        assert other is not None
        result.replace_all_uses_with(other)
    op.erase()
    return True


def dead_operations(module: Operation) -> set[Operation]:
    """The operations whose results are not used and that have no effects."""
    return {op for op in module.walk() if op.results and is_dead(op)}


def remove_newly_dead(module: Operation, dead_before: set[Operation]) -> bool:
    """Remove operations that are dead now, and were not; returns whether there were any."""
    has_removed = False
    changed = True
    while changed:
        changed = False
        for op in reversed(list(module.walk())):
            if op.results and op not in dead_before and op.parent is not None and is_dead(op):
                op.erase()
                changed = has_removed = True
    return has_removed
