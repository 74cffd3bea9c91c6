"""Device copies of host arrays for one launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tilewright.reference.address_space import ALIGNMENT, AddressSpace, Allocation
from tilewright.reference.arguments import Table, argument_names, filled, map_arrays
from tilewright.reference.tile import Array, is_array
from tilewright.runtime.arrays import DeviceArray, check_order


class Memory(Protocol):
    """Device memory, emulated or real."""

    def upload(self, data: Array, name: str = "") -> int:
        """Copy an array to the device and return its address."""
        ...

    def download(self, address: int, into: Array) -> None:
        """Copy device memory to an array."""
        ...

    def free(self, address: int) -> None:
        """Free device memory."""
        ...


class Staging(AddressSpace):
    """The device copies of one launch; host arrays that alias also alias on the device."""

    __slots__ = ("_memory", "arrays")

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory
        self.arrays: list[Allocation] = []
        """The host arrays, with the addresses of their copies."""

    def allocate(
        self,
        name: str,
        bytes: Array,
        alignment: int = ALIGNMENT,
        owner: tuple[int, ...] | None = None,
    ) -> Allocation:
        """Copy a piece of host memory to the device."""
        made = Allocation(name, self._memory.upload(bytes, name), bytes, owner)
        self.arrays.append(made)
        return made

    def upload_arguments(
        self, arguments: Sequence[Any], names: Sequence[str] | None = None
    ) -> list[Any]:
        """Upload host arrays and pointer tables; return the arguments with device arrays."""
        names = names or argument_names(arguments)
        addresses = map_arrays(arguments, self, names)
        uploaded: list[Any] = []
        for name, argument in zip(names, arguments, strict=True):
            if isinstance(argument, Table):
                table = filled(argument, addresses)
                argument = self.allocate(name, table.view(np.uint8))
                uploaded.append(DeviceArray(argument.base, "int64", 8, None))
            elif is_array(argument):
                uploaded.append(_described(argument, addresses[id(argument)], name))
            else:
                uploaded.append(argument)
        return uploaded

    def copy_back(self) -> None:
        """Copy writable arrays back to the host."""
        for each in self.arrays:
            if each.writable and len(each.bytes):
                contents = np.empty(len(each.bytes), np.uint8)
                self._memory.download(each.base, contents)
                each.bytes[:] = contents

    def free(self) -> None:
        """Free all device copies."""
        while self.arrays:
            self._memory.free(self.arrays.pop().base)


def is_staged(argument: Any) -> bool:
    """Whether an argument has to be copied."""
    return is_array(argument) or isinstance(argument, Table)


def _described(array: Array, address: int, name: str) -> DeviceArray:
    dtype = array.dtype
    check_order(dtype, name)
    return DeviceArray(address, dtype.name, dtype.itemsize, None, not array.flags.writeable)
