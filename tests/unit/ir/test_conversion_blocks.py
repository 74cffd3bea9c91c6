"""Conversion of blocks and regions: graphs, structured control flow, inlining, signatures."""

from __future__ import annotations

import toy
from integrity import check_integrity
from low import LOW, TO_LOW, LowBranchOp, LowCondBranchOp, LowUseOp, contents, wide

from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Result, convert, converts, mirror
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Block
from tilewright.ir.types import F32, I1, I32, I64
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify


def test_blocks_keep_their_graph() -> None:
    entry, left, right = Block(), Block([I32]), Block()
    lost = Block()
    build = Builder(InsertPoint(entry))
    value = toy.constant(build, 1)
    build.create(toy.CondBranchOp, condition=toy.source(build, I1), successors=[right, left])
    build.point = InsertPoint(left)
    build.create(toy.ReturnOp, inputs=[left.args[0], value])
    build.point = InsertPoint(right)
    build.create(toy.BranchOp, inputs=[toy.add(build, value, value)], successors=[left])
    build.point = InsertPoint(lost)
    build.create(toy.ReturnOp)
    module, _ = toy.module(toy.func("f", entry, left, right, lost))
    patterns = (
        *TO_LOW,
        *mirror({toy.BranchOp: LowBranchOp, toy.CondBranchOp: LowCondBranchOp}),
        *mirror({toy.FuncOp: toy.FuncOp, toy.ReturnOp: toy.ReturnOp}),
    )
    types = wide()
    target = ConversionTarget(
        legal=("low",),
        dynamic={toy.FuncOp: types.is_legal, toy.ReturnOp: types.is_legal},
    )
    assert convert(module, target, patterns, types)
    func = module.body.block.first
    assert isinstance(func, toy.FuncOp)
    a, b, c = func.body.blocks
    assert [[op.name for op in block] for block in (a, b, c)] == [
        ["low.constant", "low.use", "low.cond_br"],
        ["toy.return"],
        ["low.add", "low.br"],
    ]
    assert a.last is not None
    assert a.last.successors == (c, b)
    assert [arg.type for arg in b.args] == [I64]
    verify(module)
    check_integrity(module)


def lower_if(op: toy.IfOp, new: toy.IfOp, build: ConversionBuilder) -> Result:
    """Lower structured control flow to branches, which splits blocks."""
    current = build.point.block
    region = current.parent
    assert region is not None
    after = build.add_block([I64 for _ in op.outputs])

    def leave(end: toy.YieldOp, new: toy.YieldOp, build: ConversionBuilder) -> Result:
        return build.create(LowBranchOp, inputs=new.inputs, successors=[after])

    then = build.convert_region(op.then_region, region, after=current, terminator=leave)
    other = build.convert_region(op.else_region, region, after=then[-1], terminator=leave)
    build.create(LowCondBranchOp, condition=new.condition, successors=[then[0], other[0]])
    build.continue_in(after)
    return after.args


LOWER_IF = ConversionPattern((toy.IfOp,), lower_if, "lower_if")


def nested_if(build: Builder, condition: Value, levels: int) -> Value:
    branches: list[Block] = []
    for n in range(2):
        block, inside = toy.block_of()
        value = nested_if(inside, condition, levels - 1) if levels else toy.constant(inside, n)
        inside.create(toy.YieldOp, inputs=[toy.add(inside, value, value)])
        branches.append(block)
    then, other = branches
    return build.create(
        toy.IfOp, condition=condition, then_region=then, else_region=other, types=[I32]
    ).results[0]


def test_structured_control_flow_becomes_branches() -> None:
    entry, build = toy.block_of()
    value = nested_if(build, toy.source(build, I1), 2)
    toy.use(build, value)
    build.create(toy.ReturnOp)
    func = toy.func("f", entry)
    target = ConversionTarget(legal=("low", toy.ReturnOp), illegal=("toy",))
    assert convert(func, target, (*TO_LOW, LOWER_IF), wide())
    # Seven `if`s make three blocks each, and there is the entry.
    assert len(func.body.blocks) == 7 * 3 + 1
    assert not [op for op in func.walk() if op.name in ("toy.if", "toy.yield")]
    assert [op.name for op in func.body.blocks[-1]] == ["low.use", "toy.return"]
    verify(func)
    check_integrity(func)


def test_a_block_may_be_inlined_any_number_of_times() -> None:
    @converts(toy.LoopOp)
    def unroll(op: toy.LoopOp, new: toy.LoopOp, build: ConversionBuilder) -> Result:
        carried = list(new.inits)
        for _ in range(3):
            carried = build.inline_block(op.body.block, carried)
        return carried

    module, build = toy.module()
    body, inside = toy.block_of([I32])
    inside.create(toy.YieldOp, inputs=[toy.add(inside, body.args[0], body.args[0])])
    loop = build.create(toy.LoopOp, inits=[toy.constant(build, 1)], body=body, types=[I32])
    toy.use(build, loop.results[0])
    target = ConversionTarget(legal=("low",), illegal=("toy",))
    assert convert(module, target, (unroll, *TO_LOW), wide())
    assert contents(module)[1:] == [
        "low.constant i64",
        "low.add i64 i64 i64",
        "low.add i64 i64 i64",
        "low.add i64 i64 i64",
        "low.use i64",
    ]
    verify(module)
    check_integrity(module)


def test_inlined_control_flow_splits_the_block() -> None:
    @converts(toy.LoopOp)
    def once(op: toy.LoopOp, new: toy.LoopOp, build: ConversionBuilder) -> Result:
        build.inline_block(op.body.block, [])
        return ()

    body, inside = toy.block_of()
    toy.use(inside, nested_if(inside, toy.source(inside, I1), 0))
    inside.create(toy.YieldOp)
    entry, build = toy.block_of()
    build.create(toy.LoopOp, body=body, types=[])
    build.create(toy.ReturnOp)
    func = toy.func("f", entry)
    target = ConversionTarget(legal=("low", toy.ReturnOp), illegal=("toy",))
    assert convert(func, target, (once, *TO_LOW, LOWER_IF), wide())
    assert [op.name for op in func.body.blocks[-1]] == ["low.use", "toy.return"]
    verify(func)
    check_integrity(func)


def test_a_region_may_get_another_signature() -> None:
    @converts(toy.FuncOp)
    def with_length(op: toy.FuncOp, new: toy.FuncOp, build: ConversionBuilder) -> Result:
        made = build.create(toy.FuncOp, sym_name=op.sym_name + "_low")
        build.convert_region(op.body, made.body, signature=[(F32, I64), ()])
        return made

    entry, build = toy.block_of([F32, I1])
    toy.use(build, entry.args[0])
    build.create(toy.ReturnOp)
    module, _ = toy.module(toy.func("f", entry))
    types = wide()
    types.add_target(lambda build, wanted, values: values[:1])
    target = ConversionTarget(
        legal=("low", toy.ReturnOp),
        dynamic={toy.FuncOp: lambda op: op.sym_name.endswith("_low")},
    )
    assert convert(module, target, (with_length, *TO_LOW), types)
    func = module.body.block.first
    assert isinstance(func, toy.FuncOp)
    assert [argument.type for argument in func.body.block.args] == [F32, I64]
    assert contents(func)[1] == "low.use f32"
    check_integrity(module)


def test_patterns_can_put_things_at_the_top() -> None:
    @converts(toy.UseOp)
    def with_global(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        func = build.point.block.parent_op
        assert isinstance(func, toy.FuncOp)
        assert func.parent is not None
        with build.at(InsertPoint.at_start(func.parent)):
            build.create(LowUseOp, types=[])
        return build.create(LowUseOp, inputs=new.inputs, types=[])

    entry, build = toy.block_of()
    toy.use(build)
    build.create(toy.ReturnOp)
    module, _ = toy.module(toy.func("f", entry))
    assert convert(module, LOW, (with_global,))
    assert [op.name for op in module.walk()] == [
        "toy.module",
        "low.use",
        "toy.func",
        "low.use",
        "toy.return",
    ]
    check_integrity(module)
