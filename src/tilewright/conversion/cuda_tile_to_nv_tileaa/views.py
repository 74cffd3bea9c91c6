"""Part B: tensor views and tile accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa import masked_views
from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import converted
from tilewright.conversion.cuda_tile_to_nv_tileaa.memory import access_attributes
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import (
    default_attributes,
    result_types,
)
from tilewright.dialects.cuda_tile import atomics, core, view
from tilewright.dialects.cuda_tile.types import GatherScatterViewType
from tilewright.dialects.nv_tileaa import view as new_view
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.ir.attributes import DenseArrayAttr, IntegerAttr
from tilewright.ir.conversion import converts, transfer_pattern
from tilewright.ir.types import I64

if TYPE_CHECKING:
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import ConversionPattern, Result
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.ir.values import OpResult, Value

SAME: Final[Mapping[type[Operation], type[Operation]]] = {
    view.MakeTensorViewOp: new_view.MakeMemrefOp,
    view.MakePartitionViewOp: new_view.BlockTileOp,
    view.MakeStridedViewOp: new_view.BlockTileOp,
    view.MakeGatherScatterViewOp: new_view.BlockTileOp,
}


def _sizes(
    op: Operation, source: Value, results: Sequence[OpResult], build: ConversionBuilder
) -> list[Value]:
    """Create one `get_dim_size` for each dimension."""
    attributes = converted(op)
    sizes: list[Value] = []
    for dim, result in enumerate(results):
        types = build.types.convert_all([result.type]) or ()
        made = new_view.GetDimSizeOp(
            (source,), types, {**attributes, "dim": IntegerAttr(dim, I64)}, (), op.location
        )
        sizes += build.insert(made).results
    return sizes


@converts(view.GetTensorShapeOp)
def get_tensor_shape(
    op: view.GetTensorShapeOp, new: view.GetTensorShapeOp, build: ConversionBuilder
) -> Result:
    """Lower to one `nv_tileaa.get_dim_size` per dimension of the tensor."""
    return _sizes(op, new.src, op.results, build)


@converts(view.GetIndexSpaceShapeOp)
def get_index_space_shape(
    op: view.GetIndexSpaceShapeOp, new: view.GetIndexSpaceShapeOp, build: ConversionBuilder
) -> Result:
    """Lower to one `nv_tileaa.get_dim_size` per dimension of the index space."""
    return _sizes(op, new.src, op.results, build)


def _tile_access(
    old: type[Operation],
    dense: type[Operation],
    sparse: type[Operation],
    at: int,
    arch: str,
) -> ConversionPattern:
    """Lower a tile access without a mask; `at` is the operand index of the view, which may be
    sparse."""
    defaults = default_attributes(dense)

    def make(op: Operation, operands: Sequence[Value], types: TypeConverter) -> Operation | None:
        results = result_types(op, types)
        *segments, masks = op.schema.group_sizes(op)
        if results is None or (masks and not _is_true(op.operands[-1])):
            return None
        attributes = {**defaults, **access_attributes(op, arch)}
        in_bounds = attributes["in_bounds"]
        if isinstance(in_bounds, DenseArrayAttr) and not any(in_bounds.values):
            del attributes["in_bounds"]
        is_sparse = isinstance(op.operands[at].type, GatherScatterViewType)
        kind = sparse if is_sparse else dense
        operands = operands[: sum(segments)]
        return kind(operands, results, attributes, (), op.location, (), tuple(segments))

    return transfer_pattern((old,), make, f"{old.name} to {dense.name}")


def _is_true(mask: Value) -> bool:
    """Return whether a mask is the constant true."""
    constant = mask.defined_by(core.ConstantOp)
    return constant is not None and all(constant.value.elements())


def _atomic(arch: str) -> ConversionPattern:
    defaults = default_attributes(new_view.TiledAtomicRmwOp)

    @converts(atomics.AtomicRedViewTkoOp)
    def atomic_red_view(
        op: atomics.AtomicRedViewTkoOp, new: atomics.AtomicRedViewTkoOp, build: ConversionBuilder
    ) -> Result:
        """Lower to `nv_tileaa.tiled_atomic_rmw`, with the tile as first operand like a store."""
        tokens = () if new.token is None else (new.token,)
        operands = (new.value, new.view, *new.indices, *tokens)
        attributes = {**defaults, **access_attributes(op, arch)}
        if not any(op.inbounds):
            del attributes["in_bounds"]
        segments = (1, 1, len(new.indices), len(tokens))
        made = new_view.TiledAtomicRmwOp(
            operands, (MEM_TOKEN,), attributes, (), op.location, (), segments
        )
        return build.insert(made)

    return atomic_red_view


def patterns(arch: str) -> tuple[ConversionPattern, ...]:
    """Return the patterns that are not renamings."""
    return (
        get_tensor_shape,
        get_index_space_shape,
        _tile_access(view.LoadViewTkoOp, new_view.TiledLoadOp, new_view.GatherLoadOp, 0, arch),
        _tile_access(view.StoreViewTkoOp, new_view.TiledStoreOp, new_view.ScatterStoreOp, 1, arch),
        *masked_views.patterns(arch),
        _atomic(arch),
    )
