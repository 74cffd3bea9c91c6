"""Accesses of tiles through multimem addresses, which stand for the memory of several GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.multimem import LOADED, UPDATED, reduction_problems
from tilewright.dialects.nv_tileaa.attributes import MemSemantic, RmwMode
from tilewright.dialects.nv_tileaa.memory import semantic_problems
from tilewright.dialects.nv_tileaa.view import (
    TileAccessOp,
    TileReadOp,
    TileReductionOp,
    TileUpdateOp,
    TileWriteOp,
    access_problems,
    tiled_view,
)
from tilewright.ir.types import BF16, F16, F32

LOAD_SEMANTICS: Final = (MemSemantic.WEAK, MemSemantic.RELAXED, MemSemantic.ACQUIRE)
STORE_SEMANTICS: Final = (MemSemantic.WEAK, MemSemantic.RELAXED, MemSemantic.RELEASE)
REDUCE_SEMANTICS: Final = (MemSemantic.RELAXED, MemSemantic.RELEASE)


class MultimemOp(TileAccessOp):
    """Base of the accesses of multimem addresses; modes of floats compare and add floats."""

    needs_whole = "an access is of the memory of several GPUs"


class MultimemLoadReduceOp(TileReadOp, TileReductionOp, MultimemOp):
    """Load one tile of a view from every GPU, and combine the tiles by the operation `mode`."""

    name = "nv_tileaa.multimem_load_reduce"
    syntax = (
        "custom<Ordering>($semantic, $scope) $mode $view `[` $indices `]` (`token` `=` $token^)? "
        "attr-dict `:` custom<Indexed>($view, $indices) `->` type($tile)"
    )

    def verify(self) -> Iterator[str]:
        yield from semantic_problems(self.semantic, self.scope, LOAD_SEMANTICS)
        yield from access_problems(tiled_view(self.view), self.indices, self.tile, self.in_bounds)
        reduction = reduction_of(self.mode)
        yield from reduction_problems(reduction, element_of(self.tile.type), LOADED)


class MultimemReduceOp(TileUpdateOp, MultimemOp):
    """Atomically combine one tile of a view on every GPU with a tile of values."""

    name = "nv_tileaa.multimem_reduce"

    def verify(self) -> Iterator[str]:
        yield from semantic_problems(self.semantic, self.scope, REDUCE_SEMANTICS)
        yield from access_problems(tiled_view(self.view), self.indices, self.tile, self.in_bounds)
        reduction = reduction_of(self.mode)
        yield from reduction_problems(reduction, element_of(self.tile.type), UPDATED)


class MultimemStoreOp(TileWriteOp, MultimemOp):
    """Store one tile of a view on every GPU; elements out of bounds are not written."""

    name = "nv_tileaa.multimem_store"

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
