"""Host arrays: NumPy arrays, and torch tensors on the CPU."""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tilewright.reference.tile import Array, is_array
from tilewright.support.diagnostics import fail

_ELEMENTS: Final = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "bfloat16 float8_e4m3fn float8_e5m2 float8_e8m0fnu".split()
)
_CARRIERS: Final = {
    "bfloat16": "int16",
    "float8_e4m3fn": "uint8",
    "float8_e5m2": "uint8",
    "float8_e8m0fnu": "uint8",
}
"""Integer types that carry torch elements without a NumPy type."""


class HostArray:
    """An array argument: memory, element type, shape and strides."""

    __slots__ = ("element", "memory", "shape", "strides")

    def __init__(self, memory: Array, element: str, what: str) -> None:
        if element not in _ELEMENTS:
            fail(f"{what}: cuTile has no arrays of {element}")
        if not memory.dtype.isnative:
            fail(f"{what}: expected elements in the byte order of this machine")
        if any(stride % memory.itemsize for stride in memory.strides):
            fail(f"{what}: expected strides of whole elements, got {memory.strides} bytes")
        self.memory = memory
        self.element = element
        self.shape: tuple[int, ...] = memory.shape
        self.strides = tuple(stride // memory.itemsize for stride in memory.strides)

    @property
    def bits(self) -> int:
        """The element size in bits."""
        return self.memory.itemsize * 8

    @property
    def is_aligned(self) -> bool:
        """Whether it is aligned to 16 bytes, on the host and in the executor's memory.

        The executor preserves the offset of a view from its base array.
        """
        owner = self.memory
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        start: int = self.memory.ctypes.data
        return start % 16 == 0 and byte_bounds(owner)[0] % 16 == 0


def host_array(argument: Any, what: str) -> HostArray | None:
    """Wrap an array argument without copying; None if it is not an array."""
    if is_array(argument):
        return HostArray(argument, argument.dtype.name, what)
    torch = sys.modules.get("torch")  # a tensor exists only if torch is imported
    if torch is None or not isinstance(argument, torch.Tensor):
        return None
    return _from_tensor(argument, torch, what)


def _from_tensor(tensor: Any, torch: Any, what: str) -> HostArray:
    if tensor.device.type != "cpu":
        fail(f"{what}: expected a tensor on the CPU, got one on '{tensor.device}'")
    element = str(tensor.dtype).removeprefix("torch.")
    if element not in _ELEMENTS:
        fail(f"{what}: cuTile has no arrays of {element}")
    tensor = tensor.detach()
    if element in _CARRIERS:
        tensor = tensor.view(getattr(torch, _CARRIERS[element]))
    return HostArray(tensor.numpy(), element, what)
