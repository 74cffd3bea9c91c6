"""What a class of operations says about itself, and what it gets from elsewhere."""

from __future__ import annotations

import pytest
from tile_programs import kernel, run, same

from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.core import ConstantOp, GetTileBlockIdOp
from tilewright.dialects.cuda_tile.floating import AddFOp, TanHOp
from tilewright.dialects.cuda_tile.integer import AddIOp
from tilewright.dialects.cuda_tile.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.simplify.constants import splat
from tilewright.dialects.cuda_tile.simplify.simplifier import RULES
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.driver.assembly import parse_module
from tilewright.driver.registry import context
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Operation
from tilewright.ir.rules import constant_of
from tilewright.ir.traits import Effects
from tilewright.ir.types import I32
from tilewright.support.diagnostics import UserError


def names_results(kind: type[Operation]) -> bool:
    return kind.result_names is not Operation.result_names


@pytest.mark.requirement("R1-065", kind="behaviour")
def test_a_class_answers_for_each_interface_and_has_none_where_nothing_is_said() -> None:
    assert CUDA_TILE.folds.get(AddFOp) is not None
    assert CUDA_TILE.folds.get(TanHOp) is None
    assert names_results(GetTileBlockIdOp)
    assert not names_results(AddFOp)
    assert AddFOp.effects is Effects.PURE
    assert LoadPtrTkoOp.effects is Effects.UNKNOWN
    assert OPCODES.get(AddFOp.name) is not None
    assert OPCODES.get("cuda_tile.nothing") is None
    assert AddFOp.syntax is not None
    assert Operation.syntax is None
    assert AddFOp.loop_body is None


@pytest.mark.requirement("R1-065", kind="behaviour")
def test_an_operation_without_a_fold_survives_canonicalization() -> None:
    body = (
        "%x = constant <f32: 0.0> : tile<f32>\n%y = tanh %x : tile<f32>\n"
        'print_tko "%f", %y : tile<f32> -> token\n'
    )
    assert same(body, body)


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
    assert all(rule.law for rule in RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)
