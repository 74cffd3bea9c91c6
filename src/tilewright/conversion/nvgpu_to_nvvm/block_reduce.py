"""gpu.all_reduce: the values of a block, combined in its warps and then in shared memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import moved
from tilewright.conversion.nvgpu_to_nvvm.gpu import thread_number
from tilewright.conversion.nvgpu_to_nvvm.gpu_functions import ALIGNMENT
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.conversion.nvgpu_to_nvvm.warp import (
    combination,
    combined,
    from_first_lane,
    from_lane,
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
    """Lanes combine by swaps, warps through shared memory; blocks are of whole warps."""
    if len(op.body.blocks) > 1:
        return build.reject("expected a body of one block")
    value, type = new.value, new.value.type
    combine = _combine(op, type, build)
    if combine is None:
        return build.reject(f"expected numbers to combine, got '{op.value.type}'")
    for distance in _distances(WARP_SIZE):
        value = combine(value, from_lane(build, value, distance))
    warps = _known_warps(op)
    if warps == 1:
        return value
    room = Symbols(op, build).shared("__all_reduce", ArrayType(WARP_SIZE, type), ALIGNMENT)
    lane = build.create(REGISTERS["laneid"]).res
    count = _warp_count(build) if warps is None else constant(build, warps, I32)
    _store_of_warp(build, room, value, lane)
    build.create(BarrierOp)
    value = _value_of_warp(build, room, type, lane, count)
    # Nobody may write there again before all have read.
    build.create(BarrierOp)
    for distance in _distances(warps or WARP_SIZE):
        both = combine(value, from_lane(build, value, distance))
        value = _where_partner(build, lane, count, distance, both, value)
    return from_first_lane(build, value)


def _where_partner(
    build: ConversionBuilder, lane: Value, count: Value, distance: int, yes: Value, no: Value
) -> Value:
    """One value where the lane at a distance is one of `count`, else the other.

    Lane 0 ends with all: the first lane of each group has the values of its group.
    """
    ahead = build.create(SubOp, lhs=count, rhs=constant(build, distance, I32)).res
    within = build.create(ICmpOp, predicate=CmpIPredicate.SLT, lhs=lane, rhs=ahead).res
    return build.create(SelectOp, condition=within, true_value=yes, false_value=no).res


def _distances(count: int) -> list[int]:
    """The powers of two below a number."""
    return [1 << step for step in range(5) if 1 << step < count]


def _combine(op: AllReduceOp, type: Type, build: ConversionBuilder) -> Combine | None:
    """What makes one value of two: an operation, or the body that the program has."""

    def by_body(lhs: Value, rhs: Value) -> Value:
        (found,) = build.inline_block(op.body.block, [lhs, rhs])
        return found

    if op.op is None:
        return by_body
    kind = combination(op.op, type)
    return None if kind is None else partial(combined, build, kind)


def _known_warps(op: AllReduceOp) -> int | None:
    """How many warps the block has, if the kernel says so."""
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


def _store_of_warp(build: ConversionBuilder, room: Value, value: Value, lane: Value) -> None:
    """The first lane of each warp leaves what its warp has."""
    number = build.create(UDivOp, lhs=thread_number(build), rhs=constant(build, WARP_SIZE, I32)).res
    zero = constant(build, 0, I32)
    first = build.create(ICmpOp, predicate=CmpIPredicate.EQ, lhs=lane, rhs=zero).res
    store = build.add_block()
    after = build.add_block(after=store)
    build.create(CondBrOp, condition=first, successors=[store, after])
    with build.at(InsertPoint.at_end(store)):
        place = build.create(ZExtOp, arg=number, types=[I64]).res
        build.create(StoreOp, value=value, addr=moved(room, place, value.type, build))
        build.create(BrOp, successors=[after])
    build.continue_in(after)


def _value_of_warp(
    build: ConversionBuilder, room: Value, type: Type, lane: Value, count: Value
) -> Value:
    """What the warp of the lane's number has left; lanes beyond see that of the last."""
    last = build.create(SubOp, lhs=count, rhs=constant(build, 1, I32)).res
    clamped = build.create(UMinOp, lhs=lane, rhs=last).res
    place = build.create(ZExtOp, arg=clamped, types=[I64]).res
    return build.create(LoadOp, addr=moved(room, place, type, build), types=[type]).res


PATTERNS: Final[Patterns] = (all_reduce,)
