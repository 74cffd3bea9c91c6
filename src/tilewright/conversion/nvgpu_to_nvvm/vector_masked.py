"""vector to LLVM: masked loads and stores, as one branch per element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer, offset_address
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
    """Lower `vector.maskedload`; masked-off elements come from the pass-through vector."""
    type = result_type(op, build)
    if type is None or len(vector_of(op.result).shape) != 1:
        return build.reject(f"expected a vector of one dimension, got '{op.result.type}'")
    buffer = Buffer.of(op.base, build)
    start = buffer.element_address(new.indices, build)
    vector: Value = new.pass_thru
    for lane, is_active in enumerate(lanes(build, new.mask)):
        read = build.add_block()
        after = build.add_block([type], after=read)
        build.create(
            CondBrOp, condition=is_active, false_operands=[vector], successors=[read, after]
        )
        with build.at(InsertPoint.at_end(read)):
            address = offset_address(start, lane, buffer.element, build)
            element = build.create(LoadOp, addr=address, types=[buffer.element]).res
            index = constant(build, lane, I32)
            updated = build.create(
                InsertElementOp, vector=vector, value=element, position=index
            ).res
            build.create(BrOp, arguments=[updated], successors=[after])
        build.continue_in(after)
        vector = after.args[0]
    return vector


@converts(MaskedStoreOp)
def masked_store(op: MaskedStoreOp, new: MaskedStoreOp, build: ConversionBuilder) -> Result:
    """Lower `vector.maskedstore`; masked-off elements are not written."""
    if len(vector_of(op.value).shape) != 1:
        return build.reject(f"expected a vector of one dimension, got '{op.value.type}'")
    buffer = Buffer.of(op.base, build)
    start = buffer.element_address(new.indices, build)
    elements = lanes(build, new.value)
    for lane, is_active in enumerate(lanes(build, new.mask)):
        write = build.add_block()
        after = build.add_block(after=write)
        build.create(CondBrOp, condition=is_active, successors=[write, after])
        with build.at(InsertPoint.at_end(write)):
            address = offset_address(start, lane, buffer.element, build)
            build.create(StoreOp, value=elements[lane], addr=address)
            build.create(BrOp, successors=[after])
        build.continue_in(after)
    return ()


PATTERNS: Final[Patterns] = (masked_load, masked_store)
