"""Operations, blocks and regions: uses, edits, walks and clones."""

from __future__ import annotations

import pytest
import toy
from integrity import check_integrity

from tilewright.ir import declare as d
from tilewright.ir.builder import Builder, InsertPoint, create_op
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Block, Operation, Region, UnregisteredOp
from tilewright.ir.types import I1, I32
from tilewright.support.diagnostics import InternalError
from tilewright.support.location import FileLoc, NameLoc


def diamond() -> toy.FuncOp:
    """Build four blocks; the last precedes the second in the list and uses a value of the first."""
    entry, left, right, end = Block(), Block(), Block(), Block([I32])
    build = Builder(InsertPoint(entry), FileLoc("f", 1, 1))
    condition = toy.source(build, I1)
    value = toy.constant(build, 1)
    build.create(toy.CondBranchOp, condition=condition, successors=[left, right])
    for block in (left, right):
        build.point = InsertPoint(block)
        build.create(toy.BranchOp, inputs=[value], successors=[end])
    build.point = InsertPoint(end)
    build.create(toy.ReturnOp, inputs=[end.args[0], value])
    return toy.func("diamond", entry, end, left, right)


def test_users_count_operand_slots() -> None:
    module, build = toy.module()
    one, two = toy.constant(build, 1), toy.constant(build, 2)
    double = build.create(toy.AddOp, lhs=one, rhs=one)
    assert one.users == {double: 2}
    assert not one.has_one_use
    assert list(one.uses()) == [(double, 0), (double, 1)]
    double.set_operand(1, two)
    assert one.users == {double: 1}
    assert two.has_one_use
    one.replace_all_uses_with(two)
    assert not one.is_used
    assert two.users == {double: 2}
    check_integrity(module)


def test_replacing_a_value_by_itself_changes_nothing() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    toy.use(build, one, one)
    one.replace_all_uses_with(one)
    check_integrity(module)
    assert one.is_used


def test_defined_by_asks_for_the_class() -> None:
    _, build = toy.module()
    value = toy.constant(build, 3)
    constant = value.defined_by(toy.ConstantOp)
    assert constant is not None
    assert constant.value == 3
    assert value.defined_by(toy.AddOp) is None
    assert Block([I32]).args[0].defined_by(toy.ConstantOp) is None


def test_erasing_a_used_operation_is_a_bug() -> None:
    module, build = toy.module()
    value = toy.constant(build, 1)
    toy.use(build, value)
    definition = value.defining_op()
    assert definition is not None
    with pytest.raises(InternalError, match=r"'toy.constant' erased while in use"):
        definition.erase()
    check_integrity(module)


def test_erasing_drops_uses_from_inside_regions() -> None:
    module, build = toy.module()
    value = toy.source(build, I32)
    body, inside = toy.block_of()
    toy.use(inside, value)
    inside.create(toy.YieldOp)
    loop = build.create(toy.LoopOp, body=body, types=[])
    loop.erase()
    assert not value.is_used
    check_integrity(module)


def test_blocks_may_change_while_they_are_walked() -> None:
    module, build = toy.module()
    for n in range(5):
        toy.constant(build, n)
    for op in module.body.block:
        op.erase()
    assert list(module.body.block) == []
    check_integrity(module)


def test_insertion_points() -> None:
    module, build = toy.module()
    block = module.body.block
    first = toy.constant(build, 1).defining_op()
    assert first is not None
    build.point = InsertPoint.after(first)
    toy.constant(build, 2)
    build.point = InsertPoint.at_start(block)
    toy.constant(build, 0)
    build.point = InsertPoint.before(first)
    toy.constant(build, 9)
    values = [op.value for op in block if isinstance(op, toy.ConstantOp)]
    assert values == [0, 9, 1, 2]
    check_integrity(module)


def test_clone_is_equal_and_shares_nothing() -> None:
    func = diamond()
    copy = func.clone()
    assert equivalent(func, copy, locations=True)
    check_integrity(func)
    check_integrity(copy)
    mine = {op for op in func.walk()}
    for op in copy.walk():
        assert op not in mine
        for value in op.operands:
            definition = value.defining_op()
            assert definition is None or definition not in mine


def test_clone_of_a_graph_region_follows_forward_references() -> None:
    block, build = toy.block_of()
    forward = toy.constant(build, 1)
    op = toy.use(build, forward)
    op.detach()
    block.prepend(op)
    graph = create_op(toy.GraphOp, body=block)
    copy = graph.clone()
    check_integrity(copy)
    assert equivalent(graph, copy)


def backwards() -> toy.FuncOp:
    """Three blocks that run in the order 0, 2, 1; the last uses a value of the second."""
    entry, end, middle = Block(), Block(), Block()
    build = Builder(InsertPoint(entry))
    build.create(toy.BranchOp, successors=[middle])
    build.point = InsertPoint(middle)
    value = toy.constant(build, 1)
    other = toy.constant(build, 2)
    build.create(toy.BranchOp, successors=[end])
    build.point = InsertPoint(end)
    build.create(toy.ReturnOp, inputs=[value, other])
    return toy.func("backwards", entry, end, middle)


def test_blocks_need_not_stand_in_the_order_of_dominance() -> None:
    func = backwards()
    copy = func.clone()
    check_integrity(copy)
    assert equivalent(func, copy)
    end = copy.body.blocks[1].last
    assert end is not None
    end.set_operands(end.operands[::-1])
    assert not equivalent(func, copy)


def test_operations_are_equivalent_up_to_values_that_correspond() -> None:
    _, build = toy.module()
    one, two, three = [toy.constant(build, number) for number in (1, 2, 3)]
    added = build.create(toy.AddOp, lhs=one, rhs=two)
    other = build.create(toy.AddOp, lhs=three, rhs=two)
    assert not equivalent(added, other)
    assert equivalent(added, other, twins={one: three})
    assert not equivalent(added, other, twins={one: three, two: one})


def test_clone_maps_operands_and_results() -> None:
    _, build = toy.module()
    one, two = toy.constant(build, 1), toy.constant(build, 2)
    added = build.create(toy.AddOp, lhs=one, rhs=one)
    values = {one: two}
    copy = added.clone(values)
    assert copy.operands == (two, two)
    assert values[added.result] is copy.result


def test_clone_keeps_unregistered_operations() -> None:
    op = UnregisteredOp("other.op", (), [I32], location=FileLoc("a", 1, 2))
    copy = op.clone()
    assert copy.name == "other.op"
    assert equivalent(op, copy, locations=True)


def test_walks() -> None:
    module, build = toy.module()
    body, inside = toy.block_of()
    toy.constant(inside, 1)
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    toy.use(build)
    order = [op.name for op in module.walk()]
    assert order == ["toy.module", "toy.loop", "toy.constant", "toy.yield", "toy.use"]
    post = [op.name for op in module.walk_post_order()]
    assert post == ["toy.constant", "toy.yield", "toy.loop", "toy.use", "toy.module"]


def test_groups_of_operands_follow_their_sizes() -> None:
    _, build = toy.module()
    a, b, c, x = (toy.constant(build, n) for n in range(4))
    call = build.create(toy.CallOp, callee=a, arguments=[b, c], extra=x, types=[])
    assert (call.callee, call.arguments, call.extra) == (a, (b, c), x)
    assert call.segments == (1, 2, 1)
    call = build.create(toy.CallOp, callee=a, arguments=[], types=[])
    assert (call.arguments, call.extra) == ((), None)
    call.set_operands([a, b], (1, 1, 0))
    assert call.arguments == (b,)


def test_builder_infers_types() -> None:
    _, build = toy.module()
    one = toy.constant(build, 1)
    assert one.type is I32
    assert toy.add(build, one, one).type is I32
    with pytest.raises(InternalError, match=r"'toy.load' needs the type of result 'result'"):
        build.create(toy.LoadOp, address=one)


def test_builder_rejects_undeclared_fields() -> None:
    _, build = toy.module()
    with pytest.raises(InternalError, match=r"'toy.constant' has no field 'valu'"):
        build.create(toy.ConstantOp, valu=1)
    with pytest.raises(InternalError, match=r"'toy.constant' needs attribute 'value'"):
        build.create(toy.ConstantOp)
    with pytest.raises(InternalError, match=r"'toy.add' needs operand 'rhs'"):
        build.create(toy.AddOp, lhs=toy.constant(build, 1))


def test_builder_gives_its_location() -> None:
    _, build = toy.module()
    build.location = FileLoc("k.py", 3, 4)
    assert toy.constant(build, 1).location == FileLoc("k.py", 3, 4)
    named = build.create(toy.ConstantOp, value=1, location=NameLoc("here"))
    assert named.location == NameLoc("here")


def test_equivalence_sees_every_difference() -> None:
    func = diamond()
    assert equivalent(func, diamond())
    other = diamond()
    end = other.body.blocks[1].last
    assert end is not None
    end.set_operand(1, end.operands[0])
    assert not equivalent(func, other)

    other = diamond()
    constant = next(op for op in other.walk() if isinstance(op, toy.ConstantOp))
    constant.value = 2
    assert not equivalent(func, other)

    other = diamond()
    constant = next(op for op in other.walk() if isinstance(op, toy.ConstantOp))
    constant.location = FileLoc("g", 1, 1)
    assert equivalent(func, other)
    assert not equivalent(func, other, locations=True)


def test_equivalence_of_swapped_branches() -> None:
    other = diamond()
    entry = other.body.blocks[0].last
    assert entry is not None
    entry.successors = entry.successors[::-1]
    assert not equivalent(diamond(), other)


def test_equivalence_looks_at_the_locations_of_arguments() -> None:
    a = toy.func("f", Block([I32], [FileLoc("a", 1, 1)]))
    b = toy.func("f", Block([I32], [FileLoc("b", 1, 1)]))
    assert equivalent(a, b)
    assert not equivalent(a, b, locations=True)


def test_predecessors() -> None:
    func = diamond()
    entry, end, left, right = func.body.blocks
    assert end.predecessors() == [left, right]
    assert entry.predecessors() == []
    assert left.predecessors() == [entry]


def test_like_has_no_regions_and_its_own_attributes() -> None:
    func = diamond()
    like = func.like([], [])
    assert like.regions == ()
    like.sym_name = "other"
    assert func.sym_name == "diamond"


def test_regions_belong_to_one_operation() -> None:
    region = Region([Block()])
    module = create_op(toy.ModuleOp, body=region)
    assert region.parent is module
    assert region.block.parent_op is module


def test_regions_are_found_by_name_before_anything_else_is_asked() -> None:
    class BranchOp(Operation):
        name = "test.two_regions"
        first = d.region()
        second = d.region()

    regions = [Region([Block()]), Region([Block()])]
    op = BranchOp((), (), {}, regions)
    assert [op.first, op.second] == regions
