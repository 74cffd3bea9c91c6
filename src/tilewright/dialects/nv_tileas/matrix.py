"""Products of matrices by a chosen instruction."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import matrix as tileaa
from tilewright.dialects.nv_tileas.attributes import ATOM
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR


class DotOp(tileaa.DotOp):
    """`a @ b + c` in pieces of the instruction that the atom names."""

    name = "nv_tileas.dot"
    traits = (*tileaa.DotOp.traits, LAID_OUT)

    atom = d.attribute(ATOM)
    scratch = d.optional_attribute(I64_ATTR)
