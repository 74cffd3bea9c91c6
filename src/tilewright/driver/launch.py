"""Run compiled kernels on a GPU: `tilewright.launch`, and what `execute(on="gpu")` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.driver.compile import compile
from tilewright.driver.signatures import alone, signature_of
from tilewright.driver.staging import Staging
from tilewright.reference.launch import full_grid
from tilewright.reference.tile import is_array
from tilewright.runtime.arrays import DeviceArray, device_array
from tilewright.runtime.device import Gpu, current_gpu, gpu
from tilewright.runtime.errors import GpuError, fault
from tilewright.runtime.messages import Said, captured, without_assertions
from tilewright.runtime.streams import current_stream, stream_handle, wait_for
from tilewright.support.diagnostics import Unsupported, fail
from tilewright.target.arch import ARCHES, find_arch

if TYPE_CHECKING:
    from tilewright.driver.compile import CompiledModule
    from tilewright.ir.operation import Operation
    from tilewright.reference.launch import Grid
    from tilewright.runtime.signature import Signature

Write = Callable[[str], object]


class Plan:
    """What launches of a kernel have in common."""

    __slots__ = ("arch", "cubin", "signature", "talks", "threads")

    def __init__(
        self,
        signature: Signature,
        arch: str,
        cubin: bytes,
        threads: tuple[int, int, int],
        talks: bool = True,
    ) -> None:
        self.signature = signature
        self.arch = arch
        self.cubin = cubin
        self.threads = threads
        self.talks = talks
        """Whether the kernel may have something to say."""

    @staticmethod
    def of(module: CompiledModule, entry: str | None) -> Plan:
        """The plan for a kernel of a compiled module."""
        cubin, signature = module.cubin, signature_of(module.program, entry)
        threads = module.entries[signature.name].resources.threads
        if threads is None:
            raise Unsupported(f"'@{signature.name}': launches in blocks of any size")
        talks = any(name in module.ptx for name in ("vprintf", "__assertfail"))
        return Plan(signature, module.arch, cubin, threads, talks)


def launch(
    kernel: CompiledModule,
    entry: str | None,
    grid: Grid,
    args: Sequence[Any],
    stream: Any = None,
) -> None:
    """Launch a kernel of a compiled module on the GPU.

    `entry` may be None if there is a single kernel. Arguments are numbers, and arrays on a GPU: of
    torch, CuPy, JAX, or of whoever has `__cuda_array_interface__` or DLPack. NumPy arrays are
    copied there and back; only then the call waits for the kernel. `stream` is a handle, or a
    stream of torch, CuPy or cuda.core; without one it is the current stream of the library that
    the arrays are of.

    Raises `tilewright.Error` if the arguments do not fit the kernel, if there is no GPU that can
    run it, and if a kernel is found to have failed.
    """
    plan = kernel.plans.get(entry)
    if plan is None:
        plan = kernel.plans[entry] = Plan.of(kernel, entry)
    assert isinstance(plan, Plan)
    start(plan, grid, args, stream)


def run_on_gpu(
    program: Operation,
    entry: str | None,
    grid: Grid,
    arguments: Sequence[Any],
    *,
    arch: str,
    opt_level: int = 3,
    sanitize: bool = False,
    write: Write | None = None,
) -> None:
    """Compile a verified program for the GPU that is there, run a kernel of it, and wait."""
    kernel = compile(
        alone(program, entry), arch, opt_level, line_info=sanitize, sanitize=sanitize, cache=True
    )
    start(Plan.of(kernel, entry), grid, arguments, None, wait=True, write=write)


def served(device: Gpu) -> str:
    """What to compile for to run on a GPU; raises `Unsupported` if that is not known."""
    if find_arch(device.arch) is None:
        known = ", ".join(ARCHES)
        raise Unsupported(f"the GPU of this machine, {device.name} ({device.arch}): not in {known}")
    return device.arch


def start(
    plan: Plan,
    grid: Grid,
    arguments: Sequence[Any],
    stream: Any,
    *,
    wait: bool = False,
    write: Write | None = None,
) -> None:
    """Launch a kernel; wait for it if asked to, or if there is something to copy back."""
    found = _on_devices(plan.signature, arguments)
    device = _one_device(plan.signature, found)
    check_code(plan.arch, device)
    with device.current() as context:
        if plan.talks:
            device.let_print(context)
        loaded = device.kernel(context, plan.cubin, plan.signature.name)
        extents = _checked_grid(grid, device, loaded.cluster)
        handle = _stream(stream, arguments, found, device)
        staging = Staging(device)
        try:
            passed = plan.signature.encode(staging.place(found))
            if not staging.is_empty:
                device.synchronize(0)  # copies may still be on their way, on the default stream
            device.launch(loaded.function, extents, plan.threads, passed, stream=handle)
            if wait or not staging.is_empty:
                _finish(plan, device, handle, write or sys.stdout.write)
                staging.copy_back()
        finally:
            _release(staging)


def chosen_gpu(signature: Signature, arguments: Sequence[Any]) -> Gpu:
    """The GPU that a kernel with these arguments runs on."""
    return _one_device(signature, _on_devices(signature, arguments))


def _on_devices(signature: Signature, arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with a description in the place of every array on a GPU."""
    signature.check_count(arguments)
    found: list[Any] = []
    for parameter, argument in zip(signature.parameters, arguments, strict=True):
        plain = not parameter.is_pointer or argument is None or is_array(argument)
        array = None if plain else device_array(argument, parameter.what)
        found.append(argument if array is None else array)
    return found


def _one_device(signature: Signature, arguments: Sequence[Any]) -> Gpu:
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


def _checked_grid(grid: Grid, device: Gpu, cluster: tuple[int, int, int]) -> tuple[int, int, int]:
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


def _stream(stream: Any, arguments: Sequence[Any], found: Sequence[Any], device: Gpu) -> int:
    """The stream to launch on, which waits for those that arrays are filled on."""
    if stream is None:
        handle = current_stream(arguments, device.ordinal)
    else:
        handle = stream_handle(stream)
    for array in found:
        if isinstance(array, DeviceArray) and array.stream is not None:
            wait_for(array.stream, handle)
    return handle


def _finish(plan: Plan, device: Gpu, stream: int, write: Write) -> None:
    """Wait for a kernel, pass on what it says, and say what it did wrong."""
    failures: list[GpuError] = []

    def wait() -> None:
        try:
            device.synchronize(stream)
        except GpuError as error:
            failures.append(error)

    if plan.talks:
        said = captured(wait)
        write(said.out)
        sys.stderr.write(without_assertions(said.err))
    else:
        said = Said("", "")
        wait()
    for error in failures:
        if not error.is_fault:
            raise error
        raise fault(error.status, f"kernel '@{plan.signature.name}'", said) from None


def _release(staging: Staging) -> None:
    """Give memory back; after a fault there is none to give."""
    try:
        staging.free()
    except GpuError as error:
        if not error.is_fault:
            raise
