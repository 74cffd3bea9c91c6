"""A wave: the CTAs that are resident at the same time, and their shared state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import NoReturn, Protocol, TypeVar, cast

import numpy as np

from tilewright.ptxsim.checker import Checker
from tilewright.ptxsim.frame import Frame
from tilewright.ptxsim.geometry import Geometry, Launch
from tilewright.ptxsim.global_races import GlobalRaces
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.memory import DeviceMemory, Kind, Memory, ResolvedAddress
from tilewright.ptxsim.perturbation import Perturbation
from tilewright.ptxsim.profile import Profile
from tilewright.ptxsim.program import Code, Program
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.scheduler import Scheduler
from tilewright.ptxsim.syntax import Instruction
from tilewright.ptxsim.traffic import Traffic
from tilewright.support.diagnostics import Diagnostic, UserError, note
from tilewright.support.run_limits import RunLimits

_State = TypeVar("_State")


class Observer(Protocol):
    """Observes every memory access and ordering event; the race detector is one."""

    def access(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        """Called for an access of `size` bytes at each index; ordinary stores pass `values`."""
        ...

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        """Called after a barrier, fence or wait, named by `kind`."""
        ...


class _ObserverPair:
    """Two observers as one."""

    def __init__(self, first: Observer, second: Observer) -> None:
        self.first = first
        self.second = second

    def access(
        self,
        lanes: Lanes,
        resolved: ResolvedAddress,
        size: int,
        kind: Kind,
        site: Instruction,
        values: Array | None = None,
    ) -> None:
        self.first.access(lanes, resolved, size, kind, site, values)
        self.second.access(lanes, resolved, size, kind, site, values)

    def synchronise(self, threads: Array, kind: str, key: Hashable, site: Instruction) -> None:
        self.first.synchronise(threads, kind, key, site)
        self.second.synchronise(threads, kind, key, site)


class Wave:
    """CTAs of a launch that run concurrently."""

    def __init__(
        self,
        program: Program,
        launch: Launch,
        clusters: tuple[int, int],
        device: DeviceMemory,
        parameters: int,
        checks: frozenset[str],
        seed: int,
        profile: bool = False,
        perturbation: Perturbation | None = None,
    ) -> None:
        self.program = program
        self.launch = launch
        self.parameters = parameters
        self.checks = checks
        self.perturbation = perturbation
        self.observer: Observer | None = None
        self.geometry = geometry = Geometry(launch, clusters[0], clusters[1] - clusters[0])
        self.thread_count = geometry.thread_count
        self.cta_count = geometry.cta_count
        self.cta_of_thread = geometry.cta_of_thread
        self.slots_per_cta = geometry.slots_per_cta
        self.warps_per_cta = geometry.slots_per_cta // WARP
        self.live: Array = geometry.exists.copy()
        self.live_count = int(self.live.sum())
        self.progress = 0
        self.loads = 0
        self.polled = False
        self.outputs: list[Callable[[str], object]] = []
        self.limits = RunLimits()
        self.on_exit: list[Callable[[Array], None]] = []
        # Called when every thread is blocked; each returns whether it made progress.
        self.on_stall: list[Callable[[], bool]] = []
        # State other than registers and memory that determines how threads continue.
        self.control_state: list[Callable[[], Array]] = []
        self._states: dict[Callable[[Wave], object], object] = {}
        self._frames: dict[tuple[Code, int], Frame] = {}
        self._local_end = 0
        self._ticks = 0
        shared = program.linker.static_shared + launch.dynamic_shared
        self.memory = Memory(self, device, shared)
        self.profile = Profile(geometry) if profile else None
        self.scheduler = Scheduler(self, seed)
        self.traffic = Traffic(self.memory, self.profile)
        watch_global = self.checks_for("global") or self.checks_for("global-blocks")
        watch_shared = bool(shared) and self.checks_for("races")
        self.checker = Checker(self) if watch_shared or watch_global else None
        if self.checker is not None:
            self.observe(self.checker)
            if watch_global:
                self.observe(GlobalRaces(self, self.checker))
        for make in program.linker.states:
            self.state(make)

    def run(self) -> Diagnostic | None:
        """Run every thread until it exits; return a diagnostic if some never will.

        Those may be run again, in case that another wave has changed global memory.
        """
        if not self._frames:
            entry = self.program.entry
            threads = np.flatnonzero(self.live)
            self.scheduler.start(entry.first, self.frame(entry, 0), threads)
        self.scheduler.detector.restart()
        # Overflow, invalid operations and division by zero have defined results in PTX.
        try:
            with np.errstate(all="ignore"):
                return self.scheduler.run()
        except KeyboardInterrupt:
            raise self.limits.interrupted(*self.scheduler.whereabouts()) from None

    def snapshot_control_state(self) -> list[Array]:
        """The state of barriers and clocks."""
        return [*(state() for state in self.control_state), np.array([self._ticks])]

    def frames(self) -> Collection[Frame]:
        """All frames allocated so far."""
        return self._frames.values()

    def frame(self, code: Code, recursion: int) -> Frame:
        """The frame of a function that is active `recursion` times already in the same thread."""
        frame = self._frames.get((code, recursion))
        if frame is None:
            frame = Frame(code.layout, self, self.reserve_local(code.layout.local_size))
            self._frames[code, recursion] = frame
        return frame

    def reserve_local(self, size: int) -> int:
        """Reserve bytes in the local memory of every thread and return their address."""
        base = -(-self._local_end // 32) * 32
        self._local_end = base + size
        self.memory.reserve_local(self._local_end)
        return base

    def state(self, make: Callable[[Wave], _State]) -> _State:
        """Return the wave's only `make(wave)`, created on first use.

        It contains the state of an instruction family that is neither in registers nor in memory.
        """
        if make not in self._states:
            self._states[make] = make(self)
        return cast(_State, self._states[make])

    def known_state(self, make: Callable[[Wave], _State]) -> _State | None:
        """Return the wave's only `make(wave)` if an instruction of its program needs it."""
        return self.state(make) if make in self._states else None

    def observe(self, observer: Observer) -> None:
        """Add an observer of all accesses and ordering events."""
        self.observer = (
            observer if self.observer is None else _ObserverPair(self.observer, observer)
        )

    def wake(self, key: Hashable) -> None:
        """Unblock the threads parked with a key."""
        self.scheduler.wake(key)

    def uniform(self, value: int) -> Array:
        """The same number for every thread."""
        return np.full(self.thread_count, value, np.uint32)

    def clock(self) -> int:
        """A counter that advances at every read."""
        self._ticks += 64
        self.progress += 1
        return self._ticks

    def retire(self, threads: Array) -> None:
        """Retire threads that have exited."""
        self.live[threads] = False
        self.live_count -= len(threads)
        self.progress += 1
        for hook in self.on_exit:
            hook(threads)

    def warp_bits(self, threads: Array) -> Array:
        """For each warp of the wave, the mask of its lanes among the threads."""
        bits = np.zeros(self.thread_count, np.uint32)
        bits[threads] = np.uint32(1) << (threads % WARP).astype(np.uint32)
        return np.bitwise_or.reduce(bits.reshape(-1, WARP), axis=1)

    def live_warp_bits(self) -> Array:
        """For each warp of the wave, the mask of its live lanes."""
        return self.warp_bits(np.flatnonzero(self.live))

    def live_ctas(self) -> Array:
        """For each CTA of the wave, whether any of its threads is live."""
        return np.logical_or.reduce(self.live.reshape(-1, self.slots_per_cta), axis=1)

    def checks_for(self, name: str) -> bool:
        """Whether a kind of check is enabled."""
        return name in self.checks

    def print(self, text: str) -> None:
        """Pass on what a thread prints."""
        for write in self.outputs:
            write(text)

    def violation(
        self, message: str, site: Instruction, thread: int, *more: str | Diagnostic
    ) -> NoReturn:
        """Raise an error for a thread at an instruction."""
        notes = [note(self.geometry.describe(thread))]
        if site.source_line is not None:
            notes.append(note("source line", site.source_line.location))
        notes += [note(each) if isinstance(each, str) else each for each in more if each]
        text = f"{site.opcode}: {message}"
        raise UserError([Diagnostic(text, site.location, notes=tuple(notes))])

    def describe_threads(self, threads: Array) -> str:
        """Describe the first of some threads, and the number of others."""
        first = self.geometry.describe(int(threads[0]))
        return first if len(threads) == 1 else f"{first} (and {len(threads) - 1} more)"
