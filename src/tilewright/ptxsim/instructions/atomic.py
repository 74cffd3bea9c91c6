"""`atom` and `red`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim import atomics, rounding
from tilewright.ptxsim.arena import Arena
from tilewright.ptxsim.float_formats import FORMATS
from tilewright.ptxsim.instructions.data_movement import (
    CACHE_HINTS,
    SCOPES,
    bits_of,
    gather_columns,
    take_space,
)
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.memory import Kind, ResolvedAddress
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array, ScalarType
from tilewright.ptxsim.wave import Wave

_OPERATIONS: Final = (
    "add", "and", "or", "xor", "min", "max", "exch", "cas", "inc", "dec",
)  # fmt: skip
Numbers = Callable[[Array, Array, Array], Array]


def _increment(old: Array, limit: Array, _: Array) -> Array:
    return np.where(old >= limit, np.zeros_like(old), old + old.dtype.type(1))


def _decrement(old: Array, limit: Array, _: Array) -> Array:
    result: Array = np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))
    return result


def _swap(old: Array, compare: Array, new: Array) -> Array:
    same = old == compare
    if old.ndim > 1 and old.shape[1] > 1:
        same = np.logical_and.reduce(same, axis=1, keepdims=True)
    return np.where(same, new, old)


_PLAIN: Final[dict[str, Numbers]] = {
    "add": lambda old, new, _: old + new,
    "and": lambda old, new, _: old & new,
    "or": lambda old, new, _: old | new,
    "xor": lambda old, new, _: old ^ new,
    "min": lambda old, new, _: np.minimum(old, new),
    "max": lambda old, new, _: np.maximum(old, new),
    "exch": lambda old, new, _: new,
    "cas": _swap,
    "inc": _increment,
    "dec": _decrement,
}
_RUNNING: Final[dict[str, np.ufunc]] = {
    "add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip


def _float_update(name: str, type: ScalarType) -> Numbers:
    """`add`, `min` and `max` of floats that NumPy cannot compute on the bits in memory."""
    format = FORMATS[type.name]

    def update(old: Array, new: Array, _: Array) -> Array:
        a, b = format.decode(old.reshape(-1)), format.decode(new.reshape(-1))
        if name == "add":
            result = rounding.sum_to_odd(a.astype(np.float64), b.astype(np.float64))
        else:
            greater = name == "max"
            result = (np.fmax if greater else np.fmin)(a, b)
            result = rounding.with_ordered_zeros(result, a, b, greater=greater)
        return format.encode(result, "rn").reshape(old.shape)

    return update


def _add_f32(old: Array, new: Array, _: Array) -> Array:
    return rounding.canonical(old + new)


def _add_f64(old: Array, new: Array, _: Array) -> Array:
    return rounding.with_nans(old + new, old, new)


def _add_f32_in_global(old: Array, new: Array, _: Array) -> Array:
    """Add f32 in global memory, where the hardware flushes subnormal numbers."""
    return rounding.flush(rounding.canonical(rounding.flush(old) + rounding.flush(new)))


def _add_f64_in_global(old: Array, new: Array, _: Array) -> Array:
    return rounding.with_nans(old + new, new, old, quiet=False)


_FLOAT_ADDS: Final[dict[str, Numbers]] = {"f32": _add_f32, "f64": _add_f64}
_FLOAT_ADDS_IN_GLOBAL: Final = {"f32": _add_f32_in_global, "f64": _add_f64_in_global}


class _Atomic:
    """One decoded instruction."""

    def __init__(self, op: Operation) -> None:
        returns = op.name == "atom"
        op.choice("relaxed", "acquire", "release", "acq_rel")
        op.choice(*SCOPES)
        self.space = take_space(op)
        op.ignore("noftz", *CACHE_HINTS)
        self.name = op.choice(*_OPERATIONS) or op.fail("expected an operation")
        vector = op.choice("v2", "v4", "v8")
        self.type = op.type()
        self.storage = bits_of(self.type) if self.type.bits == 128 else self.type
        self.site = op.site
        at = 1 if returns else 0
        self.address = op.address(at)
        self.reads = op.reads(at + 1, self.storage)
        self.others = op.reads(at + 2, self.storage) if self.name == "cas" else self.reads
        self.writes = op.writes(0, self.storage) if returns else []
        self.count = int(vector[1:]) if vector else 1
        self.size = self.type.bytes * self.count
        self.words = (8, 2 * self.count) if self.type.bytes == 16 else (self.type.bytes, self.count)
        self.choose_update()

    def choose_update(self) -> None:
        name, type = self.name, self.type
        self.update = _PLAIN[name]
        self.update_in_global: Numbers | None = None
        adds_floats = name == "add" and type.name in _FLOAT_ADDS
        if adds_floats:
            self.update = _FLOAT_ADDS[type.name]
            self.update_in_global = _FLOAT_ADDS_IN_GLOBAL[type.name]
        elif type.name in FORMATS and name not in ("exch", "cas"):
            self.update = _float_update(name, type)
        native = adds_floats or type.name not in FORMATS
        is_scalar = self.count == 1 and type.bytes < 16
        self.running = _RUNNING.get(name) if native and is_scalar else None

    def run(self, lanes: Lanes) -> None:
        first = gather_columns(lanes, self.reads, self.storage)
        same = self.others is self.reads
        second = first if same else gather_columns(lanes, self.others, self.storage)
        addresses = np.ascontiguousarray(lanes.spread(self.address(lanes)))
        memory = lanes.wave.memory
        resolved = memory.resolve(lanes, self.space, addresses, self.size, self.site, Kind.ATOMIC)
        if isinstance(resolved, list):
            old = np.empty_like(first)
            for part in resolved:
                assert part.mask is not None, "parts of an access have masks"
                active = lanes.take(part.mask)
                unmasked = ResolvedAddress(part.arena, part.index, None)
                values = first[part.mask], second[part.mask]
                old[part.mask] = self.change(active, unmasked, *values)
        else:
            old = self.change(lanes, resolved, first, second)
        lanes.wave.polled |= bool(self.writes)
        lanes.wave.loads += 1
        for at, write in enumerate(self.writes):
            write(lanes, old if self.type.bits == 128 else old[:, at])

    def change(self, lanes: Lanes, resolved: ResolvedAddress, first: Array, second: Array) -> Array:
        """Update one arena; return the old value that each lane read."""
        wave, arena = lanes.wave, resolved.arena
        rows = resolved.index >> (self.size.bit_length() - 1)
        if wave.checks and not arena.readable(rows, *self.words):
            wave.memory.report_shadow(lanes, resolved, self.size, self.site, Kind.ATOMIC)
        wave.traffic.access(lanes, resolved, self.size, Kind.ATOMIC, self.site)
        if wave.observer is not None:
            wave.observer.access(lanes, resolved, self.size, Kind.ATOMIC, self.site)
        order = wave.scheduler.detector.order(len(rows))
        if order is None:
            return self.apply(wave, arena, rows, first, second)
        old = np.empty_like(first)
        old[order] = self.apply(wave, arena, rows[order], first[order], second[order])
        return old

    def apply(self, wave: Wave, arena: Arena, rows: Array, first: Array, second: Array) -> Array:
        """Update rows one after the other; return their old values."""
        cells = arena.rows(*self.words)[0].view(self.storage.dtype)
        update = self.update
        if self.update_in_global is not None and arena is wave.memory.device.arena:
            update = self.update_in_global
        elif self.running is not None and _all_same(rows):
            row = int(rows[0])
            before = cells[row].copy()
            old = atomics.accumulate(cells[:, 0], row, self.running, first[:, 0]).reshape(-1, 1)
            if not np.isnan(cells[row, 0]):
                wave.progress += bool((cells[row] != before).any())
                return old
            cells[row] = before
        old = atomics.apply(cells, rows, update, first, second)
        wave.progress += bool((cells[rows] != old).any())
        return old


def _all_same(rows: Array) -> bool:
    return len(rows) > 1 and bool((rows == rows[0]).all())


@instruction("atom", "red")
def atomic(op: Operation) -> Run:
    """`atom d, [a], b, c` and `red [a], b`."""
    return _Atomic(op).run
