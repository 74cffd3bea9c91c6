"""Tile IR: the input dialect of the compiler."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile import (
    aggregate,
    atomics,
    attributes,
    bitwise,
    control_flow,
    conversion,
    core,
    debug_info,
    floating,
    integer,
    memory,
    misc,
    mma,
    multimem,
    structure,
    types,
    view,
)
from tilewright.dialects.cuda_tile.debug_info import alias
from tilewright.ir.dialect import Dialect

CUDA_TILE: Final = Dialect(
    "cuda_tile",
    aggregate,
    atomics,
    attributes,
    bitwise,
    control_flow,
    conversion,
    core,
    debug_info,
    floating,
    integer,
    memory,
    misc,
    mma,
    multimem,
    structure,
    types,
    view,
    alias=alias,
    simplifier="tilewright.dialects.cuda_tile.simplify.simplifier",
    spellings={
        "cuda_tile.pow": floating.FPowFOp,
        "cuda_tile.print": misc.PrintTkoOp,
        "cuda_tile.token.join": memory.JoinTokensOp,
    },
    type_spellings={"tensor": types.TileType},
)
