"""Points of a compilation that are no levels."""

from __future__ import annotations

from typing import Final

CANONICAL: Final = "canonical"
"""A program on nv_tileaa before its kernels are planned: observers know it by this name."""
