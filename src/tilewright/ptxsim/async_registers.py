"""Registers that `wgmma` works on behind the program's back, and who touches them too early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.syntax import Function, Instruction, Name, RegisterDeclaration, Vector

if TYPE_CHECKING:
    from tilewright.ptxsim.frame import Frame
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.wave import Wave

_ASYNCHRONOUS: Final = "wgmma.mma_async"

# The registers of one operand; instructions that name the same ones share what is known of them.
Bundle = tuple[RegisterDeclaration, ...]


def bundles_of(site: Instruction) -> Iterator[Bundle]:
    """The vectors of registers among an instruction's operands, results first."""
    for operand in site.operands:
        if isinstance(operand, Vector):
            names = (each.text for each in operand.elements if isinstance(each, Name))
            found = (site.scope.find(name) for name in names)
            yield tuple(each for each in found if isinstance(each, RegisterDeclaration))


def registers_of(function: Function) -> Iterator[RegisterDeclaration]:
    """Every register of a function that an asynchronous instruction reads or writes."""
    for site in function.body or ():
        if site.opcode.startswith(_ASYNCHRONOUS):
            for bundle in bundles_of(site):
                yield from bundle


class AsyncRegisters:
    """For each thread of a wave, the registers that are in use, and those not fenced.

    In use: between the issue of an instruction and the wait for its group nobody else may read or
    write its registers. Not fenced: whatever ordinary instructions touched must be followed by
    `wgmma.fence` before the next asynchronous instruction takes it.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.active = wave.checks_for("registers")
        self._in_use: dict[tuple[Frame, Bundle], Array] = {}
        self._touched: dict[tuple[Frame, Bundle], Array] = {}
        self._bundles: dict[RegisterDeclaration, list[Bundle]] = {}
        self._overlaps: dict[Bundle, set[Bundle]] = {}
        self._fenced: Array = np.zeros(wave.thread_count, bool)

    def fence(self, lanes: Lanes) -> None:
        """Threads have executed `wgmma.fence`."""
        self._fenced[lanes.select] = True
        for touched in self._touched.values():
            touched[lanes.select] = False

    def take(self, lanes: Lanes, bundles: Sequence[Bundle], site: Instruction) -> None:
        """An instruction begins to work on registers; the first bundle is its accumulator."""
        self._require_fence(lanes, self._fenced[lanes.select], "no wgmma.fence comes before", site)
        for bundle in bundles:
            key = lanes.frame, bundle
            if key not in self._in_use:
                self._add(key)
            fenced = ~self._touched[key][lanes.select]
            self._require_fence(lanes, fenced, "no wgmma.fence follows other accesses to", site)
            for other in self._overlapping(bundle):
                if other != bundle or bundle is not bundles[0]:
                    self._require_free(lanes, other, bundle[0], "used again", site)
        for bundle in bundles:
            self._in_use[lanes.frame, bundle][lanes.select] += 1

    def release(self, lanes: Lanes, bundles: Sequence[Bundle]) -> None:
        """An instruction is done with registers."""
        for bundle in bundles:
            self._in_use[lanes.frame, bundle][lanes.select] -= 1

    def touch(
        self, lanes: Lanes, register: RegisterDeclaration, how: str, site: Instruction
    ) -> None:
        """An ordinary instruction reads or writes a register."""
        for bundle in self._bundles.get(register, ()):
            touched = self._touched.get((lanes.frame, bundle))
            if touched is not None:
                self._require_free(lanes, bundle, register, how, site)
                touched[lanes.select] = True

    def _overlapping(self, bundle: Bundle) -> set[Bundle]:
        if bundle not in self._overlaps:
            found = {other for register in bundle for other in self._bundles[register]}
            self._overlaps[bundle] = found
        return self._overlaps[bundle]

    def _add(self, key: tuple[Frame, Bundle]) -> None:
        self._in_use[key] = np.zeros(self.wave.thread_count, np.int32)
        self._touched[key] = np.zeros(self.wave.thread_count, bool)
        self._overlaps.clear()
        for register in dict.fromkeys(key[1]):
            known = self._bundles.setdefault(register, [])
            if key[1] not in known:
                known.append(key[1])

    def _require_fence(self, lanes: Lanes, fenced: Array, text: str, site: Instruction) -> None:
        if fenced.all():
            return
        thread = int(lanes.threads[np.argmin(fenced)])
        self.wave.violation(f"{text} the registers of this instruction", site, thread)

    def _require_free(
        self,
        lanes: Lanes,
        bundle: Bundle,
        register: RegisterDeclaration,
        how: str,
        site: Instruction,
    ) -> None:
        in_use = self._in_use.get((lanes.frame, bundle))
        busy = None if in_use is None else in_use[lanes.select] > 0
        if busy is None or not busy.any():
            return
        thread = int(lanes.threads[np.argmax(busy)])
        text = f"register '{register.name}' is {how} before the wait for the wgmma that works on it"
        self.wave.violation(text, site, thread)


def watched_read(
    read: Callable[[Lanes], Array], register: RegisterDeclaration, site: Instruction
) -> Callable[[Lanes], Array]:
    """A reader that reports to `AsyncRegisters`."""

    def run(lanes: Lanes) -> Array:
        watch = lanes.wave.state(AsyncRegisters)
        if watch.active:
            watch.touch(lanes, register, "read", site)
        return read(lanes)

    return run


def watched_write(
    write: Callable[[Lanes, Array], None], register: RegisterDeclaration, site: Instruction
) -> Callable[[Lanes, Array], None]:
    """A writer that reports to `AsyncRegisters`."""

    def run(lanes: Lanes, values: Array) -> None:
        watch = lanes.wave.state(AsyncRegisters)
        if watch.active:
            watch.touch(lanes, register, "written", site)
        write(lanes, values)

    return run
