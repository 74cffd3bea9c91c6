"""Discardable attributes of llvm, on parameters and buffers, by name."""

from __future__ import annotations

from typing import Final

ALIGN: Final = "llvm.align"
"""The alignment of a pointer or a buffer, in bytes."""
BYVAL: Final = "llvm.byval"
"""The type of a parameter that is passed in memory."""
DEREFERENCEABLE: Final = "llvm.dereferenceable"
"""The number of dereferenceable bytes at the pointer."""
NOCAPTURE: Final = "llvm.nocapture"
"""No copy of the pointer outlives the call."""
