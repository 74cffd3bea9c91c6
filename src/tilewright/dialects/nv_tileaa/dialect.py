"""nv_tileaa: programs on tensors in which addresses, memory and its order are plain values."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.nv_tileaa import (
    aggregate,
    atomics,
    attributes,
    conversion,
    floating,
    functions,
    integer,
    matrix,
    memory,
    misc,
    predicates,
    program,
    queue,
    shape,
    structure,
    types,
    view,
)
from tilewright.ir.dialect import Dialect

NV_TILEAA: Final = Dialect(
    "nv_tileaa",
    aggregate,
    atomics,
    attributes,
    conversion,
    floating,
    functions,
    integer,
    matrix,
    memory,
    misc,
    predicates,
    program,
    queue,
    shape,
    structure,
    types,
    view,
    simplifier="tilewright.dialects.nv_tileaa.canonicalize.simplifier",
)
