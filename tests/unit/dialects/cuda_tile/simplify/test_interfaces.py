"""Folds and traits that an operation class declares, and those registered for it."""

from __future__ import annotations

import pytest
from tile_programs import kernel, lines, run, same, simplified

from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.core import BroadcastOp, ConstantOp
from tilewright.dialects.cuda_tile.floating import AddFOp, NegFOp, TanHOp
from tilewright.dialects.cuda_tile.integer import AddIOp
from tilewright.dialects.cuda_tile.simplify.constants import splat
from tilewright.dialects.cuda_tile.simplify.simplifier import RULES
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.driver.assembly import parse_module
from tilewright.driver.registry import context
from tilewright.ir.attributes import Type
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.ir.rules import constant_of
from tilewright.ir.types import F32, I32
from tilewright.ir.values import Value
from tilewright.support.diagnostics import InternalError, UserError

SCALAR = TileType((), F32)
NUMBER = "%x: tile<f32>"
ADDED = "%y = addf %x, %x : tile<f32>"


def value(type: Type = SCALAR) -> Value:
    return Block([type]).args[0]


@pytest.mark.requirement("R1-065", kind="behaviour")
def test_results_are_named_by_operations_that_have_names_for_them() -> None:
    ids = "%a, %b, %c = get_tile_block_id : tile<i32>"
    assert lines(kernel(ids))[0].startswith("%blockId_x, %blockId_y, %blockId_z =")
    assert lines(kernel(ADDED, NUMBER))[0].startswith("%0 =")


@pytest.mark.requirement("R1-065", kind="behaviour")
def test_operations_without_a_fold_survive_canonicalization() -> None:
    body = '%x = constant <f32: 0.0> : tile<f32>\n{}\nprint_tko "%f", %y : tile<f32> -> token\n'
    tanh, negf = (body.format(f"%y = {name} %x : tile<f32>") for name in ("tanh", "negf"))
    assert CUDA_TILE.folds.get(TanHOp) is None
    assert CUDA_TILE.folds.get(NegFOp) is not None
    assert same(tanh, tanh)
    assert not same(negf, negf)


@pytest.mark.requirement("R1-065", kind="behaviour")
def test_types_of_results_are_inferred_where_the_operation_determines_them() -> None:
    assert create_op(AddFOp, lhs=value(), rhs=value()).result.type is SCALAR
    with pytest.raises(InternalError, match="needs the type of result"):
        create_op(BroadcastOp, source=value(TileType((1,), F32)))


@pytest.mark.requirement("R1-065", kind="behaviour")
def test_every_operation_has_an_opcode_and_a_form() -> None:
    for kind in set(CUDA_TILE.ops.values()):
        assert kind.name in OPCODES, kind.name
        assert kind.syntax is not None or hasattr(kind, "parse"), kind.name
    assert OPCODES.get("cuda_tile.nothing") is None


@pytest.mark.requirement("R1-065", kind="behaviour")
def test_only_operations_without_effects_are_dead_when_unused() -> None:
    assert simplified(ADDED, NUMBER) == []
    store = "%t = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token"
    pointer = f"%p: tile<ptr<f32>>, {NUMBER}"
    assert len(simplified(store, pointer)) == 1


@pytest.mark.requirement("R1-067", kind="behaviour")
def test_operations_are_found_by_their_names() -> None:
    for name, kind in CUDA_TILE.ops.items():
        assert context().op(name) is kind
    assert context().op("cuda_tile.nothing") is None
    with pytest.raises(UserError, match="nothing"):
        parse_module("entry @k() {\n nothing\n return\n}", "k.mlir")


@pytest.mark.requirement("R1-068")
def test_folds_run_while_canonicalizing() -> None:
    body = (
        "%x = constant <i32: 20> : tile<i32>\n%y = constant <i32: 22> : tile<i32>\n"
        '%z = addi %x, %y : tile<i32>\nprint_tko "%d", %z : tile<i32> -> token\n'
    )
    module = run(kernel(body))
    ops = list(next(module.entries()).body.block)
    assert not any(isinstance(op, AddIOp) for op in ops)
    constants = [op.integer for op in ops if isinstance(op, ConstantOp)]
    assert constants == [42]


@pytest.mark.requirement("R1-068")
def test_a_constant_folds_to_its_attribute() -> None:
    value = splat(7, TileType((), I32))
    constant = create_op(ConstantOp, value=value, types=[TileType((), I32)])
    assert constant_of(constant.result) is value


def test_every_rule_states_its_law() -> None:
    assert all(rule.documentation for rule in RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)
