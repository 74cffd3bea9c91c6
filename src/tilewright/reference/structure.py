"""Programs, kernels and global arrays."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import structure as d
from tilewright.ir.types import F4E2M1FN
from tilewright.reference import tile
from tilewright.reference.batch import Batch
from tilewright.reference.control_flow import Walk, walk
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import ADDRESS, Array, pointee


@meaning(d.ModuleOp)
def module(op: d.ModuleOp, at: Batch) -> None:
    """A program that is loaded: its global arrays are there."""
    for array in op.globals():
        load_global(array, at)


@meaning(d.GlobalOp)
def load_global(op: d.GlobalOp, at: Batch) -> None:
    """An array in memory with its first values."""
    type = op.value.type
    assert isinstance(type, tile.TileType)
    elements = tile.constant(op.value.data, type)[0]
    data = np.array(_as_stored(elements, type)).view(np.uint8)
    data.flags.writeable = not op.constant
    allocation = at.machine.space.allocate(f"global @{op.sym_name}", data, op.alignment)
    at.machine.globals[op.sym_name] = allocation.base


def _as_stored(elements: Array, type: tile.TileType) -> Array:
    if type.element is F4E2M1FN:
        halves = elements.view(np.uint8)
        return halves[0::2] | halves[1::2] << np.uint8(4)
    return elements


@meaning(d.GetGlobalOp)
def get_global(op: d.GetGlobalOp, at: Batch) -> Array:
    """The address of the first element."""
    address = at.machine.globals[op.symbol]
    return np.array([address << (pointee(op.result) is F4E2M1FN)], ADDRESS)


@meaning(d.EntryOp)
def entry(op: d.EntryOp, at: Batch) -> Walk:
    """A kernel, whose arguments are bound."""
    return walk(op.body.block, at)
