"""Arrays of the host where compiled code runs: copied there, and back when it has run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tilewright.reference.address_space import ALIGNMENT, AddressSpace, Allocation
from tilewright.reference.arguments import Table, filled, map_arrays
from tilewright.reference.tile import Array, is_array
from tilewright.runtime.arrays import DeviceArray, check_order


class Memory(Protocol):
    """Memory that is not the host's."""

    def upload(self, data: Array, name: str = "") -> int:
        """A copy of an array, and where it is."""
        ...

    def download(self, address: int, into: Array) -> None:
        """Copy back."""
        ...

    def free(self, address: int) -> None:
        """Give memory back."""
        ...


class Staging(AddressSpace):
    """What of the host is copied for one launch. Arrays that share memory do so there too."""

    __slots__ = ("_arrays", "_memory")

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory
        self._arrays: list[Allocation] = []

    def allocate(
        self,
        name: str,
        bytes: Array,
        alignment: int = ALIGNMENT,
        owner: tuple[int, ...] | None = None,
    ) -> Allocation:
        """Copy a piece of host memory, and say where to."""
        made = Allocation(name, self._memory.upload(bytes, name), bytes, owner)
        self._arrays.append(made)
        return made

    def place(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments with copies in the place of arrays and tables of the host."""
        homes = map_arrays(arguments, self)
        placed: list[Any] = []
        for index, argument in enumerate(arguments):
            if isinstance(argument, Table):
                table = filled(argument, homes)
                argument = self.allocate(f"argument {index}", table.view(np.uint8))
                placed.append(DeviceArray(argument.base, "int64", 8, None))
            elif is_array(argument):
                placed.append(_described(argument, homes[id(argument)], index))
            else:
                placed.append(argument)
        return placed

    def copy_back(self) -> None:
        """Give the host what the kernel has left."""
        for each in self._arrays:
            if each.writable and len(each.bytes):
                found = np.empty(len(each.bytes), np.uint8)
                self._memory.download(each.base, found)
                each.bytes[:] = found

    def free(self) -> None:
        """Give the memory back."""
        while self._arrays:
            self._memory.free(self._arrays.pop().base)


def is_staged(argument: Any) -> bool:
    """Whether an argument has to be copied."""
    return is_array(argument) or isinstance(argument, Table)


def _described(array: Array, address: int, index: int) -> DeviceArray:
    dtype = array.dtype
    check_order(dtype, f"argument {index}")
    return DeviceArray(address, dtype.name, dtype.itemsize, None, not array.flags.writeable)
