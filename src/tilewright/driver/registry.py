"""The dialects we know, each loaded when a program first names it."""

from __future__ import annotations

from typing import Final

from tilewright.ir.dialect import Context

DIALECTS: Final = {
    "builtin": "tilewright.dialects.builtin:BUILTIN",
    "cuda_tile": "tilewright.dialects.cuda_tile:CUDA_TILE",
    "cute": "tilewright.dialects.cute:CUTE",
}


def context(allow_unregistered: bool = False) -> Context:
    """A context that finds these dialects; others only as text, and only if allowed."""
    return Context(DIALECTS, allow_unregistered)
