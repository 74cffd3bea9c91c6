"""Part B: memory through pointers, atomics and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import converted
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import (
    Renaming,
    default_attributes,
    result_types,
)
from tilewright.dialects.cuda_tile import atomics, control_flow, core, memory, misc
from tilewright.dialects.cuda_tile.hints import hint
from tilewright.dialects.nv_tileaa import atomics as new_atomics
from tilewright.dialects.nv_tileaa import memory as new_memory
from tilewright.dialects.nv_tileaa import misc as new_misc
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import converts, transfer_pattern, transfers
from tilewright.ir.types import I1, I64

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import ConversionPattern, Made, Result
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.ir.values import Value

ORDER_NAMES: Final = {
    "memory_ordering_semantics": "mem_semantic",
    "memory_scope": "mem_scope",
    "mode": "rmw_mode",
    "inbounds": "in_bounds",
}
HINTS: Final = "optimization_hints"

SAME: Final[Mapping[type[Operation], type[Operation]]] = {
    core.OffsetOp: new_memory.AddPtrOp,
    memory.MemoryFenceAliasTkoOp: new_memory.FenceAliasOp,
    memory.GdcLaunchDependentsTkoOp: new_memory.LaunchDependentsOp,
    memory.GdcWaitTkoOp: new_memory.WaitOnDependenciesOp,
    control_flow.AssertOp: new_misc.AssertOp,
}

RENAMED: Final = (
    Renaming(
        memory.AllocaOp, new_memory.AllocaOp, {"num_elem": "count", "global": "shared_by_grid"}
    ),
    Renaming(misc.PrintTkoOp, new_misc.PrintOp, {"str": "format"}),
    Renaming(atomics.AtomicCASTkoOp, new_atomics.AtomicCasOp, ORDER_NAMES),
    Renaming(atomics.AtomicRMWTkoOp, new_atomics.AtomicRmwOp, ORDER_NAMES),
)


def access_attributes(op: Operation, arch: str) -> dict[str, Attribute]:
    """Return the converted attributes of an access, with the hints of one architecture."""
    attributes = converted(op, ORDER_NAMES, left_out=(HINTS,))
    if HINTS in op.attributes:
        hints: OptimizationHintsAttr | None = getattr(op, "hints", None)
        latency, tma = hint(hints, arch, "latency"), hint(hints, arch, "allow_tma")
        if latency is not None:
            attributes["latency"] = IntegerAttr(latency, I64)
        if tma is not None:
            attributes["allow_tma"] = IntegerAttr(tma, I1)
    return attributes


def _access(old: type[Operation], kind: type[Operation], arch: str) -> ConversionPattern:
    defaults = default_attributes(kind)

    def make(op: Operation, operands: Sequence[Value], types: TypeConverter) -> Operation | None:
        results = result_types(op, types)
        if results is None:
            return None
        attributes = {**defaults, **access_attributes(op, arch)}
        segments = op.schema.group_sizes(op)
        return kind(operands, results, attributes, (), op.location, (), segments)

    return transfer_pattern((old,), make, f"{old.name} to {kind.name}")


def _created_token(op: Operation) -> Operation:
    attributes = {**default_attributes(new_memory.CreateMemTokenOp), **op.attributes}
    return new_memory.CreateMemTokenOp((), (MEM_TOKEN,), attributes, (), op.location)


@transfers(memory.MakeTokenOp)
def make_token(op: memory.MakeTokenOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `nv_tileaa.create_mem_token`."""
    return _created_token(op)


@transfers(memory.JoinTokensOp)
def join_tokens(op: memory.JoinTokensOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `nv_tileaa.join_mem_token`; a join of no tokens creates one."""
    if not operands:
        return _created_token(op)
    if len(operands) == 1:
        return None
    attributes = op.attributes.copy()
    return new_memory.JoinMemTokenOp(operands, (MEM_TOKEN,), attributes, (), op.location)


@converts(memory.JoinTokensOp)
def only_token(
    op: memory.JoinTokensOp, new: memory.JoinTokensOp, build: ConversionBuilder
) -> Result:
    """Fold a join of one token."""
    return new.operands[0] if len(new.operands) == 1 else None


def patterns(arch: str) -> tuple[ConversionPattern, ...]:
    """Return the patterns that are not renamings."""
    return (
        make_token,
        join_tokens,
        only_token,
        _access(memory.LoadPtrTkoOp, new_memory.LoadOp, arch),
        _access(memory.StorePtrTkoOp, new_memory.StoreOp, arch),
    )
