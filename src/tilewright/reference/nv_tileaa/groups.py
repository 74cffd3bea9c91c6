"""The modules that hold the meanings of nv_tileaa and of what its programs use besides it."""

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
    program,
    queue,
    shape,
    structure,
    view,
)
"""To import them fills the table."""
