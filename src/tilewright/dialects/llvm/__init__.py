"""The LLVM dialect: LLVM IR as operations."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.llvm import (
    aggregate,
    arithmetic,
    attributes,
    calls,
    constants,
    control_flow,
    conversion,
    functions,
    globals,
    intrinsics,
    memory,
    types,
)
from tilewright.ir.dialect import Dialect

LLVM: Final = Dialect(
    "llvm",
    aggregate,
    arithmetic,
    attributes,
    calls,
    constants,
    control_flow,
    conversion,
    functions,
    globals,
    memory,
    types,
    *intrinsics.FAMILIES,
)
