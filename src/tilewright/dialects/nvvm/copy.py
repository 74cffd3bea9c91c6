"""Asynchronous copies: cp.async and its groups, bulk copies, prefetches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.llvm.constraints import BOOL, INT16, INT32, INT64, pointer
from tilewright.dialects.nvvm.attributes import (
    CACHE_MODIFIER,
    EVICTION_PRIORITY,
    PREFETCH_LEVEL,
    EvictionPriority,
    LoadCacheModifier,
    PrefetchLevel,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR, I32_ATTR, IntegerKind
from tilewright.ir.traits import Effects
from tilewright.ir.types import I32

GLOBAL: Final = pointer(1)
SHARED: Final = pointer(3)
CLUSTER: Final = pointer(7)

GROUPS: Final = IntegerKind(I32, 0)
"""The number of groups that may be pending."""


class CreatePolicyOp(NvvmOp):
    """Create a cache policy: the eviction priority in L2 of all lines of an access.

    Accesses take it as `l2_cache_hint`.
    """

    name = "nvvm.createpolicy.fractional"
    effects = Effects.PURE
    syntax = "$priority attr-dict"

    priority = d.attribute(EVICTION_PRIORITY)
    res = d.result(INT64)

    def verify(self) -> Iterator[str]:
        if self.priority is EvictionPriority.NO_ALLOCATE:
            yield f"expected an eviction priority of L2, got '{self.priority.keyword}'"


class CpAsyncOp(NvvmOp):
    """Copy 4, 8 or 16 bytes to shared memory; bytes beyond `cp_size` are zero-filled."""

    name = "nvvm.cp.async.shared.global"
    syntax = (
        "$dst `,` $src `,` $size `,` `cache` `=` $modifier (`,` $cp_size^)? "
        "(`l2_cache_hint` `=` $l2_cache_hint^)? attr-dict "
        "`:` type($dst) `,` type($src) (`,` type($cp_size)^)?"
    )

    dst = d.operand(SHARED)
    src = d.operand(GLOBAL)
    size = d.attribute(I32_ATTR)
    modifier = d.attribute(CACHE_MODIFIER)
    cp_size = d.optional_operand(INT32)
    """The number of bytes that are read."""
    l2_cache_hint = d.optional_operand(INT64)

    def verify(self) -> Iterator[str]:
        if self.size not in (4, 8, 16):
            yield f"expected a size of 4, 8 or 16 bytes, got {self.size}"
        if self.modifier not in (LoadCacheModifier.CA, LoadCacheModifier.CG):
            yield f"expected the cache modifier 'ca' or 'cg', got '{self.modifier.keyword}'"
        elif self.modifier is LoadCacheModifier.CG and self.size != 16:
            yield f"expected 16 bytes with the cache modifier 'cg', got {self.size}"


class CpAsyncCommitGroupOp(NvvmOp):
    """Commit the copies since the last group as a group."""

    name = "nvvm.cp.async.commit.group"
    syntax = "attr-dict"


class CpAsyncWaitGroupOp(NvvmOp):
    """Wait until at most n groups are pending."""

    name = "nvvm.cp.async.wait.group"
    syntax = "$n attr-dict"

    n = d.attribute(GROUPS)


class CpAsyncWaitAllOp(NvvmOp):
    """Wait for all copies."""

    name = "nvvm.cp.async.wait.all"
    syntax = "attr-dict"


class CpAsyncMBarrierArriveOp(NvvmOp):
    """Arrive at a barrier when the copies of this thread have completed."""

    name = "nvvm.cp.async.mbarrier.arrive"
    syntax = "$addr attr-dict `:` type($addr)"

    addr = d.operand(pointer(0, 3))
    noinc = d.attribute(BOOL_ATTR, default=False)
    """Whether the expected count of the barrier includes this arrival."""


class CpAsyncBulkCommitGroupOp(NvvmOp):
    """Commit the bulk copies since the last group as a bulk group."""

    name = "nvvm.cp.async.bulk.commit.group"
    syntax = "attr-dict"


class CpAsyncBulkWaitGroupOp(NvvmOp):
    """Wait until at most `group` bulk groups are pending."""

    name = "nvvm.cp.async.bulk.wait_group"
    syntax = "$group attr-dict"

    group = d.attribute(GROUPS)
    read = d.flag()
    """Whether to wait only until the sources were read."""


class CpAsyncBulkGlobalToSharedClusterOp(NvvmOp):
    """Copy bytes to the shared memory of this CTA, or multicast them in the cluster."""

    name = "nvvm.cp.async.bulk.shared.cluster.global"
    syntax = (
        "$dst_mem `,` $src_mem `,` $mbar `,` $size (`multicast_mask` `=` $multicast_mask^)? "
        "(`l2_cache_hint` `=` $l2_cache_hint^)? attr-dict `:` type($dst_mem) `,` type($src_mem)"
    )

    dst_mem = d.operand(pointer(3, 7))
    src_mem = d.operand(GLOBAL)
    mbar = d.operand(SHARED)
    size = d.operand(INT32)
    multicast_mask = d.optional_operand(INT16)
    l2_cache_hint = d.optional_operand(INT64)

    def verify(self) -> Iterator[str]:
        if self.multicast_mask is not None and self.dst_mem.type is not CLUSTER.only:
            yield "expected a destination in address space 7 with a multicast mask"


class CpAsyncBulkSharedToSharedClusterOp(NvvmOp):
    """Copy bytes from shared memory of this CTA to that of another."""

    name = "nvvm.cp.async.bulk.shared.cluster.shared.cta"
    syntax = (
        "$dst_mem `,` $src_mem `,` $mbar `,` $size attr-dict `:` type($dst_mem) `,` type($src_mem)"
    )

    dst_mem = d.operand(CLUSTER)
    src_mem = d.operand(SHARED)
    mbar = d.operand(SHARED)
    """The barrier, in the CTA of the destination."""
    size = d.operand(INT32)


class CpAsyncBulkSharedToGlobalOp(NvvmOp):
    """Copy bytes from shared to global memory, optionally under a byte mask."""

    name = "nvvm.cp.async.bulk.global.shared.cta"
    syntax = (
        "$dst_mem `,` $src_mem `,` $size (`l2_cache_hint` `=` $l2_cache_hint^)? "
        "(`byte_mask` `=` $byte_mask^)? attr-dict `:` type($dst_mem) `,` type($src_mem)"
    )

    dst_mem = d.operand(GLOBAL)
    src_mem = d.operand(SHARED)
    size = d.operand(INT32)
    l2_cache_hint = d.optional_operand(INT64)
    byte_mask = d.optional_operand(INT16)


class CpAsyncBulkPrefetchOp(NvvmOp):
    """Prefetch bytes into L2."""

    name = "nvvm.cp.async.bulk.prefetch"
    syntax = (
        "$src_mem `,` $size (`l2_cache_hint` `=` $l2_cache_hint^)? attr-dict `:` type($src_mem)"
    )

    src_mem = d.operand(GLOBAL)
    size = d.operand(INT32)
    l2_cache_hint = d.optional_operand(INT64)


class PrefetchOp(NvvmOp):
    """Prefetch a cache line or a tensor map."""

    name = "nvvm.prefetch"
    syntax = (
        "(`level` `=` $cache_level^ `,`)? (`tensormap` $tensormap^ `,`)? "
        "(`evict_priority` `=` $evict_priority^ `,`)? $addr (`,` `predicate` `=` $predicate^)? "
        "attr-dict `:` type($addr) (`,` type($predicate)^)?"
    )

    cache_level = d.optional_attribute(PREFETCH_LEVEL, spelling="cacheLevel")
    evict_priority = d.optional_attribute(EVICTION_PRIORITY, spelling="evictPriority")
    addr = d.operand(pointer(0, 1, 4, 5))
    predicate = d.optional_operand(BOOL)
    tensormap = d.flag()
    in_param_space = d.flag()
    """Whether the tensor map is a parameter of the kernel."""

    def verify(self) -> Iterator[str]:
        if self.tensormap == (self.cache_level is not None):
            yield "expected either a cache level or 'tensormap'"
        if self.predicate is not None and not self.tensormap:
            yield "expected a predicate only with 'tensormap'"
        if self.in_param_space and not self.tensormap:
            yield "expected 'in_param_space' only with 'tensormap'"
        if self.evict_priority is not None and self.cache_level is not PrefetchLevel.L2:
            yield "expected an eviction priority only at level L2"


class BulkStoreOp(NvvmOp):
    """Fill shared memory with zeros."""

    name = "nvvm.st.bulk"
    syntax = "$addr `,` `size` `=` $size attr-dict `:` type($addr)"

    addr = d.operand(pointer(0, 3))
    size = d.operand(INT64)
