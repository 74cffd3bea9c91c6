"""`ldmatrix` and `stmatrix`: 8×8 matrices of 16-bit elements between shared memory and a warp."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.instructions.data_movement import take_space
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.warps import whole_warps

_B32: Final = SCALAR_TYPES["b32"]
_COUNTS: Final = {"x1": 1, "x2": 2, "x4": 4}


class _Form:
    """The modifiers: number of matrices, transposition, state space."""

    def __init__(self, op: Operation, registers: int, address: int) -> None:
        number = op.choice(*_COUNTS)
        self.transposed = op.flag("trans")
        self.space = take_space(op)
        if op.rest() != ("m8n8", "b16") or number is None:
            op.unsupported()
        self.count = _COUNTS[number]
        registers_given = len(op.elements(registers))
        if registers_given != self.count:
            op.fail(f"expected {self.count} registers, got {registers_given}")
        self.address = op.address(address)
        self.site = op.site

    def rows(self, lanes: Lanes) -> tuple[Lanes, Array]:
        """The lanes that provide row addresses, and the addresses; the first eight are matrix 0."""
        providing = lanes.lane_ids < 8 * self.count
        return lanes.take(providing), lanes.spread(self.address(lanes))[providing]

    def matrices(self, rows: Array) -> Array:
        """Reshape rows of eight elements to matrices, transposed if requested."""
        matrices = rows.view(np.uint16).reshape(-1, self.count, 8, 8)
        return matrices.swapaxes(2, 3) if self.transposed else matrices


@instruction("ldmatrix.sync.aligned", blocks=True)
def load_matrix(op: Operation) -> Run:
    """`ldmatrix {d, …}, [row]`: lane 4r + c gets elements 2c and 2c + 1 of row r."""
    form = _Form(op, registers=0, address=1)
    writes = op.writes(0, _B32)

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, form.site)
        if not lanes.count:
            return
        providing, address = form.rows(lanes)
        memory = lanes.wave.memory
        rows = memory.load(providing, form.space, address, 8, 2, form.site)
        matrices = np.ascontiguousarray(form.matrices(rows))
        words = matrices.view(np.uint32).reshape(-1, form.count, WARP)
        for at, write in enumerate(writes):
            write(lanes, words[:, at].reshape(-1))

    return run


@instruction("stmatrix.sync.aligned", blocks=True)
def store_matrix(op: Operation) -> Run:
    """`stmatrix [row], {a, …}`: the reverse of `ldmatrix`."""
    form = _Form(op, registers=1, address=0)
    reads = op.reads(1, _B32)

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, form.site)
        if not lanes.count:
            return
        words = np.empty((lanes.count // WARP, form.count, WARP), np.uint32)
        for at, read in enumerate(reads):
            words[:, at] = lanes.spread(read(lanes)).reshape(-1, WARP)
        providing, address = form.rows(lanes)
        matrices = np.ascontiguousarray(form.matrices(words))
        rows = matrices.view(np.uint64).reshape(-1, 2)
        lanes.wave.memory.store(providing, form.space, address, rows, 8, 2, form.site)

    return run
