"""Dialect-independent passes: folding, canonicalization, CSE, DCE, LICM."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import toy
from hypothesis import given, settings
from hypothesis import strategies as st
from integrity import check_integrity

from tilewright.ir.attributes import Attribute, IntegerAttr, Type
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Block, Operation
from tilewright.ir.passes import Pass
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.rules import Constants, Folded, Replacement, rule
from tilewright.ir.types import F32, I1, I32
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Severity, Sink
from tilewright.support.location import UNKNOWN, FileLoc
from tilewright.transforms.generic.canonicalize import Canonicalize
from tilewright.transforms.generic.cse import Cse
from tilewright.transforms.generic.dce import Dce
from tilewright.transforms.generic.fold import Fold
from tilewright.transforms.generic.licm import Licm

HERE, THERE = FileLoc("k", 1, 1), FileLoc("k", 2, 2)


def fold_add(op: toy.AddOp, constants: Constants) -> Folded:
    lhs, rhs = constants
    if isinstance(rhs, IntegerAttr) and rhs.value == 0:
        return op.lhs
    if isinstance(lhs, IntegerAttr) and isinstance(rhs, IntegerAttr):
        return IntegerAttr(lhs.value + rhs.value, I32)
    return None


def fold_call(op: toy.CallOp, constants: Constants) -> Folded:
    """Fold both results at once: to a constant, and to a value that cannot be materialized."""
    return [IntegerAttr(1, I32), IntegerAttr(2, F32)]


def materialize(value: Attribute, type: Type, build: Builder) -> Operation | None:
    if type is not I32:
        return None
    return build.insert(toy.ConstantOp([], [type], {"value": value}))


@rule(toy.SubOp)
def subtract_itself(op: toy.SubOp, build: Rewriter) -> Replacement:
    """`x - x` becomes `0`: integers have no exceptions to that."""
    return toy.constant(build, 0) if op.lhs is op.rhs else None


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy dialect with a simplifier, for as long as a test runs."""
    simplifier = ModuleType("toy_simplifier")
    vars(simplifier).update(
        RULES=(subtract_itself,),
        FOLDS={toy.AddOp: fold_add, toy.CallOp: fold_call},
        materialize=materialize,
    )
    monkeypatch.setitem(sys.modules, "toy_simplifier", simplifier)
    monkeypatch.setitem(Dialect.loaded, "toy", Dialect("toy", toy, simplifier="toy_simplifier"))


def run(step: Pass, op: Operation) -> Sink:
    sink = Sink()
    step.run(op, sink)
    check_integrity(op)
    verify(op)
    return sink


def owner(value: Value) -> Operation:
    op = value.defining_op()
    assert op is not None
    return op


def test_constants_fold_and_replace_the_operation() -> None:
    module, build = toy.module()
    added = toy.add(build, toy.constant(build, 2), toy.constant(build, 3))
    owner(added).location = HERE
    user = toy.use(build, toy.add(build, added, toy.constant(build, 0)))
    run(Fold(), module)
    folded = user.operands[0].defined_by(toy.ConstantOp)
    assert folded is not None
    assert folded.value == 5
    assert folded.location is HERE
    assert toy.names(module.body.block) == ["constant", "use"]


def test_a_fold_that_cannot_be_materialised_leaves_nothing() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    call = build.create(toy.CallOp, callee=one, arguments=[], types=[I32, F32])
    toy.use(build, *call.results)
    run(Fold(), module)
    assert toy.names(module.body.block) == ["constant", "call", "use"]


def test_canonicalization_uses_rules_and_folds() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    zero = build.create(toy.SubOp, lhs=x, rhs=x).result
    user = toy.use(build, toy.add(build, x, zero))
    run(Canonicalize(), module)
    assert user.operands == (x,)
    assert toy.names(module.body.block) == ["use", "use"]


def test_canonicalization_gives_up_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    toy.use(build, *[build.create(toy.SubOp, lhs=x, rhs=x).result for _ in range(9)])
    sink = run(Canonicalize(max_rewrites=3), module)
    assert [diagnostic.severity for diagnostic in sink.diagnostics] == [Severity.WARNING]


class StrangeSubOp(toy.SubOp):
    """A subtraction of an unknown dialect."""

    name = "stranger.sub"


def test_operations_of_unknown_dialects_are_left_alone() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    toy.use(build, build.create(StrangeSubOp, lhs=x, rhs=x).result)
    run(Canonicalize(), module)
    assert toy.names(module.body.block) == ["use", "sub", "use"]


def test_equal_operations_merge() -> None:
    module, build = toy.module()
    x, y = toy.source(build, I32), toy.source(build, I32)
    first = toy.add(build, x, y)
    user = toy.use(build, first, toy.add(build, x, y), toy.add(build, y, x))
    run(Cse(), module)
    assert user.operands == (first, first, first)


def test_operations_that_differ_do_not_merge() -> None:
    module, build = toy.module()
    x, y = toy.source(build, I32), toy.source(build, I32)
    values = [
        build.create(toy.SubOp, lhs=x, rhs=y).result,
        build.create(toy.SubOp, lhs=y, rhs=x).result,
        build.create(toy.DivOp, lhs=x, rhs=y).result,
        toy.constant(build, 1),
        toy.constant(build, 2),
        toy.source(build, I32),
        toy.source(build, I32),
    ]
    user = toy.use(build, *values)
    run(Cse(), module)
    assert list(user.operands) == values


def test_the_one_that_stays_keeps_its_location_if_it_has_one() -> None:
    module, build = toy.module()
    for first, second, kept in ((HERE, THERE, HERE), (UNKNOWN, THERE, THERE)):
        x = toy.source(build, I32)
        one = build.create(toy.AddOp, lhs=x, rhs=x, location=first)
        two = build.create(toy.AddOp, lhs=x, rhs=x, location=second)
        toy.use(build, one.result, two.result)
        run(Cse(), module)
        assert one.location is kept


def test_merging_follows_dominance() -> None:
    entry, left, right, end = (Block() for _ in range(4))
    build = Builder(InsertPoint(entry))
    x = toy.source(build, I32)
    build.create(toy.CondBranchOp, condition=toy.source(build, I1), successors=[left, right])
    for block in (left, right):
        build.point = InsertPoint(block)
        toy.use(build, toy.add(build, x, x))
        build.create(toy.BranchOp, successors=[end])
    build.point = InsertPoint(end)
    toy.use(build, toy.add(build, x, x))
    build.create(toy.ReturnOp)
    func = toy.func("f", entry, left, right, end)
    run(Cse(), func)
    assert [toy.names(block)[0] for block in (left, right, end)] == ["add", "add", "add"]
    toy.add(Builder(InsertPoint.before(entry.last or owner(x))), x, x)
    run(Cse(), func)
    assert [toy.names(block)[0] for block in (left, right, end)] == ["use", "use", "use"]


def test_regions_see_outer_operations_but_not_the_reverse() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    body, inside = toy.block_of()
    inner = toy.use(inside, toy.add(inside, x, x))
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    outer = toy.use(build, toy.add(build, x, x))
    run(Cse(), module)
    assert inner.operands != outer.operands
    first = module.body.block.first
    assert first is not None
    owner(outer.operands[0]).detach().insert_after(first)
    run(Cse(), module)
    assert inner.operands == outer.operands


def test_isolated_operations_see_nothing() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    entry, inside = toy.block_of()
    toy.use(inside, toy.constant(inside, 1))
    inside.create(toy.ReturnOp)
    build.insert(toy.func("f", entry))
    toy.use(build, one)
    run(Cse(), module)
    assert toy.names(entry) == ["constant", "use", "return"]


def test_reads_merge_until_something_writes() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)

    def load() -> Value:
        return build.create(toy.LoadOp, address=x, types=[I32]).result

    first, second = load(), load()
    body, inside = toy.block_of()
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    third = load()
    build.create(toy.StoreOp, value=x, address=x)
    fourth = load()
    body, inside = toy.block_of()
    inside.create(toy.StoreOp, value=x, address=x)
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    user = toy.use(build, first, second, third, fourth, load())
    run(Cse(), module)
    a, b, c, d, e = user.operands
    assert a is b is c
    assert len({a, d, e}) == 3


def branches(build: Builder, condition: Value, value: int) -> toy.IfOp:
    regions: list[Block] = []
    for n in range(2):
        block, inside = toy.block_of()
        inside.create(toy.YieldOp, inputs=[toy.constant(inside, value + n)])
        regions.append(block)
    then, other = regions
    return build.create(
        toy.IfOp, condition=condition, then_region=then, else_region=other, types=[I32]
    )


def test_regions_are_compared() -> None:
    module, build = toy.module()
    condition = toy.source(build, I1)
    ifs = [branches(build, condition, value) for value in (1, 1, 2)]
    user = toy.use(build, *[op.results[0] for op in ifs])
    run(Cse(), module)
    assert user.operands[0] is user.operands[1]
    assert user.operands[0] is not user.operands[2]


def test_dead_code_is_removed_from_the_end() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    added = x
    for _ in range(5):
        added = toy.add(build, added, x)
    build.create(toy.LoadOp, address=added, types=[I32])
    branches(build, toy.source(build, I1), 1)
    build.create(toy.StoreOp, value=x, address=x)
    run(Dce(), module)
    assert toy.names(module.body.block) == ["use", "use", "store"]


def test_dead_code_inside_regions_is_removed() -> None:
    module, build = toy.module()
    body, inside = toy.block_of()
    kept = toy.constant(inside, 1)
    toy.constant(inside, 2)
    toy.use(inside, kept)
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    run(Dce(), module)
    assert toy.names(body) == ["constant", "use", "yield"]


def test_unreachable_blocks_are_removed_even_in_cycles() -> None:
    entry, a, b = Block(), Block(), Block()
    Builder(InsertPoint(entry)).create(toy.ReturnOp)
    build = Builder(InsertPoint(a))
    value = toy.constant(build, 1)
    build.create(toy.BranchOp, successors=[b])
    build.point = InsertPoint(b)
    toy.use(build, value)
    build.create(toy.BranchOp, successors=[a])
    func = toy.func("f", entry, a, b)
    run(Dce(), func)
    assert func.body.blocks == [entry]


def test_dead_values_across_blocks_go() -> None:
    entry, second = Block(), Block()
    build = Builder(InsertPoint(entry))
    one = toy.constant(build, 1)
    build.create(toy.BranchOp, successors=[second])
    build.point = InsertPoint(second)
    toy.add(build, one, one)
    build.create(toy.ReturnOp)
    func = toy.func("f", second, entry)
    func.body.blocks.reverse()
    run(Dce(), func)
    assert [toy.names(block) for block in func.body.blocks] == [["br"], ["return"]]


def test_invariants_leave_nested_loops() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    inner_body, inner = toy.block_of([I32])
    invariant = toy.add(inner, toy.add(inner, x, x), x)
    variant = toy.add(inner, inner_body.args[0], invariant)
    inner.create(toy.YieldOp, inputs=[variant])
    body, outer = toy.block_of([I32])
    outer_variant = toy.add(outer, body.args[0], x)
    loop = outer.create(toy.LoopOp, inits=[outer_variant], body=inner_body, types=[I32])
    outer.create(toy.YieldOp, inputs=loop.results)
    build.create(toy.LoopOp, inits=[x], body=body, types=[I32])
    run(Licm(), module)
    assert toy.names(module.body.block) == ["use", "add", "add", "loop"]
    assert toy.names(body) == ["add", "loop", "yield"]
    assert toy.names(inner_body) == ["add", "yield"]


def test_only_speculatable_operations_leave_a_loop() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    body, inside = toy.block_of()
    quotient = inside.create(toy.DivOp, lhs=x, rhs=x).result
    loaded = inside.create(toy.LoadOp, address=x, types=[I32]).result
    toy.use(inside, toy.add(inside, quotient, loaded))
    branches(inside, toy.source(inside, I1), 1)
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    run(Licm(), module)
    assert toy.names(module.body.block) == ["use", "loop"]


def test_regions_leave_a_loop_if_all_they_use_is_outside() -> None:
    module, build = toy.module()
    condition = toy.source(build, I1)
    body, inside = toy.block_of([I32])
    free = branches(inside, condition, 1)
    bound = branches(inside, condition, 2)
    end = bound.then_region.block.last
    assert end is not None
    end.set_operand(0, body.args[0])
    inside.create(toy.YieldOp, inputs=[toy.add(inside, free.results[0], bound.results[0])])
    build.create(toy.LoopOp, inits=[toy.constant(build, 1)], body=body, types=[I32])
    run(Licm(), module)
    assert toy.names(module.body.block) == ["use", "constant", "if", "loop"]
    assert toy.names(body) == ["if", "add", "yield"]


def test_an_early_exit_stays_in_its_loop() -> None:
    module, build = toy.module()
    condition = toy.source(build, I1)
    body, inside = toy.block_of()
    op = branches(inside, condition, 1)
    end = op.then_region.block.last
    assert end is not None
    end.erase()
    Builder(InsertPoint.at_end(op.then_region.block)).create(toy.BreakOp)
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    run(Licm(), module)
    assert toy.names(body) == ["if", "yield"]
    run(Dce(), module)
    assert toy.names(module.body.block) == ["use"]


# Random programs: every pass preserves observable behavior.


@st.composite
def expressions(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    count = draw(st.integers(1, 20))
    return [
        (draw(st.integers(0, 2)), draw(st.integers(0, n)), draw(st.integers(0, n)))
        for n in range(count)
    ]


def build_program(steps: list[tuple[int, int, int]]) -> tuple[toy.ModuleOp, toy.UseOp]:
    module, build = toy.module()
    values = [toy.constant(build, 3)]
    for kind, a, b in steps:
        lhs, rhs = values[a], values[b]
        if kind == 0:
            values.append(toy.constant(build, a % 3))
        else:
            op = toy.AddOp if kind == 1 else toy.SubOp
            values.append(build.create(op, lhs=lhs, rhs=rhs).result)
    return module, toy.use(build, values[-1], values[len(values) // 2])


def evaluate(value: Value) -> int:
    op = value.defining_op()
    if isinstance(op, toy.ConstantOp):
        return op.value
    assert isinstance(op, toy.AddOp | toy.SubOp)
    lhs, rhs = evaluate(op.lhs), evaluate(op.rhs)
    return lhs + rhs if isinstance(op, toy.AddOp) else lhs - rhs


@pytest.mark.parametrize("step", [Fold(), Canonicalize(), Cse(), Dce()])
def test_results_do_not_change(step: Pass) -> None:
    @given(expressions())
    @settings(max_examples=40)
    def check(steps: list[tuple[int, int, int]]) -> None:
        module, user = build_program(steps)
        before = [evaluate(value) for value in user.operands]
        count = len(list(module.walk()))
        run(step, module)
        assert [evaluate(value) for value in user.operands] == before
        assert len(list(module.walk())) <= count

    check()
