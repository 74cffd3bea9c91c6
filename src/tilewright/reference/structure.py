"""Modules, kernels and global arrays."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import structure as d
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.nv_tileaa import structure as nv_tileaa
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN
from tilewright.ir.values import Value
from tilewright.reference import tile
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import ADDRESS, Array, pointee
from tilewright.reference.walk import Walk, walk


@evaluator(d.ModuleOp)
def module(op: d.ModuleOp, at: Batch) -> None:
    """Load a module: allocate its global arrays."""
    for array in op.globals():
        load_global(array, at)


@evaluator(d.GlobalOp)
def load_global(op: d.GlobalOp, at: Batch) -> None:
    """Allocate a global array with its initial values."""
    type = op.value.type
    assert isinstance(type, TileType)
    allocate_global(op, type.shape, type.element, at)


def allocate_global(
    op: d.GlobalOp | nv_tileaa.GlobalOp, shape: tuple[int, ...], element: Type, at: Batch
) -> None:
    """Allocate a global array with its initial values."""
    elements = tile.constant(op.value.data, element, shape)[0]
    data = np.array(_as_stored(elements, element)).view(np.uint8)
    data.flags.writeable = not op.constant
    allocation = at.machine.space.allocate(f"global @{op.sym_name}", data, op.alignment)
    at.machine.globals[op.sym_name] = allocation.base


def _as_stored(elements: Array, element: Type) -> Array:
    if element is F4E2M1FN:
        nibbles = elements.view(np.uint8)
        return nibbles[0::2] | nibbles[1::2] << np.uint8(4)
    return elements


@evaluator(d.GetGlobalOp)
def get_global(op: d.GetGlobalOp, at: Batch) -> Array:
    """The address of the first element."""
    return address_of(op.symbol, op.result, at)


def address_of(symbol: str, pointer: Value, at: Batch) -> Array:
    """The address of a global array, as a pointer to its elements."""
    address = at.machine.globals[symbol]
    return np.array([address << (pointee(pointer) is F4E2M1FN)], ADDRESS)


@evaluator(d.EntryOp)
def entry(op: d.EntryOp, at: Batch) -> Walk:
    """Run a kernel whose arguments are bound."""
    return walk(op.body.block, at)
