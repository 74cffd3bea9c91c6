"""Run kernels as compiled code on the PTX emulator: what `execute(on="emulator")` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.driver.compile import compile
from tilewright.ir.types import F4E2M1FN
from tilewright.ptxsim import Module
from tilewright.reference.address_space import ALIGNMENT, AddressSpace, Allocation
from tilewright.reference.arguments import bind_arguments
from tilewright.reference.launch import find_entry, full_grid
from tilewright.reference.programs import Kernel, kernels
from tilewright.reference.tile import Array, Pointer, element

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.reference.launch import Grid


class EmulatedSpace(AddressSpace):
    """Arrays of the host in the memory of the emulator: copied in, and back when all is done."""

    __slots__ = ("_arrays", "_module")

    def __init__(self, module: Module) -> None:
        super().__init__()
        self._module = module
        self._arrays: list[Allocation] = []

    def allocate(
        self,
        name: str,
        bytes: Array,
        alignment: int = ALIGNMENT,
        owner: tuple[int, ...] | None = None,
    ) -> Allocation:
        """Copy a piece of host memory, and say where to."""
        made = Allocation(name, int(self._module.upload(bytes, name)), bytes, owner)
        self._arrays.append(made)
        return made

    def copy_back(self) -> None:
        """Give the host what the kernel has left."""
        for each in self._arrays:
            if each.writable and len(each.bytes):
                each.bytes[:] = self._module.memory.download(each.base, len(each.bytes))


def emulate(
    program: Operation,
    entry: str | None,
    grid: Grid,
    arguments: Sequence[Any],
    *,
    arch: str,
    opt_level: int = 3,
    sanitize: bool = False,
    check: bool = False,
    seed: int = 0,
    write: Callable[[str], object] | None = None,
) -> None:
    """Compile a verified program for a GPU, and run a kernel of it on the emulator."""
    ptx = compile_alone(program, entry, arch, opt_level, sanitize=sanitize)
    run_ptx(ptx, program, entry, grid, arguments, check=check, seed=seed, write=write)


def compile_alone(
    program: Operation,
    entry: str | None,
    arch: str,
    opt_level: int = 3,
    *,
    sanitize: bool = False,
) -> str:
    """The PTX of one kernel of a program."""
    alone = _alone(program, find_entry(program, entry))
    return compile(alone, arch, opt_level, emit="ptx", sanitize=sanitize).ptx


def run_ptx(
    ptx: str,
    program: Operation,
    entry: str | None,
    grid: Grid,
    arguments: Sequence[Any],
    *,
    check: bool = False,
    seed: int = 0,
    write: Callable[[str], object] | None = None,
) -> None:
    """Run the PTX that a kernel of a program became on the emulator."""
    kernel = find_entry(program, entry)
    module = Module(ptx, kernel.sym_name)
    space = EmulatedSpace(module)
    values = bind_arguments(kernel, arguments, space)
    parameters = zip(kernel.body.block.args, values, strict=True)
    passed = [passed_bytes(parameter, value) for parameter, value in parameters]
    output: list[str] = []
    blocks = full_grid(grid)
    try:
        module.launch(kernel.sym_name, blocks, 1, passed, check=check, seed=seed, output=output)
    finally:
        (write or sys.stdout.write)("".join(output))
    space.copy_back()


def _alone(program: Operation, kernel: Kernel) -> Operation:
    """The program without its other kernels, which need not be compiled."""
    copy = program.clone()
    for other in kernels(copy):
        if other.sym_name != kernel.sym_name:
            other.erase()
    return copy


def passed_bytes(parameter: Value, value: Array) -> bytes:
    """The bytes of an argument."""
    held = element(parameter)
    if isinstance(held, Pointer) and held.pointee is F4E2M1FN:
        # The reference executor counts the halves of bytes; memory has none.
        value = value >> value.dtype.type(1)
    return value.tobytes()
