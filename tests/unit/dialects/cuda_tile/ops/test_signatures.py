"""Declarations of operations with regions or effects: values, versions, effects; syntax errors."""

from __future__ import annotations

import re

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import (
    aggregate,
    atomics,
    control_flow,
    memory,
    misc,
    multimem,
    view,
)
from tilewright.dialects.cuda_tile.types import TOKEN
from tilewright.driver.registry import context
from tilewright.ir.attributes import DenseArrayAttr
from tilewright.ir.declare import TEXT_ONLY
from tilewright.ir.effects import is_dead, is_effect_free, is_pure
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import I1
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text

LOADS = (memory.LoadPtrTkoOp, view.LoadViewTkoOp, multimem.MultimemLoadReduceViewTkoOp)
STORES = (
    memory.StorePtrTkoOp,
    view.StoreViewTkoOp,
    atomics.AtomicRedViewTkoOp,
    multimem.MultimemReduceViewTkoOp,
    multimem.MultimemStoreViewTkoOp,
)
ATOMICS = (atomics.AtomicCASTkoOp, atomics.AtomicRMWTkoOp)


def result_constraints(kind: type[Operation]) -> list[object]:
    return [field.constraint.only for field in kind.schema.results]


def last_operand(kind: type[Operation]) -> object:
    """The type of the last operand that bytecode has."""
    fields = [field for field in kind.schema.operands if field.since != TEXT_ONLY]
    return fields[-1].constraint.only


@pytest.mark.requirement("R1-046", "R1-048")
@each_case("kind", [*LOADS, *ATOMICS])
def test_loads_and_atomics_give_a_value_and_a_token(kind):
    assert result_constraints(kind) == [None, TOKEN]
    assert last_operand(kind) is TOKEN


@pytest.mark.requirement("R1-047")
@each_case("kind", STORES)
def test_stores_give_a_token(kind):
    assert result_constraints(kind) == [TOKEN]
    assert last_operand(kind) is TOKEN


@pytest.mark.requirement("R1-048")
def test_compare_and_swap_takes_two_values():
    names = [field.name for field in atomics.AtomicCASTkoOp.schema.operands]
    assert names == ["pointers", "cmp", "val", "mask", "token"]


# From NVIDIA's release notes of each version, and from files of each version.
NEWER: dict[type[Operation], tuple[int, int]] = {
    memory.AllocaOp: (13, 3),
    atomics.AtomicRedViewTkoOp: (13, 3),
    view.MakeStridedViewOp: (13, 3),
    view.MakeGatherScatterViewOp: (13, 3),
    memory.MemoryFenceAliasTkoOp: (13, 4),
    memory.GdcLaunchDependentsTkoOp: (13, 4),
    memory.GdcWaitTkoOp: (13, 4),
    multimem.MultimemLoadReduceViewTkoOp: (13, 5),
    multimem.MultimemReduceViewTkoOp: (13, 5),
    multimem.MultimemStoreViewTkoOp: (13, 5),
}


def test_versions():
    for family in (aggregate, atomics, control_flow, memory, misc, multimem, view):
        for kind in vars(family).values():
            if isinstance(kind, type) and issubclass(kind, Operation) and kind.name:
                assert kind.since == NEWER.get(kind, (13, 1)), kind.name
    assert control_flow.ForOp.unsigned_cmp.since == (13, 2)
    assert misc.PrintTkoOp.token.since == misc.PrintTkoOp.result_token.since == (13, 2)
    assert view.LoadViewTkoOp.inbounds.since == (13, 4)
    assert atomics.AtomicRedViewTkoOp.inbounds.since == (13, 5)


def only(text: str, kind: type[Operation]) -> Operation:
    kernel = f"entry @k({PARAMETERS}) {{ {text} }}"
    module = parse_text(f"cuda_tile.module @m {{ {kernel} }}", context())
    (op,) = [op for op in module.walk() if isinstance(op, kind)]
    return op


PARAMETERS = "%p: tile<ptr<f32>>, %n: tile<i32>, %c: tile<i1>"


@each_case(
    ("text", "kind", "pure", "free"),
    [
        ("%t = make_token : token", memory.MakeTokenOp, True, True),
        ("%a = alloca num_elem = 1, alignment = 4 : tile<ptr<f32>>", memory.AllocaOp, False, False),
        ("%a = assume bounded<0, ?>, %n : tile<i32>", misc.AssumeOp, False, False),
        (
            "load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token",
            memory.LoadPtrTkoOp,
            False,
            False,
        ),
        (
            "%a = make_tensor_view %p, shape = [4], strides = [1] : "
            "tensor_view<4xf32, strides=[1]>",
            view.MakeTensorViewOp,
            False,
            True,
        ),
        ("if %c { %t = make_token : token }", control_flow.IfOp, True, True),
        ("if %c { return }", control_flow.IfOp, False, False),
        ('if %c { print "x" }', control_flow.IfOp, False, False),
        ("for %i in (%n to %n, step %n) : tile<i32> { }", control_flow.ForOp, False, True),
        ("loop { break }", control_flow.LoopOp, False, True),
        ("loop { return }", control_flow.LoopOp, False, False),
    ],
)
def test_effects(text, kind, pure, free):
    op = only(text, kind)
    assert (is_pure(op), is_effect_free(op)) == (pure, free)
    assert is_dead(op) == free


def test_declared_effects():
    recursive = {
        control_flow.IfOp,
        control_flow.ForOp,
        control_flow.LoopOp,
        aggregate.ReduceOp,
        aggregate.ScanOp,
    }
    assert all(kind.effects is Effects.RECURSIVE for kind in recursive)
    assert all(kind.effects is Effects.UNKNOWN for kind in (*LOADS, *STORES, *ATOMICS))


def test_inbounds_has_one_flag_per_index():
    tensor = "tensor_view<4x4xf32, strides=[4,1]>"
    views = f"partition_view<tile=(4x4), {tensor}>"
    text = f"""
      %t = make_tensor_view %p, shape = [4, 4], strides = [4, 1] : {tensor}
      %v = make_partition_view %t : {views}
      load_view_tko weak %v[%n, %n]{{}} : {views}, tile<i32> -> tile<4x4xf32>, token
    """
    for written, expected in (("", (0, 0)), (" inbounds = [false, true]", (0, 1))):
        op = only(text.format(written), view.LoadViewTkoOp)
        assert op.attributes["inbounds"] is DenseArrayAttr(I1, expected)


@each_case(
    ("text", "message"),
    [
        (
            "load_ptr_tko strong %p : tile<ptr<f32>> -> tile<f32>, token",
            "expected one of weak, relaxed",
        ),
        (
            "load_ptr_tko acquire block %p : tile<ptr<f32>> -> tile<f32>, token",
            "expected an SSA value",
        ),
        ("atomic_rmw_tko relaxed sys %p, mul, %p : tile<ptr<f32>>", "expected one of and, or, xor"),
        ("for %i in (%n to %n) : tile<i32> { }", "expected ',', got ')'"),
        (
            "for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %n) -> () { }",
            "expected 1 types of loop-carried values, got 0",
        ),
        (
            "loop iter_values(%a = %n) : tile<i32>, tile<i32> { }",
            "expected 1 types of loop-carried values, got 2",
        ),
        (
            "make_tensor_view %p, shape = [8], strides = [1] : tensor_view<4xf32, strides=[1]>",
            "expected shape [4] as the tensor_view has, got [8]",
        ),
        (
            "make_tensor_view %p, shape = [4], strides = [%n] : "
            "tile<i32> -> tensor_view<4xf32, strides=[1]>",
            "expected strides [1] as the tensor_view has, got [?]",
        ),
        (
            "make_tensor_view %p, shape = [4], strides = [1] : "
            "tile<i32> -> tensor_view<4xf32, strides=[1]>",
            "expected 0 operand types, got 1",
        ),
        (
            "make_tensor_view %p, shape = [%n], strides = [1] : tensor_view<?xf32, strides=[1]>",
            "expected 1 operand types, got 0",
        ),
        ("make_tensor_view %p, shape = [4], strides = [1] : tile<i32>", "expected a tensor_view"),
        ("make_partition_view %p : tile<i32>", "expected the type of a view"),
        ("get_tensor_shape %n : tile<i32> -> tile<i32>", "expected the type of a view"),
    ],
)
def test_errors_in_the_text(text, message):
    with pytest.raises(UserError, match=re.escape(message)):
        only(text, Operation)
