"""Arrays whose contents are undefined until a kernel writes them: outputs, workspaces.

Checked runs report reads of elements that no kernel has written since the array was marked. The
marks belong to the memory, so that they hold for all views of it, and end with its owner.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Final, TypeVar

import numpy as np

from tilewright.reference.tile import Array, is_array

T = TypeVar("T")


class _Mark:
    """A range of host memory, and which of its bytes are initialised."""

    __slots__ = ("initialised", "low")

    def __init__(self, low: int, initialised: Array) -> None:
        self.low = low
        self.initialised = initialised

    @property
    def high(self) -> int:
        return self.low + len(self.initialised)


_marks: Final[dict[int, _Mark]] = {}
_numbers: Final = iter(range(1 << 62))


def mark_uninitialised(array: T) -> T:
    """Mark the elements of an array as uninitialised, and return the array.

    The array is NumPy's, or a tensor of torch on the CPU. Under `check`, reading an element is an
    error until a kernel has written it. Writes of the host are not seen: fill the array first, or
    do not mark it. A run without `check` clears the marks of the arrays that it is passed.
    """
    viewed = _as_array(array)
    low, high = np.lib.array_utils.byte_bounds(viewed)
    initialised = np.ones(high - low, np.bool_)
    start: int = viewed.ctypes.data - low
    shape, strides = (*viewed.shape, viewed.itemsize), (*viewed.strides, 1)
    if viewed.size:
        np.ndarray(shape, np.bool_, initialised, start, strides)[...] = False
    number = next(_numbers)
    _marks[number] = _Mark(low, initialised)
    owner: Any = array
    while is_array(owner) and is_array(owner.base):
        owner = owner.base
    weakref.finalize(owner, _marks.pop, number, None)
    return array


def _as_array(array: Any) -> Array:
    """An array of the same memory; torch's elements without a NumPy type are bytes here."""
    if is_array(array):
        return array
    if not hasattr(array, "data_ptr") or array.device.type != "cpu":
        raise TypeError(
            f"expected a NumPy array or a tensor on the CPU, got {type(array).__name__}"
        )
    if not array.is_contiguous():
        raise TypeError("expected a contiguous tensor")
    import torch  # noqa: PLC0415

    tensor: Any = array.detach().reshape(-1).view(torch.uint8)
    return tensor.numpy()


def _overlapping(memory: Array) -> Iterator[tuple[_Mark, slice, slice]]:
    """The marks that overlap with contiguous bytes, and the common range in both."""
    low = memory.ctypes.data
    high = low + memory.nbytes
    for mark in list(_marks.values()):
        first, last = max(low, mark.low), min(high, mark.high)
        if first < last:
            yield mark, slice(first - mark.low, last - mark.low), slice(first - low, last - low)


def uninitialised_bytes(memory: Array) -> Array | None:
    """A mask of the uninitialised bytes of some memory; None if there are none."""
    mask: Array | None = None
    for mark, own, common in _overlapping(memory):
        if mask is None:
            mask = np.zeros(memory.nbytes, np.bool_)
        mask[common] |= ~mark.initialised[own]
    return mask if mask is not None and mask.any() else None


def note_written(memory: Array, initialised: Array) -> None:
    """Record the bytes of some memory that are initialised after a checked run."""
    for mark, own, common in _overlapping(memory):
        mark.initialised[own] |= initialised[common]


def clear_marks(memory: Array) -> None:
    """Forget the marks of some memory, which an unchecked run may have written."""
    for mark, own, _ in _overlapping(memory):
        mark.initialised[own] = True
