"""Order with the outside: grids before and behind, memory under two addresses; and what is over.

A GPU without programmatic launches runs grids one after the other.
"""

from __future__ import annotations

from typing import Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize
from tilewright.dialects.gpu.threads import BarrierOp as GPUBarrierOp
from tilewright.dialects.nv_tileaa import memory as tileaa
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, JoinMemTokenOp
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.nvvm.attributes import GridDepAction, ProxyKind
from tilewright.dialects.nvvm.sync import FenceProxyOp, GriddepcontrolOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Operation
from tilewright.target.features import Feature


@converts(tileaa.LaunchDependentsOp, tileaa.WaitOnDependenciesOp)
def dependent_launch(op: tileaa.TokenOp, new: tileaa.TokenOp, build: ConversionBuilder) -> Result:
    """Every thread waits, and every thread lets those behind start."""
    if Feature.PROGRAMMATIC_LAUNCH in target_or_baseline(op):
        waits = isinstance(op, tileaa.WaitOnDependenciesOp)
        kind = GridDepAction.WAIT if waits else GridDepAction.LAUNCH_DEPENDENTS
        build.create(GriddepcontrolOp, kind=kind)
    return [()]


@converts(tileaa.FenceAliasOp)
def fence_alias(
    op: tileaa.FenceAliasOp, new: tileaa.FenceAliasOp, build: ConversionBuilder
) -> Result:
    """What threads did under one address comes before what others do under the next."""
    build.create(FenceProxyOp, kind=ProxyKind.ALIAS)
    build.create(GPUBarrierOp)
    build.create(FenceProxyOp, kind=ProxyKind.ALIAS)
    return [()]


@converts(BarrierOp)
def barrier(op: BarrierOp, new: BarrierOp, build: ConversionBuilder) -> Result:
    """All threads of the block wait for each other, or all of the agent."""
    synchronize(op, build)
    return []


@converts(CreateMemTokenOp, JoinMemTokenOp)
def tokens(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """Barriers stand where tokens asked for them."""
    return [()]


PATTERNS: Final[Patterns] = (
    dependent_launch,
    fence_alias,
    barrier,
    tokens,
)
