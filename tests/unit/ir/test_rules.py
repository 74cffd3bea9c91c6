"""Rules and the driver that applies them."""

from __future__ import annotations

import random

import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st
from integrity import check_integrity

from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder
from tilewright.ir.operation import Operation
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.rules import ByRoot, Replacement, Rule, apply_rules, constant_of, rule
from tilewright.ir.types import I32
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import InternalError, Severity, Sink
from tilewright.support.location import FileLoc, FusedLoc

HERE, THERE = FileLoc("k", 1, 1), FileLoc("k", 2, 2)


def number(value: Value) -> int | None:
    constant = constant_of(value)
    return constant.value if isinstance(constant, IntegerAttr) else None


@rule(toy.AddOp)
def add_zero(op: toy.AddOp, build: Rewriter) -> Replacement:
    """`x + 0` becomes `x`: zero is neutral."""
    return op.lhs if number(op.rhs) == 0 else None


@rule(toy.AddOp, toy.SubOp)
def compute(op: toy.AddOp | toy.SubOp, build: Rewriter) -> Replacement:
    """An operation on two constants becomes their result, modulo 2^32."""
    lhs, rhs = number(op.lhs), number(op.rhs)
    if lhs is None or rhs is None:
        return None
    value = lhs + rhs if isinstance(op, toy.AddOp) else lhs - rhs
    return build.create(toy.ConstantOp, value=(value + (1 << 31)) % (1 << 32) - (1 << 31))


@rule(toy.SubOp)
def subtract_sum(op: toy.SubOp, build: Rewriter) -> Replacement:
    """`x - (x + y)` becomes `0 - y`: addition commutes and wraps."""
    added = op.rhs.defined_by(toy.AddOp)
    if added is None or added.lhs is not op.lhs:
        return None
    build.fuse(added)
    return build.create(toy.SubOp, lhs=toy.constant(build, 0), rhs=added.rhs)


RULES = (add_zero, compute, subtract_sum)


def test_a_rule_states_its_law() -> None:
    assert add_zero.documentation == "`x + 0` becomes `x`: zero is neutral."
    assert compute.roots == (toy.AddOp, toy.SubOp)


def test_rules_apply_until_none_holds() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    zero = toy.constant(build, 0)
    added = x
    for _ in range(10):
        added = toy.add(build, added, zero)
    user = toy.use(build, added)
    assert apply_rules(module, RULES)
    assert user.operands == (x,)
    assert toy.names(module.body.block) == ["use", "use"]
    check_integrity(module)
    assert not apply_rules(module, RULES)


def test_dead_operations_go_in_chains_and_with_their_regions() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    toy.add(build, toy.add(build, one, one), one)
    body, inside = toy.block_of()
    toy.add(inside, one, one)
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    build.create(toy.StoreOp, value=toy.constant(build, 5), address=toy.constant(build, 6))
    assert apply_rules(module, ())
    assert toy.names(module.body.block) == ["constant", "constant", "store"]
    check_integrity(module)


def test_locations_of_replacements() -> None:
    module, build = toy.module()
    x, y = toy.source(build, I32), toy.source(build, I32)
    added = build.create(toy.AddOp, lhs=x, rhs=y, location=THERE)
    difference = build.create(toy.SubOp, lhs=x, rhs=added.result, location=HERE)
    user = toy.use(build, difference.result)
    apply_rules(module, RULES)
    negated = user.operands[0].defined_by(toy.SubOp)
    assert negated is not None
    assert negated.location == FusedLoc((HERE, THERE))
    assert negated.lhs.location == FusedLoc((HERE, THERE))
    assert negated.rhs is y


def test_rules_are_found_by_base_class_in_the_order_given() -> None:
    @rule(toy.BinaryOp)
    def base(op: toy.BinaryOp, build: Rewriter) -> Replacement:
        """Never applies."""
        return None

    finder = ByRoot((base, add_zero, compute))
    assert finder(toy.AddOp) == (base, add_zero, compute)
    assert finder(toy.SubOp) == (base, compute)
    assert finder(toy.DivOp) == (base,)
    assert finder(toy.UseOp) == ()


def test_a_rule_may_change_an_operation_in_place() -> None:
    @rule(toy.ConstantOp)
    def count_down(op: toy.ConstantOp, build: Rewriter) -> Replacement:
        """`n` becomes `n - 1`, for the sake of this test."""
        if op.value == 0:
            return None
        op.attributes["value"] = IntegerAttr(op.value - 1, I32)
        build.touch(op)
        return op

    module, build = toy.module()
    value = toy.constant(build, 5)
    toy.use(build, value)
    assert apply_rules(module, (count_down,))
    assert number(value) == 0


def test_a_rule_may_delete_an_operation_without_results() -> None:
    @rule(toy.StoreOp)
    def drop(op: toy.StoreOp, build: Rewriter) -> Replacement:
        """A store is erased, for the sake of this test."""
        return ()

    module, build = toy.module()
    build.create(toy.StoreOp, value=toy.constant(build, 1), address=toy.constant(build, 2))
    apply_rules(module, (drop,))
    assert toy.names(module.body.block) == []


def test_a_rule_that_changes_things_and_gives_up_is_a_bug() -> None:
    @rule(toy.AddOp)
    def careless(op: toy.AddOp, build: Rewriter) -> Replacement:
        """Never applies."""
        toy.constant(build, 1)
        return None

    module, build = toy.module()
    toy.use(build, toy.add(build, toy.constant(build, 1), toy.constant(build, 2)))
    with pytest.raises(InternalError, match="rule 'careless' changed the program and did not"):
        apply_rules(module, (careless,))


def swap_rules() -> tuple[Rule, ...]:
    @rule(toy.AddOp)
    def to_sub(op: toy.AddOp, build: Rewriter) -> Replacement:
        """For the sake of this test."""
        return build.create(toy.SubOp, lhs=op.lhs, rhs=op.rhs)

    @rule(toy.SubOp)
    def to_add(op: toy.SubOp, build: Rewriter) -> Replacement:
        """For the sake of this test."""
        return build.create(toy.AddOp, lhs=op.lhs, rhs=op.rhs)

    return to_sub, to_add


def test_rules_that_undo_each_other_are_found_out() -> None:
    module, build = toy.module()
    build.location = HERE
    toy.use(build, toy.add(build, toy.constant(build, 1), toy.constant(build, 2)))
    with pytest.raises(InternalError, match=r"k:1:1: no end after 50 rewrites; .* to_.*, to_"):
        apply_rules(module, swap_rules(), limit=50)
    with pytest.raises(InternalError, match="no end after"):
        apply_rules(module, swap_rules())
    sink = Sink()
    assert apply_rules(module, swap_rules(), limit=50, sink=sink)
    assert [diagnostic.severity for diagnostic in sink.diagnostics] == [Severity.WARNING]
    check_integrity(module)
    verify(module)


def test_only_operations_inside_the_root_are_rewritten() -> None:
    module, build = toy.module()
    outside = toy.constant(build, 1)
    body, inside = toy.block_of()
    toy.add(inside, outside, outside)
    inside.create(toy.YieldOp)
    loop = build.create(toy.LoopOp, body=body, types=[])
    apply_rules(loop, RULES)
    assert toy.names(body) == ["yield"]
    assert toy.names(module.body.block) == ["constant", "loop"]


def test_the_fold_hook_goes_first() -> None:
    def fold(op: Operation, build: Rewriter) -> Replacement:
        if not isinstance(op, toy.AddOp):
            return None
        return build.create(toy.ConstantOp, value=42)

    module, build = toy.module()
    user = toy.use(build, toy.add(build, toy.constant(build, 1), toy.constant(build, 2)))
    apply_rules(module, RULES, fold=lambda kind: fold)
    assert number(user.operands[0]) == 42


# Random programs: rewriting preserves the results.


def random_program(seed: int) -> tuple[toy.ModuleOp, toy.UseOp]:
    chance = random.Random(seed)
    module, build = toy.module()
    values = [toy.constant(build, chance.choice([0, 0, 1, 7])) for _ in range(3)]
    for _ in range(chance.randrange(25)):
        lhs, rhs = chance.choice(values), chance.choice(values)
        kind = chance.choice([toy.AddOp, toy.SubOp])
        values.append(build.create(kind, lhs=lhs, rhs=rhs).result)
    return module, toy.use(build, *chance.choices(values, k=4))


def evaluate(value: Value) -> int:
    op = value.defining_op()
    if isinstance(op, toy.ConstantOp):
        return op.value % (1 << 32)
    assert isinstance(op, toy.AddOp | toy.SubOp)
    sign = 1 if isinstance(op, toy.AddOp) else -1
    return (evaluate(op.lhs) + sign * evaluate(op.rhs)) % (1 << 32)


@given(st.integers(0, 1 << 32))
def test_rewriting_keeps_the_meaning_and_the_links(seed: int) -> None:
    module, user = random_program(seed)
    before = [evaluate(value) for value in user.operands]
    apply_rules(module, RULES)
    check_integrity(module)
    verify(module)
    assert [evaluate(value) for value in user.operands] == before
    assert all(isinstance(op, toy.ConstantOp | toy.UseOp) for op in module.body.block)


def test_the_result_does_not_depend_on_chance() -> None:
    def run(seed: int) -> list[str]:
        module, _ = random_program(seed)
        apply_rules(module, (add_zero, subtract_sum))
        return toy.names(module.body.block)

    for seed in range(20):
        assert run(seed) == run(seed)


def test_rewriters_are_builders() -> None:
    module, build = toy.module()
    toy.constant(build, 1)
    first = module.body.block.first
    assert first is not None
    assert isinstance(Rewriter.at(first), Builder)
