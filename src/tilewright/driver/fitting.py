"""Whether a launch fits the machine: where arrays are, whose code it is, how large grids may be."""

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


def served(device: Gpu) -> str:
    """What to compile for to run on a GPU; raises `Unsupported` if that is not known."""
    if find_arch(device.arch) is None:
        known = ", ".join(ARCHES)
        raise Unsupported(f"the GPU of this machine, {device.name} ({device.arch}): not in {known}")
    return device.arch


def chosen_gpu(signature: Signature, arguments: Sequence[Any]) -> Gpu:
    """The GPU that a kernel with these arguments runs on."""
    return one_device(signature, on_devices(signature, arguments))


def on_devices(signature: Signature, arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with a description in the place of every array on a GPU."""
    signature.check_count(arguments)
    found: list[Any] = []
    for parameter, argument in zip(signature.parameters, arguments, strict=True):
        plain = not parameter.is_pointer or argument is None or is_array(argument)
        array = None if plain else device_array(argument, parameter.what)
        found.append(argument if array is None else array)
    return found


def one_device(signature: Signature, arguments: Sequence[Any]) -> Gpu:
    """The GPU that all arrays are on; without arrays, the one that the thread works on."""
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
    """Stop if code is not for a GPU: that of a GPU without family runs on its younger ones too."""
    made = find_arch(arch)
    if made is None or arch == device.arch:
        return
    found = int(device.arch.removeprefix("sm_"))
    family = made.assembled_as == arch and made.number // 10 == found // 10
    if not (family and made.number <= found):
        fail(
            f"expected code for the GPU of this machine, {device.name} ({device.arch}), "
            f"got code for {arch}"
        )


def checked_grid(grid: Grid, device: Gpu, cluster: tuple[int, int, int]) -> tuple[int, int, int]:
    """The extents of a grid that this GPU can launch."""
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


def chosen_stream(stream: Any, arguments: Sequence[Any], found: Sequence[Any], device: Gpu) -> int:
    """The stream to launch on, which waits for those that arrays are filled on."""
    if stream is None:
        handle = current_stream(arguments, device.ordinal)
    else:
        handle = stream_handle(stream)
    for array in found:
        if isinstance(array, DeviceArray) and array.stream is not None:
            wait_for(array.stream, handle)
    return handle
