"""Memrefs, tiled views of them, and loads and stores of tiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.atomics import mode_problems
from tilewright.dialects.nv_tileaa.attributes import (
    ACTIVATION_LAYOUT,
    CONV_PARAMS,
    RMW_MODE,
    ActivationLayout,
    MemScope,
    MemSemantic,
    PaddingValue,
    RmwMode,
)
from tilewright.dialects.nv_tileaa.constraints import (
    ANY_TENSOR,
    INT_TILE,
    MEMREF,
    SCALAR_INT,
    SCALAR_PTR,
    TILED_VIEW,
    TOKEN,
    pointer,
    shape,
)
from tilewright.dialects.nv_tileaa.directives import INDEXED, ORDERING
from tilewright.dialects.nv_tileaa.memory import (
    LOAD_SEMANTICS,
    STORE_SEMANTICS,
    AccessOp,
    semantic_problems,
)
from tilewright.dialects.nv_tileaa.splits import SPLIT_SEED
from tilewright.dialects.nv_tileaa.types import MemrefType, TiledViewType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ARRAY_ATTR, BOOL_ATTR, I64_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.tiling import Way
from tilewright.ir.traits import Effects
from tilewright.ir.types import DYNAMIC, F4E2M1FN, FloatType
from tilewright.support.floats import FORMATS

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.text.syntax import Directive, ParseState


def memref(value: Value) -> MemrefType:
    """The memref type of a value."""
    assert isinstance(value.type, MemrefType)
    return value.type


def tiled_view(value: Value) -> TiledViewType:
    """The tiled view type of a value."""
    assert isinstance(value.type, TiledViewType)
    return value.type


def padding_bits(padding: PaddingValue, element: Type) -> int:
    """The bits of the padding element."""
    if padding is PaddingValue.ZERO or not isinstance(element, FloatType):
        return 0
    format = FORMATS[element.format]
    if padding is PaddingValue.NEG_ZERO:
        return format.sign
    # A format without infinity has NaN instead.
    magnitude = None if padding is PaddingValue.NAN else format.infinity
    magnitude = format.nan if magnitude is None else magnitude
    return format.signed_pattern(magnitude or 0, padding is PaddingValue.NEG_INF)


class MakeMemrefOp(Operation):
    """Make a memref of a pointer to its first element, its sizes and its strides.

    Dynamic sizes and strides of the type are operands, interpreted as unsigned integers.
    """

    name = "nv_tileaa.make_memref"
    effects = Effects.NONE
    syntax = (
        "$base (`sizes` `(` $sizes^ `:` type($sizes) `)`)? "
        "(`strides` `(` $strides^ `:` type($strides) `)`)? attr-dict "
        "`:` type($base) `->` type($result)"
    )

    base = d.operand(SCALAR_PTR)
    sizes = d.operands(SCALAR_INT)
    strides = d.operands(SCALAR_INT)
    result = d.result(MEMREF)

    def verify(self) -> Iterator[str]:
        type, address = memref(self.result), pointer(self.base)
        if type.element is not address.pointee:
            yield f"expected a pointer to '{type.element}', got one to '{address.pointee}'"
        if type.space != address.space:
            yield f"expected a pointer to space {type.space}, got {address.space}"
        for name, extents, operands in (
            ("sizes", type.shape, self.sizes),
            ("strides", type.strides, self.strides),
        ):
            if len(operands) != extents.count(DYNAMIC):
                yield f"expected {extents.count(DYNAMIC)} {name}, got {len(operands)}"
        types = {value.type for value in self.operands[1:]}
        if len(types) > 1:
            yield "expected sizes and strides of one type"


class BlockTileOp(Operation):
    """Tile a memref, as described by the result type."""

    name = "nv_tileaa.block_tile"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($result)"

    source = d.operand(MEMREF)
    result = d.result(TILED_VIEW)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the source type from the result type."""
        for type in state.result_types.get("result", ()):
            if isinstance(type, TiledViewType):
                state.operand_types["source"] = [type.source]

    def verify(self) -> Iterator[str]:
        yield from _source_problems(self.source, tiled_view(self.result))


class ConvTileOp(Operation):
    """Tile activations for an implicit-GEMM convolution."""

    name = "nv_tileaa.conv_tile"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(MEMREF)
    params = d.attribute(CONV_PARAMS, spelling="conv_params")
    layout = d.attribute(
        ACTIVATION_LAYOUT, default=ActivationLayout.NHWC, spelling="activation_layout"
    )
    result = d.result(TILED_VIEW)

    def verify(self) -> Iterator[str]:
        yield from _source_problems(self.source, tiled_view(self.result))
        rank = len(self.params.strides) + 2
        if memref(self.source).rank != rank:
            yield f"expected a source of rank {rank}, got {memref(self.source).rank}"


def _source_problems(source: Value, view: TiledViewType) -> Iterator[str]:
    if source.type is not view.source:
        yield f"expected a source of type '{view.source}', got '{source.type}'"


class GetDimSizeOp(Operation):
    """Return a size of a memref, or the number of tiles of a view along a dimension."""

    name = "nv_tileaa.get_dim_size"
    effects = Effects.NONE
    syntax = "$source $dim attr-dict `:` type($source) `->` type($result)"

    source = d.operand(MEMREF | TILED_VIEW)
    dim = d.attribute(I64_ATTR)
    result = d.result(SCALAR_INT)

    def verify(self) -> Iterator[str]:
        source = self.source.type
        assert isinstance(source, MemrefType | TiledViewType)
        if not 0 <= self.dim < source.rank:
            yield f"expected a dimension below the rank {source.rank}, got {self.dim}"


class TileAccessOp(AccessOp):
    """Base of the operations that load or store one tile of a view.

    `in_bounds` asserts, per dimension, that no element of the tile is out of bounds. `allow_tma`
    permits or forbids TMA. A `sliced` tile is a slice of a larger one, and may be out of bounds
    entirely.
    """

    directives: ClassVar[Mapping[str, Directive]] = {"Indexed": INDEXED, "Ordering": ORDERING}

    in_bounds = d.optional_attribute(BOOL_ARRAY_ATTR)
    allow_tma = d.optional_attribute(BOOL_ATTR)
    sliced = d.flag()


class TileReadOp(TileAccessOp):
    """Base of the reads; elements out of bounds are the padding value of the view."""

    view = d.operand(TILED_VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN)
    tile = d.result(ANY_TENSOR)
    result_token = d.result(TOKEN)


class TileWriteOp(TileAccessOp):
    """Base of the writes; elements out of bounds are not written."""

    syntax = (
        "custom<Ordering>($semantic, $scope) $tile `,` $view `[` $indices `]` "
        "(`token` `=` $token^)? attr-dict `:` type($tile) `,` custom<Indexed>($view, $indices)"
    )

    tile = d.operand(ANY_TENSOR)
    view = d.operand(TILED_VIEW)
    indices = d.operands(INT_TILE)
    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)


class TileReductionOp(TileAccessOp):
    """Base of the operations that combine tiles by the operation `mode`."""

    mode = d.attribute(RMW_MODE, spelling="rmw_mode")


class TileUpdateOp(TileWriteOp, TileReductionOp):
    """Base of the writes that combine what is in memory with a tile of values."""

    syntax = (
        "custom<Ordering>($semantic, $scope) $mode $tile `,` $view `[` $indices `]` "
        "(`token` `=` $token^)? attr-dict `:` type($tile) `,` custom<Indexed>($view, $indices)"
    )


def access_problems(
    view: TiledViewType, indices: Sequence[Value], tile: Value, in_bounds: tuple[int, ...] | None
) -> Iterator[str]:
    """Check the tile and the indices of an access against its view."""
    if len(indices) != view.rank:
        yield f"expected {view.rank} indices, got {len(indices)}"
        return
    if shape(tile.type) != view.tile or element_of(tile.type) is not view.source.element:
        yield f"expected a tile of type '{view.tile_type}', got '{tile.type}'"
    if in_bounds is not None and len(in_bounds) != view.rank:
        yield f"expected in_bounds for {view.rank} indices, got {len(in_bounds)}"
    for number, index in enumerate(indices):
        expected = (view.tile[number],) if number == view.sparse else ()
        if shape(index.type) != expected:
            wanted = f"a tensor of {expected[0]} integers" if expected else "an integer"
            yield f"expected index #{number} to be {wanted}, got '{index.type}'"


def _density_problems(view: TiledViewType, is_sparse: bool) -> Iterator[str]:
    if (view.sparse is not None) != is_sparse:
        words = ("without", "with") if is_sparse else ("with", "without")
        yield f"expected a view {words[1]} a sparse dimension, got one {words[0]}"


def _parts_of_view(op: TileReadOp | TileWriteOp) -> Iterator[Way]:
    """Along each dimension, through a view of smaller tiles; of whole bytes."""
    if op.view.defined_by(BlockTileOp) is None:
        return
    type = tiled_view(op.view)
    for dim in range(type.rank):
        axes = {op.tile: dim}
        if dim == type.sparse:
            axes[op.indices[dim]] = 0
        is_packed = type.source.element is F4E2M1FN and type.source.strides[type.dims[dim]] == 1
        yield Way(axes, granule=2 if is_packed else 1)


NOT_WEAK: Final = "it is not weak, or its view is not of tiles of a tensor"
"""Why an access through a view cannot be cut."""


class TileLoadOp(TileReadOp):
    """Base of the loads."""

    needs_whole = NOT_WEAK
    syntax = (
        "custom<Ordering>($semantic, $scope) $view `[` $indices `]` (`token` `=` $token^)? "
        "attr-dict `:` custom<Indexed>($view, $indices) `->` type($tile)"
    )

    def verify(self) -> Iterator[str]:
        view = tiled_view(self.view)
        yield from semantic_problems(self.semantic, self.scope, LOAD_SEMANTICS)
        yield from _density_problems(view, isinstance(self, GatherLoadOp))
        yield from access_problems(view, self.indices, self.tile, self.in_bounds)

    def ways(self) -> Iterator[Way]:
        return _parts_of_view(self) if self.is_plain else iter(())


class TiledLoadOp(TileLoadOp):
    """Load one tile of a view."""

    name = "nv_tileaa.tiled_load"


class GatherLoadOp(TileLoadOp):
    """Gather one tile of a view, with an index per row along the sparse dimension."""

    name = "nv_tileaa.gather_load"


class TileStoreOp(TileWriteOp):
    """Base of the stores."""

    traits = (SPLIT_SEED,)
    needs_whole = NOT_WEAK

    def verify(self) -> Iterator[str]:
        view = tiled_view(self.view)
        yield from semantic_problems(self.semantic, self.scope, STORE_SEMANTICS)
        yield from _density_problems(view, isinstance(self, ScatterStoreOp))
        yield from access_problems(view, self.indices, self.tile, self.in_bounds)

    def ways(self) -> Iterator[Way]:
        return _parts_of_view(self) if self.is_plain else iter(())


class TiledStoreOp(TileStoreOp):
    """Store one tile of a view."""

    name = "nv_tileaa.tiled_store"


class ScatterStoreOp(TileStoreOp):
    """Scatter one tile of a view, with an index per row along the sparse dimension."""

    name = "nv_tileaa.scatter_store"


class TiledAtomicRmwOp(TileUpdateOp):
    """Combine a tile of a view with a tile of values by the operation `mode`; no result."""

    name = "nv_tileaa.tiled_atomic_rmw"
    traits = (SPLIT_SEED,)

    def verify(self) -> Iterator[str]:
        view = tiled_view(self.view)
        yield from _density_problems(view, False)
        yield from access_problems(view, self.indices, self.tile, self.in_bounds)
        yield from mode_problems(self.mode, element_of(self.tile.type))
        if self.mode is RmwMode.XCHG:
            yield "expected a mode that combines, got xchg"
        if self.semantic is not MemSemantic.RELAXED:
            yield f"expected memory ordering relaxed, got {self.semantic.keyword}"
        if self.scope not in (MemScope.TL_BLK, MemScope.CLUSTER, MemScope.GPU):
            scope = "none" if self.scope is None else self.scope.keyword
            yield f"expected memory scope tl_blk, cluster or gpu, got {scope}"

    def ways(self) -> Iterator[Way]:
        return _parts_of_view(self)
