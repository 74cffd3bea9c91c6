"""Remarks about a program while it is compiled: which instructions it gets, what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import Atom, maybe_layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, mma_instruction, wgmma_instruction
from tilewright.dialects.nv_tileas.memory import (
    GatherLoadOp,
    LoadOp,
    ScatterStoreOp,
    StoreOp,
    TiledLoadOp,
    TiledStoreOp,
)
from tilewright.driver.compile import Compilation, Watch, remarks_of
from tilewright.driver.remarks import COMPILER, MEMORY, RESOURCES, TENSOR_CORE, Remark
from tilewright.ir.passes import Instrument
from tilewright.ir.types import TensorType
from tilewright.layout.linear import REGISTER
from tilewright.support.diagnostics import Severity
from tilewright.support.location import UNKNOWN, Location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tilewright.dialects.nv_tileas.matrix import Instruction
    from tilewright.driver.remarks import Details
    from tilewright.driver.settings import Settings
    from tilewright.driver.stored import Stored
    from tilewright.emit.cubin import Cubin, Resources
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Pass
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Diagnostic

DECIDED: Final = "plan-shared-memory"
"""The pass behind which tiles have layouts and products have instructions."""

ALONE: Final = "one element at a time, since no two are known to be aligned neighbours"
INSTRUCTIONS: Final = {Atom.FMA: "FMA", Atom.MMA_SYNC: "mma.sync", Atom.WGMMA: "wgmma"}
FOUND: Final[dict[Atom, Callable[[DotOp], Instruction | None]]] = {
    Atom.FMA: lambda _: None,
    Atom.MMA_SYNC: mma_instruction,
    Atom.WGMMA: wgmma_instruction,
}
Load = LoadOp | TiledLoadOp | GatherLoadOp
Store = StoreOp | TiledStoreOp | ScatterStoreOp


def compile_remarked(module: Operation, settings: Settings) -> tuple[Stored, list[Remark]]:
    """What a program of Tile IR becomes, and all that there is to remark about it."""
    places = {op.sym_name: op.location for op in module.walk() if isinstance(op, EntryOp)}
    decided = Decisions()
    compilation = Compilation(module, settings, Watch([decided]))
    compilation.to("cubin")
    cubin = compilation.cubin
    assert cubin is not None
    spoken = said(compilation.watch.sink.diagnostics, cubin)
    return compilation.result(), [*decided.remarks, *spoken, *resources(cubin, places)]


class Decisions(Instrument):
    """Looks at the program when all is decided."""

    __slots__ = ("remarks",)

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def after(self, step: Pass, op: Operation) -> None:
        if step.name == DECIDED:
            self.remarks += decisions(op)


def decisions(program: Operation) -> Iterator[Remark]:
    """Which instructions move and multiply the tiles of a program of nv_tileas."""
    for function in program.walk():
        if isinstance(function, FuncOp):
            for op in function.walk():
                yield from _decision(op, function.sym_name)


def _decision(op: Operation, function: str) -> Iterator[Remark]:
    match op:
        case LoadOp():
            yield _access(op, op.result, "Load", "ld.global", function)
        case TiledLoadOp() | GatherLoadOp():
            yield _access(op, op.tile, "Load", "ld.global", function)
        case StoreOp():
            yield _access(op, op.value, "Store", "st.global", function)
        case TiledStoreOp() | ScatterStoreOp():
            yield _access(op, op.tile, "Store", "st.global", function)
        case DotOp():
            yield _product(op, function)
        case _:
            pass


def _access(op: Load | Store, tile: Value, verb: str, instruction: str, function: str) -> Remark:
    type = tile.type
    layout = maybe_layout_of(tile)
    registers = 1 if layout is None else layout.extent(REGISTER)
    details = [("Instruction", instruction), ("ElementsAtOnce", str(op.vector))]
    if isinstance(type, TensorType):
        details.append(("Shape", str(list(type.shape or ()))))
    amount = f"{op.vector} elements at a time" if op.vector > 1 else "one element a thread"
    alone = op.vector == 1 and registers > 1
    kind, text = ("missed", ALONE) if alone else ("passed", amount)
    name = f"RemarkMemory{verb}InstructionSelected"
    return Remark(kind, MEMORY, name, f"{verb} of {text}", function, op.location, tuple(details))


def _product(op: DotOp, function: str) -> Remark:
    found = FOUND[op.atom](op)
    details = [("Instruction", INSTRUCTIONS[op.atom])]
    if found is not None:
        details.append(("Shape", str(list(found.shape))))
    if op.atom is Atom.FMA:
        kind, text = "failed", "Product without tensor cores, which do not take these types"
    else:
        kind, text = "passed", "Product on tensor cores"
    name = "RemarkTensorCoreMMA"
    return Remark(kind, TENSOR_CORE, name, text, function, op.location, tuple(details))


def resources(cubin: Cubin, places: dict[str, Location]) -> Iterator[Remark]:
    """What each kernel takes of an SM, and what ptxas has to say besides."""
    for entry in cubin.entries.values():
        place = places.get(entry.name, UNKNOWN)
        text = f"Kernel of {entry.registers} registers a thread"
        details = _taken(entry)
        yield Remark(
            "analysis", RESOURCES, "RemarkKernelResources", text, entry.name, place, details
        )
        if entry.spill_stores or entry.spill_loads:
            spilled = f"{entry.spill_stores} bytes out, {entry.spill_loads} in"
            text = f"Registers spilled to local memory: {spilled} a thread"
            yield Remark("missed", RESOURCES, "RemarkRegisterSpills", text, entry.name, place)
    for warning in cubin.warnings:
        yield Remark("analysis", COMPILER, "RemarkAssembler", warning, "")


def _taken(entry: Resources) -> Details:
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


def said(diagnostics: Iterable[Diagnostic], cubin: Cubin) -> Iterator[Remark]:
    """What passes have to say; what ptxas said is among it, and is in `resources` already."""
    known = {each.message for each in remarks_of(cubin)}
    for each in diagnostics:
        if each.severity is Severity.REMARK and each.message not in known:
            yield Remark("analysis", COMPILER, "RemarkPass", each.message, "", each.location)
