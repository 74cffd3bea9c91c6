"""LLVM's own intrinsics by family, each an operation: `llvm.intr.sqrt` calls `llvm.sqrt`."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.llvm.intrinsics import effects, floats, integers, reductions

FAMILIES: Final = (effects, floats, integers, reductions)
"""The modules that declare them."""
