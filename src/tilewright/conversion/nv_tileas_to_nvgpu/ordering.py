"""Order with the outside: grids before and behind, memory under two addresses; and what is over.

A GPU without programmatic launches runs grids one after the other.
"""

from __future__ import annotations

from typing import Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileaa import memory as tileaa
from tilewright.dialects.nv_tileaa import misc
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
    build.create(BarrierOp)
    build.create(FenceProxyOp, kind=ProxyKind.ALIAS)
    return [()]


@converts(misc.OptimizationBarrierOp)
def held_back(
    op: misc.OptimizationBarrierOp, new: misc.OptimizationBarrierOp, build: ConversionBuilder
) -> Result:
    """The passes that it held back are over."""
    return [build.values(value) for value in op.values]


@converts(misc.MessageOp, misc.MarkForReuseOp)
def nothing(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
    """These were for the compiler."""
    return []


PATTERNS: Final[Patterns] = (dependent_launch, fence_alias, held_back, nothing)
