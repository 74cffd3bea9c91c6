"""Where in the grid a block is, and the places of others that it may take over.

A place is three coordinates, or those of `NOWHERE`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.dialects.nv_tileaa import program as d
from tilewright.reference.access import NO_TOKEN, Token
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import Array

NOWHERE: Final[Array] = np.full((1, 3), -1, np.int32)


@meaning(d.GetProgramIdOp)
def get_program_id(op: d.GetProgramIdOp, at: Batch) -> tuple[Array, ...]:
    """Where each block is, or where a place is."""
    places = at.blocks if op.place is None else at[op.place]
    return tuple(places[:, dim] for dim in range(3))


@meaning(d.GetNumProgramsOp)
def get_num_programs(op: d.GetNumProgramsOp, at: Batch) -> tuple[Array, ...]:
    """How many blocks the grid has."""
    return tuple(np.array([extent], np.int32) for extent in at.machine.grid)


@meaning(d.CancelNextProgramIdOp)
def cancel_next_program_id(op: d.CancelNextProgramIdOp, at: Batch) -> tuple[Array, Token]:
    """All blocks start at once here, so that none is left to take over."""
    return NOWHERE, at.get(op.token) or NO_TOKEN


@meaning(d.IsValidProgramIdOp)
def is_valid_program_id(op: d.IsValidProgramIdOp, at: Batch) -> Array:
    """Whether a place is one."""
    return at[op.place][:, 0] >= 0
