"""Accesses of tiles through multimem addresses, which stand for the memory of several GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.multimem import LOADED, UPDATED, reduction_problems
from tilewright.dialects.nv_tileaa.attributes import RMW_MODE, MemSemantic, RmwMode
from tilewright.dialects.nv_tileaa.constraints import ANY_TENSOR, INT_TILE, TILED_VIEW, TOKEN
from tilewright.dialects.nv_tileaa.memory import semantic_problems
from tilewright.dialects.nv_tileaa.view import (
    TileAccessOp,
    access_problems,
    tiled_view,
)
from tilewright.ir import declare as d
from tilewright.ir.types import BF16, F16, F32

LOAD_SEMANTICS: Final = (MemSemantic.WEAK, MemSemantic.RELAXED, MemSemantic.ACQUIRE)
STORE_SEMANTICS: Final = (MemSemantic.WEAK, MemSemantic.RELAXED, MemSemantic.RELEASE)
REDUCE_SEMANTICS: Final = (MemSemantic.RELAXED, MemSemantic.RELEASE)


class MultimemOp(TileAccessOp):
    """Base of the accesses of multimem addresses; modes of floats compare and add floats."""


class MultimemLoadReduceOp(MultimemOp):
    """Load one tile of a view from every GPU, and combine the tiles by the operation `mode`."""

    name = "nv_tileaa.multimem_load_reduce"
    syntax = (
        "custom<Ordering>($semantic, $scope) $mode $view `[` $indices `]` (`token` `=` $token^)? "
        "attr-dict `:` custom<Indexed>($view, $indices) `->` type($tile)"
    )

    mode = d.attribute(RMW_MODE, spelling="rmw_mode")
    view = d.operand(TILED_VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN)
    tile = d.result(ANY_TENSOR)
    result_token = d.result(TOKEN)

    def verify(self) -> Iterator[str]:
        yield from semantic_problems(self.semantic, self.scope, LOAD_SEMANTICS)
        yield from access_problems(tiled_view(self.view), self.indices, self.tile, self.in_bounds)
        reduction = reduction_of(self.mode)
        yield from reduction_problems(reduction, element_of(self.tile.type), LOADED)


class MultimemReduceOp(MultimemOp):
    """Atomically combine one tile of a view on every GPU with a tile of values."""

    name = "nv_tileaa.multimem_reduce"
    syntax = (
        "custom<Ordering>($semantic, $scope) $mode $tile `,` $view `[` $indices `]` "
        "(`token` `=` $token^)? attr-dict `:` type($tile) `,` custom<Indexed>($view, $indices)"
    )

    mode = d.attribute(RMW_MODE, spelling="rmw_mode")
    tile = d.operand(ANY_TENSOR)
    view = d.operand(TILED_VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)

    def verify(self) -> Iterator[str]:
        yield from semantic_problems(self.semantic, self.scope, REDUCE_SEMANTICS)
        yield from access_problems(tiled_view(self.view), self.indices, self.tile, self.in_bounds)
        reduction = reduction_of(self.mode)
        yield from reduction_problems(reduction, element_of(self.tile.type), UPDATED)


class MultimemStoreOp(MultimemOp):
    """Store one tile of a view on every GPU; elements out of bounds are not written."""

    name = "nv_tileaa.multimem_store"
    syntax = (
        "custom<Ordering>($semantic, $scope) $tile `,` $view `[` $indices `]` "
        "(`token` `=` $token^)? attr-dict `:` type($tile) `,` custom<Indexed>($view, $indices)"
    )

    tile = d.operand(ANY_TENSOR)
    view = d.operand(TILED_VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)

    def verify(self) -> Iterator[str]:
        yield from semantic_problems(self.semantic, self.scope, STORE_SEMANTICS)
        yield from access_problems(tiled_view(self.view), self.indices, self.tile, self.in_bounds)


MULTIMEM_WORD: Final = 4
"""The fewest bytes of an instruction."""

AnyMultimemOp = MultimemLoadReduceOp | MultimemReduceOp | MultimemStoreOp


def reduction_of(mode: RmwMode) -> str:
    """The name of the reduction of a mode, which is one for integers and floats."""
    return "add" if mode is RmwMode.ADDF else mode.keyword


def has_vectors(op: AnyMultimemOp) -> bool:
    """Whether one instruction can access several elements: any if it stores, else narrow floats."""
    element = element_of(op.tile.type)
    return isinstance(op, MultimemStoreOp) or element in (F16, BF16, F32)
