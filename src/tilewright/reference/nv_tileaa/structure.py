"""Functions, calls, global arrays, and poison."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects import func, ub
from tilewright.dialects.nv_tileaa import structure as d
from tilewright.dialects.nv_tileaa.types import (
    MEM_TOKEN,
    MemrefType,
    ProgramIdType,
    TiledViewType,
)
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.symbol_table import resolve
from tilewright.ir.types import TensorType
from tilewright.reference.access import NO_TOKEN
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import decoder, evaluator
from tilewright.reference.nv_tileaa.program import NO_PROGRAM
from tilewright.reference.structure import address_of, allocate_global
from tilewright.reference.tile import ADDRESS, DTYPES, Array, Pointer, dtype, element, shape
from tilewright.reference.tiling import Tensor
from tilewright.reference.walk import Crossing, leave, passage, walk
from tilewright.support.diagnostics import Unsupported

decoder(d.ReturnOp, func.ReturnOp)(leave)


@evaluator(d.GlobalOp)
def load_global(op: d.GlobalOp, at: Batch) -> None:
    """Allocate a global array with its initial values."""
    type = op.value.type
    assert isinstance(type, TensorType)
    allocate_global(op, type.shape or (), type.element, at)


@evaluator(d.GetGlobalOp)
def get_global(op: d.GetGlobalOp, at: Batch) -> Array:
    """The address of the first element."""
    return address_of(op.symbol, op.result, at)


@evaluator(d.CallOp, func.CallOp)
def call(op: d.CallOp | func.CallOp, at: Batch) -> Crossing:
    """Call a function; each call has its own SSA values."""
    function = resolve(SymbolRefAttr(op.callee), op)
    assert isinstance(function, func.FuncOp)
    if not function.body.blocks:
        raise Unsupported(f"running '@{op.callee}', which is defined elsewhere", op.location)
    inner = at.narrow(np.arange(at.count))
    inner.bind(function.body.block.args, [at[value] for value in op.arguments])
    return passage(at, (yield from walk(function.body.block, inner)), [])


@evaluator(ub.PoisonOp)
def poison(op: ub.PoisonOp, at: Batch) -> Any:
    """Zeros, or random values under a checker, so that uses are noticed."""
    type, kind = op.result.type, element(op.result)
    if type is MEM_TOKEN:
        return NO_TOKEN
    if isinstance(type, ProgramIdType):
        return NO_PROGRAM
    if isinstance(type, MemrefType | TiledViewType):
        rank, nothing = type.rank, np.zeros(1, np.int64)
        return Tensor(np.zeros(1, ADDRESS), [nothing] * rank, [nothing] * rank)
    if kind not in DTYPES and not isinstance(kind, Pointer):
        raise Unsupported(f"running 'ub.poison' of type '{type}'", op.location)
    extents, checker = (1, *shape(op.result)), at.machine.checker
    if checker is None or isinstance(kind, Pointer):
        return np.zeros(extents, dtype(kind))
    return checker.undefined_values(extents, kind)
