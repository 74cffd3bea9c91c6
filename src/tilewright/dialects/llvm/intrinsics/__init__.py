"""LLVM intrinsics by family, each an operation: `llvm.intr.sqrt` is `llvm.sqrt`."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.llvm.intrinsics import effects, floats, integers, reductions

FAMILIES: Final = (effects, floats, integers, reductions)
"""The modules that declare them."""
