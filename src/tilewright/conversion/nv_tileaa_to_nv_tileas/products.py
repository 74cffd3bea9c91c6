"""How products of matrices are made: the instruction, and the layouts of its operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.ir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I32,
    TF32,
)
from tilewright.layout.fragments import (
    mma_accumulator,
    mma_left,
    mma_right,
    share,
    tile_fragment,
)
from tilewright.layout.parts import beside
from tilewright.layout.spread import spread
from tilewright.target.tensor_cores import BITS, MMA, find_product

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.matrix import DotOp
    from tilewright.ir.attributes import Type
    from tilewright.layout.linear import Layout
    from tilewright.target.arch import Arch
    from tilewright.target.tensor_cores import Shape

SPELLED: Final = {
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

WIDEST: Final = {64: (8, 8, 4), 32: (16, 8, 8), 16: (16, 8, 16), 8: (16, 8, 32)}
"""The shape of mma.sync by the bits of a factor."""


class Product(NamedTuple):
    """A choice for one product of matrices."""

    atom: Atom
    left: Layout
    right: Layout
    total: Layout


def choose_product(op: DotOp, arch: Arch, warps: int) -> Product:
    """The instruction for a product: that of the tensor cores if they have one for its types."""
    instruction = mma_shape(op, arch)
    if instruction is None:
        return _by_scalars(op, warps)
    return _by_warps(op, instruction, warps)


def mma_shape(op: DotOp, arch: Arch) -> Shape | None:
    """The shape of the mma.sync that has the types of a product, if the GPU has it."""
    if op.a_scale is not None:
        return None
    a = _spelled(element_of(op.a.type), op.signedness_a)
    b = _spelled(element_of(op.b.type), op.signedness_b)
    total = _spelled(element_of(op.c.type), None)
    if a is None or b is None or total is None or a == "f32":
        return None
    wanted = WIDEST[BITS[a]]
    family = find_product(MMA, a, b, total, wanted)
    return wanted if family is not None and family.feature in arch else None


def _spelled(type: Type, signedness: Signedness | None) -> str | None:
    if type is I8:
        return "u8" if signedness is Signedness.UNSIGNED else "s8"
    return SPELLED.get(type)  # pyright: ignore[reportArgumentType]


def _by_warps(op: DotOp, instruction: Shape, warps: int) -> Product:
    """Each warp has a part of the result; warps of one row share A, those of one column B."""
    *batch, m, n = shape(op.c.type)
    k = shape(op.a.type)[-1]
    down, across = warp_grid(m // instruction[0], n // instruction[1], warps)
    bits = BITS[_spelled(element_of(op.a.type), op.signedness_a) or "f32"]
    left = tile_fragment(mma_left(bits, instruction[0], instruction[2]), (m, k), (down, 1))
    right = tile_fragment(mma_right(bits, instruction[2]), (k, n), (1, across))
    total = tile_fragment(mma_accumulator(instruction[0]), (m, n), (down, across), order=(0, 1))
    # The warp's number has the place down in its low bits.
    return Product(
        Atom.MMA_SYNC,
        _batched(share(share(left, down, first=False), warps, first=False), batch),
        _batched(share(share(right, down * across, first=True), warps, first=False), batch),
        _batched(share(total, warps, first=False), batch),
    )


def warp_grid(down: int, across: int, warps: int) -> tuple[int, int]:
    """How many warps lie down and across a product of so many instructions, about square."""
    rows, columns = 1, 1
    while rows * columns < warps:
        if rows * 2 <= down and (down // rows >= across // columns or columns * 2 > across):
            rows *= 2
        elif columns * 2 <= across:
            columns *= 2
        else:
            break
    return rows, columns


def _batched(layout: Layout, batch: list[int]) -> Layout:
    """The layout of several such matrices: registers count them."""
    flat = layout.reshape((*(1 for _ in batch), *layout.shape))
    return beside(flat, (*batch, *layout.shape)).distinct_registers()


def _by_scalars(op: DotOp, warps: int) -> Product:
    """Sums of products in any layout: the factors go through shared memory."""
    left, right, total = (spread(shape(value.type), warps) for value in (op.a, op.b, op.c))
    return Product(Atom.FMA, left, right, total)
