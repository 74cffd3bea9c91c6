"""How products of matrices are made: the instruction, and the layouts of its operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileaa_to_nv_tileas.classes import is_elementwise, is_tile
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.dialects.nv_tileas.matrix import mma_instruction, wgmma_instruction
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.products import fragment_tile, patches, warp_grid
from tilewright.layout.warpgroups import warpgroup_total
from tilewright.target.tensor_cores import BITS, WARPGROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tilewright.dialects.nv_tileas.matrix import Instruction
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.target.arch import Arch

REACH: Final = 64
"""How many tiles are looked at around a product."""

WARPGROUP_TYPES: Final = frozenset((a, "f32") for a in ("e4m3", "e5m2", "f16", "bf16"))
"""The factors and sums, as PTX spells them, that whole warpgroups multiply where a GPU can; warps
multiply others by themselves. Bytes must go this way, whose sums users compare with cuBLAS's. For
others both are right: f16 and bf16 are faster so, tf32 is not (docs/decisions/0013)."""


class Product(NamedTuple):
    """A choice for one product of matrices; factors without a layout may lie anywhere."""

    atom: Atom
    left: Layout | None
    right: Layout | None
    total: Layout


def choose_product(op: DotOp, arch: Arch, warps: int) -> Product:
    """The instruction for a product: that of the tensor cores if they have one for its types."""
    if _is_for_warpgroups(op, arch, warps):
        return Product(Atom.WGMMA, None, None, warpgroup_total(shape(op.c.type), warps))
    instruction = mma_instruction(op)
    if instruction is None or instruction.feature not in arch:
        return Product(Atom.FMA, None, None, patches(shape(op.c.type), warps))
    return _by_warps(op, instruction, warps)


def _is_for_warpgroups(op: DotOp, arch: Arch, warps: int) -> bool:
    """Whether wgmma computes a dot and A and B fit twice: see plan-shared-memory."""
    instruction = wgmma_instruction(op)
    if instruction is None or instruction.feature not in arch or warps % WARPGROUP:
        return False
    if (instruction.a, instruction.total) not in WARPGROUP_TYPES:
        return False
    bytes = (count(op.a.type) + count(op.b.type)) * BITS[instruction.a] // 8
    return 2 * bytes <= arch.static_shared


def _by_warps(op: DotOp, instruction: Instruction, warps: int) -> Product:
    """Each warp has a part of the result; warps of one row share A, those of one column B."""
    a, b, c = (shape(value.type) for value in (op.a, op.b, op.c))
    m, n, k = instruction.shape
    grid = warp_grid(c, (m, n), warps, rows=_goes_by_rows(op))
    bits = BITS[instruction.a]
    return Product(
        Atom.MMA_SYNC,
        fragment_tile(mma_left(bits, m, k), a, grid, rows=True, columns=False),
        fragment_tile(mma_right(bits, k), b, grid, rows=False, columns=True),
        fragment_tile(mma_accumulator(m), c, grid, rows=True, columns=True),
    )


def _goes_by_rows(op: DotOp) -> bool:
    """Whether rows of the sums should stay together.

    They are reduced, or are the rows of A of a further product, as in attention: both are cheap
    within a warp. The further product takes the rows as they come.
    """
    return _meets(op.result, _users_of_rows) or _meets(op.a, _makers)


def _meets(value: Value, step: Callable[[Value], Iterator[Value | None]]) -> bool:
    """Whether steps from tile to tile through element-wise operations lead to an end, `None`."""
    pending, seen = [value], {value}
    while pending:
        for each in step(pending.pop()):
            if each is None:
                return True
            if each not in seen and len(seen) < REACH:
                seen.add(each)
                pending.append(each)
    return False


def _users_of_rows(value: Value) -> Iterator[Value | None]:
    for user in value.users:
        if isinstance(user, ReduceOp) and user.axis == len(shape(value.type)) - 1:
            yield None
        elif isinstance(user, DotOp) and user.a is value:
            yield None
        elif is_elementwise(user):
            yield from user.results


def _makers(value: Value) -> Iterator[Value | None]:
    op = value.defining_op()
    if isinstance(op, DotOp):
        yield None
    elif op is not None and is_elementwise(op):
        yield from (each for each in op.operands if is_tile(each))
