"""Discardable attributes of nv_tileas: what passes write on operations of any dialect, by name."""

from __future__ import annotations

from typing import Final

SCRATCH_OFFSET: Final = "scratch"
"""On an operation: the byte of its function's scratch memory at which its own part begins."""
SCRATCH_BYTES: Final = "nv_tileas.scratch_bytes"
"""On a function: the bytes of shared memory that the scratch memory of its operations takes."""
SCRATCH_ALIGNMENT: Final = "nv_tileas.scratch_alignment"
"""On a function: the alignment of its scratch memory, where that is more than a line of banks."""
