"""Where in the grid a block is, and the places of others that it may take over."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa.constraints import PLACE, SCALAR_I1, SCALAR_I32, TOKEN
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects


class GridOp(Operation):
    """Base of what has a number for each of the three dimensions of the grid."""

    effects = Effects.PURE

    x = d.result(SCALAR_I32)
    y = d.result(SCALAR_I32)
    z = d.result(SCALAR_I32)


class GetProgramIdOp(GridOp):
    """Where in the grid this block is, or where a place that it took over is."""

    name = "nv_tileaa.get_program_id"
    syntax = "($place^)? attr-dict `:` type($x) `,` type($y) `,` type($z)"

    place = d.optional_operand(PLACE)


class GetNumProgramsOp(GridOp):
    """How many blocks the grid has."""

    name = "nv_tileaa.get_num_programs"
    syntax = "attr-dict `:` type($x) `,` type($y) `,` type($z)"


class CancelNextProgramIdOp(Operation):
    """Takes over the place of a block that has not started; there may be none left."""

    name = "nv_tileaa.cancel_next_program_id"
    syntax = "(`token` `=` $token^)? attr-dict `:` type($place)"

    token = d.optional_operand(TOKEN)
    place = d.result(PLACE)
    result_token = d.result(TOKEN)


class IsValidProgramIdOp(Operation):
    """Whether a place was taken over."""

    name = "nv_tileaa.is_valid_program_id"
    effects = Effects.PURE
    syntax = "$place attr-dict"

    place = d.operand(PLACE)
    result = d.result(SCALAR_I1)
