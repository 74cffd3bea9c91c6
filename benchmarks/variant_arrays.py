"""Operands of GEMM variants: tensors of torch on a GPU, or arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np


class Arrays(Protocol):
    """A library of arrays, and the device that they are on."""

    namespace: Any
    """Functions that torch and NumPy have under the same names."""
    multiprocessors: int
    """The number of blocks of persistent kernels."""
    is_filled: bool
    """Whether elements matter; else only shapes, strides and types do."""

    def uniform(self, *shape: int, dtype: str) -> Any:
        """Elements from -0.5 to 0.5."""
        ...

    def integers(self, low: int, high: int, shape: Sequence[int], dtype: str) -> Any:
        """Integers from `low` to `high - 1`."""
        ...

    def zeros(self, *shape: int, dtype: str) -> Any:
        """An array of zeros."""
        ...

    def upload(self, array: Any) -> Any:
        """A copy of an array of NumPy."""
        ...

    def f32(self, array: Any) -> Any:
        """A copy in f32."""
        ...


class TorchArrays:
    """Tensors of torch on a GPU."""

    __slots__ = ("is_filled", "multiprocessors", "namespace")

    def __init__(self, torch: Any) -> None:
        self.namespace = torch
        self.is_filled = True
        self.multiprocessors: int = torch.cuda.get_device_properties(0).multi_processor_count

    def uniform(self, *shape: int, dtype: str) -> Any:
        """Elements from -0.5 to 0.5."""
        elements = self.namespace.rand(shape, dtype=self.namespace.float32, device="cuda") - 0.5
        return elements.to(getattr(self.namespace, dtype))

    def integers(self, low: int, high: int, shape: Sequence[int], dtype: str) -> Any:
        """Integers from `low` to `high - 1`."""
        kind = getattr(self.namespace, dtype)
        return self.namespace.randint(low, high, tuple(shape), dtype=kind, device="cuda")

    def zeros(self, *shape: int, dtype: str) -> Any:
        """An array of zeros."""
        return self.namespace.zeros(shape, dtype=getattr(self.namespace, dtype), device="cuda")

    def upload(self, array: Any) -> Any:
        """A copy of an array of NumPy."""
        return self.namespace.from_numpy(array).cuda()

    def f32(self, array: Any) -> Any:
        """A copy in f32."""
        return array.float()


class NumpyArrays:
    """Arrays of NumPy, with the elements of ml_dtypes."""

    __slots__ = ("_random", "is_filled", "multiprocessors", "namespace")

    def __init__(self, seed: int = 0, multiprocessors: int = 2) -> None:
        self.namespace: Any = np
        self.is_filled = True
        self.multiprocessors = multiprocessors
        self._random = np.random.default_rng(seed)

    def uniform(self, *shape: int, dtype: str) -> Any:
        """Elements from -0.5 to 0.5."""
        return (self._random.random(shape, dtype=np.float32) - 0.5).astype(element_type(dtype))

    def integers(self, low: int, high: int, shape: Sequence[int], dtype: str) -> Any:
        """Integers from `low` to `high - 1`."""
        return self._random.integers(low, high, tuple(shape)).astype(dtype)

    def zeros(self, *shape: int, dtype: str) -> Any:
        """An array of zeros."""
        return np.zeros(shape, element_type(dtype))

    def upload(self, array: Any) -> Any:
        """A copy of an array of NumPy."""
        return array.copy()

    def f32(self, array: Any) -> Any:
        """A copy in f32."""
        return array.astype(np.float32)


class UnfilledArrays(NumpyArrays):
    """Arrays of NumPy of any size, of zeros, whose memory is never written to."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.is_filled = False

    def uniform(self, *shape: int, dtype: str) -> Any:
        """Zeros."""
        return self.zeros(*shape, dtype=dtype)

    def integers(self, low: int, high: int, shape: Sequence[int], dtype: str) -> Any:
        """Zeros, whatever the bounds are."""
        return self.zeros(*shape, dtype=dtype)


def element_type(name: str) -> Any:
    """The type of NumPy or of ml_dtypes by the name that torch has for it."""
    import ml_dtypes  # noqa: PLC0415

    return getattr(ml_dtypes, name, None) or np.dtype(name)
