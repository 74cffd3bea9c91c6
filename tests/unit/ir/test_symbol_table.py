"""Symbols: how they are found and named."""

from __future__ import annotations

import pytest
import toy

from tilewright.ir.attributes import StringAttr, SymbolRefAttr
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.ir.symbol_table import (
    SymbolTable,
    nearest_symbol_table,
    resolve,
)
from tilewright.support.diagnostics import InternalError


def empty_func(name: str) -> toy.FuncOp:
    block, build = toy.block_of()
    build.create(toy.ReturnOp)
    return toy.func(name, block)


def test_symbols_are_found_by_name() -> None:
    f, g = empty_func("f"), empty_func("g")
    module, _ = toy.module(f, g)
    table = SymbolTable(module)
    assert table.get("f") is f
    assert table.get("h") is None
    assert "g" in table
    assert list(table) == [f, g]


def test_taken_names_get_a_number() -> None:
    module, build = toy.module(empty_func("f"))
    table = SymbolTable(module)
    second = build.insert(empty_func("f"))
    assert table.add(second) == "f_0"
    assert second.sym_name == "f_0"
    assert table.add(build.insert(empty_func("f"))) == "f_1"
    table.remove(second)
    assert table.free_name("f_0") == "f_0"
    with pytest.raises(InternalError, match=r"'toy.return' is not a symbol"):
        table.add(create_op(toy.ReturnOp))


def test_references_are_looked_up_outwards_and_by_path() -> None:
    inner = empty_func("inner")
    nested, _ = toy.module(inner)
    nested.attributes["sym_name"] = StringAttr("nested")
    outer = empty_func("outer")
    module, _ = toy.module(outer, nested)
    user = inner.body.block.last
    assert user is not None
    assert nearest_symbol_table(user) is nested
    assert resolve(SymbolRefAttr("inner"), user) is inner
    assert resolve(SymbolRefAttr("outer"), user) is outer
    assert resolve(SymbolRefAttr("nested", "inner"), user) is inner
    assert resolve(SymbolRefAttr("nested", "outer"), user) is None
    outside = outer.body.block.last
    assert outside is not None
    assert resolve(SymbolRefAttr("inner"), outside) is None
    assert nearest_symbol_table(create_op(toy.ReturnOp)) is None
    assert module.parent is None


def test_blocks_without_symbols_have_empty_tables() -> None:
    assert list(SymbolTable(create_op(toy.ModuleOp, body=Block()))) == []
