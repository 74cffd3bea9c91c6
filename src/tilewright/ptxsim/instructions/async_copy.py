"""`cp.async`: copies from global to shared memory that run asynchronously."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tilewright.ptxsim.addresses import shared_index
from tilewright.ptxsim.async_engine import AsyncEngine, Job
from tilewright.ptxsim.checker import COPY
from tilewright.ptxsim.instructions.data_movement import CACHE_HINTS, take_space
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.mbarriers import SIZE, Mbarriers
from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, ResolvedAddress, Space
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.proxies import GenericWrites
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Instruction, Name
from tilewright.ptxsim.vectors import distinct
from tilewright.ptxsim.wave import Wave

_U32: Final = SCALAR_TYPES["u32"]


class _Issued(NamedTuple):
    """A copy issued by some threads, and its async group in each of them."""

    threads: Array
    groups: Array
    job: Job


class CopyGroups:
    """The copies of a wave that no thread has waited for, oldest first."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self._commits: Array = np.zeros(wave.thread_count, np.int64)
        self._issued: list[_Issued] = []

    def add(self, threads: Array, job: Job) -> None:
        """Record a copy that threads issued."""
        if not job.done:
            self._issued.append(_Issued(threads, self._commits[threads], job))

    def commit(self, threads: Array) -> None:
        """Commit the issued copies as a group."""
        self._commits[threads] += 1

    def wait(self, threads: Array, pending: int) -> None:
        """Execute all groups but the last `pending` ones; -1 includes uncommitted copies."""
        waiting = np.zeros(self.wave.thread_count, np.bool_)
        waiting[threads] = True
        last = self._commits - pending
        for each in self._issued:
            if (waiting[each.threads] & (each.groups < last[each.threads])).any():
                each.job.run()
        self._issued = [each for each in self._issued if not each.job.done]

    def jobs_of(self, thread: int) -> list[Job]:
        """The pending copies of a thread."""
        return [each.job for each in self._issued if thread in each.threads]


class _Copy:
    """One decoded `cp.async`."""

    def __init__(self, op: Operation) -> None:
        level = op.choice("ca", "cg")
        op.ignore("global", *CACHE_HINTS)
        self.space = take_space(op)
        self.target, self.source, self.site = op.address(0), op.address(1), op.site
        self.size = op.constant(2)
        if self.size not in ((16,) if level == "cg" else (4, 8, 16)):
            op.fail(f"expected a size of 4, 8 or 16 bytes, got {self.size}")
        self.skip: Read | None = None
        self.source_size: Read | None = None
        if op.operand_count > 3:
            self._take_size(op)

    def _take_size(self, op: Operation) -> None:
        operand = op.operand(3)
        register = op.register(operand.text) if isinstance(operand, Name) else None
        if register is not None and register.type == "pred":
            self.skip = op.predicate(3)
        elif register is None or SCALAR_TYPES[register.type].bits == 32:
            self.source_size = op.read(3, _U32)

    def run(self, lanes: Lanes) -> None:
        wave, size = lanes.wave, self.size
        memory = wave.memory
        target = self.target(lanes)
        to = shared_index(lanes, self.space, target, size, self.site, Kind.ASYNC_WRITE)
        source_sizes = self._source_sizes(lanes)
        source = np.array(lanes.spread(self.source(lanes)))
        self._check_source(lanes, source, source_sizes)
        resolved = ResolvedAddress(memory.shared, to, None)
        if wave.checks:
            memory.check(lanes, resolved, size, self.site, Kind.ASYNC_WRITE)
            memory.shared.shadow[to[:, None] + np.arange(size)] = 3
        wave.traffic.access(lanes, resolved, size, Kind.ASYNC_WRITE, self.site)
        wave.traffic.copy_lanes(lanes, source, source_sizes, self.site)
        if wave.observer is not None:
            wave.observer.access(lanes, resolved, size, Kind.ASYNC_WRITE, self.site)
        writes = wave.known_state(GenericWrites)

        def work() -> None:
            self._copy(wave, source, to, source_sizes)
            if writes is not None:
                writes.copied(to, size, lanes.threads)

        job = wave.state(AsyncEngine).submit(work)
        wave.state(CopyGroups).add(lanes.threads, job)
        wave.progress += 1

    def _source_sizes(self, lanes: Lanes) -> Array:
        """The number of bytes each lane copies; the rest of the chunk is zero-filled."""
        if self.skip is not None:
            return np.where(lanes.spread(self.skip(lanes)), 0, self.size)
        if self.source_size is None:
            return np.full(lanes.count, self.size)
        sizes = lanes.spread(self.source_size(lanes)).astype(np.int64)
        if (sizes > self.size).any():
            lane = int(np.argmax(sizes > self.size))
            text = f"expected at most {self.size} bytes, got {sizes[lane]}"
            lanes.wave.violation(text, self.site, int(lanes.threads[lane]))
        return sizes

    def _check_source(self, lanes: Lanes, source: Array, sizes: Array) -> None:
        if not sizes.all():
            copying = sizes > 0
            if not copying.any():
                return
            lanes, source, sizes = lanes.take(copying), source[copying], sizes[copying]
        memory, size = lanes.wave.memory, self.size
        resolved = memory.resolve(lanes, Space.GLOBAL, source, size, self.site, Kind.ASYNC_READ)
        if isinstance(resolved, ResolvedAddress) and lanes.wave.checks:
            if (sizes == size).all():
                memory.check(lanes, resolved, size, self.site, Kind.ASYNC_READ)
                return
            for width in distinct(sizes).tolist():
                part: Array = sizes == width
                chunk = ResolvedAddress(resolved.arena, resolved.index[part], None)
                memory.check(lanes.take(part), chunk, width, self.site, Kind.ASYNC_READ)

    def _copy(self, wave: Wave, source: Array, to: Array, sizes: Array) -> None:
        memory, steps = wave.memory, np.arange(self.size)
        copied = steps < sizes[:, None]
        from_ = np.where(copied, (source - GLOBAL_WINDOW)[:, None] + steps, 0)
        data = np.where(copied, memory.device.arena.bytes[from_], np.uint8(0))
        memory.shared.bytes[to[:, None] + steps] = data


@instruction("cp.async")
def copy(op: Operation) -> Run:
    """`cp.async [to], [from], size, source size`: bytes past the source size are zero-filled."""
    if not {"ca", "cg"} & set(op.modifiers):
        op.unsupported()
    return _Copy(op).run


@instruction("cp.async.commit_group")
def commit(op: Operation) -> Run:
    """`cp.async.commit_group`."""

    def run(lanes: Lanes) -> None:
        lanes.wave.state(CopyGroups).commit(lanes.threads)
        if lanes.wave.checker is not None:
            lanes.wave.checker.commit(COPY, lanes.threads)

    return run


@instruction("cp.async.wait_group")
def wait_group(op: Operation) -> Run:
    """`cp.async.wait_group n`: at most the n most recent groups are pending."""
    pending = op.constant(0)

    def run(lanes: Lanes) -> None:
        lanes.wave.state(CopyGroups).wait(lanes.threads, pending)
        if lanes.wave.checker is not None:
            lanes.wave.checker.wait(COPY, lanes.threads, pending)

    return run


@instruction("cp.async.wait_all")
def wait_all(op: Operation) -> Run:
    """`cp.async.wait_all`."""

    def run(lanes: Lanes) -> None:
        lanes.wave.state(CopyGroups).wait(lanes.threads, -1)
        checker = lanes.wave.checker
        if checker is not None:
            checker.groups(COPY).complete(checker.clocks.warps_of(lanes.threads))

    return run


@instruction("cp.async.mbarrier.arrive")
def arrive(op: Operation) -> Run:
    """`cp.async.mbarrier.arrive [a]`: arrive when the thread's prior copies complete."""
    counts_itself = not op.flag("noinc")
    space = take_space(op)
    op.ignore("b64")
    address, site = op.address(0), op.site

    def run(lanes: Lanes) -> None:
        indices = shared_index(lanes, space, address(lanes), SIZE, site, Kind.ATOMIC)
        for index, thread in zip(indices.tolist(), lanes.threads.tolist(), strict=True):
            _arrive_later(lanes.wave, index, thread, counts_itself, site)

    return run


def _arrive_later(
    wave: Wave, index: int, thread: int, counts_itself: bool, site: Instruction
) -> None:
    state = wave.state(Mbarriers)
    mbarrier = state.find(index, thread, site)
    if counts_itself:
        mbarrier.pending += 1
    jobs = wave.state(CopyGroups).jobs_of(thread)
    checker = wave.checker
    known = None if checker is None else checker.groups(COPY).release(thread // WARP)

    def finish() -> None:
        for job in jobs:
            job.run()
        state.release(mbarrier, known)
        state.arrive(mbarrier, 1, thread, site)

    wave.state(AsyncEngine).submit(finish)
