"""The structural verifier: regions, dominance and isolation."""

from __future__ import annotations

import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st

from tilewright.dialects.cuda_tile.core import OffsetOp
from tilewright.dialects.cuda_tile.types import PtrType, TileType
from tilewright.ir.builder import Builder, InsertPoint, create_op
from tilewright.ir.dominance import Dominance, immediate_dominators, reverse_post_order
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.types import F32, I1, I32
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink, UserError
from tilewright.support.location import FileLoc


def errors(op: Operation) -> list[str]:
    sink = Sink()
    verify(op, sink)
    return [diagnostic.message for diagnostic in sink.errors]


def graph(edges: list[list[int]]) -> toy.FuncOp:
    """A function with one block for each list, which branches to the blocks listed."""
    blocks = [Block() for _ in edges]
    for block, targets in zip(blocks, edges, strict=True):
        build = Builder(InsertPoint(block))
        build.create(toy.BranchOp, successors=[blocks[t] for t in targets])
    return toy.func("f", *blocks)


def test_a_good_program_passes() -> None:
    module, build = toy.module()
    body, inside = toy.block_of([I32])
    added = toy.add(inside, body.args[0], body.args[0])
    inside.create(toy.YieldOp, inputs=[added])
    build.create(toy.LoopOp, inits=[toy.constant(build, 1)], body=body, types=[I32])
    assert errors(module) == []


def test_a_use_before_the_definition() -> None:
    module, build = toy.module()
    build.location = FileLoc("k", 1, 1)
    value = toy.constant(build, 1)
    user = toy.use(build, value)
    user.detach()
    module.body.block.prepend(user)
    assert errors(module) == ["'toy.use' op operand #0 does not dominate this use"]
    with pytest.raises(UserError) as caught:
        verify(module)
    assert [n.message for n in caught.value.diagnostics[0].notes] == ["the value is defined here"]


def test_order_means_nothing_in_a_graph_region() -> None:
    block, build = toy.block_of()
    user = toy.use(build, toy.constant(build, 1))
    user.detach()
    block.prepend(user)
    assert errors(create_op(toy.GraphOp, body=block)) == []


def test_an_isolated_operation_sees_nothing_of_the_outside() -> None:
    module, build = toy.module()
    value = toy.constant(build, 1)
    entry, inside = toy.block_of()
    inside.create(toy.ReturnOp, inputs=[value])
    build.insert(toy.func("f", entry))
    assert errors(module) == ["'toy.return' op operand #0 does not dominate this use"]


def test_values_of_a_region_end_with_it() -> None:
    module, build = toy.module()
    body, inside = toy.block_of()
    value = toy.constant(inside, 1)
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    toy.use(build, value)
    assert errors(module) == ["'toy.use' op operand #0 does not dominate this use"]


def test_dominance_between_blocks() -> None:
    func = graph([[1, 2], [3], [3], []])
    entry, left, right, end = func.body.blocks
    value = toy.constant(Builder(InsertPoint.at_start(left)), 1)
    toy.use(Builder(InsertPoint.at_start(end)), value)
    assert errors(func) == ["'toy.use' op operand #0 does not dominate this use"]
    definition = value.defining_op()
    assert definition is not None
    definition.detach()
    entry.prepend(definition)
    assert errors(func) == []
    assert right.predecessors() == [entry]


def test_unreachable_blocks_are_not_judged_by_dominance() -> None:
    func = graph([[], [2], [1]])
    _, first, second = func.body.blocks
    value = toy.constant(Builder(InsertPoint.at_start(first)), 1)
    toy.use(Builder(InsertPoint.at_start(second)), value)
    assert errors(func) == []


def test_reachable_blocks_cannot_use_unreachable_values() -> None:
    func = graph([[], []])
    entry, lost = func.body.blocks
    value = toy.constant(Builder(InsertPoint.at_start(lost)), 1)
    toy.use(Builder(InsertPoint.at_start(entry)), value)
    assert errors(func) == ["'toy.use' op operand #0 does not dominate this use"]


def test_structure_is_checked() -> None:
    entry, build = toy.block_of()
    toy.constant(build, 1)
    assert errors(toy.func("f", entry)) == [
        "'toy.func' op expected a block to end in a terminator, got 'toy.constant'"
    ]
    assert errors(toy.func("f", Block())) == [
        "'toy.func' op region #0 has an empty block: expected a terminator"
    ]
    assert errors(create_op(toy.FuncOp, sym_name="f", body=Region())) == [
        "'toy.func' op region #0: expected a region with at least one block"
    ]
    entry, build = toy.block_of()
    build.create(toy.ReturnOp)
    build.create(toy.ReturnOp)
    assert "'toy.return' op must be the last operation in its block" in errors(toy.func("f", entry))


def test_branches_stay_in_their_region() -> None:
    entry, build = toy.block_of()
    build.create(toy.BranchOp, successors=[Block()])
    assert "'toy.func' op 'toy.br' branches to a block of another region" in errors(
        toy.func("f", entry)
    )


def test_declared_types_and_counts_are_checked() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    wide = toy.source(build, F32)
    build.insert(toy.AddOp([one], [I32]))
    build.insert(toy.AddOp([one, wide], [I32]))
    build.insert(toy.IfOp([one], [], regions=[Region(), Region()]))
    build.insert(toy.ConstantOp([], [I32]))
    build.insert(toy.CallOp([one, one], [], segments=(1, 1, 1)))
    assert errors(module) == [
        "'toy.add' op expected 2 operands, got 1",
        "'toy.add' op expected lhs, rhs and result to have the same type",
        "'toy.if' op operand #0 must be i1, but got 'i32'",
        "'toy.constant' op requires attribute 'value'",
        "'toy.call' op expected operand segment sizes to add up to 2, got 3",
    ]


def test_a_wrong_operand_is_numbered_by_its_index() -> None:
    """A value may be used twice, so the index cannot be looked up by value."""
    module, build = toy.module()
    address = toy.source(build, TileType((), PtrType(F32)))
    build.insert(OffsetOp([address, address], [address.type]))
    (error,) = errors(module)
    assert error.startswith("'cuda_tile.offset' op operand #1 must be tile of ")


def test_symbols_have_distinct_names() -> None:
    blocks = [toy.block_of() for _ in range(2)]
    for _, build in blocks:
        build.create(toy.ReturnOp)
    module, _ = toy.module(*[toy.func("same", block) for block, _ in blocks])
    assert errors(module) == ["'toy.func' op redefinition of symbol 'same'"]


def test_remembered_signatures_do_not_hide_errors_of_others() -> None:
    for kind in (F32, I32, F32):
        module, build = toy.module()
        one = toy.constant(build, 1)
        build.insert(toy.AddOp([one, one], [kind]))
        assert bool(errors(module)) == (kind is F32)


edge_lists = st.integers(1, 8).flatmap(
    lambda count: st.lists(
        st.lists(st.integers(0, count - 1), max_size=3), min_size=count, max_size=count
    )
)


def paths_avoiding(edges: list[list[int]], avoided: int) -> set[int]:
    """Return the blocks that the entry reaches without one block: dominance by definition."""
    seen: set[int] = set()
    stack = [0] if avoided != 0 else []
    while stack:
        block = stack.pop()
        if block not in seen:
            seen.add(block)
            stack += [t for t in edges[block] if t != avoided]
    return seen


@given(edge_lists)
def test_dominators_agree_with_their_definition(edges: list[list[int]]) -> None:
    func = graph(edges)
    blocks = func.body.blocks
    reachable = paths_avoiding(edges, -1)
    assert {blocks.index(block) for block in reverse_post_order(func.body)} == reachable
    assert {blocks.index(block) for block in immediate_dominators(func.body)} == reachable
    dominance = Dominance()
    for a in reachable:
        reached = paths_avoiding(edges, a)
        for b in reachable:
            expected = b not in reached
            assert dominance.block_dominates(blocks[a], blocks[b]) == expected


def test_dominance_of_values() -> None:
    module, build = toy.module()
    value = toy.constant(build, 1)
    body, inside = toy.block_of()
    inner = toy.use(inside, value)
    inside.create(toy.YieldOp)
    loop = build.create(toy.LoopOp, body=body, types=[])
    later = toy.constant(build, 2)
    dominance = Dominance()
    assert dominance.dominates(value, inner)
    assert dominance.dominates(value, loop)
    assert not dominance.dominates(later, inner)
    definition = value.defining_op()
    assert definition is not None
    assert not dominance.dominates(value, definition)
    assert module.is_ancestor_of(inner)


def test_conditions_are_checked_by_declared_type() -> None:
    entry, build = toy.block_of()
    condition = toy.source(build, I1)
    target = Block()
    Builder(InsertPoint(target)).create(toy.ReturnOp)
    build.create(toy.CondBranchOp, condition=condition, successors=[target, target])
    assert errors(toy.func("f", entry, target)) == []
