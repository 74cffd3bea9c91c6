"""Fold single Tile IR operations on constants given as bit patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.simplify.constants import dense_of
from tilewright.dialects.cuda_tile.simplify.simplifier import FOLDS
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.attributes import DenseElementsAttr, Type
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rules import constant_of
from tilewright.ir.values import Value


def unknown(type: Type) -> Value:
    """A value about which nothing is known."""
    return Block([type]).args[0]


def known(patterns: Sequence[int] | np.ndarray, element: Type, shape: tuple[int, ...]) -> Value:
    """A constant tile; one pattern stands for all elements."""
    type = TileType(shape, element)
    value = dense_of([int(pattern) for pattern in patterns], type)
    return create_op(ConstantOp, value=value, types=[type]).result


def vector(patterns: Sequence[int] | np.ndarray, element: Type) -> Value:
    """A constant tile of rank one."""
    return known(patterns, element, (len(patterns),))


def fold(kind: type[Operation], types: Sequence[Type] | None = None, **fields: Any) -> object:
    """Fold an operation to the bit patterns of a constant, an existing value, or `None`."""
    op = create_op(kind, types=types, **fields)
    folded = FOLDS[kind](op, tuple(constant_of(value) for value in op.operands))
    if not isinstance(folded, DenseElementsAttr):
        return folded
    assert folded.type is op.results[0].type
    assert isinstance(folded.type, TileType)
    elements = folded.elements()
    return elements * folded.type.count if folded.is_splat else elements
