"""Operations that may run for another iteration than the one that they are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of, width_of
from tilewright.dialects.nv_tileaa.integer import DivIOp, RemIOp
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, tiled_view
from tilewright.ir.effects import is_effect_free, is_pure
from tilewright.ir.rules import constant_of
from tilewright.ir.types import FloatType, IntegerType
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

AnyLoad: TypeAlias = LoadOp | TileLoadOp
"""A load through pointers, or of a tile of a view."""


def is_speculatable(op: Operation) -> bool:
    """Whether an operation may run for an iteration that does not exist."""
    return is_pure(op) or (isinstance(op, DivIOp | RemIOp) and _is_safe_divisor(op.rhs))


def _is_safe_divisor(divisor: Value) -> bool:
    """Whether division by a constant is defined for every dividend."""
    pattern = splat_of(constant_of(divisor))
    return pattern not in (None, 0, mask(width_of(divisor.type)))


def is_repeatable(op: Operation) -> bool:
    """Whether an operation is free of effects, or a load that no token orders."""
    if isinstance(op, LoadOp | TileLoadOp):
        return op.is_plain and is_first(op) and not op.result_token.is_used
    return is_effect_free(op)


def is_first(load: AnyLoad) -> bool:
    """Whether no token orders a load after another access."""
    return load.token is None or load.token.defined_by(CreateMemTokenOp) is not None


def predicate_problem(load: AnyLoad) -> str | None:
    """Why a load cannot be executed under a predicate; None if it can."""
    if not load.is_plain:
        return "it is not weak, or volatile"
    if isinstance(load, TileLoadOp) and scalar_index(load) is None:
        return "no index of it is a scalar"
    if not isinstance(element_of(load.results[0].type), IntegerType | FloatType):
        return "its elements are pointers"
    return None


def scalar_index(load: TileLoadOp) -> int | None:
    """The first index that is a scalar, not a tile of row indices."""
    sparse = tiled_view(load.view).sparse
    scalars = [number for number in range(len(load.indices)) if number != sparse]
    return scalars[0] if scalars else None
