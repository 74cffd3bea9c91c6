"""Synchronization: barriers, memory tokens, fences, dependences between grids."""

from __future__ import annotations

from typing import Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    fence_proxy,
    is_first_thread,
    synchronize,
)
from tilewright.dialects.cute_nvgpu.threads import GridLaunchDependentsOp, GridWaitOp, NanosleepOp
from tilewright.dialects.nv_tileaa import memory as tileaa
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, JoinMemTokenOp
from tilewright.dialects.nv_tileas.sync import BarrierOp, ProxyFenceOp, SleepOp
from tilewright.dialects.nvvm.attributes import ProxyKind
from tilewright.dialects.nvvm.sync import FenceProxyOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Operation


@converts(tileaa.LaunchDependentsOp, tileaa.WaitOnDependenciesOp)
def dependent_launch(op: tileaa.TokenOp, new: tileaa.TokenOp, build: ConversionBuilder) -> Result:
    """`griddepcontrol` in every thread; without programmatic launch, grids are serialized."""
    if target_or_baseline(op).overlaps_grids:
        is_wait = isinstance(op, tileaa.WaitOnDependenciesOp)
        build.create(GridWaitOp if is_wait else GridLaunchDependentsOp)
    return [()]


@converts(tileaa.FenceAliasOp)
def fence_alias(
    op: tileaa.FenceAliasOp, new: tileaa.FenceAliasOp, build: ConversionBuilder
) -> Result:
    """Order accesses through one virtual address before those through an alias of it."""
    build.create(FenceProxyOp, kind=ProxyKind.ALIAS)
    synchronize(op, build)
    build.create(FenceProxyOp, kind=ProxyKind.ALIAS)
    return [()]


@converts(BarrierOp)
def barrier(op: BarrierOp, new: BarrierOp, build: ConversionBuilder) -> Result:
    """A barrier of the CTA, or of the agent."""
    synchronize(op, build)
    return []


@converts(ProxyFenceOp)
def proxy_fence(op: ProxyFenceOp, new: ProxyFenceOp, build: ConversionBuilder) -> Result:
    """A fence in every thread."""
    fence_proxy(build)
    return []


@converts(SleepOp)
def sleep(op: SleepOp, new: SleepOp, build: ConversionBuilder) -> Result:
    """The first thread sleeps; the others wait for it at the next barrier."""
    with predicated(build, is_first_thread(op, build)):
        build.create(NanosleepOp, duration=new.duration)
    return []


@converts(CreateMemTokenOp, JoinMemTokenOp)
def tokens(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """Drop memory tokens: barriers already enforce their order."""
    return [()]


PATTERNS: Final[Patterns] = (
    dependent_launch,
    fence_alias,
    barrier,
    proxy_fence,
    sleep,
    tokens,
)
