"""Names of the discardable attributes of nv_tileas."""

from __future__ import annotations

from typing import Final

SCRATCH_OFFSET: Final = "scratch"
"""On an operation: the byte offset of its scratch memory within that of its function."""
SCHEDULE: Final = "nv_tileas.schedule"
"""On a loop: its software pipeline, as `schedule-loops` chose it."""
CONTINUES: Final = "nv_tileas.continues"
"""On a scheduled loop that takes over the pipeline of the one before it in its block."""
ENGINE: Final = "nv_tileas.engine"
"""On a load of a scheduled loop that the pipeline copies, or on a store: what copies it."""
MULTICAST: Final = "nv_tileas.multicast"
"""On a load that a producer copies by TMA: a mask of bits of the CTA rank.

CTAs whose ranks differ in these bits alone copy a part of the tile each, to all of them.
"""
EVICT_FIRST: Final = "nv_tileas.evict_first"
"""On a load that a pipeline copies: its lines are the first to be evicted from L2."""
STORE_STAGES: Final = "nv_tileas.store_stages"
"""On a store by TMA: how many boxes each warp stages in shared memory."""
LATE: Final = "nv_tileas.late"
"""On a load of a scheduled loop that is copied in its own iteration, while others are used."""
IN_FLIGHT: Final = "nv_tileas.in_flight"
"""On a dot of a scheduled loop that runs while the next iteration starts."""
SCRATCH_BYTES: Final = "nv_tileas.scratch_bytes"
"""On a function: the bytes of scratch memory of its operations."""
SCRATCH_ALIGNMENT: Final = "nv_tileas.scratch_alignment"
"""On a function: the alignment of its scratch memory, if larger than a row of banks."""
