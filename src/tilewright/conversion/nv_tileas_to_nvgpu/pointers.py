"""Memory through pointers: each thread loads and stores what its registers hold."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nv_tileas_to_nvgpu.access import Manner
from tilewright.conversion.nv_tileas_to_nvgpu.memory import as_vector, holder, pointed
from tilewright.conversion.nv_tileas_to_nvgpu.sharing import told
from tilewright.dialects.nv_tileas import memory
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I1, VectorType
from tilewright.plans.scratch import is_told


@converts(memory.LoadOp)
def load(op: memory.LoadOp, new: memory.LoadOp, build: ConversionBuilder) -> Result:
    """Every thread loads its registers; what may change meanwhile, one for all."""
    (type,) = build.types.convert(op.result.type) or (I1,)
    acting = holder(op, build, op.result) if is_told(op) else None
    places = pointed(build, new.pointers, new.mask, op.vector, acting)
    whole = type if isinstance(type, VectorType) else VectorType((1,), type)
    other = None if new.other is None else as_vector(build, new.other)
    loaded = Manner(op).load(build, whole, places, other)
    return [told(op, build, loaded, op.result), ()]


@converts(memory.StoreOp)
def store(op: memory.StoreOp, new: memory.StoreOp, build: ConversionBuilder) -> Result:
    """One holder of each element stores it."""
    acting = holder(op, build, op.value)
    places = pointed(build, new.pointers, new.mask, op.vector, acting)
    Manner(op).store(build, as_vector(build, new.value), places)
    return [()]


PATTERNS: Final[Patterns] = (load, store)
