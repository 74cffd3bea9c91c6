"""Run compiled kernels on a GPU: `tilewright.launch`, and what `execute(on="gpu")` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.driver.compile import CompiledModule, compile
from tilewright.driver.fitting import (
    check_code,
    checked_grid,
    chosen_stream,
    on_devices,
    one_device,
)
from tilewright.driver.signatures import alone, signature_of
from tilewright.driver.staging import Staging, is_staged
from tilewright.runtime.errors import EARLIER, GpuError, fault
from tilewright.runtime.messages import Said, captured, without_assertions
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.reference.launch import Grid
    from tilewright.runtime.device import Gpu
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
    start(_plan(kernel, entry), grid, args, stream)


def _plan(kernel: object, entry: str | None) -> Plan:
    if not isinstance(kernel, CompiledModule):
        raise TypeError(f"expected what tilewright.compile gives, got {type(kernel).__name__}")
    plan = kernel.plans.get(entry)
    if plan is None:
        plan = kernel.plans[entry] = Plan.of(kernel, entry)
    assert isinstance(plan, Plan)
    return plan


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
    found = on_devices(plan.signature, arguments)
    device = one_device(plan.signature, found)
    check_code(plan.arch, device)
    with device.current() as context:
        if plan.talks:
            device.let_print(context)
        kernel = device.kernel(context, plan.cubin, plan.signature.name)
        extents = checked_grid(grid, device, kernel.cluster)
        handle = chosen_stream(stream, arguments, found, device)

        def begin(placed: Sequence[Any]) -> None:
            passed = plan.signature.encode(placed)
            device.launch(kernel.function, extents, plan.threads, passed, stream=handle)

        def complete(placed: Sequence[Any]) -> None:
            _complete(plan, device, handle, write or sys.stdout.write, lambda: begin(placed))

        if any(map(is_staged, found)):
            _run_staged(device, found, complete)
        elif wait:
            complete(found)
        else:
            begin(found)


def _run_staged(
    device: Gpu, arguments: Sequence[Any], complete: Callable[[Sequence[Any]], None]
) -> None:
    """Run a kernel on copies of what the host has."""
    staging = Staging(device)
    try:
        placed = staging.place(arguments)
        device.synchronize(0)  # copies may still be on their way, on the default stream
        complete(placed)
        staging.copy_back()
    finally:
        _release(staging)


def _complete(
    plan: Plan, device: Gpu, stream: int, write: Write, begin: Callable[[], None]
) -> None:
    """Launch a kernel, wait for it, pass on what it says, and say what it did wrong."""
    failures: list[GpuError] = []
    culprit = EARLIER

    def run() -> None:
        nonlocal culprit
        try:
            begin()  # the driver may print what a short kernel says before the launch returns
            culprit = f"kernel '@{plan.signature.name}'"
            device.synchronize(stream)
        except GpuError as error:
            failures.append(error)

    if plan.talks:
        said = captured(run)
        write(said.out)
        sys.stderr.write(without_assertions(said.err))
    else:
        said = Said("", "")
        run()
    for error in failures:
        if not error.is_fault:
            raise error
        raise fault(error.status, culprit, said) from None


def _release(staging: Staging) -> None:
    """Give memory back; after a fault there is none to give."""
    try:
        staging.free()
    except GpuError as error:
        if not error.is_fault:
            raise
