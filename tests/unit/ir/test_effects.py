"""The effects of operations, and which of them are dead."""

from __future__ import annotations

import toy
from each_case import each_case

from tilewright.ir.builder import Builder, create_op
from tilewright.ir.effects import is_dead, is_effect_free, is_pure, may_write
from tilewright.ir.operation import Block, Operation
from tilewright.ir.types import I1, I32


def loop_with(inner: type[Operation] | None = None, broken: bool = False) -> toy.LoopOp:
    """Build a loop with one operation in an `if`, which may also break the loop."""
    then, inside = toy.block_of()
    value = toy.source(Builder(toy.InsertPoint(Block())), I32)
    if inner is not None:
        types = [I32] if inner.schema.results else []
        inside.insert(inner([value] * len(inner.schema.operands), types))
    inside.create(toy.BreakOp if broken else toy.YieldOp)
    other, after = toy.block_of()
    after.create(toy.YieldOp)
    body, build = toy.block_of()
    condition = body.add_argument(I1)
    build.create(toy.IfOp, condition=condition, then_region=then, else_region=other, types=[])
    build.create(toy.YieldOp)
    return create_op(toy.LoopOp, body=body, types=[])


@each_case(
    ("inner", "pure", "free", "writes", "dead"),
    [
        (None, True, True, False, True),
        (toy.AddOp, True, True, False, True),
        (toy.DivOp, False, True, False, True),
        (toy.LoadOp, False, False, False, True),
        (toy.StoreOp, False, False, True, False),
        (toy.UseOp, False, False, True, False),
    ],
)
def test_effects_of_nested_operations_count(
    inner: type[Operation] | None, pure: bool, free: bool, writes: bool, dead: bool
) -> None:
    loop = loop_with(inner)
    assert is_pure(loop) == pure
    assert is_effect_free(loop) == free
    assert may_write(loop) == writes
    assert is_dead(loop) == dead


def test_a_jump_counts_where_it_leaves() -> None:
    loop = loop_with(broken=True)
    assert is_dead(loop)
    inner = loop.body.block.first
    assert isinstance(inner, toy.IfOp)
    assert not is_dead(inner)
    assert not is_pure(inner)


def test_used_operations_and_terminators_are_not_dead() -> None:
    _, build = toy.module()
    value = toy.constant(build, 1)
    definition = value.defining_op()
    assert definition is not None
    assert is_dead(definition)
    toy.use(build, value)
    assert not is_dead(definition)
    assert not is_dead(build.create(toy.YieldOp))
