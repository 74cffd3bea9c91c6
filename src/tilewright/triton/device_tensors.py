"""The tensors of a launch in the memory of the emulator: copied in, and back at the end."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.ptxsim.memory import DeviceMemory
    from tilewright.ptxsim.scalar_types import Array

_ALIGNMENT: Final = 16
"""What Triton specializes kernels for, in bytes; allocations have more."""


class _Staged(NamedTuple):
    """A tensor's storage, its memory on the host, and its copy."""

    storage: Any
    """It must live until its copy is copied back, which temporary tensors do not."""
    host: Array
    allocation: int
    address: int


class DeviceTensors:
    """Copies of tensor storages; tensors of one storage share its copy.

    A copy is aligned as the storage is, since Triton specializes kernels for that.
    """

    def __init__(self, memory: DeviceMemory, accepts: Callable[[Any], bool]) -> None:
        self._memory = memory
        self._accepts = accepts
        self._staged: dict[int, _Staged] = {}

    def address(self, pointer: Any, name: str) -> int:
        """The address of a pointer argument: a tensor, an address, or None."""
        if pointer is None or isinstance(pointer, int):
            return int(pointer or 0)
        tensor = _tensor_of(pointer, name)
        if not self._accepts(tensor):
            fail(
                f"argument '{name}': expected a tensor on the GPU, got one on the CPU: "
                'create it with device="cuda", or move it with .cuda()'
            )
        storage = tensor.untyped_storage()
        start: int = storage.data_ptr()
        staged = self._staged.get(start)
        if staged is None:
            staged = self._staged[start] = self._stage(storage, name)
        offset: int = tensor.data_ptr() - start
        return staged.address + offset

    def _stage(self, storage: Any, name: str) -> _Staged:
        start: int = storage.data_ptr()
        size: int = storage.nbytes()
        host = _host_memory(start, size)
        shift = start % _ALIGNMENT
        allocation = self._memory.allocate(shift + size, name=name)
        self._memory.upload(allocation + shift, host)
        self._memory.forbid(allocation, shift)
        return _Staged(storage, host, allocation, allocation + shift)

    def copy_back(self) -> None:
        """Copy what kernels have written to the host."""
        for _, host, _, address in self._staged.values():
            after = self._memory.download(address, len(host))
            # Memory that is mapped read-only stays untouched unless the kernel has written to it.
            if not np.array_equal(host, after):
                host[:] = after

    def release(self) -> None:
        """Free the copies."""
        for _, _, allocation, _ in reversed(self._staged.values()):
            self._memory.release(allocation)
        self._staged.clear()


def _tensor_of(pointer: Any, name: str) -> Any:
    """The tensor of an argument, which may be wrapped to have another element type."""
    tensor = pointer
    while not hasattr(tensor, "untyped_storage"):
        tensor = getattr(tensor, "base", None)
        if tensor is None:
            fail(f"argument '{name}': expected a tensor of torch, got {type(pointer).__name__}")
    return tensor


def _host_memory(start: int, size: int) -> Array:
    if not size:
        return np.zeros(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(start))
