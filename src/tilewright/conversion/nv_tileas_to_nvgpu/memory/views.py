"""Memory views: make_memref, block_tile, get_dim_size, tiled loads and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from tilewright.conversion.nv_tileas_to_nvgpu.context import is_crowded
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    to_i64,
)
from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import AccessEmitter
from tilewright.conversion.nv_tileas_to_nvgpu.memory.tile_addresses import (
    MemrefDescriptor,
    has_whole_vectors,
    tile_accesses,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner
from tilewright.dialects.arith.casts import TruncIOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import AndIOp, DivUIOp, XOrIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.nv_tileaa.types import MemrefType, TiledViewType
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    GetDimSizeOp,
    MakeMemrefOp,
    padding_bits,
    tiled_view,
)
from tilewright.dialects.nv_tileas import memory
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import I1, I64, IntegerType, VectorType
from tilewright.schedule.liveness_with_layouts import loop_around

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import VectorAccess
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

TileAccess: TypeAlias = (
    memory.TiledLoadOp | memory.GatherLoadOp | memory.TiledStoreOp | memory.ScatterStoreOp
)
"""An access to a tile of a view."""


class Access(Protocol):
    """Loads or stores of a thread; what was loaded before is kept where nothing is loaded."""

    def __call__(
        self, accesses: Sequence[VectorAccess], loaded: Sequence[Value] = (), /
    ) -> Sequence[Value]: ...


MOSTLY: Final = (1000, 1)
"""Weights of the branch for tiles that do not end within a vector. Laid out between other code,
the accesses to elements took softmax of rows of 1,000 from 29 registers to 36."""


@converts(MakeMemrefOp)
def make_memref(op: MakeMemrefOp, new: MakeMemrefOp, build: ConversionBuilder) -> Result:
    """A memref is its address, dynamic extents and dynamic strides."""
    dynamic = (*new.sizes, *new.strides)
    fields = [as_value(build, to_i64(build, part, signed=False), I64) for part in dynamic]
    return [(new.base, *fields)]


@converts(BlockTileOp)
def block_tile(op: BlockTileOp, new: BlockTileOp, build: ConversionBuilder) -> Result:
    """A view is its memref; its type has the tiling."""
    return [build.values(op.source)]


@converts(GetDimSizeOp)
def get_dim_size(op: GetDimSizeOp, new: GetDimSizeOp, build: ConversionBuilder) -> Result:
    """An extent of a memref, or the number of tiles that begin within it."""
    source_type = op.source.type
    assert isinstance(source_type, MemrefType | TiledViewType)
    memref = source_type.source if isinstance(source_type, TiledViewType) else source_type
    sizes = MemrefDescriptor(memref, build.values(op.source)).sizes
    size = (
        sizes[op.dim]
        if isinstance(source_type, MemrefType)
        else _tiles(build, source_type, sizes, op.dim)
    )
    value, type = as_value(build, size, I64), op.result.type
    assert isinstance(type, IntegerType)
    if type.width < I64.width:
        return build.create(TruncIOp, source=value, types=[type])
    return value


def _tiles(
    build: ConversionBuilder, view: TiledViewType, sizes: Sequence[OpFoldResult], dim: int
) -> OpFoldResult:
    """The number of tiles that begin within a dimension."""
    steps = view.steps if view.sparse is None else view.tile
    size, step = sizes[view.dims[dim]], steps[dim]
    if isinstance(size, int):
        return -(-size // step)
    if step == 1:
        return size
    last = as_value(build, add(build, size, step - 1, I64), I64)
    return build.create(DivUIOp, lhs=last, rhs=as_value(build, step, I64)).result


@converts(memory.TiledLoadOp, memory.GatherLoadOp)
def tiled_load(
    op: memory.TiledLoadOp | memory.GatherLoadOp,
    new: memory.TiledLoadOp | memory.GatherLoadOp,
    build: ConversionBuilder,
) -> Result:
    """Every thread loads its registers; elements out of bounds are padding."""
    (type,) = build.types.convert(op.tile.type) or (I64,)
    assert isinstance(type, VectorType)
    accesses = tile_accesses(op, build, op.view, op.indices, op.tile, op.vector)
    padding = tiled_view(op.view).padding
    other = None
    if padding is not None and any(access.predicate is not None for access in accesses):
        value = literal([padding_bits(padding, type.element)], type)
        other = build.create(ConstantOp, value=value, types=[type]).result

    def load(accesses: Sequence[VectorAccess], loaded: Sequence[Value] = ()) -> Sequence[Value]:
        return [AccessEmitter(op).load(build, type, accesses, *loaded or (other,))]

    return [_by_vectors(op, build, accesses, load, [type])[0], ()]


def _by_vectors(
    op: TileAccess,
    build: ConversionBuilder,
    vectors: Sequence[VectorAccess],
    access: Access,
    types: Sequence[Type],
    active: Value | None = None,
) -> Sequence[Value]:
    """Access vectors, and the elements in bounds of those that are partly out of bounds.

    Only a tile that ends within a vector has such ones, so threads access elements in a branch that
    all of them take for that tile. Its code lies after all other code.
    """
    if not op.partial:
        return access(vectors)
    arguments = (op, build, op.view, op.indices, op.tile)
    is_whole = has_whole_vectors(*arguments, op.vector)
    if is_whole is None:
        return access(tile_accesses(*arguments, active=active))
    whole, other = Block(), Block()
    branch = build.create(
        IfOp,
        condition=is_whole,
        then_region=whole,
        else_region=other,
        branch_weights=MOSTLY,
        types=types,
    )
    with build.at(InsertPoint.at_end(whole)):
        build.create(YieldOp, values=access(vectors))
    with build.at(InsertPoint.at_end(other)):
        elements = tile_accesses(*arguments, active=active)
        # A vector is in bounds as its last element is.
        last = [each.predicate for each in elements[op.vector - 1 :: op.vector]]
        accessed = access([v._replace(predicate=p) for v, p in zip(vectors, last, strict=True)])
        rest = [
            each._replace(predicate=_excluding(build, each.predicate, last[number // op.vector]))
            for number, each in enumerate(elements)
        ]
        build.create(YieldOp, values=access(rest, accessed))
    return branch.results


def _excluding(build: ConversionBuilder, predicate: Value | None, other: Value | None) -> Value:
    """Whether a predicate holds and another one does not; both are of checked indices."""
    assert predicate is not None
    assert other is not None
    true = build.create(ConstantOp, value=IntegerAttr(1, I1), types=[I1]).result
    negated = build.create(XOrIOp, lhs=other, rhs=true).result
    return build.create(AndIOp, lhs=predicate, rhs=negated).result


@converts(memory.TiledStoreOp, memory.ScatterStoreOp)
def tiled_store(
    op: memory.TiledStoreOp | memory.ScatterStoreOp,
    new: memory.TiledStoreOp | memory.ScatterStoreOp,
    build: ConversionBuilder,
) -> Result:
    """The owner of each element stores it, if it is in bounds."""
    active = is_owner(op, build, op.tile)
    loop = loop_around(op)
    arguments = (op, build, op.view, op.indices, op.tile, op.vector, active)
    recomputed = loop is not None and is_crowded(loop, build)
    accesses = tile_accesses(*arguments, recomputed=recomputed)

    def store(accesses: Sequence[VectorAccess], stored: Sequence[Value] = ()) -> Sequence[Value]:
        AccessEmitter(op).store(build, new.tile, accesses)
        return stored

    _by_vectors(op, build, accesses, store, [], active)
    return [()]


PATTERNS: Final[Patterns] = (
    make_memref,
    block_tile,
    get_dim_size,
    tiled_load,
    tiled_store,
)
