"""Asynchronous copies of nvgpu and cute_nvgpu to `cp.async`, commit and wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.memref import memref_type
from tilewright.conversion.nvgpu_to_nvvm.numbers import as_value, constant, mul, resized
from tilewright.dialects.cute_nvgpu import copies
from tilewright.dialects.llvm.conversion import AddrSpaceCastOp
from tilewright.dialects.llvm.types import PTR_GLOBAL
from tilewright.dialects.nvgpu import async_copy
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.dialects.nvvm import copy as nvvm
from tilewright.dialects.nvvm.attributes import LoadCacheModifier
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32

if TYPE_CHECKING:
    from tilewright.ir.values import Value


@converts(copies.BufferAtOp)
def buffer_at(op: copies.BufferAtOp, new: copies.BufferAtOp, build: ConversionBuilder) -> Result:
    """Fold: a buffer of static shape is its address."""
    return new.address


@converts(async_copy.DeviceAsyncCopyOp)
def copy(
    op: async_copy.DeviceAsyncCopyOp, new: async_copy.DeviceAsyncCopyOp, build: ConversionBuilder
) -> Result:
    """Lower to `cp.async`; the token becomes an unused constant."""
    return _copy(op, new, build, None)


@converts(copies.DeviceAsyncCopyOp)
def copy_with_policy(
    op: copies.DeviceAsyncCopyOp, new: copies.DeviceAsyncCopyOp, build: ConversionBuilder
) -> Result:
    """Lower to `cp.async` with the cache policy."""
    return _copy(op, new, build, new.cache_hint)


def _copy(
    op: async_copy.ThreadCopy,
    new: async_copy.ThreadCopy,
    build: ConversionBuilder,
    policy: Value | None,
) -> Result:
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
        l2_cache_hint=policy,
    )
    return constant(build, 0, I32)


@converts(copies.DeviceAsyncGroupsOp)
def groups(
    op: copies.DeviceAsyncGroupsOp, new: copies.DeviceAsyncGroupsOp, build: ConversionBuilder
) -> Result:
    """Lower to an unused constant, as the tokens of copies."""
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


PATTERNS: Final[Patterns] = (buffer_at, copy, copy_with_policy, groups, create_group, wait)
