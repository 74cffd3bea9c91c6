"""LLVM's own intrinsics by family, each an operation: `llvm.intr.sqrt` calls `llvm.sqrt`."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.llvm.intrinsics import control, floats, integers, memory, reductions

FAMILIES: Final = (control, floats, integers, memory, reductions)
"""The modules that declare them."""
