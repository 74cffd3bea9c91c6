"""The lanes of an instruction as a table with one row of 32 for each warp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.operation import Read
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.vectors import all_set

if TYPE_CHECKING:
    from tilewright.ptxsim.syntax import Instruction

ALL_LANES: Final = np.full(1, 0xFFFFFFFF, np.uint32)
_BITS: Final = np.uint32(1) << np.arange(WARP, dtype=np.uint32)


class WarpTable:
    """Vectors over lanes as tables of warps, and back.

    Warps may be partial: slots of inactive threads contain `fill`.
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._slots: Array | None = None
        if lanes.whole_warps:
            self.count = lanes.count // WARP
            return
        warps = lanes.warps
        row = np.cumsum(np.diff(warps, prepend=warps[0]) != 0)
        self.count = int(row[-1]) + 1
        self._slots = row * WARP + lanes.lane_ids

    def table(self, values: Array, fill: int = 0) -> Array:
        """Arrange one value per lane, or one for all, as a table."""
        values = self.lanes.spread(values)
        if self._slots is None:
            return values.reshape(self.count, WARP)
        table = np.full(self.count * WARP, fill, values.dtype)
        table[self._slots] = values
        return table.reshape(self.count, WARP)

    def flat(self, table: Array) -> Array:
        """Flatten a table to one value per lane."""
        flat = np.ascontiguousarray(table).reshape(self.count * WARP)
        return flat if self._slots is None else flat[self._slots]

    def for_lanes(self, rows: Array) -> Array:
        """Broadcast one value per warp to its lanes."""
        return self.flat(np.repeat(rows, WARP).reshape(self.count, WARP))

    def present(self) -> Array:
        """The active mask of each warp."""
        return self.bits(np.ones(1, np.bool_))

    def bits(self, flags: Array) -> Array:
        """For each warp, the mask of the lanes whose flag is set."""
        packed = np.packbits(self.table(flags), axis=1, bitorder="little")
        return packed.view(np.uint32)[:, 0]


def members(masks: Array) -> Array:
    """Expand masks to a table of flags, one row of 32 per mask."""
    return (masks[..., None] & _BITS) != 0


def gather(lanes: Lanes, mask: Read, site: Instruction) -> tuple[Lanes, Array]:
    """Return the lanes whose warp has converged, and their member masks; block the others."""
    masks = lanes.spread(mask(lanes))
    # The mask may be a view of a register that the instruction overwrites.
    lanes, masks = _select(lanes, lanes.converged(masks), masks.copy())
    if lanes.count and lanes.wave.checks_for("barriers"):
        own = (masks >> lanes.lane_ids.astype(np.uint32)) & np.uint32(1)
        if not all_set(own):
            thread = int(lanes.threads[np.argmin(own)])
            text = f"the member mask 0x{int(masks[np.argmin(own)]):08x} does not name its own lane"
            lanes.wave.violation(text, site, thread)
    return lanes, masks


def _select(before: Lanes, after: Lanes, masks: Array) -> tuple[Lanes, Array]:
    if after is before:
        return before, masks
    kept = np.zeros(before.wave.thread_count, np.bool_)
    kept[after.select] = True
    return after, masks[kept[before.select]]


def whole_warps(lanes: Lanes, site: Instruction) -> Lanes:
    """Return the lanes whose warp is complete, for warp-wide instructions; block the others."""
    lanes = lanes.converged(lanes.spread(ALL_LANES))
    if lanes.count and not lanes.whole_warps:
        thread = int(lanes.threads[0])
        lanes.wave.violation("expected all 32 threads of every warp", site, thread)
    return lanes
