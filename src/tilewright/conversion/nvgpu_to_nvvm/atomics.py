"""Atomic read-modify-write operations of memref without an instruction: loops of `cmpxchg`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.fragments import same_bits
from tilewright.dialects.arith.attributes import AtomicRMWKind
from tilewright.dialects.llvm import arithmetic
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.attributes import AtomicOrdering
from tilewright.dialects.llvm.control_flow import BrOp, CondBrOp
from tilewright.dialects.llvm.intrinsics import floats
from tilewright.dialects.llvm.memory import CmpXchgOp, LoadOp
from tilewright.dialects.memref.access import AtomicRMWOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import FloatType, IntegerType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation

COMBINATIONS: Final[Mapping[AtomicRMWKind, type[Operation]]] = {
    AtomicRMWKind.MULI: arithmetic.MulOp,
    AtomicRMWKind.MULF: arithmetic.FMulOp,
    AtomicRMWKind.MAXNUMF: floats.MaxNumOp,
    AtomicRMWKind.MINNUMF: floats.MinNumOp,
    AtomicRMWKind.MAXIMUMF: floats.MaximumOp,
    AtomicRMWKind.MINIMUMF: floats.MinimumOp,
}
"""The binary operation of each kind that has no atomic instruction."""
_WIDTHS: Final = (32, 64)
"""The widths of `cmpxchg`, in bits."""


@converts(AtomicRMWOp)
def cmpxchg_loop(op: AtomicRMWOp, new: AtomicRMWOp, build: ConversionBuilder) -> Result:
    """Lower to a loop of `cmpxchg` that retries until no other thread wrote in between."""
    combine = COMBINATIONS.get(op.kind)
    if combine is None:
        return None
    buffer = Buffer.of(op.memref, build)
    type, bits = buffer.element, _bits(buffer.element)
    if bits is None:
        return build.reject(
            f"expected an element of 32 or 64 bits for cmpxchg, got '{op.value.type}'"
        )
    address = buffer.element_address(new.indices, build)
    first = build.create(
        LoadOp,
        addr=address,
        alignment=bits.width // 8,
        ordering=AtomicOrdering.MONOTONIC,
        types=[bits],
    ).res
    loop = build.add_block([bits])
    after = build.add_block([bits], after=loop)
    build.create(BrOp, arguments=[first], successors=[loop])
    with build.at(InsertPoint.at_end(loop)):
        expected = loop.args[0]
        fields: dict[str, Any] = {"lhs": same_bits(build, expected, type), "rhs": new.value}
        desired = same_bits(build, build.create(combine, **fields).results[0], bits)
        exchange = build.create(
            CmpXchgOp,
            ptr=address,
            cmp=expected,
            val=desired,
            success_ordering=AtomicOrdering.ACQ_REL,
            failure_ordering=AtomicOrdering.MONOTONIC,
        ).res
        observed, swapped = [
            build.create(ExtractValueOp, container=exchange, position=[part]).res for part in (0, 1)
        ]
        build.create(
            CondBrOp,
            condition=swapped,
            true_operands=[expected],
            false_operands=[observed],
            successors=[after, loop],
        )
    build.continue_in(after)
    return same_bits(build, after.args[0], type)


def _bits(type: Type) -> IntegerType | None:
    if not isinstance(type, FloatType | IntegerType) or type.width not in _WIDTHS:
        return None
    return IntegerType(type.width)


PATTERNS: Final[Patterns] = (cmpxchg_loop,)
"""In front of those of memref, which take what there are instructions for."""
