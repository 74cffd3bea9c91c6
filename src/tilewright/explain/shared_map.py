"""The shared-memory map of a function: what each range of bytes holds, and as long as it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileas.async_copy import AllocTensorOp
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_OFFSET
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp
from tilewright.dialects.nv_tileas.types import pipeline, without_layout
from tilewright.dialects.nvgpu.mbarrier import MBarrierCreateOp
from tilewright.dialects.nvgpu.types import MBarrierGroupType
from tilewright.explain.figures import counted
from tilewright.explain.positions import NOWHERE
from tilewright.explain.report import UNUSED, Allocation
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import TensorType
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes
from tilewright.schedule.shared_lifetimes import find_lifetimes
from tilewright.target.resources import MBARRIER_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.gpu.structure import GPUFuncOp
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.explain.positions import Positions
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation

SCRATCH: Final = "scratch"
MBARRIERS: Final = "mbarriers"


def shared_map(function: FuncOp, positions: Positions) -> list[Allocation]:
    """The allocations and the scratch memory of a function, by offset.

    Operations are numbered in program order; scratch memory is in use at its operation alone.
    """
    lifetimes = find_lifetimes(function)
    numbers = {op: number for number, op in enumerate(function.walk())}
    allocations: list[Allocation] = []
    for op, number in numbers.items():
        offset = op.attributes.get(SCRATCH_OFFSET)
        if not isinstance(offset, IntegerAttr):
            continue
        life = lifetimes.by_op.get(op)
        start, end = (number, number) if life is None else life
        bytes = allocated_bytes(op) if life is not None else scratch_bytes(op)
        kind, what = _described(op)
        allocations.append(
            Allocation(
                offset.value,
                bytes,
                what,
                kind if life is not None else SCRATCH,
                start,
                min(end, len(numbers) - 1),
                positions.first(op.location),
            )
        )
    return sorted(allocations)


def mbarriers_of(function: GPUFuncOp) -> int:
    """The number of mbarriers that a function of the level `gpu` allocates."""
    groups = [op.barriers.type for op in function.walk() if isinstance(op, MBarrierCreateOp)]
    return sum(group.num_barriers for group in groups if isinstance(group, MBarrierGroupType))


def completed_map(
    allocations: Sequence[Allocation], mbarriers: int, shared: int
) -> list[Allocation]:
    """A map of all `shared` bytes of a CTA, by offset.

    The mbarriers are not among the allocations that are planned: they are last. What remains is
    not used.
    """
    last = max([each.end for each in allocations], default=0)
    ranges = list(allocations)
    if mbarriers:
        bytes, what = mbarriers * MBARRIER_BYTES, counted(mbarriers, "mbarrier")
        ranges.append(Allocation(shared - bytes, bytes, what, MBARRIERS, 0, last, NOWHERE))
    completed: list[Allocation] = []
    covered = 0
    for each in sorted(ranges):
        if covered < each.offset:
            completed.append(_unused(covered, each.offset, last))
        completed.append(each)
        covered = max(covered, each.offset + each.bytes)
    if covered < shared:
        completed.append(_unused(covered, shared, last))
    return completed


def _unused(start: int, end: int, last: int) -> Allocation:
    return Allocation(start, end - start, "alignment", UNUSED, 0, last, NOWHERE)


def _described(op: Operation) -> tuple[str, str]:
    match op:
        case CreatePipelineOp():
            type = pipeline(op.result)
            tiles = ", ".join(short_type(each) for each in type.elements)
            return "pipeline", f"{counted(type.stages, 'stage')} of {tiles}"
        case AllocTensorOp():
            return "buffer", str(op.result.type)
        case CreateTensorMapsOp():
            return "tensor maps", counted(len(op.maps), "tensor map")
        case _:
            tile = short_type(op.results[0].type) if op.results else ""
            return "tile", f"{op.name.removeprefix('nv_tileas.')} {tile}".rstrip()


def short_type(type: Type) -> str:
    """A type without its layout: `128x64xf16` for tiles."""
    if isinstance(type, TensorType):
        bare = str(without_layout(type))
        return bare.removeprefix("tensor<").removesuffix(">")
    return str(type)
