"""Tensor maps that the kernel itself wrote, and whether the copy engine may use them yet.

The engine reads maps through a proxy of its own. A map that was written must be released, by
`tensormap.cp_fenceproxy` or by a fence of its writer, and then acquired by a fence on its address.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, Place
from tilewright.ptxsim.tensor_map import SIZE

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave


class MapProxy:
    """When each piece of 128 bytes of global memory was written, released and acquired."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.active = wave.checks_for("proxies")
        pieces = wave.memory.device.arena.size // SIZE + 1
        self._written: Array = np.zeros(pieces, np.int64)
        self._writer: Array = np.zeros(pieces, np.int32)
        self._released: Array = np.zeros(pieces, np.int64)
        self._release_fences: Array = np.zeros(wave.cta_count, np.int64)
        self._acquired: dict[tuple[int, int], int] = {}
        self._now = 1
        if self.active:
            wave.observe(self)

    def access(
        self,
        lanes: Lanes,
        place: Place,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Note what ordinary stores write."""
        if kind not in (Kind.WRITE, Kind.ATOMIC):
            return
        if place.arena is not self.wave.memory.device.arena:
            return
        ctas = lanes.ctas if place.mask is None else lanes.ctas[place.mask]
        self._note(place.index // SIZE, ctas if len(ctas) == len(place.index) else ctas[-1:])

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Other events do not matter."""

    def _note(self, pieces: Array, ctas: Array) -> None:
        self._now += 1
        self._written[pieces] = self._now
        self._writer[pieces] = ctas

    def note_released(self, index: int, cta: int) -> None:
        """A map was written and released at once."""
        self._note(np.array([index // SIZE]), np.array([cta]))
        self._released[index // SIZE] = self._now

    def release(self, threads: Array) -> None:
        """What the CTAs of some threads have written is released."""
        self._now += 1
        self._release_fences[self.wave.cta_of_thread[threads]] = self._now

    def acquire(self, lanes: Lanes, address: Array, site: Instruction) -> None:
        """Threads acquire the maps at some addresses."""
        self._now += 1
        for cta, piece in zip(
            lanes.ctas, (lanes.spread(address) - GLOBAL_WINDOW) // SIZE, strict=True
        ):
            self._acquired[int(cta), int(piece)] = self._now

    def require_visible(self, index: int, thread: int, site: Instruction) -> None:
        """Report the use of a map, by its place in the arena, that waits for a fence."""
        piece = index // SIZE
        written = int(self._written[piece])
        if not self.active or not written:
            return
        cta = int(self.wave.cta_of_thread[thread])
        writer = int(self._writer[piece])
        address = f"the tensor map at address 0x{GLOBAL_WINDOW + index:x}"
        if max(self._released[piece], self._release_fences[writer]) < written:
            text = f"{address} was written and not released"
            note = "expected tensormap.cp_fenceproxy, or fence.proxy.tensormap::generic.release"
            self.wave.violation(text, site, thread, note)
        if self._acquired.get((cta, piece), 0) < written:
            text = f"{address} was written and not acquired"
            note = "expected fence.proxy.tensormap::generic.acquire on its address"
            self.wave.violation(text, site, thread, note)
