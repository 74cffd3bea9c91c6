"""Run compiled kernels on a GPU: `tilewright.launch` and `execute(on="gpu")`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.driver.compile import CompiledModule, compile
from tilewright.driver.launch_checks import (
    check_code,
    check_grid,
    common_device,
    describe_arrays,
    select_stream,
)
from tilewright.driver.map_parameters import MapArguments
from tilewright.driver.signatures import isolate_kernel, signature_of
from tilewright.driver.staging import Staging, is_staged
from tilewright.emit.note import read_map_parameters
from tilewright.runtime.errors import EARLIER, GpuError, fault
from tilewright.runtime.messages import Said, captured, without_assertions
from tilewright.runtime.tensor_maps import MapRejected, encode_map
from tilewright.support.diagnostics import Unsupported
from tilewright.support.tensor_map_parameters import KERNEL, PARAMETERS
from tilewright.support.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.reference.launch import Grid
    from tilewright.runtime.device import Gpu
    from tilewright.runtime.signature import Signature

Write = Callable[[str], object]


class Plan:
    """Data shared by all launches of a kernel."""

    __slots__ = (
        "arch",
        "counts_clusters",
        "cubin",
        "map_arguments",
        "prints",
        "signature",
        "threads",
    )

    def __init__(
        self,
        signature: Signature,
        arch: str,
        cubin: bytes,
        threads: tuple[int, int, int],
        prints: bool = True,
        counts_clusters: bool = False,
    ) -> None:
        self.signature = signature
        self.arch = arch
        self.cubin = cubin
        self.threads = threads
        maps = read_map_parameters(cubin).get(signature.name, ())
        self.map_arguments = MapArguments(maps, signature, encode_map)
        """The tensor maps that follow the arguments, as the note of the cubin says."""
        self.prints = prints
        """Whether the kernel may print or fail an assertion."""
        self.counts_clusters = counts_clusters
        """Whether the grid of a launch counts clusters, of which each runs one program."""

    @staticmethod
    def of(module: CompiledModule, entry: str | None) -> Plan:
        """The plan for a kernel of a compiled module."""
        cubin, signature = module.cubin, signature_of(module.program, entry)
        threads = module.entries[signature.name].resources.threads
        if threads is None:
            raise Unsupported(f"'@{signature.name}': launches in blocks of any size")
        prints = any(name in module.ptx for name in ("vprintf", "__assertfail"))
        header = module.ptx.partition(f".entry {signature.name}(")[2].partition("{")[0]
        counts_clusters = ".blocksareclusters" in header
        return Plan(signature, module.arch, cubin, threads, prints, counts_clusters)


@ends_tracebacks
def launch(
    kernel: CompiledModule,
    entry: str | None,
    grid: Grid,
    args: Sequence[Any],
    stream: Any = None,
) -> None:
    """Launch a kernel of a compiled module on the GPU.

    `entry` may be None if there is a single kernel. Arguments are numbers, and arrays on a GPU: of
    torch, CuPy, JAX, or any object with `__cuda_array_interface__` or DLPack. NumPy arrays are
    copied there and back; only then the call waits for the kernel. `stream` is a handle, or a
    stream of torch, CuPy or cuda.core; without one it is the current stream of the library that
    the arrays are of.

    Raises `tilewright.Error` if the arguments do not match the kernel, if no GPU can run it, or
    if a kernel has failed.
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
    """Compile a verified program for the GPU of this machine, run a kernel, and wait for it."""

    def run(tensor_maps: str) -> None:
        kernel = compile(
            isolate_kernel(program, entry),
            arch,
            opt_level,
            line_info=sanitize,
            sanitize=sanitize,
            tensor_maps=tensor_maps,
            cache=True,
        )
        start(Plan.of(kernel, entry), grid, arguments, None, wait=True, write=write)

    try:
        run(PARAMETERS)
    except MapRejected:
        # The driver asks more of a tensor than the hardware does.
        run(KERNEL)


def start(
    plan: Plan,
    grid: Grid,
    arguments: Sequence[Any],
    stream: Any,
    *,
    wait: bool = False,
    write: Write | None = None,
) -> None:
    """Launch a kernel; wait for it on request, or if arrays must be copied back."""
    described = describe_arrays(plan.signature, arguments)
    device = common_device(plan.signature, described)
    check_code(plan.arch, device)
    with device.current() as context:
        if plan.prints:
            device.let_print(context)
        kernel = device.kernel(context, plan.cubin, plan.signature.name)
        cluster = (1, 1, 1) if plan.counts_clusters else kernel.cluster
        extents = check_grid(grid, device, cluster)
        handle = select_stream(stream, arguments, described, device)

        def begin(device_arguments: Sequence[Any]) -> None:
            passed = plan.signature.encode(device_arguments)
            if plan.map_arguments.maps:
                passed += plan.map_arguments.of(tuple(passed))
            device.launch(kernel.function, extents, plan.threads, passed, stream=handle)

        def complete(device_arguments: Sequence[Any]) -> None:
            _complete(
                plan, device, handle, write or sys.stdout.write, lambda: begin(device_arguments)
            )

        if any(map(is_staged, described)):
            _run_staged(device, described, complete)
        elif wait:
            complete(described)
        else:
            begin(described)


def _run_staged(
    device: Gpu, arguments: Sequence[Any], complete: Callable[[Sequence[Any]], None]
) -> None:
    """Run a kernel on device copies of host arrays."""
    staging = Staging(device)
    try:
        device_arguments = staging.upload_arguments(arguments)
        device.synchronize(0)  # uploads are asynchronous, on the default stream
        complete(device_arguments)
        staging.copy_back()
    finally:
        _release(staging)


def _complete(
    plan: Plan, device: Gpu, stream: int, write: Write, begin: Callable[[], None]
) -> None:
    """Launch a kernel, wait for it, forward its output, and raise its faults."""
    failures: list[GpuError] = []
    culprit = EARLIER

    def run() -> None:
        nonlocal culprit
        try:
            begin()  # a short kernel may print before the launch returns
            culprit = f"kernel '@{plan.signature.name}'"
            device.synchronize(stream)
        except GpuError as error:
            failures.append(error)

    if plan.prints:
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
    """Free device memory; after a fault the context is gone."""
    try:
        staging.free()
    except GpuError as error:
        if not error.is_fault:
            raise
