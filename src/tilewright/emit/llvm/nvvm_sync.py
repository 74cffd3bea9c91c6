"""Rows of registers, warps, barriers and fences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.dialects.nvvm import mbarrier, registers, sync, warp
from tilewright.dialects.nvvm.attributes import (
    GridDepAction,
    MatchSyncKind,
    MemScope,
    ProxyKind,
    SetMaxRegisterAction,
    SharedSpace,
)
from tilewright.emit.llvm.rows import Assembly, Row, intrinsic, predicate, space_of
from tilewright.ir.types import I1, I32
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.emit.llvm.function import FunctionWriter

CLUSTER: Final = Feature.CLUSTER


def _register(w: FunctionWriter, op: registers.SpecialRegisterOp) -> None:
    known = op.range
    before = "" if known is None else f"range({known.type} {known.lower}, {known.upper}) "
    w.call(op, f"llvm.nvvm.read.ptx.sreg.{op.register}", (), before)


def _register_row(register: str) -> Row:
    return Row(_register, CLUSTER if register in registers.CLUSTER_REGISTERS else Feature.BASE)


def _clock(w: FunctionWriter, op: registers.ClockOp) -> None:
    w.call(op, f"llvm.nvvm.read.ptx.sreg.{op.register}", ())


def _barrier(w: FunctionWriter, op: sync.BarrierOp) -> None:
    barrier = "i32 0" if op.barrier_id is None else w.typed(op.barrier_id)
    if op.number_of_threads is None:
        w.line(f"call void @llvm.nvvm.barrier.cta.sync.aligned.all({barrier})")
    else:
        count = w.typed(op.number_of_threads)
        w.line(f"call void @llvm.nvvm.barrier.cta.sync.aligned.count({barrier}, {count})")


def _arrive(w: FunctionWriter, op: sync.BarrierArriveOp) -> None:
    barrier = "i32 0" if op.barrier_id is None else w.typed(op.barrier_id)
    count = w.typed(op.number_of_threads)
    w.line(f"call void @llvm.nvvm.barrier.cta.arrive.aligned.count({barrier}, {count})")


def _aligned(name: str) -> Row:
    return intrinsic(lambda op: f"{name}.aligned" if op.aligned else name, CLUSTER)


_MEMBAR: Final = {MemScope.CTA: "cta", MemScope.GPU: "gl", MemScope.SYS: "sys"}


def _membar(w: FunctionWriter, op: sync.MembarOp) -> None:
    if op.scope is MemScope.CLUSTER:
        w.line('fence syncscope("cluster") seq_cst')
    else:
        w.line(f"call void @llvm.nvvm.membar.{_MEMBAR[op.scope]}()")


_PROXIES: Final = {
    ProxyKind.ALIAS: "alias",
    ProxyKind.ASYNC: "async",
    ProxyKind.ASYNC__GLOBAL: "async.global",
}


def _proxy(op: sync.FenceProxyOp) -> str:
    if op.kind is ProxyKind.ASYNC__SHARED:
        space = "cta" if op.space is SharedSpace.CTA else "cluster"
        return f"fence.proxy.async.shared_{space}"
    return f"fence.proxy.{_PROXIES[op.kind]}"


def _proxy_feature(op: sync.FenceProxyOp) -> Feature:
    return Feature.BASE if op.kind is ProxyKind.ALIAS else Feature.TMA


def _acquire(w: FunctionWriter, op: sync.FenceProxyAcquireOp) -> None:
    # The size is a fixed immediate of the instruction.
    name = f"llvm.nvvm.fence.proxy.tensormap_generic.acquire.{op.scope.keyword}"
    w.line(f"call void @{name}({w.typed(op.addr)}, i32 128)")


def _setmaxnreg(w: FunctionWriter, op: sync.SetMaxRegisterOp) -> None:
    action = "inc" if op.action is SetMaxRegisterAction.INCREASE else "dec"
    w.line(f"call void @llvm.nvvm.setmaxnreg.{action}.sync.aligned.u32(i32 {op.reg_count})")


def _griddep(op: sync.GriddepcontrolOp) -> str:
    return f"griddepcontrol.{'wait' if op.kind is GridDepAction.WAIT else 'launch.dependents'}"


def _mapa(op: sync.MapaOp) -> str:
    return "mapa.shared.cluster" if space_of(op.a) else "mapa"


def _shfl(op: warp.ShflOp) -> str:
    suffix = "p" if op.with_validity else ""
    return f"shfl.sync.{op.kind.keyword}.{op.val.type}{suffix}"


def _match(op: warp.MatchSyncOp) -> str:
    suffix = "p" if op.kind is MatchSyncKind.ALL else ""
    return f"match.{op.kind.keyword}.sync.{op.val.type}{suffix}"


def _redux(op: warp.ReduxOp) -> str:
    extra = (".abs" if op.abs else "") + (".NaN" if op.nan else "")
    return f"redux.sync.{op.kind.keyword}{extra}"


def _redux_feature(op: warp.ReduxOp) -> Feature:
    return Feature.BASE if op.val.type is I32 else Feature.F32_REDUX


def _elect(w: FunctionWriter, op: warp.ElectSyncOp) -> None:
    mask = "i32 -1" if op.membermask is None else w.typed(op.membermask)
    pair = w.temporary(f"call {{ i32, i1 }} @llvm.nvvm.elect.sync({mask})")
    w.bind(op.pred, f"extractvalue {{ i32, i1 }} {pair}, 1")


def _space(op: mbarrier.Init | mbarrier.ArriveExpectTx | mbarrier.TryWaitParity) -> str:
    return ".shared" if space_of(op.operands[0]) else ""


def _init(w: FunctionWriter, op: mbarrier.MBarrierInitOp | mbarrier.MBarrierInitSharedOp) -> None:
    if op.predicate is None:
        arguments = w.all_typed((op.addr, op.count))
        w.line(f"call void @llvm.nvvm.mbarrier.init{_space(op)}({', '.join(arguments)})")
        return
    asm = Assembly(w)
    addr, count = asm.input(op.addr), asm.input(op.count)
    guard = predicate(asm, op.predicate)
    w.line(asm.call(f"{guard}mbarrier.init{_space(op)}.b64 [{addr}], {count};", convergent=False))


def _expect(
    w: FunctionWriter,
    op: mbarrier.MBarrierArriveExpectTxOp | mbarrier.MBarrierArriveExpectTxSharedOp,
) -> None:
    if op.predicate is None and _space(op):
        arguments = ", ".join(w.all_typed((op.addr, op.txcount)))
        name = "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta"
        w.temporary(f"call i64 @{name}({arguments})")
        return
    asm = Assembly(w)
    addr, count = asm.input(op.addr), asm.input(op.txcount)
    guard = predicate(asm, op.predicate)
    space = "::cta" if _space(op) else ""
    name = f"mbarrier.arrive.expect_tx{_space(op)}{space}.b64"
    w.line(asm.call(f"{guard}{name} _, [{addr}], {count};", convergent=False))


_WAIT: Final = """\
{{
.reg .pred P1;
WAIT${{:uid}}:
{wait} P1, [{addr}], {phase}{ticks};
@P1 bra.uni DONE${{:uid}};
bra.uni WAIT${{:uid}};
DONE${{:uid}}:
}}"""


def _try_wait(
    w: FunctionWriter, op: mbarrier.MBarrierTryWaitParityOp | mbarrier.MBarrierTryWaitParitySharedOp
) -> None:
    phase = w.int_of(op.phase, I32)
    # Suspended waits need a target with clusters.
    can_sleep = CLUSTER in w.arch
    if op.res and _space(op) and can_sleep:
        name = "llvm.nvvm.mbarrier.try.wait.parity.tl.scope.cta.space.cta"
        arguments = f"{w.typed(op.addr)}, i32 {phase}, {w.typed(op.ticks)}"
        w.bind(op.res[0], f"call i1 @{name}({arguments})")
        return
    asm = Assembly(w)
    done = asm.output(I1) if op.res else ""
    addr, parity = asm.input(op.addr), asm.named(I32, phase)
    ticks = f", {asm.input(op.ticks)}" if can_sleep else ""
    wait = f"mbarrier.{'try' if can_sleep else 'test'}_wait.parity{_space(op)}.b64"
    if op.res:
        text = f"{wait} {done}, [{addr}], {parity}{ticks};"
        w.bind(op.res[0], asm.call(text, convergent=False))
    else:
        w.line(asm.call(_WAIT.format(wait=wait, addr=addr, phase=parity, ticks=ticks)))


def _arrive_cluster(op: mbarrier.MBarrierArriveClusterOp) -> str:
    return f"mbarrier.arrive.scope.{op.scope.keyword}.space.cluster"


def _nanosleep(w: FunctionWriter, op: sync.NanosleepOp) -> None:
    w.line(f"call void @llvm.nvvm.nanosleep(i32 {op.duration})")


def _barrier_sync(w: FunctionWriter, op: sync.BarSyncAlignedOp) -> None:
    w.line(f"call void @llvm.nvvm.barrier.cta.sync.aligned.all({w.typed(op.barrier_id)})")


def _barrier0(w: FunctionWriter, op: sync.Barrier0Op) -> None:
    w.line("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")


SYNC_ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    **{kind: _register_row(name) for name, kind in registers.REGISTERS.items()},
    registers.ClockReadOp: Row(_clock),
    registers.Clock64ReadOp: Row(_clock),
    registers.GlobalTimerOp: Row(_clock),
    sync.Barrier0Op: Row(_barrier0),
    sync.BarSyncAlignedOp: Row(_barrier_sync),
    sync.BarrierOp: Row(_barrier),
    sync.BarrierArriveOp: Row(_arrive),
    sync.SyncWarpOp: intrinsic("bar.warp.sync"),
    sync.ClusterArriveOp: _aligned("barrier.cluster.arrive"),
    sync.ClusterArriveRelaxedOp: _aligned("barrier.cluster.arrive.relaxed"),
    sync.ClusterWaitOp: _aligned("barrier.cluster.wait"),
    sync.MembarOp: Row(
        _membar, lambda op: CLUSTER if op.scope is MemScope.CLUSTER else Feature.BASE
    ),
    sync.FenceScClusterOp: intrinsic("fence.sc.cluster", CLUSTER),
    sync.FenceMbarrierInitOp: intrinsic("fence.mbarrier_init.release.cluster", CLUSTER),
    sync.FenceProxyOp: intrinsic(_proxy, _proxy_feature),
    sync.FenceProxyAcquireOp: Row(_acquire, Feature.TMA),
    sync.FenceProxyReleaseOp: intrinsic(
        lambda op: f"fence.proxy.tensormap_generic.release.{op.scope.keyword}", Feature.TMA
    ),
    sync.SetMaxRegisterOp: Row(_setmaxnreg, Feature.SETMAXNREG),
    sync.GriddepcontrolOp: intrinsic(_griddep, Feature.PROGRAMMATIC_LAUNCH),
    sync.NanosleepOp: Row(_nanosleep),
    sync.ExitOp: intrinsic("exit"),
    sync.MapaOp: intrinsic(_mapa, CLUSTER),
    warp.ShflOp: intrinsic(_shfl),
    warp.VoteSyncOp: intrinsic(lambda op: f"vote.{op.kind.keyword}.sync"),
    warp.MatchSyncOp: intrinsic(_match),
    warp.ReduxOp: intrinsic(_redux, _redux_feature),
    warp.ElectSyncOp: Row(_elect, CLUSTER),
    mbarrier.MBarrierInitOp: Row(_init),
    mbarrier.MBarrierInitSharedOp: Row(_init),
    mbarrier.MBarrierInvalOp: intrinsic("mbarrier.inval"),
    mbarrier.MBarrierInvalSharedOp: intrinsic("mbarrier.inval.shared"),
    mbarrier.MBarrierArriveOp: intrinsic("mbarrier.arrive"),
    mbarrier.MBarrierArriveSharedOp: intrinsic("mbarrier.arrive.shared"),
    mbarrier.MBarrierArriveNocompleteOp: intrinsic("mbarrier.arrive.noComplete"),
    mbarrier.MBarrierArriveNocompleteSharedOp: intrinsic("mbarrier.arrive.noComplete.shared"),
    mbarrier.MBarrierArriveExpectTxOp: Row(_expect, CLUSTER),
    mbarrier.MBarrierArriveExpectTxSharedOp: Row(_expect, CLUSTER),
    mbarrier.MBarrierExpectTxOp: intrinsic("mbarrier.expect.tx.scope.cta.space.cta", CLUSTER),
    mbarrier.MBarrierCompleteTxOp: intrinsic("mbarrier.complete.tx.scope.cta.space.cta", CLUSTER),
    mbarrier.MBarrierArriveClusterOp: intrinsic(_arrive_cluster, CLUSTER),
    mbarrier.MBarrierTestWaitOp: intrinsic("mbarrier.test.wait"),
    mbarrier.MBarrierTestWaitSharedOp: intrinsic("mbarrier.test.wait.shared"),
    mbarrier.MBarrierTryWaitParityOp: Row(_try_wait),
    mbarrier.MBarrierTryWaitParitySharedOp: Row(_try_wait),
}
