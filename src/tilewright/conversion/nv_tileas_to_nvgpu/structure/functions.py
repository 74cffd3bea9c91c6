"""Functions of a CTA become functions of a thread; program ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.memory.alloca import (
    allocate_heap_frame,
    free_heap_frame,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import (
    create_barriers,
    invalidate_barriers,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    define_scratch,
    scratch_attributes,
    scratch_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import define_thread_id, enclosing_function
from tilewright.dialects.arith.casts import IndexCastOp
from tilewright.dialects.cute_nvgpu.map_parameters import MAP_PARAMETERS
from tilewright.dialects.gpu.attributes import Dimension
from tilewright.dialects.gpu.indices import (
    BlockIdOp,
    ClusterBlockIdOp,
    ClusterDimOp,
    ClusterIdOp,
    GridDimOp,
)
from tilewright.dialects.gpu.structure import GPUFuncOp
from tilewright.dialects.gpu.structure import ReturnOp as GPUReturnOp
from tilewright.dialects.nv_tileaa.program import (
    CancelNextProgramIdOp,
    GetCtaRankOp,
    GetNumProgramsOp,
    GetProgramIdOp,
    IsValidProgramIdOp,
)
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nvvm.attribute_names import BLOCKS_ARE_CLUSTERS, MINCTASM
from tilewright.ir.attributes import UNIT, IntegerAttr, TypeAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import I1, I32, FunctionType
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.gpu.indices import IndexOp
    from tilewright.ir.values import Value

_DIMENSIONS: Final = (Dimension.X, Dimension.Y, Dimension.Z)


@converts(FuncOp)
def function(op: FuncOp, new: FuncOp, build: ConversionBuilder) -> Result:
    """A GPU kernel with a thread for each lane of the specified warps.

    The CTAs of a cluster run one program: launches give the number of programs, which is that of
    clusters.
    """
    inputs = build.types.convert_all(op.signature.inputs)
    if inputs is None:
        return build.reject("expected arguments that a thread can have")
    spec = op.kernel_spec
    if spec is None or spec.num_warps is None:
        return build.reject("expected a kernel whose number of warps is known")
    ctas, scratch = op.cluster_size, scratch_type(op)
    buffers = () if scratch is None else (scratch,)
    entry = Block((*inputs, *buffers), [op.location] * (len(inputs) + len(buffers)))
    kernel = build.create(
        GPUFuncOp,
        sym_name=op.sym_name,
        function_type=TypeAttr(FunctionType(tuple(inputs))),
        kernel=True,
        known_block_size=(spec.num_warps * WARP_SIZE, 1, 1),
        known_cluster_size=(ctas, 1, 1) if ctas > 1 else None,
        workgroup_attributions=len(buffers),
        workgroup_attrib_attrs=(scratch_attributes(op),) if buffers else None,
        body=entry,
    )
    # By default ptxas limits registers so that a second CTA fits, and spills.
    kernel.attributes[MINCTASM] = IntegerAttr(spec.occupancy or 1, I32)
    if MAP_PARAMETERS in op.attributes:
        kernel.attributes[MAP_PARAMETERS] = op.attributes[MAP_PARAMETERS]
    if ctas > 1:
        kernel.attributes[BLOCKS_ARE_CLUSTERS] = UNIT
    with build.at(InsertPoint.at_end(entry)):
        define_thread_id(op, build)
        if buffers:
            define_scratch(op, entry.args[-1], build)
        allocate_heap_frame(op, build)
        create_barriers(op, build)
        build.inline_block(op.body.block, _grouped(op, entry.args[: len(inputs)], build))
        invalidate_barriers(op, build)
        free_heap_frame(op, build)
        build.create(GPUReturnOp)
    return kernel


def _grouped(
    op: FuncOp, arguments: Sequence[Value], build: ConversionBuilder
) -> list[tuple[Value, ...]]:
    """The new arguments, grouped by the old argument that they stand for."""
    rest = iter(arguments)
    sizes = [len(build.types.convert(type) or ()) for type in op.signature.inputs]
    return [tuple([next(rest) for _ in range(size)]) for size in sizes]


def _per_dimension(kind: type[IndexOp], build: ConversionBuilder) -> list[Value]:
    """A grid query for each dimension, as i32."""
    indices = [build.create(kind, dimension=dimension).result for dimension in _DIMENSIONS]
    return [build.create(IndexCastOp, source=index, types=[I32]).result for index in indices]


@converts(GetProgramIdOp)
def program_id(op: GetProgramIdOp, new: GetProgramIdOp, build: ConversionBuilder) -> Result:
    """The coordinates of the CTA, or of its cluster: work of other CTAs is never taken over."""
    ctas = enclosing_function(op).cluster_size
    return _per_dimension(ClusterIdOp if ctas > 1 else BlockIdOp, build)


@converts(GetCtaRankOp)
def cta_rank(op: GetCtaRankOp, new: GetCtaRankOp, build: ConversionBuilder) -> Result:
    """The index of the CTA in its cluster, whose CTAs are in a row."""
    ctas = enclosing_function(op).cluster_size
    if ctas == 1:
        return constant(build, 0)
    rank = build.create(ClusterBlockIdOp, dimension=Dimension.X, upper_bound=ctas).result
    return build.create(IndexCastOp, source=rank, types=[I32]).result


@converts(CancelNextProgramIdOp)
def cancel_next(
    op: CancelNextProgramIdOp, new: CancelNextProgramIdOp, build: ConversionBuilder
) -> Result:
    """No CTA is ever cancelled: each runs its own program."""
    return [(), ()]


@converts(IsValidProgramIdOp)
def is_valid(op: IsValidProgramIdOp, new: IsValidProgramIdOp, build: ConversionBuilder) -> Result:
    """Always false, since no CTA is cancelled."""
    return constant(build, 0, I1)


@converts(GetNumProgramsOp)
def num_programs(op: GetNumProgramsOp, new: GetNumProgramsOp, build: ConversionBuilder) -> Result:
    """The extents of the grid, in CTAs or in clusters."""
    ctas = enclosing_function(op).cluster_size
    return _per_dimension(ClusterDimOp if ctas > 1 else GridDimOp, build)


PATTERNS: Final[Patterns] = (
    function,
    program_id,
    cta_rank,
    cancel_next,
    is_valid,
    num_programs,
)
