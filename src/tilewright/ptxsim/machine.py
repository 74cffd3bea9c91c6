"""Host API of the emulator: modules, buffers, launches, counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from tilewright.ptxsim.counters import Counters
from tilewright.ptxsim.declarations import block_size
from tilewright.ptxsim.geometry import Launch, Triple
from tilewright.ptxsim.memory import DeviceMemory
from tilewright.ptxsim.parser import parse
from tilewright.ptxsim.perturbation import Perturbation
from tilewright.ptxsim.program import Program, function_addresses
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Function, Variable
from tilewright.ptxsim.wave import Wave
from tilewright.support.diagnostics import Diagnostic, UserError, fail, note
from tilewright.support.run_limits import RunLimits

CHECKS: Final = frozenset({"uninitialised", "races", "proxies", "barriers", "registers"})
"""The checks of a launch, by name."""
OPTIONAL_CHECKS: Final = frozenset({"global", "global-blocks"})
"""Checks that are off by default."""
# Resident at once: one CTA per multiprocessor of an H200, more if they are small.
_MULTIPROCESSORS: Final = 132
_THREADS_AT_ONCE: Final = 8192
_REGISTER_MEMORY: Final = 1 << 30
# Waves blocked on CTAs that have not started are kept, up to the thread capacity of an H200.
_THREADS_KEPT: Final = _MULTIPROCESSORS * 2048
# The number of retries of all blocked waves without one that ends.
_FUTILE_RETRIES: Final = 64


class Buffer:
    """A buffer in global memory; `int(buffer)` is its address."""

    def __init__(self, memory: DeviceMemory, size: int, name: str = "buffer") -> None:
        self.memory = memory
        self.size = size
        self.address = memory.allocate(size, name=name)

    def __int__(self) -> int:
        return self.address

    def upload(self, data: Array | bytes) -> Buffer:
        """Copy from host to device."""
        size = data.nbytes if isinstance(data, np.ndarray) else len(data)
        if size > self.size:
            raise ValueError(f"expected at most {self.size} bytes, got {size}")
        self.memory.upload(self.address, data)
        return self

    def download(self, dtype: np.dtype[Any] | type[np.generic] = np.uint8) -> Array:
        """Copy from device to host."""
        return self.memory.download(self.address, self.size).view(dtype)

    def free(self) -> None:
        """Free the memory."""
        self.memory.release(self.address)


Argument = int | float | bytes | np.generic | Array | Buffer


class Module:
    """A loaded PTX module; its global memory and variables live as long as it does."""

    def __init__(self, ptx: str, name: str = "<ptx>", memory: DeviceMemory | None = None) -> None:
        self._programs: dict[str, Program] = {}
        self.syntax = parse(ptx, name)
        self.memory = memory or DeviceMemory()
        self.globals: dict[Variable, int] = {}
        self._allocate_globals()

    def __del__(self) -> None:
        """Release the decoded kernels, for which the garbage collector would take long."""
        for program in self._programs.values():
            program.release()

    def _allocate_globals(self) -> None:
        functions = self.syntax.functions.values()
        local = (variable for function in functions for variable in function.variables)
        for variable in (*self.syntax.variables, *local):
            if variable.space in ("global", "const"):
                address = self.memory.allocate(variable.size, variable.alignment, variable.name)
                self.globals[variable] = address
                # Variables without an initialiser are zero.
                contents = variable.contents.ljust(variable.size, b"\0")
                self.memory.upload(address, contents)
        by_name = function_addresses(self.syntax)
        by_name.update((variable.name, address) for variable, address in self.globals.items())
        for variable, address in self.globals.items():
            for patch in variable.relocations:
                if patch.symbol not in by_name:
                    fail(f"'{patch.symbol}' is not declared", variable.location)
                value = (by_name[patch.symbol] + patch.addend) % (1 << 8 * patch.width)
                self.memory.upload(address + patch.offset, value.to_bytes(patch.width, "little"))

    def alloc(self, size: int, name: str = "buffer") -> Buffer:
        """Allocate bytes in global memory."""
        return Buffer(self.memory, size, name)

    def upload(self, data: Array, name: str = "buffer") -> Buffer:
        """Copy an array to global memory."""
        return self.alloc(data.nbytes, name).upload(data)

    def variable(self, name: str) -> int:
        """The address of a global variable."""
        for variable, address in self.globals.items():
            if variable.name == name:
                return address
        raise KeyError(name)

    def program(self, name: str) -> Program:
        """Return the decoded kernel with a name."""
        if name not in self._programs:
            entry = self.syntax.functions.get(name)
            if entry is None or not entry.is_entry or entry.body is None:
                names = ", ".join(each.name for each in self.syntax.entries())
                fail(f"expected the name of a kernel ({names}), got '{name}'")
            self._programs[name] = Program(self.syntax, entry, self.globals)
        return self._programs[name]

    def launch(
        self,
        name: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Argument] = (),
        *,
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        check: bool | Iterable[str] = True,
        seed: int = 0,
        perturb: int = 0,
        resident: int | None = None,
        profile: bool = False,
        write: Callable[[str], object] | None = None,
        progress: Callable[[int, int], object] | None = None,
        max_steps: int | None = None,
        timeout: float | None = None,
    ) -> Counters:
        """Run a kernel; array arguments are copied to the device, and back at the end.

        `shared` is the size of dynamic shared memory. `check` switches all checks on or off, or
        names some of `CHECKS` and `OPTIONAL_CHECKS`; out-of-bounds accesses are reported unless all
        are off. `seed` selects the interleaving of threads; `perturb`, unless it is 0, other
        results of approximate instructions within the error that PTX documents. `resident` is the
        number of concurrent CTAs. `profile` collects all counters. `write` is called with what
        threads print, as they print it; without it, the text is in `Counters.output` alone, which a
        kernel that fails does not return. `progress` is called with the number of finished CTAs and
        of all. `max_steps` and `timeout` (in seconds) limit the run, which otherwise may last for
        ever; a step is an instruction, which threads that execute it together count once.
        """
        program = self.program(name)
        entry = program.linker.entry
        shape = _launch_shape(entry, _triple(grid), _triple(block), cluster, shared)
        checks = _checks(check)
        limits = RunLimits(max_steps, timeout)
        staged = _Arguments(self.memory, entry, args)
        counters = Counters()
        try:
            waves = _Waves(
                counters,
                shape.cluster_count * shape.cluster_size,
                retries=resident is None,
                progress=progress,
            )
            limits.refresh = waves.refresh
            for clusters in _waves(shape, program, resident):
                wave = Wave(
                    program, shape, clusters, self.memory, staged.block, checks, seed, profile,
                    Perturbation(perturb) if perturb else None,
                )  # fmt: skip
                wave.outputs = [counters.output.append, *([] if write is None else [write])]
                wave.limits = limits
                waves.run(wave)
            waves.finish()
            staged.copy_back()
        finally:
            staged.release()
        return counters


def _checks(check: bool | Iterable[str]) -> frozenset[str]:
    if isinstance(check, bool):
        return CHECKS if check else frozenset()
    names = frozenset(check)
    unknown = sorted(names - CHECKS - OPTIONAL_CHECKS)
    if unknown:
        known = ", ".join(sorted(CHECKS | OPTIONAL_CHECKS))
        raise ValueError(f"expected checks among {known}, got '{unknown[0]}'")
    return names


def _triple(size: int | Sequence[int]) -> Triple:
    if isinstance(size, int):
        return size, 1, 1
    x, y, z = (*size, 1, 1)[:3]
    return x, y, z


def _launch_shape(
    entry: Function, grid: Triple, block: Triple, cluster: int | Sequence[int] | None, shared: int
) -> Launch:
    directives = entry.directives
    required = directives.get("reqntid")
    if required is not None and block == (1, 1, 1):
        block = _triple(required)
    if required is not None and block != _triple(required):
        fail(f"expected a block of {_triple(required)} threads, got {block}", entry.location)
    clusters = directives.get("reqnctapercluster")
    if cluster is None:
        cluster = clusters or 1
    if "blocksareclusters" in directives:
        if required is None or clusters is None:
            fail("expected .reqntid and .reqnctapercluster for .blocksareclusters", entry.location)
        grid = _in_blocks(grid, _triple(clusters))
    shape = Launch(grid, block, _triple(cluster), shared)
    if min(*grid, *block) < 1 or shape.block_size > 1024:
        fail(f"expected a grid and a block of 1 to 1024 threads, got {grid} and {block}")
    if any(size % part for size, part in zip(grid, shape.cluster, strict=True)):
        fail(f"expected a grid that clusters of {shape.cluster} divide, got {grid}")
    return shape


def _in_blocks(clusters: Triple, cluster: Triple) -> Triple:
    """The extents in blocks of a grid that counts clusters."""
    x, y, z = (count * size for count, size in zip(clusters, cluster, strict=True))
    return x, y, z


def _waves(launch: Launch, program: Program, resident: int | None) -> Iterator[tuple[int, int]]:
    """Yield the range of clusters of each wave."""
    if resident is None:
        fitting = _REGISTER_MEMORY // (program.register_bytes * launch.block_size)
        resident = min(fitting, max(_MULTIPROCESSORS, _THREADS_AT_ONCE // launch.block_size))
    at_once = max(1, resident // launch.cluster_size)
    for first in range(0, launch.cluster_count, at_once):
        yield first, min(first + at_once, launch.cluster_count)


class _Waves:
    """Runs waves one after the other; retries those blocked on CTAs that have not started."""

    def __init__(
        self,
        counters: Counters,
        cta_count: int,
        *,
        retries: bool,
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self.counters = counters
        self.progress = progress
        self.cta_count = cta_count
        self.finished = 0
        self.retries = retries
        self.not_started = cta_count
        self.blocked: list[tuple[Wave, Diagnostic]] = []
        self.last: Wave | None = None

    def refresh(self) -> None:
        """Show progress."""
        if self.progress is not None:
            self.progress(self.finished, self.cta_count)

    def run(self, wave: Wave) -> None:
        """Run a wave for the first time."""
        self.not_started -= wave.cta_count
        self._try(wave)
        kept = sum(wave.thread_count for wave, _ in self.blocked)
        if self.blocked and (not self.retries or kept > _THREADS_KEPT):
            self._fail()

    def finish(self) -> None:
        """Retry blocked waves until all have ended, or none makes progress."""
        futile = 0
        while self.blocked:
            if len(self.blocked) == 1 and self.blocked[0][0] is self.last:
                self._fail()
            memory = self.blocked[0][0].memory.device.arena
            before, retried = memory.bytes.copy(), self.blocked
            self.blocked = []
            for wave, _ in retried:
                self._try(wave)
            futile = 0 if len(self.blocked) < len(retried) else futile + 1
            if futile > _FUTILE_RETRIES or (futile and np.array_equal(before, memory.bytes)):
                self._fail()

    def _try(self, wave: Wave) -> None:
        self.last = wave
        failure = wave.run()
        if failure is None:
            self.counters.add(wave)
            self.finished += wave.cta_count
            self.refresh()
        else:
            self.blocked.append((wave, failure))

    def _fail(self) -> NoReturn:
        _, failure = self.blocked[0]
        if self.not_started:
            gist = "more blocks of the grid begin only when resident ones have ended"
            failure.notes += (note(f"{self.not_started} {gist}"),)
        raise UserError([failure])


class _Arguments:
    """A kernel's arguments in device memory."""

    def __init__(self, memory: DeviceMemory, entry: Function, args: Sequence[Argument]) -> None:
        if len(args) != len(entry.parameters):
            count = len(entry.parameters)
            fail(f"expected {count} arguments of '{entry.name}', got {len(args)}", entry.location)
        self.memory = memory
        self.arrays: list[tuple[Array, int]] = []
        offsets, size = block_size(entry.parameters)
        data = bytearray(size)
        for parameter, offset, arg in zip(entry.parameters, offsets, args, strict=True):
            raw = self.encode(parameter, arg)
            data[offset : offset + len(raw)] = raw
        self.block = memory.allocate(max(size, 1), name="parameters")
        memory.upload(self.block, bytes(data))

    def encode(self, parameter: Variable, arg: Argument) -> bytes:
        if isinstance(arg, np.ndarray) and arg.ndim:
            return self.stage(parameter, arg).to_bytes(8, "little")
        if isinstance(arg, Buffer):
            return int(arg).to_bytes(8, "little")
        if isinstance(arg, bytes | np.generic | np.ndarray):
            raw = arg if isinstance(arg, bytes) else arg.tobytes()
        else:
            raw = encode_number(parameter, arg)
        if len(raw) != parameter.size:
            fail(f"expected {parameter.size} bytes for '{parameter.name}', got {len(raw)}")
        return raw

    def stage(self, parameter: Variable, array: Array) -> int:
        if parameter.size != 8:
            fail(f"expected a value of {parameter.size} bytes for '{parameter.name}', got an array")
        address = self.memory.allocate(array.nbytes, name=parameter.name)
        self.memory.upload(address, array)
        self.arrays.append((array, address))
        return address

    def copy_back(self) -> None:
        for array, address in self.arrays:
            if array.flags.writeable:
                raw = self.memory.download(address, array.nbytes)
                array[...] = raw.view(array.dtype).reshape(array.shape)

    def release(self) -> None:
        self.memory.release(self.block)
        for _, address in reversed(self.arrays):
            self.memory.release(address)


def encode_number(parameter: Variable, arg: int | float) -> bytes:
    """Encode a number as a kernel parameter."""
    type = SCALAR_TYPES[parameter.type]
    if isinstance(arg, float):
        dtype = {4: np.float32, 8: np.float64, 2: np.float16}[parameter.size]
        return dtype(arg).tobytes()
    if type.is_float and type.dtype.kind == "f":
        return type.dtype.type(arg).tobytes()
    return (arg & ((1 << 8 * parameter.size) - 1)).to_bytes(parameter.size, "little")
