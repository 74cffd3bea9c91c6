"""Who a thread is: its number in the block, made once at the entry of the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.casts import IndexCastOp
from tilewright.dialects.gpu.attributes import Dimension
from tilewright.dialects.gpu.indices import ThreadIdOp
from tilewright.dialects.nv_tileaa.attributes import TARGET_SPEC_NAME, TargetSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.types import I32
from tilewright.layout.linear import LANE, WARP
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

OLDEST: Final = 80
"""The capability that every GPU has."""
LANE_BITS: Final = WARP_SIZE.bit_length() - 1


def function_of(op: Operation) -> FuncOp:
    """The function that an operation of the old program belongs to."""
    for outer in op.ancestors():
        if isinstance(outer, FuncOp):
            return outer
    raise AssertionError(f"expected '{op.name}' inside a function")


def capability(op: Operation) -> int:
    """The compute capability of the GPU that the program of an operation is for."""
    for outer in op.ancestors():
        spec = outer.attributes.get(TARGET_SPEC_NAME)
        if isinstance(spec, TargetSpecAttr) and spec.compute_capability is not None:
            return spec.compute_capability
    return OLDEST


def make_thread(op: FuncOp, build: ConversionBuilder) -> None:
    """Ask for the number of the thread, at the entry of the function that is being converted."""
    index = build.create(ThreadIdOp, dimension=Dimension.X).result
    build.memo[op] = build.create(IndexCastOp, source=index, types=[I32]).result


def thread(op: Operation, build: ConversionBuilder) -> Value:
    """The number of the thread in its block: the lane in the low bits, above it the warp."""
    number: Value = build.memo[function_of(op)]
    return number


def thread_vectors(layout: Layout) -> list[int]:
    """What each bit of the thread's number contributes to the element."""
    return [*layout.vectors(LANE), *layout.vectors(WARP)]


def replica_mask(layout: Layout) -> int:
    """The bits of the thread's number that repeat what others hold."""
    found = layout.replicas()
    return found.get(LANE, 0) | found.get(WARP, 0) << LANE_BITS
