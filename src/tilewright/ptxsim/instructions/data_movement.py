"""`mov`, loads, stores and address conversions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import numpy as np

from tilewright.ptxsim.addresses import shared_span
from tilewright.ptxsim.declarations import block_size
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.memory import (
    CTA_WINDOW_BITS,
    GLOBAL_WINDOW,
    LOCAL_WINDOW,
    OFFSET_IN_CTA,
    SHARED_WINDOW,
    SPACES,
    Kind,
    Space,
    parameter_address,
)
from tilewright.ptxsim.operation import Operation, Read, Write
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, UNSIGNED, Array, ScalarType
from tilewright.ptxsim.syntax import Instruction, Name, Vector

assert sys.byteorder == "little", "packed registers have the device's byte order"

SCOPES: Final = ("cta", "cluster", "gpu", "sys")
# Cache hints, which have no effect here.
CACHE_HINTS: Final = (
    "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified", "L2::cache_hint",
    "L2::64B", "L2::128B", "L2::256B", "L2::evict_last", "L2::evict_normal", "L2::evict_first",
    "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
    "L1::no_allocate",
)  # fmt: skip
_VECTORS: Final = {"v2": 2, "v4": 4, "v8": 8}


def take_space(op: Operation) -> Space:
    """Decode the state space among the modifiers; generic if there is none."""
    space = op.choice(*SPACES)
    return Space.GENERIC if space is None else SPACES[space]


def bits_of(type: ScalarType) -> ScalarType:
    """The untyped bits type of the same width."""
    return SCALAR_TYPES[f"b{type.bits}"]


@instruction("mov")
def mov(op: Operation) -> Run:
    """`mov d, a`, which also packs `{a, b}` into a wider register and unpacks it."""
    type = op.type()
    if isinstance(op.operand(0), Vector):
        return _unpack(op, type)
    if isinstance(op.operand(1), Vector):
        return _pack(op, type)
    write, read = op.write(0, type), op.read(1, type)
    return lambda lanes: write(lanes, read(lanes))


def _part_type(op: Operation, type: ScalarType, count: int) -> ScalarType:
    part = SCALAR_TYPES.get(f"b{type.bits // count}")
    if part is None or part.bits < 8:
        op.fail(f"expected 2 or 4 parts of .{type.name}, got {count}")
    return part


def _unpack(op: Operation, type: ScalarType) -> Run:
    elements = op.elements(0)
    part = _part_type(op, type, len(elements))
    writes = [op.write(element, part) for element in elements]
    read, dtype = op.read(1, bits_of(type)), part.unsigned

    def run(lanes: Lanes) -> None:
        whole = np.array(read(lanes))
        columns = whole.view(dtype).reshape(len(whole), -1)
        for at, write in enumerate(writes):
            write(lanes, columns[:, at])

    return run


def _pack(op: Operation, type: ScalarType) -> Run:
    elements = op.elements(1)
    part = _part_type(op, type, len(elements))
    reads = [op.read(element, part) for element in elements]
    write, dtype = op.write(0, bits_of(type)), type.unsigned
    wide = type.bits == 128

    def run(lanes: Lanes) -> None:
        columns = gather_columns(lanes, reads, part)
        whole = columns.view(dtype)
        write(lanes, whole if wide else whole[:, 0])

    return run


def gather_columns(lanes: Lanes, reads: list[Read], type: ScalarType) -> Array:
    """Read vector operands as one row per lane."""
    if type.bits == 128:
        return np.concatenate([lanes.spread(read(lanes)) for read in reads], axis=1)
    columns = np.empty((lanes.count, len(reads)), type.dtype)
    for at, read in enumerate(reads):
        columns[:, at] = read(lanes)
    return columns


class Access:
    """The modifiers that loads and stores have in common."""

    def __init__(self, op: Operation) -> None:
        order = op.choice("weak", "volatile", "relaxed", "acquire", "release", "mmio")
        if order == "mmio":
            order = op.choice("relaxed") or order
        self.order = order or "weak"
        self.scope = op.choice(*SCOPES)
        self.space = take_space(op)
        op.ignore(*CACHE_HINTS)
        vector = op.choice(*_VECTORS)
        self.count = _VECTORS[vector] if vector else 1
        self.type = op.type()
        # A thread that polls memory may be waiting for another thread.
        self.polls = self.order in ("volatile", "relaxed", "acquire")


@instruction("ld", "ldu")
def load(op: Operation) -> Run:
    """`ld d, [a]`."""
    access = Access(op)
    type, count, space, polls = access.type, access.count, access.space, access.polls
    writes: list[Write] = op.writes(0, type)
    if len(writes) != count:
        op.fail(f"expected {count} results, got {len(writes)}")
    address, site = op.address(1), op.site
    width, dtype = type.bytes, type.dtype
    if width == 16:
        return _load_wide(op, access, writes)

    def run(lanes: Lanes) -> None:
        wave = lanes.wave
        rows = wave.memory.load(lanes, space, address(lanes), width, count, site)
        values = rows.view(dtype)
        for at, write in enumerate(writes):
            write(lanes, values[:, at])
        if polls:
            wave.polled = True

    return run


def _load_wide(op: Operation, access: Access, writes: list[Write]) -> Run:
    address, site, space, count = op.address(1), op.site, access.space, access.count

    def run(lanes: Lanes) -> None:
        rows = lanes.wave.memory.load(lanes, space, address(lanes), 8, 2 * count, site)
        for at, write in enumerate(writes):
            write(lanes, rows[:, 2 * at : 2 * at + 2])

    return run


@instruction("st")
def store(op: Operation) -> Run:
    """`st [a], b`."""
    access = Access(op)
    type, count, space = bits_of(access.type), access.count, access.space
    reads = op.reads(1, type)
    if len(reads) != count:
        op.fail(f"expected {count} values, got {len(reads)}")
    address, site, width = op.address(0), op.site, type.bytes
    if count == 1 and width < 16:
        read = reads[0]

        def run_one(lanes: Lanes) -> None:
            values = read(lanes).reshape(-1, 1)
            lanes.wave.memory.store(lanes, space, address(lanes), values, width, 1, site)

        return run_one

    def run(lanes: Lanes) -> None:
        values = gather_columns(lanes, reads, type)
        lanes.wave.memory.store(lanes, space, address(lanes), values, width, count, site)

    return run


@instruction("st.bulk")
def store_zeros(op: Operation) -> Run:
    """`st.bulk [a], size, 0`: zero-fill shared memory."""
    op.ignore("weak")
    space = take_space(op)
    amount = op.operand(1)
    register = op.register(amount.text) if isinstance(amount, Name) else None
    bits = SCALAR_TYPES[register.type].bits if register is not None else 64
    address, size, site = op.address(0), op.read(1, SCALAR_TYPES[f"u{bits}"]), op.site
    if op.constant(2) != 0:
        op.fail("expected 0 as the value")

    def run(lanes: Lanes) -> None:
        starts = lanes.spread(address(lanes)).tolist()
        sizes = lanes.spread(size(lanes)).tolist()
        for at in range(lanes.count):
            lane = lanes.take(np.arange(lanes.count) == at)
            _clear(lane, space, starts[at], sizes[at], site)

    return run


def _clear(lane: Lanes, space: Space, start: int, size: int, site: Instruction) -> None:
    memory, thread = lane.wave.memory, int(lane.threads[0])
    if size % 8 or size > _MAX_BULK_SIZE:
        text = f"expected a size of up to {_MAX_BULK_SIZE} bytes that 8 divides, got {size}"
        lane.wave.violation(text, site, thread)
    if size:
        shared_span(lane, space, start, size, 8, site, Kind.WRITE)
        words = np.arange(start, start + size, 8)
        lanes_per_word = Lanes(lane.wave, lane.frame, np.full(len(words), thread))
        memory.store(lanes_per_word, space, words, np.zeros((len(words), 1), np.uint64), 8, 1, site)


# The limit of the PTX manual.
_MAX_BULK_SIZE: Final = 16777216

_WINDOW_OF_SPACE: Final = {
    "shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW, "shared::cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW, "global": 0, "const": 0, "param": 0, "param::entry": 0,
}  # fmt: skip


@instruction("cvta")
def convert_address(op: Operation) -> Run:
    """`cvta.space` to a generic address, `cvta.to.space` from one."""
    back = op.flag("to")
    space = op.choice(*_WINDOW_OF_SPACE)
    if space is None:
        op.fail("expected a state space")
    type = op.type("bsu")
    if type.bits != 64:
        op.unsupported("addresses of 32 bits")
    window = _WINDOW_OF_SPACE[space]
    offset = type.dtype.type(window)
    write, read = op.write(0, type), op.read(1, type)
    if space.startswith("param") and not back:
        return lambda lanes: write(lanes, parameter_address(read(lanes)))
    if not window:
        return lambda lanes: write(lanes, read(lanes))
    if back:
        return lambda lanes: write(lanes, read(lanes) - offset)
    return lambda lanes: write(lanes, read(lanes) + offset)


_LIMITS: Final = {
    "shared": (SHARED_WINDOW, LOCAL_WINDOW),
    "shared::cta": (SHARED_WINDOW, SHARED_WINDOW + (1 << CTA_WINDOW_BITS)),
    "shared::cluster": (SHARED_WINDOW, LOCAL_WINDOW),
    "local": (LOCAL_WINDOW, LOCAL_WINDOW + (1 << 40)),
    "global": (GLOBAL_WINDOW, GLOBAL_WINDOW + (1 << 40)),
}
Range = tuple[int, int]


@instruction("isspacep")
def is_space(op: Operation) -> Run:
    """`isspacep.space p, a`: whether a generic address is in the state space."""
    spaces = (*_LIMITS, "const", "param", "param::entry")
    space = op.choice(*spaces) or op.fail("expected a state space")
    constants = op.linker.constants()
    _, size = block_size(op.linker.entry.parameters)
    write, read = op.write(0, SCALAR_TYPES["pred"]), op.read(1, SCALAR_TYPES["u64"])

    def run(lanes: Lanes) -> None:
        address = read(lanes)
        start = lanes.wave.parameters
        if space == "const":
            write(lanes, _inside(address, constants))
        elif space.startswith("param"):
            write(lanes, _inside(address, [(start, start + size)]))
        else:
            # Constants and parameters are in global memory here, unlike on a device.
            others = [*constants, (start, start + size)]
            write(lanes, _inside(address, [_LIMITS[space]]) & ~_inside(address, others))

    return run


def _inside(address: Array, ranges: Sequence[Range]) -> Array:
    inside = np.zeros(len(address), np.bool_)
    for low, high in ranges:
        inside |= (address >= low) & (address < high)
    return inside


@instruction("mapa")
def map_address(op: Operation) -> Run:
    """`mapa d, a, rank`: the same offset in the shared memory of another CTA of the cluster."""
    space = op.choice("shared::cluster")
    type = op.type()
    write = op.write(0, type)
    read, rank = op.read(1, type), op.read(2, SCALAR_TYPES["u32"])
    window = 0 if space else SHARED_WINDOW

    def run(lanes: Lanes) -> None:
        offset = read(lanes).astype(np.int64) & OFFSET_IN_CTA
        base = rank(lanes).astype(np.int64) << CTA_WINDOW_BITS
        write(lanes, (window + base + offset).astype(type.dtype))

    return run


@instruction("getctarank")
def cta_rank_of_address(op: Operation) -> Run:
    """`getctarank d, a`: the rank of the CTA that owns a shared-memory address."""
    op.ignore("shared::cluster")
    type = op.type()
    write, read = op.write(0, SCALAR_TYPES["u32"]), op.read(1, type)

    def run(lanes: Lanes) -> None:
        rank = (read(lanes).astype(np.int64) & 0xFFFFFFFF) >> CTA_WINDOW_BITS
        write(lanes, rank.astype(UNSIGNED[32]))

    return run


@instruction("prefetch", "prefetchu", "applypriority", "discard")
def hint(op: Operation) -> Run:
    """A cache hint, which has no effect here."""
    op.rest()
    op.ignore_operands()
    return lambda lanes: None


@instruction("createpolicy")
def create_policy(op: Operation) -> Run:
    """`createpolicy`: a cache policy, which has no effect here."""
    op.rest()
    op.ignore_operands()
    write = op.write(0, SCALAR_TYPES["b64"])
    return lambda lanes: write(lanes, np.zeros(1, np.uint64))
