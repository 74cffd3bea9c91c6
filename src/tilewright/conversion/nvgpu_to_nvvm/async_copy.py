"""nvgpu's asynchronous copies to `cp.async`, commit and wait."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.memref import memref_type
from tilewright.conversion.nvgpu_to_nvvm.numbers import as_value, constant, mul, resized
from tilewright.dialects.llvm.conversion import AddrSpaceCastOp
from tilewright.dialects.llvm.types import PTR_GLOBAL
from tilewright.dialects.nvgpu import async_copy
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.dialects.nvvm import copy as nvvm
from tilewright.dialects.nvvm.attributes import LoadCacheModifier
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32


@converts(async_copy.DeviceAsyncCopyOp)
def copy(
    op: async_copy.DeviceAsyncCopyOp, new: async_copy.DeviceAsyncCopyOp, build: ConversionBuilder
) -> Result:
    """Lower `nvgpu.device_async_copy` to `cp.async`; its token becomes an unused constant."""
    size = (bits_of(memref_type(op.dst).element) or 0) // 8
    if not size:
        return build.reject(f"expected elements of a multiple of 8 bits, got '{op.dst.type}'")
    target = Buffer.of(op.dst, build).element_address(new.dst_indices, build)
    source = Buffer.of(op.src, build).element_address(new.src_indices, build)
    if source.type is not PTR_GLOBAL:
        source = build.create(AddrSpaceCastOp, arg=source, types=[PTR_GLOBAL]).res
    read = None
    if new.src_elements is not None:
        read = resized(build, as_value(build, mul(build, new.src_elements, size)), I32)
    build.create(
        nvvm.CpAsyncOp,
        dst=target,
        src=source,
        size=size * op.dst_elements,
        modifier=LoadCacheModifier.CG if op.bypass_l1 else LoadCacheModifier.CA,
        cp_size=read,
    )
    return constant(build, 0, I32)


@converts(async_copy.DeviceAsyncCreateGroupOp)
def create_group(
    op: async_copy.DeviceAsyncCreateGroupOp,
    new: async_copy.DeviceAsyncCreateGroupOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to `cp.async.commit_group`, which commits all copies since the last group."""
    build.create(nvvm.CpAsyncCommitGroupOp)
    return constant(build, 0, I32)


@converts(async_copy.DeviceAsyncWaitOp)
def wait(
    op: async_copy.DeviceAsyncWaitOp, new: async_copy.DeviceAsyncWaitOp, build: ConversionBuilder
) -> Result:
    """Lower to `cp.async.wait_group`: wait until at most n groups are pending."""
    return build.create(nvvm.CpAsyncWaitGroupOp, n=op.num_groups or 0)


PATTERNS: Final[Patterns] = (copy, create_group, wait)
