"""Products of matrices by a chosen instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import matrix as tileaa
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import ATOM
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR
from tilewright.ir.types import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, I8, I32, TF32
from tilewright.target.tensor_cores import MMA, find_product

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.target.features import Feature
    from tilewright.target.tensor_cores import Shape

SPELLED: Final[dict[Type, str]] = {
    F16: "f16",
    BF16: "bf16",
    TF32: "tf32",
    F32: "f32",
    F64: "f64",
    F8E4M3FN: "e4m3",
    F8E5M2: "e5m2",
    I32: "s32",
}
"""The element types as PTX spells them; bytes are signed or not as the product says."""

SHAPES: Final[dict[str, tuple[Shape, ...]]] = {
    "f64": ((8, 8, 4),),
    "tf32": ((16, 8, 4), (16, 8, 8)),
    "f16": ((16, 8, 8), (16, 8, 16)),
    "bf16": ((16, 8, 8), (16, 8, 16)),
    "e4m3": ((16, 8, 32),),
    "e5m2": ((16, 8, 32),),
    "s8": ((16, 8, 16), (16, 8, 32)),
    "u8": ((16, 8, 16), (16, 8, 32)),
}
"""The shapes of mma.sync by the type of A, the shallowest first."""


class Instruction(NamedTuple):
    """An mma.sync: its factors as PTX spells them, its shape, and what a GPU needs for it."""

    a: str
    b: str
    shape: Shape
    feature: Feature


def mma_instruction(op: tileaa.DotOp) -> Instruction | None:
    """The mma.sync that has the types of a product, the shallowest that is deep enough."""
    if op.a_scale is not None:
        return None
    a = _factor(op, element_of(op.a.type), op.signedness_a)
    b = _factor(op, element_of(op.b.type), op.signedness_b)
    total = SPELLED.get(element_of(op.c.type))
    if a is None or b is None or total is None:
        return None
    shapes = SHAPES.get(a, ())
    depth = shape(op.a.type)[-1]
    wanted = next((each for each in shapes if each[2] >= depth), shapes[-1] if shapes else None)
    found = None if wanted is None else find_product(MMA, a, b, total, wanted)
    if wanted is None or found is None:
        return None
    return Instruction(a, b, wanted, found.feature)


def _factor(op: tileaa.DotOp, type: Type, signedness: Signedness | None) -> str | None:
    if type is I8:
        return "u8" if signedness is Signedness.UNSIGNED else "s8"
    if type is F32 and op.input_precision == "tf32":
        return "tf32"
    return SPELLED.get(type)


class DotOp(tileaa.DotOp):
    """`a @ b + c` in pieces of the instruction that the atom names.

    For `mma_sync` all three lie as fragments of the instruction; for `fma` the factors may lie
    anywhere, and go through shared memory.
    """

    name = "nv_tileas.dot"
    traits = (*tileaa.DotOp.traits, LAID_OUT)

    atom = d.attribute(ATOM)
    scratch = d.optional_attribute(I64_ATTR)
