"""Arrays that lie on a GPU, whichever library they are of: address, elements, device.

torch says it in attributes of its own, others by `__cuda_array_interface__`, and the rest by
DLPack, which cuda.core reads.
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
"""What DLPack calls memory of a GPU, and memory that it manages for both sides."""
_LEGACY_STREAM: Final = 1


class DeviceArray(NamedTuple):
    """An array on a GPU, as far as a kernel is concerned."""

    address: int
    dtype: str
    """The name of its elements, as NumPy, ml_dtypes and torch spell it; empty if unknown."""
    itemsize: int
    device: int | None
    """The number of the GPU; none where the address is null."""
    readonly: bool = False
    stream: int | None = None
    """The stream on which it is filled, if its library says so; ours has to wait for that."""


def device_array(argument: Any, what: str) -> DeviceArray | None:
    """An argument as an array on a GPU; none if it is something else."""
    torch = sys.modules.get("torch")  # who has a tensor has imported it
    if torch is not None and isinstance(argument, torch.Tensor):
        return _from_torch(argument, what)
    placed = hasattr(argument, "__dlpack_device__")
    if placed and int(argument.__dlpack_device__()[0]) not in _GPU_KINDS:
        fail(
            f"{what}: expected an array on the GPU, got {type(argument).__name__} on the host: "
            "move it there, or pass a NumPy array, which is copied"
        )
    interface = _interface(argument)
    if interface is not None:
        return _from_interface(interface, argument, what)
    if placed:
        return _from_dlpack(argument, what)
    if type(argument).__name__ == "CUdeviceptr" and isinstance(argument, bindings().CUdeviceptr):
        return DeviceArray(int(argument), "", 0, _home(int(argument), what))
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
    """What an array says of itself; it may also refuse, if its elements have no name there."""
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
    home = _home(address, what)
    return DeviceArray(address, name, dtype.itemsize, home, bool(readonly), stream)


def check_order(dtype: np.dtype[Any], what: str) -> None:
    """Stop if elements are not in the byte order of the host, which is also that of GPUs."""
    if not dtype.isnative:
        fail(f"{what}: expected elements in the byte order of this machine, got {dtype}")


def _from_dlpack(owner: Any, what: str) -> DeviceArray:
    _, device = owner.__dlpack_device__()
    _complete(owner)
    try:
        core: Any = importlib.import_module("cuda.core.utils")
    except ModuleNotFoundError as error:
        message = "arrays that only DLPack describes without cuda.core: pip install cuda-core"
        raise Unsupported(message) from error
    try:
        view = core.StridedMemoryView.from_dlpack(owner, stream_ptr=_LEGACY_STREAM)
        dtype = view.dtype
    except (BufferError, NotImplementedError, TypeError) as error:
        # What the array refuses to tell, or cuda.core to understand, such as floats of 8 bits.
        fail(
            f"{what}: expected elements that go through DLPack, got {type(owner).__name__} "
            f"({error}): pass them as integers of the same size"
        )
    return DeviceArray(int(view.ptr), dtype.name, dtype.itemsize, int(device), bool(view.readonly))


def _complete(owner: Any) -> None:
    """Wait for an array of JAX, which has streams of its own."""
    if hasattr(owner, "block_until_ready"):
        owner.block_until_ready()


def _home(address: int, what: str) -> int | None:
    if not address:
        return None
    try:
        return device_of(address)
    except GpuError as error:
        if error.is_fault:
            raise
        fail(f"{what}: expected memory of a GPU, got the address {address:#x}")
