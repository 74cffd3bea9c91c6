"""Accesses to memory: their tiles in global memory, and what copies to the stages of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.view import TileReadOp, TileWriteOp
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp, ProducerCopyOp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def accessed(op: Operation) -> Value | None:
    """The tile that an operation loads, stores or updates memory with, if it is an access."""
    match op:
        case LoadOp() | AtomicOp():
            return op.result
        case StoreOp():
            return op.value
        case TileReadOp() | TileWriteOp():
            return op.tile
        case _:
            return None


def copied_by_threads(op: ProducerCopyOp) -> bool:
    """Whether each thread copies a part, by `cp.async`, rather than one thread all in bulk."""
    by_threads = op.is_tiled and op.engine is CopyEngine.CP_ASYNC
    return by_threads or target_or_baseline(op).bulk_engine is None


def has_copies_by_threads(op: CreatePipelineOp) -> bool:
    """Whether producers of a pipeline copy by `cp.async`."""
    return any(copied_by_threads(copy) for copy in copies_of(op))


def copies_of(op: CreatePipelineOp) -> Iterator[ProducerCopyOp]:
    """The copies to the stages of a pipeline."""
    return (user for user in op.result.users if isinstance(user, ProducerCopyOp))
