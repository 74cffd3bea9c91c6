"""Lowering of gpu.all_reduce: butterfly shuffles in each warp, then through shared memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import offset_address
from tilewright.conversion.nvgpu_to_nvvm.gpu import linear_thread_id
from tilewright.conversion.nvgpu_to_nvvm.gpu_functions import ALIGNMENT
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.conversion.nvgpu_to_nvvm.warp import (
    broadcast_first_lane,
    butterfly_shuffle,
    combination,
    combined,
)
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.gpu.structure import GPUFuncOp
from tilewright.dialects.gpu.threads import AllReduceOp, BarrierOp
from tilewright.dialects.llvm.arithmetic import ICmpOp, MulOp, SelectOp, SubOp, UDivOp
from tilewright.dialects.llvm.control_flow import BrOp, CondBrOp
from tilewright.dialects.llvm.conversion import ZExtOp
from tilewright.dialects.llvm.intrinsics.integers import UMinOp
from tilewright.dialects.llvm.memory import LoadOp, StoreOp
from tilewright.dialects.llvm.types import ArrayType
from tilewright.dialects.nvvm.registers import REGISTERS
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32, I64
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

Combine = Callable[["Value", "Value"], "Value"]


@converts(AllReduceOp)
def all_reduce(op: AllReduceOp, new: AllReduceOp, build: ConversionBuilder) -> Result:
    """Reduce within warps by shuffles and across warps through shared memory.

    The block size is a multiple of the warp size.
    """
    if len(op.body.blocks) > 1:
        return build.reject("expected a body of one block")
    value, type = new.value, new.value.type
    combine = _combine(op, type, build)
    if combine is None:
        return build.reject(f"expected integers or floats to reduce, got '{op.value.type}'")
    for distance in _distances(WARP_SIZE):
        value = combine(value, butterfly_shuffle(build, value, distance))
    warps = _known_warps(op)
    if warps == 1:
        return value
    buffer = Symbols(op, build).shared("__all_reduce", ArrayType(WARP_SIZE, type), ALIGNMENT)
    lane = build.create(REGISTERS["laneid"]).res
    count = _warp_count(build) if warps is None else constant(build, warps, I32)
    _store_warp_value(build, buffer, value, lane)
    build.create(BarrierOp)
    value = _load_warp_value(build, buffer, type, lane, count)
    # No warp may write to the buffer again before all have read it.
    build.create(BarrierOp)
    for distance in _distances(warps or WARP_SIZE):
        combined_value = combine(value, butterfly_shuffle(build, value, distance))
        value = _select_in_range(build, lane, count, distance, combined_value, value)
    return broadcast_first_lane(build, value)


def _select_in_range(
    build: ConversionBuilder, lane: Value, count: Value, distance: int, yes: Value, no: Value
) -> Value:
    """Select `yes` if the lane at a distance is one of the first `count`, else `no`.

    The first lane of each group holds the reduction of its group, so lane 0 ends with the result.
    """
    limit = build.create(SubOp, lhs=count, rhs=constant(build, distance, I32)).res
    within = build.create(ICmpOp, predicate=CmpIPredicate.SLT, lhs=lane, rhs=limit).res
    return build.create(SelectOp, condition=within, true_value=yes, false_value=no).res


def _distances(count: int) -> list[int]:
    """Return the powers of two below a number."""
    return [1 << step for step in range(5) if 1 << step < count]


def _combine(op: AllReduceOp, type: Type, build: ConversionBuilder) -> Combine | None:
    """Return the combining function: an operation, or the body of the op inlined."""

    def by_body(lhs: Value, rhs: Value) -> Value:
        (result,) = build.inline_block(op.body.block, [lhs, rhs])
        return result

    if op.op is None:
        return by_body
    kind = combination(op.op, type)
    return None if kind is None else partial(combined, build, kind)


def _known_warps(op: AllReduceOp) -> int | None:
    """Return the number of warps of the block, or `None` if the kernel has no known block size."""
    function = next((outer for outer in op.ancestors() if isinstance(outer, GPUFuncOp)), None)
    if function is None or function.known_block_size is None:
        return None
    x, y, z = function.known_block_size
    return x * y * z // WARP_SIZE


def _warp_count(build: ConversionBuilder) -> Value:
    x, y, z = [build.create(REGISTERS[f"ntid.{axis}"]).res for axis in "xyz"]
    plane = build.create(MulOp, lhs=x, rhs=y).res
    threads = build.create(MulOp, lhs=plane, rhs=z).res
    return build.create(UDivOp, lhs=threads, rhs=constant(build, WARP_SIZE, I32)).res


def _store_warp_value(build: ConversionBuilder, buffer: Value, value: Value, lane: Value) -> None:
    """Store the value of each warp to shared memory, from its first lane."""
    number = build.create(
        UDivOp, lhs=linear_thread_id(build), rhs=constant(build, WARP_SIZE, I32)
    ).res
    zero = constant(build, 0, I32)
    first = build.create(ICmpOp, predicate=CmpIPredicate.EQ, lhs=lane, rhs=zero).res
    store = build.add_block()
    after = build.add_block(after=store)
    build.create(CondBrOp, condition=first, successors=[store, after])
    with build.at(InsertPoint.at_end(store)):
        index = build.create(ZExtOp, arg=number, types=[I64]).res
        build.create(StoreOp, value=value, addr=offset_address(buffer, index, value.type, build))
        build.create(BrOp, successors=[after])
    build.continue_in(after)


def _load_warp_value(
    build: ConversionBuilder, buffer: Value, type: Type, lane: Value, count: Value
) -> Value:
    """Load the value of the warp that the lane number selects, clamped to the last warp."""
    last = build.create(SubOp, lhs=count, rhs=constant(build, 1, I32)).res
    clamped = build.create(UMinOp, lhs=lane, rhs=last).res
    index = build.create(ZExtOp, arg=clamped, types=[I64]).res
    return build.create(LoadOp, addr=offset_address(buffer, index, type, build), types=[type]).res


PATTERNS: Final[Patterns] = (all_reduce,)
