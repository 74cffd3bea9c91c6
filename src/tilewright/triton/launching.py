"""Launches of compiled kernels: what Triton calls in place of its launcher for CUDA."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilewright.ptxsim import Module
from tilewright.ptxsim.memory import DeviceMemory
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.target.arch import WARP_SIZE
from tilewright.triton.arguments import parameters
from tilewright.triton.device_tensors import DeviceTensors
from tilewright.triton.errors import TritonSource, triton_errors
from tilewright.triton.line_info import readable_lines
from tilewright.triton.versions import first_column, triton

if TYPE_CHECKING:
    from tilewright.triton.options import Options


class Kernel:
    """A loaded kernel: the handle that Triton passes to the launcher."""

    def __init__(self, name: str, ptx: str, memory: DeviceMemory) -> None:
        self.name = name
        self._ptx = ptx
        self._memory = memory
        self._module: Module | None = None

    def module(self, folder: str, file: str) -> Module:
        """The kernel's module, whose lines are in a file; `folder` is that of Triton."""
        if self._module is None:
            ptx = readable_lines(self._ptx, folder, file)
            self._module = Module(ptx, f"{self.name}.ptx", self._memory)
        return self._module


class Machine:
    """The emulator as a device: its memory, and how launches run."""

    def __init__(self, options: Options, accepts: Callable[[Any], bool], number: int) -> None:
        self.options = options
        self.number = number
        """The number of the device, by which Triton keeps kernels that it has compiled."""
        self.memory = DeviceMemory()
        self.accepts = accepts
        """Whether a kernel may access a tensor."""
        self.source = TritonSource(
            os.path.dirname(os.path.abspath(triton().__file__)), first_column()
        )

    def load(self, name: str, code: bytes) -> Kernel:
        """Load the PTX of a kernel."""
        return Kernel(name, code.decode(), self.memory)

    def launcher(self, source: Any, metadata: Any) -> Launcher:
        """The launcher of a kernel that Triton has compiled."""
        return Launcher(self, source, metadata)


class Launcher:
    """Runs one compiled kernel; Triton makes one for each."""

    def __init__(self, machine: Machine, source: Any, metadata: Any) -> None:
        self._machine = machine
        self._names = [str(name) for name in source.signature]
        self._types = list(source.signature.values())
        self._metadata = metadata
        function = getattr(getattr(source, "fn", None), "fn", None)
        self._file: str = function.__code__.co_filename if function is not None else ""

    @ends_tracebacks
    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        kernel: Kernel,
        packed: Any,
        launch_metadata: Any,
        enter: Callable[[Any], object] | None,
        leave: Callable[[Any], object] | None,
        *values: Any,
    ) -> None:
        """Run the kernel over a grid; tensors among the arguments change in place."""
        __tracebackhide__ = True
        grid = (int(grid_x), int(grid_y), int(grid_z))
        if enter is not None:
            enter(launch_metadata)
        if all(extent > 0 for extent in grid):
            self._run(grid, stream, kernel, values)
        if leave is not None:
            leave(launch_metadata)

    def _run(
        self, grid: tuple[int, int, int], stream: Any, kernel: Kernel, values: tuple[Any, ...]
    ) -> None:
        machine, metadata = self._machine, self._metadata
        tensors = DeviceTensors(machine.memory, machine.accepts)
        try:
            with triton_errors(machine.source):
                # Its variables stay in memory, so that they come before the tensors.
                module = kernel.module(machine.source.folder, self._file)
                maps = getattr(metadata, "tensordesc_meta", None) or ()
                passed = parameters(self._names, self._types, values, maps, tensors)
                passed += [
                    tensors.address(buffer, name).to_bytes(8, "little")
                    for name, buffer in self._scratch(grid, stream)
                ]
                self._launch(grid, module, kernel.name, passed)
            tensors.copy_back()
        finally:
            tensors.release()

    def _launch(
        self, grid: tuple[int, int, int], module: Module, name: str, passed: list[bytes]
    ) -> None:
        options, metadata = self._machine.options, self._metadata
        ctas: int = metadata.num_ctas
        module.launch(
            name,
            (grid[0] * ctas, *grid[1:]),
            WARP_SIZE * metadata.num_warps,
            passed,
            cluster=(ctas, 1, 1) if ctas > 1 else None,
            shared=metadata.shared,
            check=options.checks,
            seed=options.seed,
            write=sys.stdout.write,
            max_steps=options.max_steps,
            timeout=options.timeout,
        )

    def _scratch(self, grid: tuple[int, int, int], stream: Any) -> list[tuple[str, Any]]:
        """The buffers of the program's allocators, which follow its own arguments."""
        metadata, allocation = self._metadata, triton("runtime._allocation")
        blocks = grid[0] * grid[1] * grid[2] * metadata.num_ctas
        wanted = (
            ("global scratch", allocation._allocator, "global_scratch"),
            ("profile scratch", allocation._profile_allocator, "profile_scratch"),
        )
        buffers: list[tuple[str, Any]] = []
        for name, allocator, prefix in wanted:
            size = getattr(metadata, f"{prefix}_size") or 0
            alignment = getattr(metadata, f"{prefix}_align")
            buffer = allocator.get()(blocks * size, alignment, stream) if size else None
            buffers.append((name, buffer))
        return buffers
