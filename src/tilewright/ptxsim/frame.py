"""Storage for the registers and local variables of one activation of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.ptxsim import async_registers
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, UNSIGNED, Array
from tilewright.ptxsim.syntax import Function, RegisterDeclaration, Variable

if TYPE_CHECKING:
    from tilewright.ptxsim.wave import Wave

CellMaker = Callable[["Wave"], Array]


class FrameLayout:
    """The registers and local variables of a function, numbered while it is decoded.

    A slot is a register seen as one NumPy type: `%r1` as `float32` and as `uint32` are two slots
    over the same storage.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.rows: dict[RegisterDeclaration, tuple[int, int]] = {}
        self.slots: dict[tuple[object, str], int] = {}
        self.makers: list[tuple[int, int, np.dtype[Any]] | CellMaker] = []
        self.widths: dict[int, int] = {}
        self.offsets: dict[Variable, int] = {}
        self.local_size = 0
        self._watched: frozenset[RegisterDeclaration] | None = None

    def slot(self, register: RegisterDeclaration, dtype: np.dtype[Any]) -> int:
        """The slot of a register seen as `dtype`, which is as wide as the register."""
        key = (register, dtype.char)
        slot = self.slots.get(key)
        if slot is not None:
            return slot
        bits = SCALAR_TYPES[register.type].bits
        row = self.rows.get(register)
        if row is None:
            row = bits, self.widths.get(bits, 0)
            self.widths[bits] = row[1] + 1
            self.rows[register] = row
        return self._add(key, (*row, dtype))

    def is_watched(self, register: RegisterDeclaration) -> bool:
        """Whether an asynchronous instruction of the function uses the register."""
        if self._watched is None:
            self._watched = frozenset(async_registers.registers_of(self.function))
        return register in self._watched

    def extra(self, name: str, maker: CellMaker) -> int:
        """A slot for per-thread state other than registers: `maker` makes its vector for a wave."""
        slot = self.slots.get((name, ""))
        return self._add((name, ""), maker) if slot is None else slot

    def _add(
        self, key: tuple[object, str], maker: tuple[int, int, np.dtype[Any]] | CellMaker
    ) -> int:
        self.slots[key] = len(self.makers)
        self.makers.append(maker)
        return len(self.makers) - 1

    def local_offset(self, variable: Variable) -> int:
        """The offset of a local variable or parameter in the frame's local memory."""
        offset = self.offsets.get(variable)
        if offset is None:
            offset = -(-self.local_size // variable.alignment) * variable.alignment
            self.offsets[variable] = offset
            self.local_size = offset + variable.size
        return offset


class Frame:
    """One activation: a row over all threads of the wave for every slot."""

    __slots__ = ("_extras", "cells", "layout", "local_base", "registers")

    def __init__(self, layout: FrameLayout, wave: Wave, local_base: int) -> None:
        self.layout = layout
        self.local_base = local_base
        banks: dict[int, Array] = {}
        for bits, count in layout.widths.items():
            words = 2 if bits == 128 else 1
            banks[bits] = np.zeros((count, wave.thread_count * words), UNSIGNED[bits])
        shape = wave.thread_count, -1
        self.registers = [bank.reshape(len(bank), *shape) for bank in banks.values()]
        """All registers, threads being the second axis."""
        self._extras: list[Array] = []
        self.cells: list[Array] = []
        views: dict[tuple[int, str], Array] = {}
        for maker in layout.makers:
            if callable(maker):
                self._extras.append(maker(wave))
                self.cells.append(self._extras[-1])
                continue
            bits, row, dtype = maker
            view = views.get((bits, dtype.char))
            if view is None:
                view = banks[bits].view(dtype)
                view = view.reshape(len(view), -1, 2) if bits == 128 else view
                views[bits, dtype.char] = view
            self.cells.append(view[row])

    def snapshot(self) -> list[Array]:
        """All registers, and whether each other slot is zero."""
        return [*self.registers, *(each != 0 for each in self._extras)]
