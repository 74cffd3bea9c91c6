"""Kernels whose blocks reduce one row each, without loops: how many warps, and blocks on an SM.

Such a block waits for its load once, reduces the row, and stores it. Only other blocks of the SM
load meanwhile, so as many as possible are to be resident: their rows are the bytes in flight. Two
things cost instructions that take no part in the work on elements: the steps of a reduction within
each warp, and those across warps, with a barrier. Both are fewer with fewer warps, and so are the
registers of a block, of which each thread needs some for other values than tiles.

`loading_blocks` is for any kernel whose blocks load rows once: `version-single-trip` asks it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.targets import target_of, target_or_baseline
from tilewright.dialects.nv_tileaa import functions
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.floating import RemFOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.ir.types import F64, TensorType
from tilewright.schedule.limits import BYTES_IN_FLIGHT, RESIDENT_WARPS, ROW_SHARE
from tilewright.schedule.liveness_before_layouts import live_words
from tilewright.schedule.registers import fitting_blocks, loading_registers, row_registers
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation

_LONG: Final = (
    functions.Atan2Op, functions.CosHOp, functions.CosOp, functions.FPowFOp, functions.FPowIOp,
    functions.SinHOp, functions.SinOp, functions.TanHOp, functions.TanOp, RemFOp,
)  # fmt: skip
"""Functions with long code, of which ptxas interleaves that of several elements."""


class RowKernel(NamedTuple):
    """A kernel without loops and dots that reduces a tile of one row."""

    live: int
    """The 32-bit registers of the tiles that are live together, over all threads."""
    most_blocks: int
    """How many blocks an SM can have."""
    is_simple: bool
    """Whether few registers suffice for what is computed of an element."""

    @staticmethod
    def of(kernel: Operation) -> RowKernel | None:
        """The facts of such a kernel; None if it is another one."""
        is_row, is_simple = False, True
        for op in kernel.walk():
            is_simple = is_simple and not _is_long(op)
            if isinstance(op, DotOp | ForOp | ScanOp | WhileOp):
                return None
            if isinstance(op, ReduceOp):
                tile = op.sources[0].type
                if count(tile) != shape(tile)[op.axis]:
                    return None
                is_row = True
        if not is_row or len(kernel.regions[0].blocks) != 1:
            return None
        most_blocks = target_or_baseline(kernel).limits.ctas
        return RowKernel(live_words(kernel), most_blocks, is_simple)

    @property
    def warps(self) -> int:
        """The fewest whose threads have registers for the tiles, and of which an SM has enough."""
        warps = 1
        while (
            self.live > warps * WARP_SIZE * ROW_SHARE or warps * self.most_blocks < RESIDENT_WARPS
        ):
            warps *= 2
        return warps

    def blocks(self, warps: int) -> int | None:
        """How many blocks of some warps are to be resident on an SM; None to leave it to ptxas."""
        if not self.is_simple:
            return None
        threads = warps * WARP_SIZE
        most = min(self.most_blocks, RESIDENT_WARPS // warps)
        blocks = fitting_blocks(threads, row_registers(self.live, threads), most)
        return blocks if blocks > 1 else None


def loading_blocks(kernel: FuncOp, threads: int, row_bytes: int, words: int) -> int | None:
    """How many blocks are to be resident for enough bytes in flight; None to leave it to ptxas.

    Each of them loads `row_bytes` from device memory and waits for them once. Its threads hold
    tiles of `words` registers meanwhile.
    """
    arch = target_of(kernel)
    if arch is None or any(map(_is_long, kernel.walk())):
        return None
    most = min(arch.limits.ctas, arch.limits.warps * WARP_SIZE // threads)
    wanted = min(most, -(-BYTES_IN_FLIGHT // row_bytes))
    blocks = fitting_blocks(threads, loading_registers(words, threads), wanted)
    return blocks if blocks > 1 else None


def _is_long(op: Operation) -> bool:
    """Whether the code for one element of a result is long, or works on pairs of registers."""
    tiles = [result.type for result in op.results if isinstance(result.type, TensorType)]
    return bool(tiles) and (isinstance(op, _LONG) or any(each.element is F64 for each in tiles))
