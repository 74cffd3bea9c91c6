"""A GPU: its context, memory, loaded kernels and launches."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock
from typing import Any, Final

from numpy.typing import NDArray

from tilewright.runtime.driver import bindings, call, ready
from tilewright.runtime.errors import GpuError
from tilewright.runtime.frames import Frames
from tilewright.runtime.modules import Extents, Kernel, Module
from tilewright.support.diagnostics import Unsupported

Array = NDArray[Any]

SMALLEST: Final = 16
"""The allocation size of an empty array, which needs an address, too."""
STATIC_SHARED: Final = 48 * 1024
"""The dynamic shared memory that a kernel may use without opting in."""
PRINTED: Final = 64 << 20
"""The printf buffer size in bytes; the driver's default is 1 MiB."""
MODULES: Final = 256
"""The maximum number of loaded modules per context."""


class Gpu:
    """One GPU of this machine, with its primary context."""

    def __init__(self, ordinal: int) -> None:
        ready()
        count: int = call("cuDeviceGetCount")
        if not 0 <= ordinal < count:
            raise Unsupported(f"GPU {ordinal}: this machine has {count}")
        self.ordinal = ordinal
        self.device = call("cuDeviceGet", ordinal)
        self.name: str = call("cuDeviceGetName", 128, self.device).decode().rstrip("\0")
        self.arch = f"sm_{self._about('COMPUTE_CAPABILITY_MAJOR')}"
        self.arch += str(self._about("COMPUTE_CAPABILITY_MINOR"))
        """The architecture: `sm_90`."""
        self.largest_grid = tuple(self._about(f"MAX_GRID_DIM_{axis}") for axis in "XYZ")
        self._primary = call("cuDevicePrimaryCtxRetain", self.device)
        self._modules: dict[tuple[int, bytes], Module] = {}
        self._printing: set[int] = set()
        self._frames = Frames()
        self._lock = Lock()

    def _about(self, attribute: str) -> int:
        number = getattr(bindings().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}")
        return call("cuDeviceGetAttribute", number, self.device)

    @contextmanager
    def current(self) -> Generator[int]:
        """Make this the current GPU of the thread; keeps a current context of the same GPU."""
        context = call("cuCtxGetCurrent")
        if int(context) and int(call("cuCtxGetDevice")) == int(self.device):
            yield int(context)
            return
        call("cuCtxPushCurrent", self._primary)
        try:
            yield int(self._primary)
        finally:
            # After a fault this fails again, which would hide the first report.
            bindings().cuCtxPopCurrent()

    def use(self) -> int:
        """Make the primary context of this GPU current, and return it."""
        call("cuCtxSetCurrent", self._primary)
        return int(self._primary)

    def kernel(self, context: int, code: bytes, name: str) -> Kernel:
        """Load a kernel of a cubin or of PTX, once per context."""
        with self._lock:
            module = self._modules.get((context, code))
            if module is None:
                self._evict_module()
                module = self._modules[context, code] = Module(code)
            return module.kernel(name)

    def _evict_module(self) -> None:
        """Unload the oldest module, if there are too many, after a synchronization."""
        if len(self._modules) < MODULES:
            return
        context, code = next(iter(self._modules))
        module = self._modules.pop((context, code))
        call("cuCtxPushCurrent", bindings().CUcontext(context))
        try:
            call("cuCtxSynchronize")
            module.unload()
        finally:
            call("cuCtxPopCurrent")

    def upload(self, data: Array, name: str = "") -> int:
        """Copy an array to the GPU."""
        address = int(call("cuMemAlloc", max(SMALLEST, data.nbytes)))
        if data.nbytes:
            call("cuMemcpyHtoD", address, data.ctypes.data, data.nbytes)
        return address

    def download(self, address: int, into: Array) -> None:
        """Copy from the GPU."""
        if into.nbytes:
            call("cuMemcpyDtoH", into.ctypes.data, address, into.nbytes)

    def free(self, address: int) -> None:
        """Free memory."""
        call("cuMemFree", address)

    def let_print(self, context: int) -> None:
        """Enlarge the printf buffer; has no effect once a kernel that prints has run."""
        if context in self._printing:
            return
        self._printing.add(context)
        limit = bindings().CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE
        with suppress(GpuError):
            call("cuCtxSetLimit", limit, PRINTED)

    def launch(
        self,
        function: Any,
        grid: Extents,
        block: Extents,
        arguments: Sequence[bytes],
        *,
        stream: int = 0,
        shared: int = 0,
        cluster: Extents | None = None,
    ) -> None:
        """Launch a kernel asynchronously."""
        if shared > STATIC_SHARED:
            limit = bindings().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call("cuFuncSetAttribute", function, limit, shared)
        pointers = self._frames.hold(arguments)
        if cluster is None:
            call("cuLaunchKernel", function, *grid, *block, shared, stream, pointers, 0)
            return
        config = _configuration(grid, block, cluster)
        config.sharedMemBytes, config.hStream = shared, stream
        call("cuLaunchKernelEx", config, function, pointers, 0)

    def synchronize(self, stream: int | None = None) -> None:
        """Wait for a stream, or for the context."""
        if stream is None:
            call("cuCtxSynchronize")
        else:
            call("cuStreamSynchronize", stream)


def _configuration(grid: Extents, block: Extents, cluster: Extents) -> Any:
    """The driver's configuration of a launch in clusters."""
    cuda = bindings()
    config, attribute = cuda.CUlaunchConfig(), cuda.CUlaunchAttribute()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    extents = attribute.value.clusterDim
    extents.x, extents.y, extents.z = cluster
    config.attrs, config.numAttrs = [attribute], 1
    return config


@cache
def gpu(ordinal: int) -> Gpu:
    """The GPU with an ordinal."""
    return Gpu(ordinal)


def current_gpu() -> Gpu:
    """The current GPU of this thread; by default the first."""
    ready()
    return gpu(int(call("cuCtxGetDevice")) if int(call("cuCtxGetCurrent")) else 0)


def device_of(address: int) -> int:
    """The ordinal of the GPU that owns an address."""
    ready()
    kind = bindings().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(call("cuPointerGetAttribute", kind, address))
