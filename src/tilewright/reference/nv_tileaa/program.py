"""The coordinates of a block in the grid, and work stealing by cancelling blocks.

A program id is three coordinates, or those of `NO_PROGRAM`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.dialects.nv_tileaa import program as d
from tilewright.reference.access import NO_TOKEN, Token
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import Array

NO_PROGRAM: Final[Array] = np.full((1, 3), -1, np.int32)


@evaluator(d.GetProgramIdOp)
def get_program_id(op: d.GetProgramIdOp, at: Batch) -> tuple[Array, ...]:
    """The coordinates of each block, or of a program id."""
    coordinates = at.blocks if op.program_id is None else at[op.program_id]
    return tuple(coordinates[:, dim] for dim in range(3))


@evaluator(d.GetNumProgramsOp)
def get_num_programs(op: d.GetNumProgramsOp, at: Batch) -> tuple[Array, ...]:
    """The extents of the grid."""
    return tuple(np.array([extent], np.int32) for extent in at.machine.grid)


@evaluator(d.GetCtaRankOp)
def get_cta_rank(op: d.GetCtaRankOp, at: Batch) -> Array:
    """The rank of each block in its cluster."""
    return at.blocks[:, 3]


@evaluator(d.CancelNextProgramIdOp)
def cancel_next_program_id(op: d.CancelNextProgramIdOp, at: Batch) -> tuple[Array, Token]:
    """Cancel nothing: all blocks start at once here."""
    return NO_PROGRAM, at.get(op.token) or NO_TOKEN


@evaluator(d.IsValidProgramIdOp)
def is_valid_program_id(op: d.IsValidProgramIdOp, at: Batch) -> Array:
    """Whether a program id is valid."""
    return at[op.program_id][:, 0] >= 0
