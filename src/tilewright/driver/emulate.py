"""Run compiled kernels on the PTX emulator: `execute(on="emulator")`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.driver.compile import compile
from tilewright.driver.map_parameters import MapArguments
from tilewright.driver.signatures import isolate_kernel, signature_of
from tilewright.driver.staging import Staging
from tilewright.ptxsim import Counters, Module
from tilewright.ptxsim.tensor_map import TensorMap
from tilewright.reference.launch import find_entry, full_grid
from tilewright.reference.uninitialised import clear_marks, note_written, uninitialised_bytes
from tilewright.support.tensor_map_parameters import PARAMETERS

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.reference.launch import Grid
    from tilewright.reference.machine import Progress
    from tilewright.reference.tile import Array
    from tilewright.support.tensor_map_parameters import BoundTensor, TensorMapParameter


class EmulatedMemory:
    """The memory of the emulator."""

    __slots__ = ("_module", "_tracks_writes")

    def __init__(self, module: Module, *, tracks_writes: bool = False) -> None:
        self._module = module
        self._tracks_writes = tracks_writes
        """Whether reads of arrays that are marked as uninitialised are errors."""

    def upload(self, data: Array, name: str = "") -> int:
        """Copy an array to emulated memory and return its address."""
        address = int(self._module.upload(data, name))
        if not self._tracks_writes:
            clear_marks(data)
            return address
        uninitialised = uninitialised_bytes(data)
        if uninitialised is not None:
            self._module.memory.unwrite(address, uninitialised)
        return address

    def download(self, address: int, into: Array) -> None:
        """Copy emulated memory to an array."""
        into[:] = self._module.memory.download(address, len(into))

    def note_written(self, address: int, data: Array) -> None:
        """Record which bytes of a host array the kernel has written."""
        if self._tracks_writes:
            note_written(data, self._module.memory.written(address, len(data)))

    def free(self, address: int) -> None:
        """Do nothing: the memory is released with the emulator."""


def emulate(
    program: Operation,
    entry: str | None,
    grid: Grid,
    arguments: Sequence[Any],
    *,
    arch: str,
    opt_level: int = 3,
    schedule: str = "",
    sanitize: bool = False,
    check: bool = False,
    seed: int = 0,
    perturb: int = 0,
    write: Callable[[str], object] | None = None,
    progress: Progress | None = None,
    max_steps: int | None = None,
    timeout: float | None = None,
    names: Sequence[str] | None = None,
    line_info: bool = False,
    profile: bool = False,
) -> Counters:
    """Compile a verified program for a GPU, and run a kernel of it on the emulator.

    With `line_info` errors have the source line. `names` are those of the arguments. Returns the
    counters of the launch, all of them and by source line if it is profiled.
    """
    name = find_entry(program, entry).sym_name
    kernel = compile(
        isolate_kernel(program, name),
        arch,
        opt_level,
        emit="ptx",
        line_info=line_info or profile,
        sanitize=sanitize,
        schedule=schedule,
        tensor_maps=PARAMETERS,
    )
    return run_ptx(
        kernel.ptx,
        program,
        name,
        grid,
        arguments,
        maps=kernel.map_parameters.get(name, ()),
        check=check,
        seed=seed,
        perturb=perturb,
        write=write,
        progress=progress,
        max_steps=max_steps,
        timeout=timeout,
        names=names,
        profile=profile,
    )


def compile_kernel(
    program: Operation,
    entry: str | None,
    arch: str,
    opt_level: int = 3,
    *,
    sanitize: bool = False,
) -> str:
    """Compile one kernel of a program to PTX."""
    return compile(
        isolate_kernel(program, entry), arch, opt_level, emit="ptx", sanitize=sanitize
    ).ptx


def run_ptx(
    ptx: str,
    program: Operation,
    entry: str | None,
    grid: Grid,
    arguments: Sequence[Any],
    *,
    maps: Sequence[TensorMapParameter] = (),
    check: bool = False,
    seed: int = 0,
    perturb: int = 0,
    write: Callable[[str], object] | None = None,
    profile: bool = False,
    progress: Progress | None = None,
    max_steps: int | None = None,
    timeout: float | None = None,
    names: Sequence[str] | None = None,
) -> Counters:
    """Run the PTX of a kernel on the emulator; `maps` are parameters after its own arguments.

    `names` are those of the arguments in diagnostics. Returns the counters of the launch;
    `profile` collects all of them.
    """
    kernel = find_entry(program, entry)
    module = Module(ptx, kernel.sym_name)
    memory = EmulatedMemory(module, tracks_writes=check)
    staging = Staging(memory)
    signature = signature_of(program, kernel.sym_name)
    signature.check_count(arguments)
    passed = signature.encode(staging.upload_arguments(arguments, names))
    passed += MapArguments(maps, signature, encode_map).of(tuple(passed))
    counters = module.launch(
        kernel.sym_name, full_grid(grid), 1, passed,
        check=check, seed=seed, perturb=perturb, write=write or sys.stdout.write,
        profile=profile, progress=progress, max_steps=max_steps, timeout=timeout,
    )  # fmt: skip
    staging.copy_back()
    for each in staging.arrays:
        memory.note_written(each.base, each.bytes)
    return counters


def encode_map(map: TensorMapParameter, tensor: BoundTensor) -> bytes:
    """A tensor map in the emulator's layout."""
    made = TensorMap(
        tensor.address,
        map.element,
        tensor.sizes,
        tensor.strides,
        map.box,
        swizzle=map.swizzle,
        interleave=map.interleave,
        nan=map.nan,
    )
    return bytes(made)
