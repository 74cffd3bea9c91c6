"""Build operations from short spellings of tiles, and collect verifier diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tilewright.dialects.cuda_tile.types import FNV8E5M3FNU, PtrType, TileType
from tilewright.ir.attributes import Type
from tilewright.ir.builder import create_op
from tilewright.ir.declare import Arity
from tilewright.ir.operation import Block, Operation
from tilewright.ir.types import FLOATS, IntegerType
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink

Make = Callable[..., Operation]
Problems = Callable[..., list[str]]


def element_type(text: str) -> Type:
    if text.startswith("ptr<"):
        return PtrType(element_type(text[4:-1]))
    if text == "fnv8E5M3FNU":
        return FNV8E5M3FNU
    return FLOATS[text] if text in FLOATS else IntegerType(int(text[1:]))


def tile_type(text: str) -> TileType:
    """Parse `4x8xf32`, the parameters of `tile<4x8xf32>`."""
    *shape, element = text.split("x")
    return TileType(tuple(map(int, shape)), element_type(element))


def value(text: str) -> Value:
    return Block([tile_type(text)]).args[0]


def make_op(
    kind: type[Operation], *operands: str | Value, results: str = "", **attributes: Any
) -> Operation:
    """Build an operation; operands are in order, the last field takes the rest."""
    values = [value(item) if isinstance(item, str) else item for item in operands]
    fields: dict[str, Any] = {}
    for field in kind.schema.operands:
        if field.arity is Arity.VARIADIC:
            fields[field.name], values = values, []
        else:
            fields[field.name] = values.pop(0)
    assert not values
    types = [tile_type(item) for item in results.split()] if results else None
    return create_op(kind, types=types, **fields, **attributes)


@pytest.fixture(name="tile")
def tile_fixture() -> Callable[[str], TileType]:
    return tile_type


@pytest.fixture
def make() -> Make:
    return make_op


@pytest.fixture
def problems() -> Problems:
    """Build an operation and return its diagnostics, without the name of the operation."""

    def find(*arguments: Any, **fields: Any) -> list[str]:
        op = make_op(*arguments, **fields)
        sink = Sink()
        verify(op, sink)
        return [str(error).removeprefix(f"error: '{op.name}' op ") for error in sink.errors]

    return find
