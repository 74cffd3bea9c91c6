"""Tokens: a type without data; results of creation, joins and memory operations."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from tileaa_programs import kernel, module

from tilewright.dialects.nv_tileaa.dialect import NV_TILEAA
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, JoinMemTokenOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN, MemrefType, MemTokenType
from tilewright.driver.registry import context
from tilewright.ir.builder import Builder, InsertPoint, create_op
from tilewright.ir.operation import Block
from tilewright.ir.types import F32
from tilewright.ir.verifier import verify
from tilewright.reference.errors import ExecutionError
from tilewright.reference.launch import launch
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text

SPEC = "attributes {kernel_spec = #aa.kernel_spec<num_warps = 4>}"
POINTERS = "%a: !aa.ptr<i32>, %b: !aa.ptr<i32>, %o: !aa.ptr<i32>"


def run(waits_for: str, seed: int) -> np.ndarray:
    """Two stores and a load of each, after a token; checked for races."""
    body = f"""
%k = arith.constant 7 : i32
%s = aa.store weak %a, %k : !aa.ptr<i32>, i32
%t = aa.store weak %b, %k : !aa.ptr<i32>, i32
%j = {waits_for}
%x, %tx = aa.load weak %a token = %j : !aa.ptr<i32> -> i32
%y, %ty = aa.load weak %b token = %j : !aa.ptr<i32> -> i32
%z = aa.addi %x, %y : i32
%e = aa.store weak %o, %z : !aa.ptr<i32>, i32
"""
    root = module(f"module {{ aa.func @f({POINTERS}) {SPEC} {{\n{body}\naa.return\n}} }}")
    arrays = [np.zeros(1, np.int32) for _ in range(3)]
    launch(root, "f", 1, arrays, check=True, seed=seed)
    return arrays[2]


@pytest.mark.requirement("R2-043")
@each_case("seed", range(6))
def test_a_joined_token_waits_for_all_its_tokens(seed: int) -> None:
    assert run("aa.join_mem_token [%s, %t] : !aa.mem_token", seed) == [14]


@pytest.mark.requirement("R2-043")
@pytest.mark.parametrize("one", ["%s, %s", "%t, %t"])
def test_a_token_of_one_of_them_does_not(one: str) -> None:
    with pytest.raises(ExecutionError, match="race"):
        run(f"aa.join_mem_token [{one}] : !aa.mem_token", 0)


@pytest.mark.requirement("R2-049")
def test_a_token_carries_no_data() -> None:
    assert MemTokenType.__slots__ == ()
    assert MEM_TOKEN.parameters == ()
    with pytest.raises(UserError, match="tensor or scalar"):
        kernel("%x = aa.bitcast %t : !aa.mem_token to i32", "%t: !aa.mem_token")


@pytest.mark.requirement("R2-049")
def test_only_creation_joins_effects_and_regions_make_tokens() -> None:
    makers = {
        op.name.removeprefix("nv_tileaa.")
        for op in NV_TILEAA.ops.values()
        if any(field.constraint.only is MEM_TOKEN for field in op.schema.results)
        and not any(field.name == "result_token" for field in op.schema.results)
    }
    assert makers == {"create_mem_token", "join_mem_token"}


@pytest.mark.requirement("R2-050", kind="behaviour")
def test_the_type_is_one_object_in_every_context() -> None:
    text = "module { nv_tileaa.func @f(%t: !nv_tileaa.mem_token) { nv_tileaa.return } }"
    first, second = (parse_text(text, context()) for _ in range(2))
    types = {
        argument.type
        for root in (first, second)
        for op in root.walk()
        for region in op.regions
        for block in region.blocks
        for argument in block.args
    }
    assert types == {MEM_TOKEN}
    assert MemTokenType() is MEM_TOKEN


@pytest.mark.requirement("R2-056")
@each_case("scope", [None, "left", "right"])
def test_a_builder_that_names_no_type_gets_that_of_tokens(scope: str | None) -> None:
    memory = Block([MemrefType((8,), F32, (1,), alias_scope=scope)]).args[0]
    inferred = create_op(CreateMemTokenOp, sources=[memory])
    named = create_op(CreateMemTokenOp, sources=[memory], types=[MEM_TOKEN])
    verify(inferred)
    assert inferred.result.type is named.result.type
    assert create_op(CreateMemTokenOp, sources=[]).result.type is inferred.result.type


def test_another_type_is_refused() -> None:
    with pytest.raises(UserError, match="mem_token"):
        verify(create_op(CreateMemTokenOp, sources=[], types=[F32]))


@pytest.mark.requirement("R2-056")
def test_inferred_types_are_one_object_all_over_a_function() -> None:
    function = kernel("", POINTERS)
    build = Builder(InsertPoint.at_start(function.body.block))
    base = function.body.block.args[0]
    tokens = [build.create(CreateMemTokenOp, sources=[base]).result for _ in range(3)]
    tokens.append(build.create(JoinMemTokenOp, tokens=tokens).result)
    verify(function)
    assert {id(token.type) for token in tokens} == {id(MEM_TOKEN)}
