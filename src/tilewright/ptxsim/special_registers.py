"""Special registers: `%tid.x`, `%laneid`, `%clock` and the others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.frame import CellMaker, FrameLayout
from tilewright.ptxsim.scalar_types import Array, ScalarType

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.wave import Wave


@dataclass(frozen=True, slots=True)
class Special:
    """A special register: a vector made once per wave, or a function called at every read."""

    name: str
    make: CellMaker | None = None
    ask: Callable[[Wave], int] | None = None


def _axes(name: str, vectors: Callable[[Wave], tuple[Array, Array, Array]]) -> list[Special]:
    def axis(axis_index: int) -> CellMaker:
        return lambda wave: vectors(wave)[axis_index]

    registers = [Special(f"%{name}.{letter}", axis(at)) for at, letter in enumerate("xyz")]
    return [*registers, Special(f"%{name}.w", lambda wave: wave.uniform(0))]


def _triple(wave: Wave, values: tuple[int, int, int]) -> tuple[Array, Array, Array]:
    x, y, z = values
    return wave.uniform(x), wave.uniform(y), wave.uniform(z)


def _lane_mask(formula: Callable[[Array], Array]) -> CellMaker:
    def make(wave: Wave) -> Array:
        lane = np.arange(wave.thread_count, dtype=np.uint64) % np.uint64(32)
        return formula(np.uint64(1) << lane).astype(np.uint32)

    return make


_ALL: Final = np.uint64(0xFFFFFFFF)


def _table() -> dict[str, Special]:
    registers = [
        *_axes("tid", lambda wave: wave.geometry.thread_index),
        *_axes("ntid", lambda wave: _triple(wave, wave.launch.block)),
        *_axes("ctaid", lambda wave: wave.geometry.cta_index),
        *_axes("nctaid", lambda wave: _triple(wave, wave.launch.grid)),
        *_axes("clusterid", lambda wave: wave.geometry.cluster_index),
        *_axes("nclusterid", lambda wave: _triple(wave, wave.launch.clusters)),
        *_axes("cluster_ctaid", lambda wave: wave.geometry.cta_in_cluster),
        *_axes("cluster_nctaid", lambda wave: _triple(wave, wave.launch.cluster)),
        Special("%cluster_ctarank", lambda wave: wave.geometry.cta_rank),
        Special("%cluster_nctarank", lambda wave: wave.uniform(wave.launch.cluster_size)),
        Special("%is_explicit_cluster", lambda wave: wave.uniform(wave.launch.cluster_size > 1)),
        Special("%laneid", lambda wave: (np.arange(wave.thread_count) % 32).astype(np.uint32)),
        Special("%warpid", lambda wave: wave.geometry.warp_in_cta),
        Special("%nwarpid", lambda wave: wave.uniform(wave.warps_per_cta)),
        Special("%smid", lambda wave: wave.cta_of_thread.astype(np.uint32)),
        Special("%nsmid", lambda wave: wave.uniform(wave.cta_count)),
        Special("%gridid", lambda wave: wave.uniform(0)),
        Special("%lanemask_eq", _lane_mask(lambda bit: bit)),
        Special("%lanemask_lt", _lane_mask(lambda bit: bit - np.uint64(1))),
        Special("%lanemask_le", _lane_mask(lambda bit: bit * np.uint64(2) - np.uint64(1))),
        Special(
            "%lanemask_gt", _lane_mask(lambda bit: _ALL & ~(bit * np.uint64(2) - np.uint64(1)))
        ),
        Special("%lanemask_ge", _lane_mask(lambda bit: _ALL & ~(bit - np.uint64(1)))),
        Special("%dynamic_smem_size", lambda wave: wave.uniform(wave.launch.dynamic_shared)),
        Special("%total_smem_size", lambda wave: wave.uniform(wave.memory.shared_size)),
        Special("%aggr_smem_size", lambda wave: wave.uniform(wave.memory.shared_size)),
        Special("%clock", ask=lambda wave: wave.clock() & 0xFFFFFFFF),
        Special("%clock_hi", ask=lambda wave: wave.clock() >> 32),
        Special("%clock64", ask=lambda wave: wave.clock()),
        Special("%globaltimer", ask=lambda wave: wave.clock()),
        Special("%globaltimer_lo", ask=lambda wave: wave.clock() & 0xFFFFFFFF),
        Special("%globaltimer_hi", ask=lambda wave: wave.clock() >> 32),
    ]
    return {special.name: special for special in registers}


_SPECIALS: Final = _table()


def find(name: str) -> Special | None:
    """Find the special register with a name."""
    return _SPECIALS.get(name)


_UNSUPPORTED: Final = (
    (
        re.compile(r"%envreg\d+"),
        "which a cooperative launch sets for barriers of the whole grid (grid.sync)",
    ),
    (re.compile(r"%pm\d+(_64)?"), "a counter of a performance monitor"),
    (re.compile(r"%reserved_smem_offset_\w+"), "shared memory that the system reserves"),
    (re.compile(r"%current_graph_exec"), "the graph that a kernel is launched by"),
)
"""Special registers of PTX that are not emulated, and what they are."""


def unsupported(name: str) -> str | None:
    """What a special register is that PTX has and the emulator has not; None for other names."""
    return next((what for names, what in _UNSUPPORTED if names.fullmatch(name)), None)


def reader(special: Special, layout: FrameLayout, type: ScalarType) -> Callable[[Lanes], Array]:
    """A reader of a special register as `type`."""
    dtype = type.dtype
    ask = special.ask
    if ask is not None:
        return lambda lanes: np.array([ask(lanes.wave)], np.uint64).astype(dtype)
    assert special.make is not None
    slot = layout.extra(special.name, special.make)
    return lambda lanes: lanes.cells[slot][lanes.select].astype(dtype, copy=False)
