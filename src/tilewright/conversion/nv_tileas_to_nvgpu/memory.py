"""Addresses, and who accesses what is behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.access import Place
from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.threads import replica_mask, thread
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import ExtSIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AddIOp, AndIOp, MulIOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import pointer
from tilewright.dialects.nv_tileaa.memory import AddPtrOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.vector.elements import FromElementsOp, ToElementsOp
from tilewright.dialects.vector.shapes import BroadcastOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F4E2M1FN, I4, I64, VectorType
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


NIBBLES: Final = (I4, F4E2M1FN)
"""Elements that share a byte, so that no address is that of one."""


@converts(AddPtrOp)
def addptr(op: AddPtrOp, new: AddPtrOp, build: ConversionBuilder) -> Result:
    """Addresses are numbers; an offset counts elements unless it counts bytes."""
    if not op.in_bytes and pointer(op.pointers).pointee in NIBBLES:
        raise Unsupported("addresses of single elements of 4 bits", op.location)
    type = new.pointers.type
    offsets = new.offsets
    if offsets.type is not type:
        offsets = build.create(ExtSIOp, source=offsets, types=[type]).result
    size = 1 if op.in_bytes else pointee_bytes(pointer(op.pointers).pointee)
    if size > 1:
        factor = constant(build, size, I64)
        if isinstance(type, VectorType):
            factor = build.create(BroadcastOp, source=factor, types=[type]).result
        offsets = build.create(MulIOp, lhs=offsets, rhs=factor).result
    return build.create(AddIOp, lhs=new.pointers, rhs=offsets)


def as_vector(build: ConversionBuilder, value: Value) -> Value:
    """A scalar as a vector of one."""
    if isinstance(value.type, VectorType):
        return value
    type = VectorType((1,), value.type)
    return build.create(FromElementsOp, elements=[value], types=[type]).result


def elements(build: ConversionBuilder, vector: Value) -> Sequence[Value]:
    """The registers of a vector one by one; a scalar is one."""
    if not isinstance(vector.type, VectorType):
        return (vector,)
    types = [vector.type.element] * vector.type.shape[0]
    return build.create(ToElementsOp, source=vector, types=types).elements


def both(build: ConversionBuilder, a: Value | None, b: Value | None) -> Value | None:
    """Whether two predicates hold; one that is absent does."""
    if a is None or b is None:
        return b if a is None else a
    return build.create(AndIOp, lhs=a, rhs=b).result


def holder(op: Operation, build: ConversionBuilder, tile: Value) -> Value | None:
    """Whether the thread is the one that acts for its elements; nothing if all threads are."""
    layout = maybe_layout_of(tile)
    mask = (1 << 32) - 1 if layout is None else replica_mask(layout)
    if not mask:
        return None
    number = thread(op, build)
    if layout is not None:
        number = build.create(AndIOp, lhs=number, rhs=constant(build, mask)).result
    zero = constant(build, 0)
    return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=number, rhs=zero).result


def pointed(
    build: ConversionBuilder,
    pointers: Value,
    mask: Value | None,
    vector: int,
    acting: Value | None = None,
) -> list[Place]:
    """The places that pointers lead to, so many registers at each."""
    addresses = elements(build, pointers)[::vector]
    masks: Sequence[Value | None] = [None] * len(addresses)
    if mask is not None:
        masks = elements(build, mask)[::vector]
    return [
        Place(address, 0, both(build, acting, predicate))
        for address, predicate in zip(addresses, masks, strict=True)
    ]


PATTERNS: Final[Patterns] = (addptr,)
