"""Edits keep use lists and locations consistent, and notify listeners."""

from __future__ import annotations

import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st
from integrity import check_integrity

from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rewriter import Listener, Rewriter
from tilewright.ir.types import F32, I32
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import InternalError
from tilewright.support.location import UNKNOWN, FileLoc, FusedLoc

HERE, THERE = FileLoc("k", 1, 1), FileLoc("k", 2, 2)


class Log(Listener):
    def __init__(self) -> None:
        self.events: list[str] = []

    def inserted(self, op: Operation) -> None:
        self.events.append(f"inserted {op.name}")

    def changed(self, op: Operation) -> None:
        self.events.append(f"changed {op.name}")

    def erased(self, op: Operation) -> None:
        self.events.append(f"erased {op.name}")


def owner(value: Value) -> Operation:
    op = value.defining_op()
    assert op is not None
    return op


def test_new_operations_take_the_location_of_the_replaced_one() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    old = build.create(toy.AddOp, lhs=one, rhs=one, location=HERE)
    user = toy.use(build, old.result)
    rewriter = Rewriter.at(old)
    new = rewriter.replace_with(old, toy.SubOp, lhs=one, rhs=one)
    assert new.location is HERE
    assert user.operands == (new.result,)
    assert toy.names(module.body.block) == ["constant", "sub", "use"]
    check_integrity(module)


def test_fused_locations_name_all_sources() -> None:
    _, build = toy.module()
    one = toy.constant(build, 1)
    owner(one).location = THERE
    old = build.create(toy.AddOp, lhs=one, rhs=one, location=HERE)
    rewriter = Rewriter.at(old)
    rewriter.fuse(owner(one))
    new = rewriter.create(toy.SubOp, lhs=one, rhs=one)
    assert new.location == FusedLoc((HERE, THERE))
    rewriter.aim(old)
    assert rewriter.location is HERE


def test_a_value_without_a_location_gets_that_of_the_replaced_one() -> None:
    _, build = toy.module()
    nowhere, known = toy.constant(build, 1), toy.constant(build, 1)
    owner(known).location = THERE
    old = build.create(toy.ConstantOp, value=1, location=HERE)
    rewriter = Rewriter.at(old)
    rewriter.replace_value(old.result, known)
    assert known.location is THERE
    assert nowhere.location is UNKNOWN
    rewriter.replace_value(old.result, nowhere)
    assert nowhere.location is HERE


def test_replacements_must_have_the_same_types() -> None:
    module, build = toy.module()
    one, other = toy.constant(build, 1), toy.source(build, F32)
    with pytest.raises(InternalError, match=r"'toy.constant' replaced by values of types \(f32\)"):
        Rewriter.at(owner(one)).replace(owner(one), other)
    check_integrity(module)


def test_listeners_hear_every_edit() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    toy.use(build, one)
    log = Log()
    rewriter = Rewriter.at(owner(one), log)
    two = toy.constant(rewriter, 2)
    rewriter.replace(owner(one), two)
    rewriter.touch(owner(two))
    assert log.events == [
        "inserted toy.constant",
        "changed toy.use",
        "erased toy.constant",
        "changed toy.constant",
    ]
    assert rewriter.edits == 4
    check_integrity(module)


def test_listeners_are_notified_of_clones_and_their_regions() -> None:
    module, build = toy.module()
    body, inside = toy.block_of()
    inside.create(toy.YieldOp)
    loop = build.create(toy.LoopOp, body=body, types=[])
    log = Log()
    rewriter = Rewriter.at(loop, log)
    rewriter.clone(loop)
    assert log.events == ["inserted toy.loop", "inserted toy.yield"]
    assert toy.names(module.body.block) == ["loop", "loop"]
    check_integrity(module)


def test_the_insertion_point_survives_its_operation() -> None:
    module, build = toy.module()
    one, two = toy.constant(build, 1), toy.constant(build, 2)
    rewriter = Rewriter.at(owner(one))
    rewriter.erase(owner(one))
    toy.source(rewriter, I32)
    assert toy.names(module.body.block) == ["use", "constant"]
    assert owner(two).prev is not None
    check_integrity(module)


def test_inlining_a_block() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    body, inside = toy.block_of([I32])
    added = toy.add(inside, body.args[0], body.args[0])
    end = inside.create(toy.YieldOp, inputs=[added])
    loop = build.create(toy.LoopOp, inits=[one], body=body, types=[I32])
    toy.use(build, loop.results[0])
    rewriter = Rewriter.at(loop)
    rewriter.erase(end)
    rewriter.inline_block(body, InsertPoint.before(loop), [one])
    rewriter.replace(loop, added)
    assert toy.names(module.body.block) == ["constant", "add", "use"]
    check_integrity(module)
    verify(module)


def test_merging_replaces_arguments() -> None:
    entry, build = toy.block_of()
    one = toy.constant(build, 1)
    second = Block([I32])
    end = Builder(InsertPoint(second)).create(toy.ReturnOp, inputs=[second.args[0]])
    func = toy.func("f", entry, second)
    Rewriter.at(end).merge_blocks(second, entry, [one])
    assert end.operands == (one,)
    verify(func)
    check_integrity(func)


def test_erasing_a_block() -> None:
    entry, build = toy.block_of()
    entry_end = build.create(toy.ReturnOp)
    lost, inside = toy.block_of()
    toy.use(inside, toy.constant(inside, 1))
    inside.create(toy.ReturnOp)
    func = toy.func("f", entry, lost)
    Rewriter.at(entry_end).erase_block(lost)
    assert func.body.blocks == [entry]
    check_integrity(func)


# Random edits of a random straight program.

Edit = tuple[int, int, int]
edits = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(0, 30)), max_size=25)


def apply(edit: Edit, module: toy.ModuleOp) -> None:
    """Apply one edit that keeps the program valid, chosen by three numbers."""
    kind, first, second = edit
    ops = list(module.body.block)
    op = ops[first % len(ops)]
    before = [v for o in ops[: ops.index(op)] for v in o.results]
    rewriter = Rewriter.at(op)
    if kind == 0:
        toy.constant(rewriter, first)
    elif kind == 1 and before:
        toy.add(rewriter, before[second % len(before)], before[first % len(before)])
    elif kind == 2 and before and len(op.results) == 1:
        rewriter.replace(op, before[second % len(before)])
    elif kind == 3 and not any(result.users for result in op.results) and len(ops) > 1:
        rewriter.erase(op)
    elif kind == 4:
        rewriter.insert(op.clone())
    elif kind == 5 and before and op.operands:
        rewriter.set_operands(op, [before[second % len(before)]] * len(op.operands))


@given(edits)
def test_any_edits_keep_the_links_right(given_edits: list[Edit]) -> None:
    module, build = toy.module()
    toy.use(build, toy.add(build, toy.constant(build, 1), toy.constant(build, 2)))
    for edit in given_edits:
        apply(edit, module)
        check_integrity(module)
        verify(module)
