"""vector to LLVM: accesses under a mask, which touch memory lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer, moved
from tilewright.conversion.nvgpu_to_nvvm.elementwise import lanes, result_type
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.conversion.nvgpu_to_nvvm.vector import vector_of
from tilewright.dialects.llvm.aggregate import InsertElementOp
from tilewright.dialects.llvm.control_flow import BrOp, CondBrOp
from tilewright.dialects.llvm.memory import LoadOp, StoreOp
from tilewright.dialects.vector.memory import MaskedLoadOp, MaskedStoreOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32

if TYPE_CHECKING:
    from tilewright.ir.values import Value


@converts(MaskedLoadOp)
def masked_load(op: MaskedLoadOp, new: MaskedLoadOp, build: ConversionBuilder) -> Result:
    """Where the mask is not set, the other vector's element stays."""
    type = result_type(op, build)
    if type is None or len(vector_of(op.result).shape) != 1:
        return build.reject(f"expected a vector of one dimension, got '{op.result.type}'")
    buffer = Buffer.of(op.base, build)
    start = buffer.element_address(new.indices, build)
    vector: Value = new.pass_thru
    for lane, wanted in enumerate(lanes(build, new.mask)):
        read = build.add_block()
        after = build.add_block([type], after=read)
        build.create(CondBrOp, condition=wanted, false_operands=[vector], successors=[read, after])
        with build.at(InsertPoint.at_end(read)):
            address = moved(start, lane, buffer.element, build)
            element = build.create(LoadOp, addr=address, types=[buffer.element]).res
            place = constant(build, lane, I32)
            both = build.create(InsertElementOp, vector=vector, value=element, position=place).res
            build.create(BrOp, arguments=[both], successors=[after])
        build.continue_in(after)
        vector = after.args[0]
    return vector


@converts(MaskedStoreOp)
def masked_store(op: MaskedStoreOp, new: MaskedStoreOp, build: ConversionBuilder) -> Result:
    """Where the mask is not set, memory stays as it is."""
    if len(vector_of(op.value).shape) != 1:
        return build.reject(f"expected a vector of one dimension, got '{op.value.type}'")
    buffer = Buffer.of(op.base, build)
    start = buffer.element_address(new.indices, build)
    elements = lanes(build, new.value)
    for lane, wanted in enumerate(lanes(build, new.mask)):
        write = build.add_block()
        after = build.add_block(after=write)
        build.create(CondBrOp, condition=wanted, successors=[write, after])
        with build.at(InsertPoint.at_end(write)):
            address = moved(start, lane, buffer.element, build)
            build.create(StoreOp, value=elements[lane], addr=address)
            build.create(BrOp, successors=[after])
        build.continue_in(after)
    return ()


PATTERNS: Final[Patterns] = (masked_load, masked_store)
