"""How products of matrices are made: the instruction, and the layouts of its operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.dialects.nv_tileas.matrix import mma_instruction
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.products import fragment_tile, patches, warp_grid
from tilewright.target.tensor_cores import BITS

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.matrix import DotOp
    from tilewright.dialects.nv_tileas.matrix import Instruction
    from tilewright.layout.linear import Layout
    from tilewright.target.arch import Arch


class Product(NamedTuple):
    """A choice for one product of matrices; factors without a layout may lie anywhere."""

    atom: Atom
    left: Layout | None
    right: Layout | None
    total: Layout


def choose_product(op: DotOp, arch: Arch, warps: int) -> Product:
    """The instruction for a product: that of the tensor cores if they have one for its types."""
    instruction = mma_instruction(op)
    if instruction is None or instruction.feature not in arch:
        return Product(Atom.FMA, None, None, patches(shape(op.c.type), warps))
    return _by_warps(op, instruction, warps)


def _by_warps(op: DotOp, instruction: Instruction, warps: int) -> Product:
    """Each warp has a part of the result; warps of one row share A, those of one column B."""
    a, b, c = (shape(value.type) for value in (op.a, op.b, op.c))
    m, n, k = instruction.shape
    grid = warp_grid(c, (m, n), warps)
    bits = BITS[instruction.a]
    return Product(
        Atom.MMA_SYNC,
        fragment_tile(mma_left(bits, m, k), a, grid, rows=True, columns=False),
        fragment_tile(mma_right(bits, k), b, grid, rows=False, columns=True),
        fragment_tile(mma_accumulator(m), c, grid, rows=True, columns=True),
    )
