"""Rows of copies: cp.async, bulk copies, prefetches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.llvm.memory import GEPOp
from tilewright.dialects.llvm.types import PTR_CLUSTER
from tilewright.dialects.nvvm import copy
from tilewright.dialects.nvvm.attributes import EvictionPriority
from tilewright.emit.llvm.nvvm_tma import TMA, prefetch_map
from tilewright.emit.llvm.rows import Assembly, Row, intrinsic, optional, space_of
from tilewright.ir.types import I8
from tilewright.support.diagnostics import Unsupported
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.emit.llvm.function import FunctionWriter
    from tilewright.ir.values import Value

SHARED_END: Final = 1 << 28
"""The end of all shared addresses: a window of 16 MiB for each of 16 CTAs of a cluster."""


def _create_policy(w: FunctionWriter, op: copy.CreatePolicyOp) -> None:
    asm = Assembly(w)
    policy = asm.output(op.res.type)
    text = f"createpolicy.fractional.L2::{op.priority.keyword}.b64 {policy}, 1.0;"
    w.bind(op.res, asm.call(text, convergent=False, memory=False))


def _cp_async(w: FunctionWriter, op: copy.CpAsyncOp) -> None:
    if op.l2_cache_hint is not None:
        _hinted_cp_async(w, op, op.l2_cache_hint)
        return
    suffix = "" if op.cp_size is None else ".s"
    name = f"llvm.nvvm.cp.async.{op.modifier.keyword}.shared.global.{op.size}{suffix}"
    w.line(f"call void @{name}({', '.join(w.all_typed(op.operands))})")


def _hinted_cp_async(w: FunctionWriter, op: copy.CpAsyncOp, policy: Value) -> None:
    """A copy with a cache policy, which the intrinsics of LLVM do not have.

    The shared address passes through a minimum that changes nothing, and leaves it without a
    uniform part, for which ptxas may name the wrong register (`hinted-cp-async` of
    docs/ptxas-defects.md): an illegal instruction at run time. The constant part is added after the
    minimum, so that copies with one base share it.
    """
    asm = Assembly(w)
    base, offset = _constant_offset(op.dst)
    target, operands = asm.input(base), [f"[{asm.input(op.src)}]", str(op.size)]
    operands += [asm.input(each) for each in (op.cp_size, policy) if each is not None]
    name = f"cp.async.{op.modifier.keyword}.shared.global.L2::cache_hint"
    text = (
        f"{{ .reg .b32 %shared; cvt.u32.u64 %shared, {target}; "
        f"min.u32 %shared, %shared, {SHARED_END - 1:#x}; "
        f"{name} [%shared{offset:+d}], {', '.join(operands)}; }}"
    )
    w.line(asm.call(text, convergent=False))


def _constant_offset(pointer: Value) -> tuple[Value, int]:
    """A pointer as another one plus a constant number of bytes."""
    offset = 0
    while (step := pointer.defined_by(GEPOp)) is not None:
        if step.indices or step.element is not I8 or len(step.constants) != 1:
            break
        pointer, offset = step.base, offset + step.constants[0]
    return pointer, offset


def _wait_group(w: FunctionWriter, op: copy.CpAsyncWaitGroupOp) -> None:
    w.line(f"call void @llvm.nvvm.cp.async.wait.group(i32 {op.n})")


def _bulk_wait_group(w: FunctionWriter, op: copy.CpAsyncBulkWaitGroupOp) -> None:
    suffix = ".read" if op.read else ""
    w.line(f"call void @llvm.nvvm.cp.async.bulk.wait.group{suffix}(i32 {op.group})")


def _mbarrier_arrive(op: copy.CpAsyncMBarrierArriveOp) -> str:
    noinc = ".noinc" if op.noinc else ""
    shared = ".shared" if space_of(op.addr) else ""
    return f"cp.async.mbarrier.arrive{noinc}{shared}"


def _bulk_load(w: FunctionWriter, op: copy.CpAsyncBulkGlobalToSharedClusterOp) -> None:
    hint, has_hint = optional(w, op.l2_cache_hint, "i64")
    source, bar, size = w.typed(op.src_mem), w.typed(op.mbar), w.typed(op.size)
    name = "llvm.nvvm.cp.async.bulk.global.to.shared"
    if op.dst_mem.type is not PTR_CLUSTER:
        arguments = [w.typed(op.dst_mem), bar, source, size, hint, has_hint]
        w.line(f"call void @{name}.cta({', '.join(arguments)})")
        return
    mask, has_mask = optional(w, op.multicast_mask, "i16")
    arguments = [w.typed(op.dst_mem), bar, source, size, mask, hint, has_mask, has_hint]
    w.line(f"call void @{name}.cluster({', '.join(arguments)})")


def _bulk_to_peer(w: FunctionWriter, op: copy.CpAsyncBulkSharedToSharedClusterOp) -> Sequence[str]:
    return w.all_typed((op.dst_mem, op.mbar, op.src_mem, op.size))


def _bulk_store(w: FunctionWriter, op: copy.CpAsyncBulkSharedToGlobalOp) -> None:
    hint, has_hint = optional(w, op.l2_cache_hint, "i64")
    arguments = [w.typed(op.dst_mem), w.typed(op.src_mem), w.typed(op.size), hint, has_hint]
    name = "llvm.nvvm.cp.async.bulk.shared.cta.to.global"
    if op.byte_mask is not None:
        name, arguments = f"{name}.bytemask", [*arguments, w.typed(op.byte_mask)]
    w.line(f"call void @{name}({', '.join(arguments)})")


def _bulk_prefetch(w: FunctionWriter, op: copy.CpAsyncBulkPrefetchOp) -> Sequence[str]:
    return [w.typed(op.src_mem), w.typed(op.size), *optional(w, op.l2_cache_hint, "i64")]


_SPACES: Final = {0: "", 1: ".global", 5: ".local"}
_EVICTION: Final = {
    EvictionPriority.EVICT_LAST: "::evict_last",
    EvictionPriority.EVICT_NORMAL: "::evict_normal",
}


def _prefetch(w: FunctionWriter, op: copy.PrefetchOp) -> None:
    if op.tensormap:
        prefetch_map(w, op)
        return
    space = space_of(op.addr)
    assert op.cache_level is not None
    name = f"prefetch{_SPACES.get(space, '')}.{op.cache_level.keyword}"
    if op.evict_priority is not None:
        if op.evict_priority not in _EVICTION or space != 1:
            raise Unsupported(f"'{op.name}' with this eviction priority", op.location)
        name += _EVICTION[op.evict_priority]
    # LLVM selects its intrinsics only from sm_90 on; the instruction is older.
    asm = Assembly(w)
    w.line(asm.call(f"{name} [{asm.input(op.addr)}];", convergent=False))


def _st_bulk(w: FunctionWriter, op: copy.BulkStoreOp) -> None:
    suffix = ".shared.cta" if space_of(op.addr) else ""
    # ptxas rejects a symbol here (`st-bulk-symbol` of docs/ptxas-defects.md).
    pointer = w.temporary(
        f'call {w.types[op.addr.type]} asm "mov.b64 $0, $1;", "=l,l"({w.typed(op.addr)})'
    )
    arguments = f"{w.types[op.addr.type]} {pointer}, {w.typed(op.size)}, i64 0"
    w.line(f"call void @llvm.nvvm.st.bulk{suffix}({arguments})")


def _prefetch_feature(op: copy.PrefetchOp) -> Feature:
    return TMA if op.tensormap else Feature.BASE


COPY_ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    copy.CreatePolicyOp: Row(_create_policy),
    copy.CpAsyncOp: Row(_cp_async),
    copy.CpAsyncCommitGroupOp: intrinsic("cp.async.commit.group"),
    copy.CpAsyncWaitGroupOp: Row(_wait_group),
    copy.CpAsyncWaitAllOp: intrinsic("cp.async.wait.all"),
    copy.CpAsyncMBarrierArriveOp: intrinsic(_mbarrier_arrive),
    copy.CpAsyncBulkCommitGroupOp: intrinsic("cp.async.bulk.commit.group", TMA),
    copy.CpAsyncBulkWaitGroupOp: Row(_bulk_wait_group, TMA),
    copy.CpAsyncBulkGlobalToSharedClusterOp: Row(_bulk_load, TMA),
    copy.CpAsyncBulkSharedToSharedClusterOp: intrinsic(
        "cp.async.bulk.shared.cta.to.cluster", TMA, _bulk_to_peer
    ),
    copy.CpAsyncBulkSharedToGlobalOp: Row(
        _bulk_store, lambda op: TMA if op.byte_mask is None else Feature.TMA_EXTENDED
    ),
    copy.CpAsyncBulkPrefetchOp: intrinsic("cp.async.bulk.prefetch.L2", TMA, _bulk_prefetch),
    copy.PrefetchOp: Row(_prefetch, _prefetch_feature),
    copy.BulkStoreOp: Row(_st_bulk, Feature.BULK_STORE),
}
