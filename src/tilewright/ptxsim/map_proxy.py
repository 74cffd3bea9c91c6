"""Tensor maps that the kernel itself wrote: is their write visible to the tensormap proxy?.

The copy engine reads maps through the tensormap proxy. A map that was written must be released, by
`tensormap.cp_fenceproxy` or by a fence of its writer, and then acquired by a fence on its address.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, ResolvedAddress
from tilewright.ptxsim.tensor_map import SIZE

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction
    from tilewright.ptxsim.wave import Wave


class MapProxy:
    """The times of the last write, release and acquire of each 128-byte block of global memory."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.active = wave.checks_for("proxies")
        blocks = wave.memory.device.arena.size // SIZE + 1
        self._written: Array = np.zeros(blocks, np.int64)
        self._writer: Array = np.zeros(blocks, np.int32)
        self._released: Array = np.zeros(blocks, np.int64)
        self._release_fences: Array = np.zeros(wave.cta_count, np.int64)
        self._acquired: dict[tuple[int, int], int] = {}
        self._now = 1
        if self.active:
            wave.observe(self)

    def access(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Record ordinary stores."""
        if kind not in (Kind.WRITE, Kind.ATOMIC):
            return
        if resolved.arena is not self.wave.memory.device.arena:
            return
        ctas = lanes.ctas if resolved.mask is None else lanes.ctas[resolved.mask]
        self._note(resolved.index // SIZE, ctas if len(ctas) == len(resolved.index) else ctas[-1:])

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Ignore other ordering events."""

    def _note(self, blocks: Array, ctas: Array) -> None:
        self._now += 1
        self._written[blocks] = self._now
        self._writer[blocks] = ctas

    def note_released(self, index: int, cta: int) -> None:
        """Record a map that is written and released by one instruction."""
        self._note(np.array([index // SIZE]), np.array([cta]))
        self._released[index // SIZE] = self._now

    def release(self, threads: Array) -> None:
        """Record a release fence for what the CTAs of some threads have written."""
        self._now += 1
        self._release_fences[self.wave.cta_of_thread[threads]] = self._now

    def acquire(self, lanes: Lanes, address: Array, site: Instruction) -> None:
        """Record an acquire fence on the maps at some addresses."""
        self._now += 1
        for cta, block in zip(
            lanes.ctas, (lanes.spread(address) - GLOBAL_WINDOW) // SIZE, strict=True
        ):
            self._acquired[int(cta), int(block)] = self._now

    def require_visible(self, index: int, thread: int, site: Instruction) -> None:
        """Report a use of the map at an arena index that lacks a release or an acquire."""
        block = index // SIZE
        written = int(self._written[block])
        if not self.active or not written:
            return
        cta = int(self.wave.cta_of_thread[thread])
        writer = int(self._writer[block])
        address = f"the tensor map at address 0x{GLOBAL_WINDOW + index:x}"
        if max(self._released[block], self._release_fences[writer]) < written:
            text = f"{address} was written and not released"
            note = "expected tensormap.cp_fenceproxy, or fence.proxy.tensormap::generic.release"
            self.wave.violation(text, site, thread, note)
        if self._acquired.get((cta, block), 0) < written:
            text = f"{address} was written and not acquired"
            note = "expected fence.proxy.tensormap::generic.acquire on its address"
            self.wave.violation(text, site, thread, note)
