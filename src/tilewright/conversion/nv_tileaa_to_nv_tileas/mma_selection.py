"""The instruction for each dot (wgmma, mma.sync or fma), and the layouts that it requires.

Those are the layout of the accumulator, the fragments of A and B of mma.sync, and what threads hold
of A or B of an FMA. Of A and B of wgmma nothing is required here: once all tiles have layouts,
`required_layouts` takes their swizzled memory, or the fragments of A, from `wgmma_operands`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.contiguous_dimension import contiguous_dimension
from tilewright.analysis.elementwise import is_elementwise
from tilewright.analysis.slices import backward_slice, forward_slice
from tilewright.conversion.nv_tileaa_to_nv_tileas.dot_columns import column_tilings, stored_order
from tilewright.conversion.nv_tileaa_to_nv_tileas.wgmma_operands import (
    OperandMemory,
    becomes_fragments,
    loaded_source,
)
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.shape import BroadcastOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.dialects.nv_tileas.matrix import mma_instruction, wgmma_instruction
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.layout.fma_lines import COLUMNS, ROWS, held_layout, line_tiling
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.linear import REGISTER
from tilewright.layout.mma_columns import reordered_columns
from tilewright.layout.mma_tiling import fma_accumulator, fragment_tile, warp_grid
from tilewright.layout.wgmma import MATRIX_RANK, batched, wgmma_tile
from tilewright.schedule.limits import MATRIX_BYTES
from tilewright.schedule.registers import fits_registers, launch_registers
from tilewright.schedule.shared_memory import MOST_SCRATCH, SCRATCH_RESERVE
from tilewright.schedule.tile_words import REGISTER_BITS, tile_words
from tilewright.target.arch import WARP_SIZE
from tilewright.target.tensor_cores import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tilewright.conversion.nv_tileaa_to_nv_tileas.dot_columns import ColumnTiling
    from tilewright.dialects.nv_tileas.matrix import Instruction
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.layout.mma_tiling import Grid
    from tilewright.target.arch import Arch
    from tilewright.target.tensor_cores import DotAtom

SEARCH_LIMIT: Final = 64
"""The most values that are followed around a dot."""


class MmaSelection(NamedTuple):
    """The instruction of a dot, and the layouts that it requires; `None`: A or B in any layout."""

    atom: Atom
    a: Layout | None
    b: Layout | None
    accumulator: Layout
    lines: bool = False
    """Whether its columns or rows are assigned to threads as suits loads, stores and other dots."""


def select_all(dots: Iterable[DotOp], arch: Arch, warps: int) -> dict[Operation, MmaSelection]:
    """Select the instruction of each dot; all operands in shared memory fit together."""
    dots = list(dots)
    selections: dict[Operation, MmaSelection] = {}
    tilings = column_tilings(dots, warps)
    memory = OperandMemory(arch.static_shared - SCRATCH_RESERVE)
    matrix_bytes: dict[Value, int] = {}
    for op in dots:
        operands = _operands_in_memory(op, selections, warps)
        fits = memory.fits(op, operands)
        if not fits and _would_spill(op, warps):
            fits = memory.fits(op, operands, arch.static_shared - MOST_SCRATCH)
        selection = select_mma(op, arch, warps, tilings.get(op), wgmma=fits)
        if selection.atom is Atom.WGMMA:
            memory.add(op, operands)
        elif (matrix := _matrix_beside_lines(op, selection)) is not None:
            matrices = {**matrix_bytes, matrix: stored_bytes(matrix.type)}
            if sum(matrices.values()) <= MATRIX_BYTES:
                matrix_bytes = matrices
            else:
                selection = _select_blocks(op, warps)
        selections[op] = selection
    return selections


def _operands_in_memory(
    op: DotOp, selections: Mapping[Operation, MmaSelection], warps: int
) -> list[Value]:
    """The tiles in shared memory of a dot by wgmma: of A in registers, what it is loaded as.

    Not A that is computed from the accumulator of a wgmma, which is its fragments already.
    """
    producer = _accumulator_source(op.a)
    selection = None if producer is None else selections.get(producer)
    if selection is not None and selection.atom is Atom.WGMMA:
        if becomes_fragments(op, selection.accumulator, warps) is not None:
            return [op.b]
    loaded = loaded_source(op)
    return [op.a if loaded is None else loaded, op.b]


def _would_spill(op: DotOp, warps: int) -> bool:
    """Whether a dot by mma.sync whose A is an accumulator has too few registers for its operands.

    Each warp has whole rows of A there, and so all of B. Other dots are sliced along K.
    """
    instruction = mma_instruction(op)
    if instruction is None or _accumulator_source(op.a) is None:
        return False
    _, a, b, c, _ = _select_mma_sync(op, instruction, warps)
    assert a is not None
    assert b is not None
    operands = (a.extent(REGISTER) + b.extent(REGISTER)) * BITS[instruction.a] // REGISTER_BITS
    registers = operands + c.extent(REGISTER) * tile_words(op.c.type) // count(op.c.type)
    return registers > launch_registers(warps * WARP_SIZE)


def _accumulator_source(tile: Value) -> DotOp | None:
    """The dot from whose result element-wise operations compute a tile."""
    values = backward_slice([tile], is_elementwise, SEARCH_LIMIT)
    makers = (value.defining_op() for value in values)
    return next((op for op in makers if isinstance(op, DotOp)), None)


def select_mma(
    op: DotOp, arch: Arch, warps: int, tiling: ColumnTiling | None = None, *, wgmma: bool = True
) -> MmaSelection:
    """Select the instruction for a dot: a tensor core instruction if one has its types.

    `tiling` is another assignment of columns than the default.
    """
    if wgmma and _uses_wgmma(op, arch, warps):
        return MmaSelection(Atom.WGMMA, None, None, wgmma_tile(shape(op.c.type), warps))
    instruction = mma_instruction(op)
    if instruction is None or _atom(instruction, arch) is None:
        return _select_lines(op, warps) or _select_blocks(op, warps)
    if tiling is not None:
        return _select_columns(op, instruction, tiling)
    return _select_mma_sync(op, instruction, warps)


def _uses_wgmma(op: DotOp, arch: Arch, warps: int) -> bool:
    """Whether wgmma computes a dot."""
    instruction = wgmma_instruction(op)
    atom = None if instruction is None else _atom(instruction, arch)
    if instruction is None or atom is None or warps % atom.warps:
        return False
    if not atom.is_k_major_only(instruction.a) or atom.transposes_b:
        return True
    is_k_major = contiguous_dimension(op.b) == len(shape(op.b.type)) - 2
    return is_k_major and fits_registers(tile_words(op.c.type), warps * WARP_SIZE)


def _atom(instruction: Instruction, arch: Arch) -> DotAtom | None:
    """The atom by which a GPU has an instruction for dots of tiles; None if it has none."""
    a, b, extents, accumulator = instruction
    return arch.dot_atom(a, b, accumulator, extents)


def _select_lines(op: DotOp, warps: int) -> MmaSelection | None:
    """FMAs with whole lines for each thread, and A or B in registers, where K is short."""
    k, extents = shape(op.a.type)[-1], shape(op.c.type)
    is_shared = [matrix_source(value) is not value for value in (op.a, op.b)]
    tiling = line_tiling(extents, k, warps, is_shared=is_shared)
    order = None if tiling is None else stored_order(op.result)
    if order is not None:
        tiling = line_tiling(extents, k, warps, is_shared=is_shared, order=order)
    if tiling is None:
        return None
    if tiling.along == COLUMNS:
        return MmaSelection(Atom.FMA, None, tiling.operand, tiling.accumulator, lines=True)
    return MmaSelection(Atom.FMA, tiling.operand, None, tiling.accumulator, lines=True)


def _select_blocks(op: DotOp, warps: int) -> MmaSelection:
    """FMAs with blocks of the result for each thread; A and B in any layout.

    Of many small matrices, A and B at one k may exceed the memory that they are staged in. Threads
    then hold what they need of them.
    """
    accumulator = fma_accumulator(shape(op.c.type), warps)
    k = shape(op.a.type)[-1]
    lines = sum(count(value.type) for value in (op.a, op.b)) // k
    if lines * pointee_bytes(element_of(op.a.type)) <= MOST_SCRATCH:
        return MmaSelection(Atom.FMA, None, None, accumulator)
    rank, blocks = len(shape(op.c.type)), batched(accumulator)
    a, b = (held_layout(blocks, k, dimension) for dimension in (COLUMNS, ROWS))
    if rank == MATRIX_RANK:
        a, b = a.reshape(a.shape[1:]), b.reshape(b.shape[1:])
    return MmaSelection(Atom.FMA, a, b, accumulator)


def _matrix_beside_lines(op: DotOp, selection: MmaSelection) -> Value | None:
    """The operand in shared memory of an FMA dot of which threads hold the other, if it is one."""
    if (selection.a is None) == (selection.b is None):
        return None
    return matrix_source(op.a if selection.a is None else op.b)


def matrix_source(operand: Value) -> Value:
    """The matrix that is the same for all of a batch, as a batch of one; else the operand itself.

    FMA dots take it as it is.
    """
    op = operand.defining_op()
    if not isinstance(op, BroadcastOp):
        return operand
    source, result = shape(op.source.type), shape(operand.type)
    return op.source if len(result) == 3 and source == (1, *result[1:]) else operand


def _select_mma_sync(op: DotOp, instruction: Instruction, warps: int) -> MmaSelection:
    """Tile the result over a grid of warps; a row of warps shares A, a column shares B."""
    m, n, _ = instruction.shape
    grid = warp_grid(shape(op.c.type), (m, n), warps, rows=_prefers_whole_rows(op))
    return MmaSelection(Atom.MMA_SYNC, *_fragments(op, instruction, grid))


def _select_columns(op: DotOp, instruction: Instruction, tiling: ColumnTiling) -> MmaSelection:
    """Tile the result with its columns in another order than the default."""
    a, b, c = _fragments(op, instruction, tiling.grid)
    b, c = (reordered_columns(layout, tiling.order) for layout in (b, c))
    return MmaSelection(Atom.MMA_SYNC, a, b, c, lines=True)


def _fragments(op: DotOp, instruction: Instruction, grid: Grid) -> tuple[Layout, Layout, Layout]:
    """The layouts of A, B and the accumulator on a grid of warps."""
    a, b, c = (shape(value.type) for value in (op.a, op.b, op.c))
    m, _, k = instruction.shape
    bits = BITS[instruction.a]
    return (
        fragment_tile(mma_left(bits, m, k), a, grid, rows=True, columns=False),
        fragment_tile(mma_right(bits, k), b, grid, rows=False, columns=True),
        fragment_tile(mma_accumulator(m), c, grid, rows=True, columns=True),
    )


def _prefers_whole_rows(op: DotOp) -> bool:
    """Whether each row of the accumulator should stay within one warp.

    Its rows are reduced, or are the rows of A of a second dot, as in attention: both are cheap
    within a warp. The second dot takes over the tiling of the first.
    """
    uses = forward_slice([op.result], is_elementwise, SEARCH_LIMIT)
    return _accumulator_source(op.a) is not None or any(
        (isinstance(user, DotOp) and user.a is value)
        or (isinstance(user, ReduceOp) and user.axis == len(shape(value.type)) - 1)
        for value, user in uses
    )
