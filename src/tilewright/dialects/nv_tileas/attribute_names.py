"""Names of the discardable attributes of nv_tileas."""

from __future__ import annotations

from typing import Final

SCRATCH_OFFSET: Final = "scratch"
"""On an operation: the byte offset of its scratch memory within that of its function."""
SCRATCH_BYTES: Final = "nv_tileas.scratch_bytes"
"""On a function: the bytes of scratch memory of its operations."""
SCRATCH_ALIGNMENT: Final = "nv_tileas.scratch_alignment"
"""On a function: the alignment of its scratch memory, if larger than a row of banks."""
