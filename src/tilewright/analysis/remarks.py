"""Remarks on instruction selection: accesses and dots of nv_tileas; and on refused requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS, OCCUPANCY
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import tiled_view
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
from tilewright.ir.types import TensorType
from tilewright.layout.linear import LANE, WARP
from tilewright.support.remark_catalogue import (
    LOAD_SELECTED,
    MMA_FMA,
    MMA_TENSOR_CORE,
    REQUEST_REFUSED,
    STORE_SELECTED,
)
from tilewright.support.remarks import Remark
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.dialects.nv_tileas.matrix import Instruction
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink
    from tilewright.support.remark_catalogue import RemarkEntry

BY_THREADS: Final = ("ld.global", "st.global", "cp.async")
"""The instructions by which each thread accesses elements of its own."""
LOADS: Final = (LoadOp, TiledLoadOp, GatherLoadOp)
STORES: Final = (StoreOp, TiledStoreOp, ScatterStoreOp)
Load = LoadOp | TiledLoadOp | GatherLoadOp
Store = StoreOp | TiledStoreOp | ScatterStoreOp

MMA_NAMES: Final = {Atom.FMA: "FMA", Atom.MMA_SYNC: "mma.sync", Atom.WGMMA: "wgmma"}
MMA_INSTRUCTIONS: Final[dict[Atom, Callable[[DotOp], Instruction | None]]] = {
    Atom.FMA: lambda _: None,
    Atom.MMA_SYNC: mma_instruction,
    Atom.WGMMA: wgmma_instruction,
}


def report_accesses(root: Operation, sink: Sink, pass_name: str) -> None:
    """Report the instruction and vector width of each load and store below `root`."""
    if not sink.wants_remarks:
        return
    for function in root.walk():
        if isinstance(function, FuncOp):
            for op in function.walk():
                if isinstance(op, LOADS):
                    sink.remark(load_remark(op, "ld.global", function.sym_name, pass_name))
                elif isinstance(op, STORES):
                    sink.remark(_store_remark(op, function.sym_name, pass_name))


def report_dots(function: FuncOp, sink: Sink, pass_name: str) -> None:
    """Report the MMA instruction of each dot of a function."""
    if not sink.wants_remarks:
        return
    for op in function.walk():
        if isinstance(op, DotOp):
            sink.remark(_dot_remark(op, function.sym_name, pass_name))


def report_refusals(root: Operation, sink: Sink, pass_name: str) -> None:
    """Report each request that is not followed; those for CTAs and blocks have remarks already."""
    if not sink.wants_remarks:
        return
    for function in root.walk():
        if not isinstance(function, FuncOp) or function.refused is None:
            continue
        name, location = function.sym_name, function.location
        for key, reason in function.refused.refusals:
            if key not in (NUM_CTAS, OCCUPANCY):
                text = f"Request '{key.replace('_', '-')}' is not followed"
                sink.remark(Remark(REQUEST_REFUSED, text, pass_name, name, location, reason))


def load_remark(op: Load, instruction: str, function: str, pass_name: str) -> Remark:
    """Build the remark on a load that `instruction` executes."""
    tile = op.result if isinstance(op, LoadOp) else op.tile
    return _access_remark(LOAD_SELECTED, op, tile, instruction, function, pass_name)


def _store_remark(op: Store, function: str, pass_name: str) -> Remark:
    tile = op.value if isinstance(op, StoreOp) else op.tile
    return _access_remark(STORE_SELECTED, op, tile, "st.global", function, pass_name)


def _access_remark(
    entry: RemarkEntry,
    op: Load | Store,
    tile: Value,
    instruction: str,
    function: str,
    pass_name: str,
) -> Remark:
    type = tile.type
    details = [("Instruction", instruction), ("ElementsAtOnce", str(op.vector))]
    if isinstance(type, TensorType):
        details.append(("Shape", str(list(type.shape or ()))))
    width = f"{op.vector} elements at a time" if op.vector > 1 else "one element at a time"
    verb = "Load" if entry is LOAD_SELECTED else "Store"
    text, location = f"{verb} of {width}", op.location
    reason = _size_reason(op, tile) if instruction in BY_THREADS else ""
    return Remark(entry, text, pass_name, function, location, reason, tuple(details))


def _size_reason(op: Load | Store, tile: Value) -> str:
    """Why threads access few bytes at once, if the reason is that the tile is small."""
    layout, vector = maybe_layout_of(tile), op.vector
    if layout is None or vector * pointee_bytes(element_of(tile.type)) >= MAX_ACCESS_BYTES:
        return ""
    elements, threads = count(tile.type), layout.extent(LANE) * layout.extent(WARP)
    if elements <= vector * threads:
        return f"the tile has {_elements(elements)} for {threads} threads"
    if isinstance(op, TiledLoadOp | TiledStoreOp):
        view = tiled_view(op.view)
        for dim, extent in zip(view.dims, view.tile, strict=True):
            if view.source.strides[dim] == 1 and extent == vector:
                return f"the tile has {_elements(extent)} along the contiguous dimension {dim}"
    return ""


def _elements(count: int) -> str:
    return "one element" if count == 1 else f"{count} elements"


def _dot_remark(op: DotOp, function: str, pass_name: str) -> Remark:
    instruction = MMA_INSTRUCTIONS[op.atom](op)
    details = [("Instruction", MMA_NAMES[op.atom])]
    if instruction is not None:
        details.append(("Shape", str(list(instruction.shape))))
    entry, text, reason = MMA_TENSOR_CORE, "Matmul on tensor cores", ""
    if op.atom is Atom.FMA:
        entry, text, reason = MMA_FMA, "Matmul without tensor cores", "they do not take these types"
    return Remark(entry, text, pass_name, function, op.location, reason, tuple(details))
