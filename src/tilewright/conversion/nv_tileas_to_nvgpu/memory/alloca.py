"""Memory that a block asks for: a piece of the device's heap, from its start to its end.

All that a function asks for is one piece with a place for each request; a request in a loop gets
the same place again. The first thread fetches the piece and gives it back.
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
"""How the device's heap aligns what it gives."""


def allocate_heap_frame(op: FuncOp, build: ConversionBuilder) -> None:
    """Fetch the memory for all requests of a function, at its entry."""
    total, strictest = 0, HEAP_ALIGNMENT
    offsets: dict[AllocaOp, int] = {}
    for request in op.walk():
        if isinstance(request, AllocaOp):
            total = -(-total // request.alignment) * request.alignment
            offsets[request] = total
            total += _bytes(request)
            strictest = max(strictest, request.alignment)
    if not total:
        return
    slot = Symbols(op, build).shared("heap_memory", I64, I64.width // 8)
    with predicated(build, is_first_thread(op, build)):
        _malloc(op, total + strictest - HEAP_ALIGNMENT, slot, build)
    build.create(BarrierOp)
    base = allocation = load_shared(build, slot, I64, I64.width // 8)
    if strictest > HEAP_ALIGNMENT:
        raised = as_value(build, add(build, base, strictest - 1, I64), I64)
        base = build.create(AndIOp, lhs=raised, rhs=constant(build, -strictest, I64)).result
    function_context(op, build).heap_frame = HeapFrame(allocation, base, offsets)


def _bytes(request: AllocaOp) -> int:
    element = pointer(request.result).pointee
    if element is F4E2M1FN:
        return (request.count + 1) // 2
    return request.count * pointee_bytes(element)


def _malloc(op: FuncOp, bytes: int, slot: Value, build: ConversionBuilder) -> None:
    """Write down where the memory is; without any the kernel cannot go on."""
    symbols = Symbols(op, build)
    (found,) = symbols.call("malloc", [constant(build, bytes, I64)], PTR)
    address = build.create(PtrToIntOp, arg=found, types=[I64]).res
    zero = constant(build, 0, I64)
    failed = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=address, rhs=zero).result
    with predicated(build, failed):
        build.create(TrapOp)
    store_shared(build, slot, address, I64.width // 8)


def free_heap_frame(op: FuncOp, build: ConversionBuilder) -> None:
    """Give the memory back when no thread uses it any more."""
    frame = function_context(op, build).heap_frame
    if frame is None:
        return
    build.create(BarrierOp)
    with predicated(build, is_first_thread(op, build)):
        memory = build.create(IntToPtrOp, arg=frame.allocation, types=[PTR]).res
        Symbols(op, build).call("free", [memory])


@converts(AllocaOp)
def alloca(op: AllocaOp, new: AllocaOp, build: ConversionBuilder) -> Result:
    """A place in the memory of the function; one of no elements is any."""
    frame = function_context(op, build).heap_frame
    if frame is None:
        return constant(build, 0, I64)
    return as_value(build, add(build, frame.base, frame.offsets[op], I64), I64)


PATTERNS: Final[Patterns] = (alloca,)
