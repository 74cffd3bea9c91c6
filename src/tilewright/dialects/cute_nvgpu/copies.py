"""Buffers at computed addresses, and asynchronous copies of single threads with a cache policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.elements import I64_TYPE, RANKED_MEMREF, memref
from tilewright.dialects.gpu.attributes import in_shared_memory, is_global
from tilewright.dialects.llvm.types import PTR_GLOBAL, PTR_SHARED
from tilewright.dialects.memref.layout import is_contiguous
from tilewright.dialects.nvgpu.async_copy import ThreadCopy
from tilewright.dialects.nvgpu.constraints import ASYNC_TOKEN
from tilewright.ir import declare as d
from tilewright.ir.constraints import TypeConstraint
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import DYNAMIC

GLOBAL_OR_SHARED: Final = TypeConstraint(
    "pointer to global or shared memory", lambda type: type in (PTR_GLOBAL, PTR_SHARED)
)


class BufferAtOp(Operation):
    """Return the buffer that begins at an address in global or shared memory.

    The operations of nvgpu take memrefs; a thread computes addresses.
    """

    name = "cute_nvgpu.buffer_at"
    effects = Effects.PURE
    syntax = "$address attr-dict `:` type($address) `to` type($buffer)"

    address = d.operand(GLOBAL_OR_SHARED)
    buffer = d.result(RANKED_MEMREF)

    def verify(self) -> Iterator[str]:
        type = memref(self.buffer)
        if DYNAMIC in (type.shape or ()) or not is_contiguous(type):
            yield f"expected a contiguous buffer of static shape, got '{type}'"
        is_shared = self.address.type is PTR_SHARED
        if not (in_shared_memory(type) if is_shared else is_global(type.space)):
            space = "shared" if is_shared else "global"
            yield f"expected a buffer in {space} memory like the address, got '{type}'"


class DeviceAsyncCopyOp(ThreadCopy):
    """`nvgpu.device_async_copy` with what it has no field for: `cache_hint`, a policy of L2."""

    name = "cute_nvgpu.device_async_copy"
    syntax = (
        "$src `[` $src_indices `]` `,` $dst `[` $dst_indices `]` `,` $dst_elements "
        "(`,` $src_elements^)? `cache_hint` $cache_hint attr-dict `:` type($src) `to` type($dst)"
    )

    cache_hint = d.operand(I64_TYPE)


class DeviceAsyncGroupsOp(Operation):
    """Return a token of all groups of copies that this thread has committed.

    `nvgpu.device_async_wait` takes a token; in a pipeline the groups are of earlier iterations.
    """

    name = "cute_nvgpu.device_async_groups"
    effects = Effects.NONE
    syntax = "attr-dict"

    token = d.result(ASYNC_TOKEN)
