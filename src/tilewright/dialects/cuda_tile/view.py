"""Tensor views, tilings of them, and loads and stores of tiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import (
    ANY_TILE,
    BOOL_TILE,
    GATHER_SCATTER_VIEW,
    INT_TILE,
    PARTITION_VIEW,
    SCALAR_INT,
    SCALAR_PTR,
    STRIDED_VIEW,
    TENSOR_VIEW,
    TOKEN_TYPE,
    VIEW,
)
from tilewright.dialects.cuda_tile.kinds import MEMORY_ORDERING, MEMORY_SCOPE, OPTIMIZATION_HINTS
from tilewright.dialects.cuda_tile.memory import (
    LOAD_ORDERINGS,
    STORE_ORDERINGS,
    ordering_problems,
)
from tilewright.dialects.cuda_tile.operand_types import pointer, tensor_view, view
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.cuda_tile.types import GatherScatterViewType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ARRAY_ATTR
from tilewright.ir.attributes import DenseArrayAttr
from tilewright.ir.traits import Effects
from tilewright.ir.types import DYNAMIC, I1
from tilewright.support.location import UNKNOWN, Location

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.types import ViewType
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.operation import Block, Region
    from tilewright.ir.values import Value


class MakeTensorViewOp(TileOp):
    """Make a tensor view of a pointer to its first element, its shape and its strides.

    Dynamic extents and strides of the type are operands, interpreted as unsigned integers.
    """

    name = "cuda_tile.make_tensor_view"
    since = (13, 1)
    effects = Effects.NONE
    syntax = "custom<TensorView>($base, $dynamic_shape, $dynamic_strides, $result)"

    base = d.operand(SCALAR_PTR)
    dynamic_shape = d.operands(SCALAR_INT)
    dynamic_strides = d.operands(SCALAR_INT)
    result = d.result(TENSOR_VIEW)

    def verify(self) -> Iterator[str]:
        type, address = tensor_view(self.result), pointer(self.base)
        if type.element is not address.pointee:
            yield f"expected a pointer to '{type.element}', got one to '{address.pointee}'"
        if type.attr is not address.attr:
            yield "expected the tensor_view to have the attribute of the pointer"
        yield from _dynamic_problems("shape", type.shape, self.dynamic_shape)
        yield from _dynamic_problems("stride", type.strides, self.dynamic_strides)
        types = {value.type: None for value in self.operands[1:]}
        if len(types) > 1:
            actual = " and ".join(f"'{type}'" for type in types)
            yield f"expected dynamic shapes and strides of one type, got {actual}"

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        yield 0, "view" if style == "tileiras" else "tview"


def _dynamic_problems(
    name: str, extents: tuple[int, ...], operands: Sequence[Value]
) -> Iterator[str]:
    expected = extents.count(DYNAMIC)
    if len(operands) != expected:
        yield f"expected {expected} dynamic {name} operands, got {len(operands)}"


class MakeViewOp(TileOp):
    """Base of the operations that tile a tensor view, as described by the result type."""

    effects = Effects.PURE
    syntax = "$tensor_view attr-dict `:` custom<ViewOfTensor>($tensor_view, $result)"
    hint = ""
    """The SSA name of the result."""

    tensor_view = d.operand(TENSOR_VIEW)

    def verify(self) -> Iterator[str]:
        expected = view(self.results[0]).tensor_view
        if self.tensor_view.type is not expected:
            yield f"expected a tensor of type '{expected}', got '{self.tensor_view.type}'"

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        yield 0, "view" if style == "tileiras" else self.hint


class MakePartitionViewOp(MakeViewOp):
    """Partition a tensor view into a grid of disjoint tiles."""

    name = "cuda_tile.make_partition_view"
    since = (13, 1)
    hint = "pview"

    result = d.result(PARTITION_VIEW)


class MakeStridedViewOp(MakeViewOp):
    """Tile a tensor view with traversal strides; tiles may overlap or leave gaps."""

    name = "cuda_tile.make_strided_view"
    since = (13, 3)
    hint = "sview"

    result = d.result(STRIDED_VIEW)


class MakeGatherScatterViewOp(MakeViewOp):
    """Tile a tensor view with an index per row along one dimension."""

    name = "cuda_tile.make_gather_scatter_view"
    since = (13, 3)
    hint = "gsview"

    result = d.result(GATHER_SCATTER_VIEW)


class GetTensorShapeOp(TileOp):
    """Return the shape of a tensor view, as unsigned integers."""

    name = "cuda_tile.get_tensor_shape"
    since = (13, 1)
    effects = Effects.NONE
    syntax = "$src attr-dict `:` type($src) `->` custom<EachExtent>($src, $extents)"

    src = d.operand(TENSOR_VIEW)
    extents = d.results(SCALAR_INT)

    def verify(self) -> Iterator[str]:
        yield from _extent_problems(tensor_view(self.src).rank, self.extents)


class GetIndexSpaceShapeOp(TileOp):
    """Return the number of tiles of a view along each dimension, as unsigned integers."""

    name = "cuda_tile.get_index_space_shape"
    since = (13, 1)
    effects = Effects.NONE
    syntax = "$src attr-dict `:` type($src) `->` custom<EachExtent>($src, $extents)"

    src = d.operand(VIEW)
    extents = d.results(SCALAR_INT)

    def verify(self) -> Iterator[str]:
        yield from _extent_problems(view(self.src).index_rank, self.extents)


def _extent_problems(rank: int, results: Sequence[Value]) -> Iterator[str]:
    if len(results) != rank:
        yield f"expected {rank} results, one a dimension, got {len(results)}"


@cache
def _none_in_bounds(count: int) -> Attribute:
    return DenseArrayAttr(I1, (0,) * count)


class TileAccessOp(TileOp):
    """Base of the operations that access one tile of a view.

    Each declares `inbounds`, which asserts, per index, that no element of the tile is out of
    bounds.
    """

    def __init__(
        self,
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        location: Location = UNKNOWN,
        successors: Sequence[Block] = (),
        segments: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(
            operands, result_types, attributes, regions, location, successors, segments
        )
        # The default has one entry per index; older modules do not have the attribute.
        stored = self.attributes.get("inbounds")
        if segments is not None and (stored is None or stored is _none_in_bounds(0)):
            indices = self.schema.by_name["indices"].position
            self.attributes["inbounds"] = _none_in_bounds(segments[indices])


class ViewAccessOp(TileAccessOp):
    """Base of the operations that load or store one tile of a view.

    Where a `mask`, which only text has, is false, an element is not accessed, as if it were out of
    bounds.
    """

    since = (13, 1)

    ordering = d.attribute(MEMORY_ORDERING, spelling="memory_ordering_semantics")
    scope = d.optional_attribute(MEMORY_SCOPE, spelling="memory_scope")
    hints = d.optional_attribute(OPTIMIZATION_HINTS, spelling="optimization_hints")
    inbounds = d.attribute(BOOL_ARRAY_ATTR, default=(), since=(13, 4))


def access_problems(
    type: ViewType, indices: Sequence[Value], tile_type: Type, inbounds: tuple[int, ...]
) -> Iterator[str]:
    """Check the tile and the indices of an access against its view."""
    if len(indices) != type.index_rank:
        yield f"expected {type.index_rank} indices, got {len(indices)}"
        return
    if tile_type is not type.tile_type:
        yield f"expected a tile of type '{type.tile_type}', got '{tile_type}'"
    if len(inbounds) != len(indices):
        yield f"expected inbounds for {len(indices)} indices, got {len(inbounds)}"
    scalars = list(indices)
    if isinstance(type, GatherScatterViewType):
        yield from _sparse_problems(type, scalars.pop(type.sparse_dim))
    yield from _scalar_problems(scalars)


def _sparse_problems(type: GatherScatterViewType, index: Value) -> Iterator[str]:
    extent = type.tile_shape[type.sparse_dim]
    if tile(index).shape != (extent,):
        problem = f"to be a tile of {extent} integers, got '{index.type}'"
        yield f"expected index #{type.sparse_dim}, that of the sparse dimension, {problem}"


def _scalar_problems(indices: Iterable[Value]) -> Iterator[str]:
    types = tuple(dict.fromkeys(tile(index) for index in indices))
    for type in types:
        if type.shape:
            yield f"expected a scalar index, got '{type}'"
            return
    if len(types) > 1:
        actual = " and ".join(f"'{t}'" for t in types)
        yield f"expected indices of one type, got {actual}"


def _mask_problems(type: ViewType, mask: Value | None) -> Iterator[str]:
    if mask is not None and tile(mask).shape != type.tile_shape:
        yield f"expected a mask of type '{type.tile_type.with_element(I1)}', got '{mask.type}'"


class LoadViewTkoOp(ViewAccessOp):
    """Load one tile of a view; elements out of bounds are the padding value of the view.

    So are elements where the mask is false, which are not read.
    """

    name = "cuda_tile.load_view_tko"
    syntax = (
        "custom<Ordering>($ordering, $scope) custom<LoadedTile>($view, $indices) "
        "`` custom<Mask>($mask) (`token` `=` $token^)? (`optimization_hints` `=` $hints^)? "
        "`` custom<Inbounds>($inbounds) `` custom<KeywordAttributes>() `:` type($view) "
        "`` custom<IndexTypes>($indices) `->` type($tile) `,` type($result_token)"
    )

    view = d.operand(VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    mask = d.optional_operand(BOOL_TILE, since=d.TEXT_ONLY)
    tile = d.result(ANY_TILE)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from ordering_problems(self.ordering, self.scope, LOAD_ORDERINGS)
        yield from access_problems(view(self.view), self.indices, self.tile.type, self.inbounds)
        yield from _mask_problems(view(self.view), self.mask)

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        yield 0, "tile"
        yield 1, "result_token"


class StoreViewTkoOp(ViewAccessOp):
    """Store one tile of a view; elements out of bounds are not written.

    Nor are elements where the mask is false.
    """

    name = "cuda_tile.store_view_tko"
    syntax = (
        "custom<Ordering>($ordering, $scope) custom<StoredTile>($tile, $view, $indices) "
        "`` custom<Mask>($mask) (`token` `=` $token^)? (`optimization_hints` `=` $hints^)? "
        "`` custom<Inbounds>($inbounds) `` custom<KeywordAttributes>() "
        "`:` custom<StoreTypes>($tile, $view, $indices) `->` type($result_token)"
    )

    tile = d.operand(ANY_TILE)
    view = d.operand(VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    mask = d.optional_operand(BOOL_TILE, since=d.TEXT_ONLY)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from ordering_problems(self.ordering, self.scope, STORE_ORDERINGS)
        yield from access_problems(view(self.view), self.indices, self.tile.type, self.inbounds)
        yield from _mask_problems(view(self.view), self.mask)
