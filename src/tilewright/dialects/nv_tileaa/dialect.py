"""nv_tileaa: tile programs with explicit pointers, memory views and memory tokens."""

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
    multimem,
    predicates,
    program,
    queue,
    requests,
    shape,
    splits,
    structure,
    types,
    view,
)
from tilewright.dialects.nv_tileaa.attribute_names import AT
from tilewright.dialects.nv_tileaa.schedule_problems import point_problems
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
    multimem,
    predicates,
    program,
    queue,
    requests,
    shape,
    splits,
    structure,
    types,
    view,
    simplifier="tilewright.dialects.nv_tileaa.canonicalize.simplifier",
    attribute_checks={AT: point_problems},
)
