"""Registers in use by an asynchronous `wgmma`, and accesses to them before its wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tilewright.ptxsim.syntax import Function, Instruction, Name, RegisterDeclaration, Vector
from tilewright.ptxsim.vectors import all_set, any_set

if TYPE_CHECKING:
    from tilewright.ptxsim.frame import Frame
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scalar_types import Array
    from tilewright.ptxsim.wave import Wave

_ASYNCHRONOUS: Final = "wgmma.mma_async"

# The registers of one operand; instructions that name the same ones share one record.
Bundle = tuple[RegisterDeclaration, ...]


def bundles_of(site: Instruction) -> Iterator[Bundle]:
    """Yield the register vectors among an instruction's operands, results first."""
    for operand in site.operands:
        if isinstance(operand, Vector):
            names = (each.text for each in operand.elements if isinstance(each, Name))
            declarations = (site.scope.find(name) for name in names)
            yield tuple(each for each in declarations if isinstance(each, RegisterDeclaration))


def registers_of(function: Function) -> Iterator[RegisterDeclaration]:
    """Yield every register of a function that an asynchronous instruction reads or writes."""
    for site in function.body or ():
        if site.opcode.startswith(_ASYNCHRONOUS):
            for bundle in bundles_of(site):
                yield from bundle


class AsyncRegisters:
    """For each thread of a wave, the registers that are in use, and those not fenced.

    In use: no other instruction may read or write the registers of a `wgmma` between its issue and
    the wait for its group. Not fenced: registers accessed by ordinary instructions need a
    `wgmma.fence` before the next asynchronous instruction uses them.
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
        """Record a `wgmma.fence` of some threads."""
        self._fenced[lanes.select] = True
        for touched in self._touched.values():
            touched[lanes.select] = False

    def take(self, lanes: Lanes, bundles: Sequence[Bundle], site: Instruction) -> None:
        """Mark the registers of an asynchronous instruction as in use; the accumulator is first."""
        self._require_fence(lanes, self._fenced[lanes.select], "no wgmma.fence precedes", site)
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
        """Mark the registers of a completed asynchronous instruction as free."""
        for bundle in bundles:
            self._in_use[lanes.frame, bundle][lanes.select] -= 1

    def touch(
        self, lanes: Lanes, register: RegisterDeclaration, how: str, site: Instruction
    ) -> None:
        """Check and record an access to a register by an ordinary instruction."""
        for bundle in self._bundles.get(register, ()):
            touched = self._touched.get((lanes.frame, bundle))
            if touched is not None:
                self._require_free(lanes, bundle, register, how, site)
                touched[lanes.select] = True

    def _overlapping(self, bundle: Bundle) -> set[Bundle]:
        if bundle not in self._overlaps:
            overlapping = {other for register in bundle for other in self._bundles[register]}
            self._overlaps[bundle] = overlapping
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
        if all_set(fenced):
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
        uses = None if in_use is None else in_use[lanes.select]
        if uses is None or not any_set(uses):
            return
        thread = int(lanes.threads[np.argmax(uses > 0)])
        text = f"register '{register.name}' is {how} before the wait for the wgmma that uses it"
        self.wave.violation(text, site, thread)


def watched_read(
    read: Callable[[Lanes], Array], register: RegisterDeclaration, site: Instruction
) -> Callable[[Lanes], Array]:
    """Wrap a register reader so that it reports to `AsyncRegisters`."""

    def run(lanes: Lanes) -> Array:
        watch = lanes.wave.state(AsyncRegisters)
        if watch.active:
            watch.touch(lanes, register, "read", site)
        return read(lanes)

    return run


def watched_write(
    write: Callable[[Lanes, Array], None], register: RegisterDeclaration, site: Instruction
) -> Callable[[Lanes, Array], None]:
    """Wrap a register writer so that it reports to `AsyncRegisters`."""

    def run(lanes: Lanes, values: Array) -> None:
        watch = lanes.wave.state(AsyncRegisters)
        if watch.active:
            watch.touch(lanes, register, "written", site)
        write(lanes, values)

    return run
