"""`wgmma`: asynchronous warpgroup-level mma."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tilewright.ptxsim.async_registers import AsyncRegisters, Bundle, bundles_of
from tilewright.ptxsim.instructions.mma_sync import Form
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.matrix import fragments
from tilewright.ptxsim.matrix.descriptors import SharedMatrix
from tilewright.ptxsim.matrix.elements import ELEMENTS, Element
from tilewright.ptxsim.matrix.operands import (
    ReadMatrix,
    WriteMatrix,
    accumulators_to,
    check_count,
    patterns_from,
)
from tilewright.ptxsim.operation import Operation, Read, Write
from tilewright.ptxsim.proxies import GenericWrites
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Name, Vector
from tilewright.ptxsim.warps import whole_warps
from tilewright.ptxsim.wave import Wave

_SHAPE: Final = re.compile(r"m64n(\d+)k(\d+)")
_WARPGROUP: Final = 4 * WARP
# The types of D for each type of A; B has the same type, or one of the same size for f8 and int.
_RESULTS: Final = {
    "f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",),
    "e4m3": ("f16", "f32"), "e5m2": ("f16", "f32"), "s8": ("s32",), "u8": ("s32",), "b1": ("s32",),
}  # fmt: skip
_FAMILIES: Final = ({"e4m3", "e5m2"}, {"s8", "u8"})


@dataclass(slots=True)
class _Work:
    """An issued mma: its execution, if it is still pending, and the threads yet to wait for it."""

    lanes: Lanes
    groups: Array
    bundles: tuple[Bundle, ...]
    execute: Callable[[], None] | None

    def finish(self) -> None:
        if self.execute is not None:
            self.execute()
            self.execute = None


class Pipeline:
    """The pending mmas of a wave, oldest first.

    The hardware executes an mma at some time between issue and wait. The emulator executes it at
    issue, or with a seed possibly as late as the wait.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.registers = wave.state(AsyncRegisters)
        self._queue: list[_Work] = []
        self._committed: Array = np.zeros(wave.thread_count, np.int64)

    def issue(self, lanes: Lanes, bundles: tuple[Bundle, ...], execute: Callable[[], None]) -> None:
        """Issue an mma; execute it now or later."""
        random = self.wave.scheduler.random
        late = random is not None and random.random() < 0.5
        if not late:
            self._finish_all(len(self._queue))
            execute()
        if late or self.registers.active:
            groups = self._committed[lanes.select].copy()
            self._queue.append(_Work(lanes, groups, bundles, execute if late else None))

    def commit(self, lanes: Lanes) -> None:
        """Commit the issued mmas as a group."""
        self._committed[lanes.select] += 1

    def wait(self, lanes: Lanes, pending: int) -> None:
        """Execute all groups but the `pending` most recent ones."""
        waiting = np.zeros(self.wave.thread_count, np.bool_)
        waiting[lanes.select] = True
        last = self._committed - pending
        kept: list[_Work] = []
        for at, work in enumerate(self._queue):
            threads = work.lanes.threads
            due = waiting[threads] & (work.groups < last[threads])
            if not due.any():
                kept.append(work)
                continue
            # Executing older mmas as well is unobservable.
            self._finish_all(at + 1)
            if self.registers.active:
                self.registers.release(work.lanes.take(due), work.bundles)
            if not due.all():
                kept.append(_Work(work.lanes.take(~due), work.groups[~due], work.bundles, None))
        self._queue = kept

    def _finish_all(self, count: int) -> None:
        for work in self._queue[:count]:
            work.finish()


def _warpgroups(lanes: Lanes) -> Lanes:
    """Return the lanes whose warpgroup is complete; block the others."""
    if not lanes.count:
        return lanes
    slots = lanes.threads - lanes.ctas * lanes.wave.slots_per_cta
    if lanes.count % _WARPGROUP == 0:
        rows = slots.reshape(-1, _WARPGROUP)
        if ((rows[:, 0] % _WARPGROUP == 0) & (rows[:, -1] == rows[:, 0] + _WARPGROUP - 1)).all():
            return lanes
    first = lanes.threads - slots % _WARPGROUP
    _, inverse, counts = np.unique(first, return_inverse=True, return_counts=True)
    complete = counts[inverse] == _WARPGROUP
    lanes.park(~complete, "warpgroup", "the other warps of its warpgroup")
    return lanes.take(complete)


def _take_form(op: Operation) -> Form:
    if op.flag("sp"):
        op.unsupported("sparse A")
    saturate, operation = op.flag("satfinite"), op.choice("and")
    op.ignore("sync", "aligned", "popc")
    shape, *types = op.rest()
    matched = _SHAPE.fullmatch(shape)
    if matched is None or len(types) != 3 or not set(types) <= ELEMENTS.keys():
        op.unsupported()
    d, a, b = (ELEMENTS[name] for name in types)
    same_family = a == b or any({a.name, b.name} <= family for family in _FAMILIES)
    if d.name not in _RESULTS.get(a.name, ()) or not same_family:
        op.unsupported(f".{d.name} from .{a.name} and .{b.name}")
    n, k = map(int, matched.groups())
    if k * a.bits != 256 or n % 8 or not 8 <= n <= 256 or (not a.is_float and n > 32 and n % 16):
        op.unsupported(f".{shape} of .{a.name}")
    return Form(64, n, k, d, a, b, d, saturate, operation, ("row", "col"))


def _unwatched(op: Operation, operand: int) -> tuple[list[Read], list[Write]]:
    """Readers and writers that do not report to `AsyncRegisters`."""
    reads: list[Read] = []
    writes: list[Write] = []
    for element in op.elements(operand):
        register = op.register(element.text) if isinstance(element, Name) else None
        if register is None or SCALAR_TYPES[register.type].bits != 32:
            op.fail(f"expected registers of 32 bits as operand {operand + 1}")
        slot = op.layout.slot(register, SCALAR_TYPES["b32"].dtype)
        reads.append(_reader(slot))
        writes.append(_writer(slot))
    return reads, writes


def _reader(slot: int) -> Read:
    return lambda lanes: lanes.cells[slot][lanes.select]


def _writer(slot: int) -> Write:
    def write(lanes: Lanes, values: Array) -> None:
        lanes.cells[slot][lanes.select] = values

    return write


class _Accumulator:
    """D: 64 rows, 16 per warp of the warpgroup."""

    def __init__(self, op: Operation, form: Form) -> None:
        fragment = fragments.accumulator(16, form.n)
        check_count(op, 0, fragment, form.d)
        reads, writes = _unwatched(op, 0)
        self.n = form.n
        self.dtype = np.dtype({"f16": np.float16, "f32": np.float32}.get(form.d.name, np.int32))
        self._read: ReadMatrix = patterns_from(reads, fragment, form.d)
        self._write: WriteMatrix = accumulators_to(writes, fragment, form.d)

    def read(self, lanes: Lanes, keep: Array) -> Array:
        """Read the accumulators; zero for the warpgroups that do not accumulate."""
        if not keep.any():
            return np.zeros((len(keep), 64, self.n), self.dtype)
        accumulators = self._read(lanes).view(self.dtype).reshape(-1, 64, self.n)
        if not keep.all():
            accumulators[~keep] = 0
        return accumulators

    def write(self, lanes: Lanes, values: Array) -> None:
        self._write(lanes, values.reshape(-1, 16, self.n))


class _Multiplicand:
    """A or B: a shared-memory descriptor, or registers of the four warps."""

    def __init__(self, op: Operation, operand: int, rows: int, element: Element, k: int) -> None:
        self.element = element
        self.in_registers = isinstance(op.operand(operand), Vector)
        self.negative = False
        if self.in_registers:
            fragment = fragments.multiplicand_a(16, k, element.bits)
            check_count(op, operand, fragment, element)
            self._patterns = patterns_from(_unwatched(op, operand)[0], fragment, element)
        else:
            self.descriptor = op.read(operand, SCALAR_TYPES["b64"])
            self.memory = SharedMatrix(rows, element, False, op.site)

    def capture(self, lanes: Lanes) -> Array:
        """Read the descriptor of each warpgroup at issue."""
        if self.in_registers:
            return np.zeros(lanes.count // _WARPGROUP, np.uint64)
        return lanes.spread(self.descriptor(lanes))[::_WARPGROUP].copy()

    def announce(self, leaders: Lanes, descriptors: Array) -> None:
        """Check and report the reads of shared memory."""
        if not self.in_registers:
            self.memory.announce(leaders, descriptors)

    def numbers(self, lanes: Lanes, leaders: Lanes, descriptors: Array) -> Array:
        """Load the matrices of the warpgroups."""
        if self.in_registers:
            patterns = self._patterns(lanes)
            matrices = self.element.decode(patterns).reshape(-1, 64, patterns.shape[2])
        else:
            matrices = self.memory.read(leaders, descriptors)
        return -matrices if self.negative else matrices


def _take_scales(op: Operation, form: Form, a: _Multiplicand, b: _Multiplicand) -> None:
    """Decode the operands after scale-d: signs and transpositions."""
    rest = [op.constant(at) for at in range(4, op.operand_count)]
    if not form.a.is_float:
        expected = 0
    elif form.a.bits != 16:
        expected = 2
    else:
        expected = 3 if a.in_registers else 4
    if len(rest) != expected:
        op.fail(f"expected {4 + expected} operands, got {op.operand_count}")
    if not expected:
        return
    if not set(rest[:2]) <= {-1, 1} or not set(rest[2:]) <= {0, 1}:
        op.fail("expected scales of 1 or -1 and transpositions of 0 or 1")
    a.negative, b.negative = rest[0] < 0, rest[1] < 0
    if expected > 2:
        b.memory.across = bool(rest[-1])
        if not a.in_registers:
            a.memory.across = bool(rest[2])


@instruction("wgmma.mma_async", blocks=True)
def multiply(op: Operation) -> Run:
    """`wgmma.mma_async d, a, b, scale-d, …`: D = A * B + D, or A * B, asynchronously."""
    form = _take_form(op)
    d = _Accumulator(op, form)
    a = _Multiplicand(op, 1, 64, form.a, form.k)
    b = _Multiplicand(op, 2, form.n, form.b, form.k)
    if b.in_registers:
        op.fail("expected a descriptor of B")
    keep = op.predicate(3)
    _take_scales(op, form, a, b)
    multiply_add, site = form.multiply("wgmma"), op.site
    bundles = tuple(bundles_of(site))
    op.needs(GenericWrites)

    def run(lanes: Lanes) -> None:
        lanes = _warpgroups(whole_warps(lanes, site))
        if not lanes.count:
            return
        wave = lanes.wave
        leaders = Lanes(wave, lanes.frame, lanes.threads[::_WARPGROUP])
        captured = a.capture(lanes), b.capture(lanes)
        kept = lanes.spread(keep(lanes))[::_WARPGROUP].copy()
        a.announce(leaders, captured[0])
        b.announce(leaders, captured[1])

        def execute() -> None:
            left = a.numbers(lanes, leaders, captured[0])
            right = b.numbers(lanes, leaders, captured[1])
            d.write(lanes, multiply_add(left, right, d.read(lanes, kept)))

        pipeline = wave.state(Pipeline)
        if pipeline.registers.active:
            pipeline.registers.take(lanes, bundles, site)
        pipeline.issue(lanes, bundles, execute)

    return run


@instruction("wgmma.fence.sync.aligned", blocks=True)
def fence(op: Operation) -> Run:
    """`wgmma.fence`: order register accesses before later `wgmma.mma_async`."""
    site = op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if lanes.count:
            lanes.wave.state(AsyncRegisters).fence(lanes)

    return run


@instruction("wgmma.commit_group.sync.aligned", blocks=True)
def commit(op: Operation) -> Run:
    """`wgmma.commit_group`: commit the issued mmas as a group."""
    site = op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if not lanes.count:
            return
        lanes.wave.state(Pipeline).commit(lanes)
        if lanes.wave.observer is not None:
            lanes.wave.observer.synchronise(lanes.threads, "wgmma.commit_group", None, site)

    return run


@instruction("wgmma.wait_group.sync.aligned", blocks=True)
def wait(op: Operation) -> Run:
    """`wgmma.wait_group n`: at most the n most recent groups are pending."""
    pending, site = op.constant(0), op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if not lanes.count:
            return
        lanes.wave.state(Pipeline).wait(lanes, pending)
        if lanes.wave.observer is not None:
            lanes.wave.observer.synchronise(lanes.threads, "wgmma.wait_group", pending, site)

    return run
