"""How the stages of a pipeline are written and read: by threads, in bulk, or by wgmma."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileas.attributes import CopyEngine, in_shared_memory
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    CreatePipelineOp,
    ProducerCopyOp,
    ProducerWriteOp,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def copied_by_threads(op: ProducerCopyOp) -> bool:
    """Whether each thread copies a part, by `cp.async`, rather than one thread all in bulk."""
    by_threads = op.is_tiled and op.engine is CopyEngine.CP_ASYNC
    return by_threads or target_or_baseline(op).bulk_engine is None


def has_copies_by_threads(op: CreatePipelineOp) -> bool:
    """Whether producers of a pipeline copy by `cp.async`."""
    return any(copied_by_threads(copy) for copy in _copies(op))


def has_bulk_copies(op: CreatePipelineOp) -> bool:
    """Whether producers of a pipeline copy in bulk."""
    return not all(copied_by_threads(copy) for copy in _copies(op))


def is_written_by_threads(op: CreatePipelineOp) -> bool:
    """Whether producers of a pipeline store to its stages."""
    return any(isinstance(user, ProducerWriteOp) for user in op.result.users)


def is_read_by_wgmma(op: CreatePipelineOp) -> bool:
    """Whether wgmma reads the stages of a pipeline."""
    reads = [user for user in op.result.users if isinstance(user, ConsumerReadOp)]
    tiles = [value for read in reads for value in read.values if in_shared_memory(value)]
    return bool(tiles) and bool(target_or_baseline(op).async_dots)


def _copies(op: CreatePipelineOp) -> Iterator[ProducerCopyOp]:
    return (user for user in op.result.users if isinstance(user, ProducerCopyOp))
