"""Triton's view of the emulator: a driver for launches, and a backend that ends at PTX."""

from __future__ import annotations

from typing import Any, Final

from tilewright.target.arch import MAX_THREADS, WARP_SIZE
from tilewright.triton.device import triton_properties
from tilewright.triton.launching import Machine
from tilewright.triton.versions import torch, triton

_REGISTERS: Final = 32
"""The registers of every kernel, by which programs divide: ptxas, which counts them, is not run."""

_BINARY: Final = "cubin"
"""The stage after PTX, whose result Triton hands to the driver."""


class Utilities:
    """What Triton asks of a device and has done there."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def get_device_properties(self, device: int) -> dict[str, int]:
        """The capacities of the GPU."""
        return dict(triton_properties(self._machine.options.gpu))

    def load_binary(
        self, name: str, code: bytes, shared: int, device: int
    ) -> tuple[Any, Any, int, int, int]:
        """Load a kernel: module, function, registers, spills, and the most threads of a block."""
        kernel = self._machine.load(name, code)
        return kernel, kernel, _REGISTERS, 0, MAX_THREADS

    def unload_module(self, module: Any) -> None:
        """Do nothing: a module ends with its last reference."""

    def set_printf_fifo_size(self, size: int) -> None:
        """Do nothing: what threads print is not buffered."""


class _Device:
    """What Triton asks a driver about its device."""

    machine: Machine
    target: Any

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> Any:
        return self.target

    def get_active_torch_device(self) -> Any:
        return torch().device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch().cuda

    def get_current_device(self) -> int:
        return self.machine.number

    def set_current_device(self, device: int) -> None:
        """Do nothing: there is one device."""

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return divmod(self.machine.options.capability, 10)

    def get_benchmarker(self) -> Any:
        return triton("testing").do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        return torch().empty(0, dtype=torch().int, device="cuda")

    def clear_cache(self, cache: Any) -> None:
        """Do nothing: the emulator has no caches."""


def make_driver(machine: Machine) -> Any:
    """A driver that launches kernels on the emulator."""
    base = triton("backends.driver").DriverBase

    class EmulatorDriver(_Device, base):
        """A driver of Triton for the PTX emulator."""

        def __init__(self) -> None:
            self.machine = machine
            self.target = triton("backends.compiler").GPUTarget(
                "cuda", machine.options.capability, WARP_SIZE
            )
            self.utils = Utilities(machine)
            self.launcher_cls = machine.launcher

        @classmethod
        def is_active(cls) -> bool:
            return True

    return EmulatorDriver()


def _as_bytes(ptx: str, metadata: object) -> bytes:
    """The stage of the binary, which remains PTX."""
    return ptx.encode()


def make_backend(check: bool) -> type[Any]:
    """The backend for CUDA without ptxas: the code that it hands to the driver is PTX.

    Assertions of kernels are compiled if launches are checked. Its hash differs from that of
    Triton's own, so that kernels of both may be in one cache.
    """
    base = triton("backends.nvidia.compiler").CUDABackend

    class EmulatorBackend(base):
        """A backend of Triton that ends at PTX."""

        def parse_options(self, opts: dict[str, Any]) -> Any:
            if not check or opts.get("debug"):
                return super().parse_options(opts)
            # Triton's own checks of integer overflow are for programs that ask for them: it
            # reports wrapping arithmetic that is meant, as in hashes.
            return super().parse_options({**opts, "debug": True, "sanitize_overflow": False})

        def add_stages(self, stages: dict[str, Any], options: Any, language: Any = None) -> None:
            super().add_stages(stages, options, language)
            if _BINARY in stages:
                stages[_BINARY] = _as_bytes

        def hash(self) -> str:
            return f"{super().hash()}-tilewright"

    return EmulatorBackend
