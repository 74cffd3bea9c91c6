"""The modules that register the evaluators of nv_tileaa and of the dialects it is used with."""

from __future__ import annotations

from typing import Final

from tilewright.reference.nv_tileaa import (
    aggregate,
    arith,
    control_flow,
    conversion,
    floating,
    functions,
    integer,
    matrix,
    memory,
    misc,
    multimem,
    program,
    queue,
    shape,
    structure,
    view,
)

GROUPS: Final = (
    aggregate,
    arith,
    control_flow,
    conversion,
    floating,
    functions,
    integer,
    matrix,
    memory,
    misc,
    multimem,
    program,
    queue,
    shape,
    structure,
    view,
)
"""Importing them fills the table."""
