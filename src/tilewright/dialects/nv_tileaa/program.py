"""The grid: program ids, the number of programs, and cluster launch control."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa.constraints import PROGRAM_ID, SCALAR_I1, SCALAR_I32, TOKEN
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects


class GridOp(Operation):
    """Base of the operations with a result per dimension of the grid."""

    effects = Effects.PURE

    x = d.result(SCALAR_I32)
    y = d.result(SCALAR_I32)
    z = d.result(SCALAR_I32)


class GetProgramIdOp(GridOp):
    """Return the program id of this block, or the coordinates of a canceled one."""

    name = "nv_tileaa.get_program_id"
    syntax = "($program_id^)? attr-dict `:` type($x) `,` type($y) `,` type($z)"

    program_id = d.optional_operand(PROGRAM_ID)


class GetNumProgramsOp(GridOp):
    """Return the size of the grid."""

    name = "nv_tileaa.get_num_programs"
    syntax = "attr-dict `:` type($x) `,` type($y) `,` type($z)"


class GetCtaRankOp(Operation):
    """Return the rank of this CTA among those of its cluster, which run one program.

    A kernel without this operation does the same in each CTA, so that one suffices.
    """

    name = "nv_tileaa.get_cta_rank"
    effects = Effects.PURE
    syntax = "attr-dict `:` type($result)"

    result = d.result(SCALAR_I32)


class CancelNextProgramIdOp(Operation):
    """Cancel a block that has not started and take over its program id, if one is left."""

    name = "nv_tileaa.cancel_next_program_id"
    syntax = "(`token` `=` $token^)? attr-dict `:` type($program_id)"

    token = d.optional_operand(TOKEN)
    program_id = d.result(PROGRAM_ID)
    result_token = d.result(TOKEN)


class IsValidProgramIdOp(Operation):
    """Return whether `cancel_next_program_id` canceled a block."""

    name = "nv_tileaa.is_valid_program_id"
    effects = Effects.PURE
    syntax = "$program_id attr-dict"

    program_id = d.operand(PROGRAM_ID)
    result = d.result(SCALAR_I1)
