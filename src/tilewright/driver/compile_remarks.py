"""Compile with remarks: those that passes report, and the kernel resources from ptxas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation
from tilewright.support.location import UNKNOWN, Location
from tilewright.support.remark_catalogue import (
    ASSEMBLER_WARNING,
    KERNEL_RESOURCES,
    REGISTER_SPILLS,
)
from tilewright.support.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tilewright.driver.back_end import BackEnd
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.driver.settings import Settings
    from tilewright.emit.cubin import Cubin, Resources
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Diagnostic
    from tilewright.support.remarks import Details

PTXAS = "ptxas"


def compile_with_remarks(
    module: Operation,
    settings: Settings,
    warnings: Iterable[Diagnostic] = (),
    source: Callable[[], Operation] | None = None,
) -> tuple[CompilationResult, list[Remark]]:
    """Compile a Tile IR program to a cubin and collect all remarks about it.

    `warnings` of the verifier are part of the result. `source` gives the program anew.
    """
    locations = entry_locations(module)
    compilation = Compilation(module, settings, Observers(remarks=True), source=source)
    compilation.observers.sink.diagnostics += warnings
    compilation.dumped_to("cubin")
    return compilation.result(), collected_remarks(compilation, locations)


def entry_locations(module: Operation) -> dict[str, Location]:
    """The location of each kernel of a Tile IR program."""
    return {op.sym_name: op.location for op in module.walk() if isinstance(op, EntryOp)}


def collected_remarks(compilation: BackEnd, locations: dict[str, Location]) -> list[Remark]:
    """All remarks on a compilation: those of the passes, and of ptxas if there is a cubin."""
    remarks, cubin = compilation.observers.sink.remarks, compilation.cubin
    return [*remarks, *(() if cubin is None else resource_remarks(cubin, locations))]


def resource_remarks(cubin: Cubin, locations: dict[str, Location]) -> Iterator[Remark]:
    """Report the resources of each kernel, its register spills, and the warnings of ptxas."""
    for entry in cubin.entries.values():
        location = locations.get(entry.name, UNKNOWN)
        text, details = f"Kernel of {entry.registers} registers a thread", _resource_details(entry)
        yield Remark(KERNEL_RESOURCES, text, PTXAS, entry.name, location, details=details)
        if entry.spill_stores or entry.spill_loads:
            spilled = f"{entry.spill_stores} bytes out, {entry.spill_loads} in"
            text = f"Registers spilled to local memory: {spilled} a thread"
            yield Remark(REGISTER_SPILLS, text, PTXAS, entry.name, location)
    for warning in cubin.warnings:
        yield Remark(ASSEMBLER_WARNING, warning, PTXAS, "")


def _resource_details(entry: Resources) -> Details:
    threads = "any" if entry.threads is None else "x".join(map(str, entry.threads))
    numbers = {
        "Threads": threads,
        "Registers": entry.registers,
        "SpillStores": entry.spill_stores,
        "SpillLoads": entry.spill_loads,
        "Stack": entry.stack,
        "SharedMemory": entry.shared,
        "Barriers": entry.barriers,
        "Occupancy": "unknown" if entry.occupancy is None else entry.occupancy,
    }
    return tuple((name, str(number)) for name, number in numbers.items())
