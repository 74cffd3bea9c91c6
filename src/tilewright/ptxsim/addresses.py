"""Address resolution for instructions that access shared memory in chunks larger than a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, ResolvedAddress, Space

if TYPE_CHECKING:
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.syntax import Instruction


def shared_index(
    lanes: Lanes, space: Space, address: Array, size: int, site: Instruction, kind: Kind
) -> Array:
    """For each lane the index of `size` bytes, a power of two, in the shared-memory arena."""
    memory = lanes.wave.memory
    resolved = memory.resolve(lanes, space, lanes.spread(address), size, site, kind)
    if isinstance(resolved, ResolvedAddress) and resolved.arena is memory.shared:
        return resolved.index
    lanes.wave.violation("expected an address in shared memory", site, int(lanes.threads[0]))


def shared_span(
    lane: Lanes,
    space: Space,
    address: int,
    size: int,
    alignment: int,
    site: Instruction,
    kind: Kind,
) -> int:
    """The index of `size` bytes of one lane in the shared-memory arena, checked for bounds."""
    wave = lane.wave
    if address % alignment:
        text = (
            f"misaligned {kind.value} at address 0x{address:x}: expected {alignment} to divide it"
        )
        wave.violation(text, site, int(lane.threads[0]))
    start = int(shared_index(lane, space, np.array([address]), 1, site, kind)[0])
    offset = start % wave.memory.shared_stride
    if offset + size > wave.memory.shared_size:
        text = f"{kind.value} of {size} bytes outside of shared memory at address 0x{offset:x}"
        note = f"a CTA of this launch has {wave.memory.shared_size} bytes"
        wave.violation(text, site, int(lane.threads[0]), note)
    return start


def check_chunks(lane: Lanes, index: Array, size: int, site: Instruction, kind: Kind) -> None:
    """Report chunks of shared memory, `size` bytes each, that the shadow forbids one lane."""
    wave = lane.wave
    if wave.checks:
        lanes_per_chunk = Lanes(wave, lane.frame, np.repeat(lane.threads, len(index)))
        wave.memory.check(
            lanes_per_chunk, ResolvedAddress(wave.memory.shared, index, None), size, site, kind
        )


def in_cta(lane: Lanes, start: int, rank: int) -> int:
    """The index of the same shared-memory offset in another CTA of the lane's cluster."""
    wave = lane.wave
    cluster = wave.launch.cluster_size
    first = int(lane.ctas[0]) // cluster * cluster
    stride = wave.memory.shared_stride
    return start % stride + (first + rank) * stride


def shared_address(lane: Lanes, start: int) -> int:
    """The shared address of an arena index in its own CTA."""
    return start % lane.wave.memory.shared_stride


def global_span(
    lane: Lanes, address: int, size: int, alignment: int, site: Instruction, kind: Kind
) -> int:
    """The index of `size` bytes in the global-memory arena, checked for bounds."""
    wave = lane.wave
    arena = wave.memory.device.arena
    start, thread = address - GLOBAL_WINDOW, int(lane.threads[0])
    if address % alignment:
        text = (
            f"misaligned {kind.value} at address 0x{address:x}: expected {alignment} to divide it"
        )
        wave.violation(text, site, thread)
    if start < 0 or start + size > arena.size:
        text = f"{kind.value} of {size} bytes outside of every allocation at address 0x{address:x}"
        wave.violation(text, site, thread)
    if wave.checks:
        wave.memory.check(lane, ResolvedAddress(arena, np.array([start]), None), size, site, kind)
    if kind is Kind.ASYNC_WRITE:
        arena.shadow[start : start + size] = 3
    return start
