"""Loads of f32 that are rounded to tf32: by TMA, on the way to shared memory.

With a tensor map of type tf32, f32 is rounded to nearest even, as by the conversion (measured on an
H200: docs/ptxsim.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of, with_element
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, Rearrangement
from tilewright.ir.types import F32, TF32

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def is_rounding(op: Operation) -> bool:
    """Whether an operation is a rounding of f32 to tf32 that TMA can do."""
    return (
        isinstance(op, FpToFpOp)
        and element_of(op.source.type) is F32
        and element_of(op.result.type) is TF32
        and op.rounding_mode is RoundingMode.NEAREST_EVEN
    )


def is_only_rounded(tile: Value) -> bool:
    """Whether every use of a tile of f32 is a rounding to tf32, maybe in another layout."""
    users = list(tile.users)
    return bool(users) and all(
        is_rounding(user)
        or (isinstance(user, ConvertLayoutOp | Rearrangement) and is_only_rounded(user.result))
        for user in users
    )


def round_while_copying(load: TiledLoadOp) -> TiledLoadOp:
    """Replace a load whose uses are all roundings by one of the rounded tile."""
    types = [with_element(load.tile.type, TF32), load.result_token.type]
    rounded = load.like(load.operands, types)
    rounded.insert_before(load)
    load.result_token.replace_all_uses_with(rounded.result_token)
    _replace(load.tile, rounded.tile)
    load.erase()
    return rounded


def _replace(tile: Value, rounded: Value) -> None:
    """Let the users of a tile use its rounded elements."""
    for user in list(tile.users):
        if is_rounding(user):
            user.results[0].replace_all_uses_with(rounded)
        else:
            made = user.like([rounded], [with_element(user.results[0].type, TF32)])
            made.insert_before(user)
            _replace(user.results[0], made.results[0])
        user.erase()
