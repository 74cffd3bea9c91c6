"""Dots with exchanged operands, for instructions that take some operands K-major only.

`wgmma` reads A and B of 8 and 32 bits from shared memory only where K is contiguous, and B of a
GEMM usually has N contiguous. The transposed dot Cᵀ = Bᵀ·Aᵀ has Bᵀ as its first operand, and that
one may be in registers, where threads transpose it as they read it from shared memory. The loop
carries the transposed accumulator, which is transposed back after the loop; both only rename what
threads hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.contiguous_dimension import contiguous_dimension
from tilewright.analysis.targets import target_of
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.matrix import dot_types
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.rules import constant_of
from tilewright.ir.types import TensorType
from tilewright.plans.mma import PROMOTED, PROMOTED_COLUMNS
from tilewright.schedule.registers import fits_registers
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.target.arch import REGISTER_BYTES, WARP_SIZE
from tilewright.target.tensor_cores import MMA_K_BYTES
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.scalars import Arithmetic, permuted, reshaped
from tilewright.transforms.tile.loop import accumulates

if TYPE_CHECKING:
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch
    from tilewright.target.tensor_cores import DotAtom

PAIR_ROWS: Final = 8
"""A thread has row r and row r + 8 of a fragment, and reads two neighbours at once."""


class SwapDotOperands(KernelPass):
    """Transpose 8-bit dots whose B is not K-major."""

    name = "swap-dot-operands"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        arch = target_of(function)
        if arch is None or not arch.async_dots:
            return
        for dot in [inner for inner in function.walk() if isinstance(inner, DotOp)]:
            loop = dot.parent_op
            # Anywhere else a transposed accumulator would have to be transposed in each iteration.
            if not isinstance(loop, ForOp) or not accumulates(loop, dot):
                continue
            if _should_swap(dot, arch, threads_of(function)):
                _swap(dot, loop)


def _should_swap(dot: DotOp, arch: Arch, threads: int) -> bool:
    """Whether B has to be transposed, A has not, and the swapped dot fits."""
    types = dot_types(dot)
    atom = None if types is None else arch.async_dot(types[0])
    if types is None or atom is None or not atom.is_k_major_only(types[0]):
        return False
    rank = len(shape(dot.b.type))
    if contiguous_dimension(dot.b) != rank - 1 or contiguous_dimension(dot.a) != rank - 1:
        return False
    *_, k, n = shape(dot.b.type)
    m = shape(dot.a.type)[-2]
    k_bytes = k * pointee_bytes(element_of(dot.a.type))
    # tf32 with few columns is left to mma.sync, which needs no second trip of A.
    least = atom.rows if types[0] == "tf32" else atom.columns
    fits = n % atom.rows == 0 and k_bytes % MMA_K_BYTES == 0 and m >= least
    return fits and _fits_registers(dot, atom, threads)


def _fits_registers(dot: DotOp, atom: DotAtom, threads: int) -> bool:
    """Whether the registers of a thread suffice for the swapped dot."""
    *_, k, n = shape(dot.b.type)
    m, element = shape(dot.a.type)[-2], element_of(dot.a.type)
    group = atom.warps * WARP_SIZE
    rows = max(atom.rows, n * group // threads)
    words = tile_words(dot.c.type)
    words += rows * k * pointee_bytes(element) // REGISTER_BYTES * threads // group
    if element in PROMOTED and not dot.fast_acc:
        words += atom.rows * min(m, PROMOTED_COLUMNS) * threads // group
    return fits_registers(words, threads)


def _swap(dot: DotOp, loop: ForOp) -> None:
    """Replace a dot by the transposed one, whose accumulator the loop carries then."""
    build = Builder(InsertPoint.before(dot), dot.location)
    at, carried = loop.carried.index(dot.c), dot.c
    before = Builder(InsertPoint.before(loop), loop.location)
    first = _transposed_accumulator(before, loop.init_args[at])
    swapped = build.create(
        DotOp,
        a=_paired_rows(build, _transposed(build, dot.b)),
        b=_transposed(build, dot.a),
        c=carried,
        signedness_a=dot.signedness_b,
        signedness_b=dot.signedness_a,
        fast_acc=dot.fast_acc,
        input_precision=dot.input_precision,
        fastmath=dot.fastmath,
        types=[first.type],
    )
    dot.result.replace_all_uses_with(swapped.result)
    dot.erase()
    loop.set_operand(3 + at, first)
    result = loop.results[at]
    users = tuple(result.users)
    carried.type = result.type = first.type
    after = Builder(InsertPoint.after(loop), loop.location)
    whole = _transposed(after, _paired_rows(after, result, back=True))
    for user in users:
        user.replace_operand(result, whole)


def _transposed_accumulator(build: Builder, tile: Value) -> Value:
    """The accumulator of the transposed dot."""
    pattern, type = splat_of(constant_of(tile)), tile.type
    if pattern is None:
        return _paired_rows(build, _transposed(build, tile))
    *batch, rows, columns = shape(type)
    transposed = TensorType((*batch, columns, rows), element_of(type))
    return Arithmetic(build).constant(pattern, transposed)


def _transposed(build: Builder, tile: Value) -> Value:
    """A tile with its last two dimensions exchanged."""
    rank = len(shape(tile.type))
    return permuted(build, tile, (*range(rank - 2), rank - 1, rank - 2))


def _paired_rows(build: Builder, tile: Value, *, back: bool = False) -> Value:
    """A tile with the rows of every sixteen in the order 0, 2, ..., 14, 1, 3, ..., 15; or `back`.

    So rows r and r + 8, which a thread has both of, are neighbours in memory.
    """
    *batch, rows, columns = shape(tile.type)
    inner = (2, PAIR_ROWS) if back else (PAIR_ROWS, 2)
    first = len(batch) + 1
    order = (*range(first), first + 1, first, first + 2)
    split = (*batch, rows // (2 * PAIR_ROWS), *inner, columns)
    apart = reshaped(build, tile, split)
    return reshaped(build, permuted(build, apart, order), (*batch, rows, columns))
