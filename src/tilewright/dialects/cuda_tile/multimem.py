"""Accesses of multimem addresses, which stand for the memory of several GPUs.

A multimem address is that of a multicast object: memory that is bound at the same offset on each
of its GPUs. An object with a single GPU behaves like the memory of that GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.cuda_tile.constraints import ANY_TILE, INT_TILE, TOKEN_TYPE, VIEW
from tilewright.dialects.cuda_tile.enums import MemoryOrdering
from tilewright.dialects.cuda_tile.kinds import (
    MEMORY_ORDERING,
    MEMORY_SCOPE,
    MULTIMEM_REDUCTION,
)
from tilewright.dialects.cuda_tile.memory import ordering_problems
from tilewright.dialects.cuda_tile.operand_types import view
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.cuda_tile.view import TileAccessOp, access_problems
from tilewright.dialects.multimem import LOADED, UPDATED, reduction_problems
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ARRAY_ATTR

LOAD_ORDERINGS: Final = (MemoryOrdering.WEAK, MemoryOrdering.RELAXED, MemoryOrdering.ACQUIRE)
STORE_ORDERINGS: Final = (MemoryOrdering.WEAK, MemoryOrdering.RELAXED, MemoryOrdering.RELEASE)
REDUCE_ORDERINGS: Final = (MemoryOrdering.RELAXED, MemoryOrdering.RELEASE)


class MultimemOp(TileAccessOp):
    """Base of the accesses of multimem addresses."""

    since = (13, 5)

    ordering = d.attribute(MEMORY_ORDERING, spelling="memory_ordering_semantics")


class MultimemLoadReduceViewTkoOp(MultimemOp):
    """Load one tile of a view from every GPU, and combine the tiles by the operation `reduction`.

    Elements out of bounds are the padding value of the view.
    """

    name = "cuda_tile.multimem_load_reduce_view_tko"
    syntax = (
        "custom<Ordering>($ordering, $scope) $view `[` $indices `]` `,` $reduction "
        "(`token` `=` $token^)? `` custom<Inbounds>($inbounds) `` custom<KeywordAttributes>() "
        "`:` type($view) `` custom<IndexTypes>($indices) `->` type($tile) `,` type($result_token)"
    )

    scope = d.optional_attribute(MEMORY_SCOPE, spelling="memory_scope")
    reduction = d.attribute(MULTIMEM_REDUCTION)
    inbounds = d.attribute(BOOL_ARRAY_ATTR, default=())
    view = d.operand(VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    tile = d.result(ANY_TILE)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from ordering_problems(self.ordering, self.scope, LOAD_ORDERINGS)
        yield from access_problems(view(self.view), self.indices, self.tile.type, self.inbounds)
        yield from reduction_problems(self.reduction.keyword, tile(self.tile).element, LOADED)

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        yield 0, "tile"
        yield 1, "result_token"


class MultimemReduceViewTkoOp(MultimemOp):
    """Combine one tile of a view on every GPU with a tile of values by the operation `reduction`.

    Each element is updated atomically; elements out of bounds are unchanged.
    """

    name = "cuda_tile.multimem_reduce_view_tko"
    syntax = (
        "custom<Ordering>($ordering, $scope) $view `[` $indices `]` `,` $reduction `,` $tile "
        "(`token` `=` $token^)? `` custom<Inbounds>($inbounds) `` custom<KeywordAttributes>() "
        "`:` custom<StoreTypes>($tile, $view, $indices) `->` type($result_token)"
    )

    scope = d.attribute(MEMORY_SCOPE, spelling="memory_scope")
    reduction = d.attribute(MULTIMEM_REDUCTION)
    inbounds = d.attribute(BOOL_ARRAY_ATTR, default=())
    view = d.operand(VIEW)
    tile = d.operand(ANY_TILE)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from ordering_problems(self.ordering, self.scope, REDUCE_ORDERINGS)
        yield from access_problems(view(self.view), self.indices, self.tile.type, self.inbounds)
        yield from reduction_problems(self.reduction.keyword, tile(self.tile).element, UPDATED)


class MultimemStoreViewTkoOp(MultimemOp):
    """Store one tile of a view on every GPU; elements out of bounds are not written."""

    name = "cuda_tile.multimem_store_view_tko"
    syntax = (
        "custom<Ordering>($ordering, $scope) custom<StoredTile>($tile, $view, $indices) "
        "(`token` `=` $token^)? `` custom<Inbounds>($inbounds) `` custom<KeywordAttributes>() "
        "`:` custom<StoreTypes>($tile, $view, $indices) `->` type($result_token)"
    )

    scope = d.optional_attribute(MEMORY_SCOPE, spelling="memory_scope")
    inbounds = d.attribute(BOOL_ARRAY_ATTR, default=())
    view = d.operand(VIEW)
    tile = d.operand(ANY_TILE)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from ordering_problems(self.ordering, self.scope, STORE_ORDERINGS)
        yield from access_problems(view(self.view), self.indices, self.tile.type, self.inbounds)


AnyMultimemOp = MultimemLoadReduceViewTkoOp | MultimemReduceViewTkoOp | MultimemStoreViewTkoOp
