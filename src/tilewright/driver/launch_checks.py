"""Validate a launch: the device of its arrays, the target of its code, and its grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilewright.reference.launch import full_grid
from tilewright.reference.tile import is_array
from tilewright.runtime.arrays import DeviceArray, device_array
from tilewright.runtime.device import Gpu, current_gpu, gpu
from tilewright.runtime.streams import current_stream, stream_handle, wait_for
from tilewright.support.diagnostics import Unsupported, fail
from tilewright.target.arch import ARCHES, find_arch

if TYPE_CHECKING:
    from tilewright.reference.launch import Grid
    from tilewright.runtime.signature import Signature


def required_arch(device: Gpu) -> str:
    """Return the target to compile for; raises `Unsupported` if the GPU is unknown."""
    if find_arch(device.arch) is None:
        known = ", ".join(ARCHES)
        raise Unsupported(f"the GPU of this machine, {device.name} ({device.arch}): not in {known}")
    return device.arch


def select_gpu(signature: Signature, arguments: Sequence[Any]) -> Gpu:
    """Select the GPU that holds the array arguments."""
    return common_device(signature, describe_arrays(signature, arguments))


def describe_arrays(signature: Signature, arguments: Sequence[Any]) -> list[Any]:
    """Replace each array in device memory by its descriptor."""
    signature.check_count(arguments)
    replaced: list[Any] = []
    for parameter, argument in zip(signature.parameters, arguments, strict=True):
        plain = not parameter.is_pointer or argument is None or is_array(argument)
        array = None if plain else device_array(argument, parameter.subject)
        replaced.append(argument if array is None else array)
    return replaced


def common_device(signature: Signature, arguments: Sequence[Any]) -> Gpu:
    """Return the GPU of all arrays; without arrays, the current GPU of the thread."""
    first: int | None = None
    for parameter, argument in zip(signature.parameters, arguments, strict=True):
        home = argument.device if isinstance(argument, DeviceArray) else None
        if home is None:
            continue
        if first is None:
            first = home
        elif home != first:
            parameter.fail(f"expected an array on GPU {first}, as before it, got one on GPU {home}")
    return current_gpu() if first is None else gpu(first)


def check_code(arch: str, device: Gpu) -> None:
    """Reject code that the GPU cannot run; baseline code also runs on newer minor versions."""
    target = find_arch(arch)
    if target is None or arch == device.arch:
        return
    if target.assembled_as != arch or not target.is_older_minor_of(device.arch):
        fail(
            f"expected code for the GPU of this machine, {device.name} ({device.arch}), "
            f"got code for {arch}"
        )


def check_grid(grid: Grid, device: Gpu, cluster: tuple[int, int, int]) -> tuple[int, int, int]:
    """Expand a grid to three dimensions and check it against the limits of the GPU."""
    extents = full_grid(grid)
    for axis, (extent, most, unit) in enumerate(
        zip(extents, device.largest_grid, cluster, strict=True)
    ):
        if extent > most:
            fail(f"expected a grid of at most {most} blocks in dimension {axis}, got {extent}")
        if unit > 1 and extent % unit:
            fail(
                f"expected a grid of whole clusters, of {unit} blocks each in dimension {axis}, "
                f"got {extent}"
            )
    return extents


def select_stream(stream: Any, arguments: Sequence[Any], arrays: Sequence[Any], device: Gpu) -> int:
    """Return the stream to launch on, after making it wait for the streams of the arrays."""
    if stream is None:
        handle = current_stream(arguments, device.ordinal)
    else:
        handle = stream_handle(stream)
    for array in arrays:
        if isinstance(array, DeviceArray) and array.stream is not None:
            wait_for(array.stream, handle)
    return handle
