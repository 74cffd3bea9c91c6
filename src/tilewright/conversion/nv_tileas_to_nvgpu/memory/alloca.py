"""alloca: memory of a CTA on the device heap, for as long as the kernel runs.

One allocation serves a whole function; each alloca has an offset in it, so one in a loop gets the
same memory in every iteration. The first thread calls malloc and free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.context import HeapFrame
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import add, as_value, constant
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import load_shared, store_shared
from tilewright.conversion.nv_tileas_to_nvgpu.threads import function_context, is_first_thread
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.llvm.conversion import IntToPtrOp, PtrToIntOp
from tilewright.dialects.llvm.intrinsics.effects import TrapOp
from tilewright.dialects.llvm.types import PTR
from tilewright.dialects.nv_tileaa.constraints import pointer
from tilewright.dialects.nv_tileaa.memory import AllocaOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F4E2M1FN, I64

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.values import Value

HEAP_ALIGNMENT: Final = 16
"""The alignment of addresses that malloc returns."""


def allocate_heap_frame(op: FuncOp, build: ConversionBuilder) -> None:
    """Allocate the memory of all allocas of a function, at its entry."""
    size, alignment = 0, HEAP_ALIGNMENT
    offsets: dict[AllocaOp, int] = {}
    for each in op.walk():
        if isinstance(each, AllocaOp):
            size = -(-size // each.alignment) * each.alignment
            offsets[each] = size
            size += _bytes(each)
            alignment = max(alignment, each.alignment)
    if not size:
        return
    slot = Symbols(op, build).shared("heap_memory", I64, I64.width // 8)
    with predicated(build, is_first_thread(op, build)):
        _malloc(op, size + alignment - HEAP_ALIGNMENT, slot, build)
    build.create(BarrierOp)
    base = allocation = load_shared(build, slot, I64, I64.width // 8)
    if alignment > HEAP_ALIGNMENT:
        rounded_up = as_value(build, add(build, base, alignment - 1, I64), I64)
        base = build.create(AndIOp, lhs=rounded_up, rhs=constant(build, -alignment, I64)).result
    function_context(op, build).heap_frame = HeapFrame(allocation, base, offsets)


def _bytes(op: AllocaOp) -> int:
    element = pointer(op.result).pointee
    if element is F4E2M1FN:
        return (op.count + 1) // 2
    return op.count * pointee_bytes(element)


def _malloc(op: FuncOp, bytes: int, slot: Value, build: ConversionBuilder) -> None:
    """Allocate memory and write its address to shared memory; trap if there is none."""
    symbols = Symbols(op, build)
    (memory,) = symbols.call("malloc", [constant(build, bytes, I64)], PTR)
    address = build.create(PtrToIntOp, arg=memory, types=[I64]).res
    zero = constant(build, 0, I64)
    failed = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=address, rhs=zero).result
    with predicated(build, failed):
        build.create(TrapOp)
    store_shared(build, slot, address, I64.width // 8)


def free_heap_frame(op: FuncOp, build: ConversionBuilder) -> None:
    """Free the memory when no thread uses it any more."""
    frame = function_context(op, build).heap_frame
    if frame is None:
        return
    build.create(BarrierOp)
    with predicated(build, is_first_thread(op, build)):
        memory = build.create(IntToPtrOp, arg=frame.allocation, types=[PTR]).res
        Symbols(op, build).call("free", [memory])


@converts(AllocaOp)
def alloca(op: AllocaOp, new: AllocaOp, build: ConversionBuilder) -> Result:
    """An offset in the memory of the function; without any memory, zero."""
    frame = function_context(op, build).heap_frame
    if frame is None:
        return constant(build, 0, I64)
    return as_value(build, add(build, frame.base, frame.offsets[op], I64), I64)


PATTERNS: Final[Patterns] = (alloca,)
