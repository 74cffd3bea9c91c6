"""Device arrays of any library: address, element type, device.

torch tensors have attributes of their own, others `__cuda_array_interface__`, and the rest DLPack,
which cuda.core reads.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from tilewright.runtime.device import device_of
from tilewright.runtime.driver import bindings
from tilewright.runtime.errors import GpuError
from tilewright.support.diagnostics import Unsupported, fail

_GPU_KINDS: Final = (2, 13)
"""DLPack's device types of GPU memory and of managed memory."""
_LEGACY_STREAM: Final = 1


class DeviceArray(NamedTuple):
    """An array on a GPU, as a kernel argument."""

    address: int
    dtype: str
    """The dtype's name in NumPy, ml_dtypes and torch; empty if unknown."""
    itemsize: int
    device: int | None
    """The device ordinal; None for a null address."""
    readonly: bool = False
    stream: int | None = None
    """The stream that fills it, if its library reports one; the launch waits for it."""


def device_array(argument: Any, what: str) -> DeviceArray | None:
    """Convert an argument to a device array; None if it is something else."""
    torch = sys.modules.get("torch")  # a tensor exists only if it is imported
    if torch is not None and isinstance(argument, torch.Tensor):
        return _from_torch(argument, what)
    has_device = hasattr(argument, "__dlpack_device__")
    if has_device and int(argument.__dlpack_device__()[0]) not in _GPU_KINDS:
        fail(
            f"{what}: expected an array on the GPU, got {type(argument).__name__} on the host: "
            "move it there, or pass a NumPy array, which is copied"
        )
    interface = _interface(argument)
    if interface is not None:
        return _from_interface(interface, argument, what)
    if has_device:
        return _from_dlpack(argument, what)
    if type(argument).__name__ == "CUdeviceptr" and isinstance(argument, bindings().CUdeviceptr):
        return DeviceArray(int(argument), "", 0, _device_of(int(argument), what))
    return None


def _from_torch(tensor: Any, what: str) -> DeviceArray:
    if tensor.device.type != "cuda":
        fail(
            f"{what}: expected an array on the GPU, got a tensor on '{tensor.device}': "
            "move it there with .cuda(), or pass a NumPy array, which is copied"
        )
    device, dtype = tensor.device, tensor.dtype
    try:
        address: int = tensor.data_ptr()
    except RuntimeError:
        fail(f"{what}: expected a dense tensor, got one of {tensor.layout}, without an address")
    return DeviceArray(address, _torch_name(dtype), dtype.itemsize, device.index)


@cache
def _torch_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _interface(argument: Any) -> Mapping[str, Any] | None:
    """The CUDA array interface of an argument, if it has one and supports its dtype."""
    try:
        return argument.__cuda_array_interface__
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return None


def _from_interface(interface: Mapping[str, Any], owner: Any, what: str) -> DeviceArray:
    _complete(owner)
    address, readonly = interface["data"]
    dtype = np.dtype(interface["typestr"])
    check_order(dtype, what)
    name = "" if dtype.kind == "V" else dtype.name
    stream = interface.get("stream")
    device = _device_of(address, what)
    return DeviceArray(address, name, dtype.itemsize, device, bool(readonly), stream)


def check_order(dtype: np.dtype[Any], what: str) -> None:
    """Reject elements that are not in the byte order of the host and the GPU."""
    if not dtype.isnative:
        fail(f"{what}: expected elements in the byte order of this machine, got {dtype}")


def _from_dlpack(owner: Any, what: str) -> DeviceArray:
    _, device = owner.__dlpack_device__()
    _complete(owner)
    try:
        core: Any = importlib.import_module("cuda.core.utils")
    except ModuleNotFoundError as error:
        raise Unsupported(
            "arrays that only DLPack describes without cuda.core: pip install 'tilewright[gpu]'"
        ) from error
    try:
        view = core.StridedMemoryView.from_dlpack(owner, stream_ptr=_LEGACY_STREAM)
        dtype = view.dtype
    except (BufferError, NotImplementedError, TypeError) as error:
        # Dtypes that the array or cuda.core does not support, such as fp8.
        fail(
            f"{what}: expected elements that go through DLPack, got {type(owner).__name__} "
            f"({error}): pass them as integers of the same size"
        )
    return DeviceArray(int(view.ptr), dtype.name, dtype.itemsize, int(device), bool(view.readonly))


def _complete(owner: Any) -> None:
    """Wait for an array of JAX, which has streams of its own."""
    if hasattr(owner, "block_until_ready"):
        owner.block_until_ready()


def _device_of(address: int, what: str) -> int | None:
    if not address:
        return None
    try:
        return device_of(address)
    except GpuError as error:
        if error.is_fault:
            raise
        fail(f"{what}: expected memory of a GPU, got the address {address:#x}")
