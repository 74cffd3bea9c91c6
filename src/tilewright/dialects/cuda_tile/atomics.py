"""Atomic operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import (
    ANY_TILE,
    BOOL_TILE,
    INT_TILE,
    PTR_TILE,
    TOKEN_TYPE,
    VIEW,
)
from tilewright.dialects.cuda_tile.enums import AtomicMode, MemoryOrdering, MemoryScope
from tilewright.dialects.cuda_tile.kinds import ATOMIC_MODE, MEMORY_ORDERING, MEMORY_SCOPE
from tilewright.dialects.cuda_tile.operand_types import pointer, view
from tilewright.dialects.cuda_tile.traits import same_shape, tile
from tilewright.dialects.cuda_tile.types import GatherScatterViewType
from tilewright.dialects.cuda_tile.view import TileAccessOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ARRAY_ATTR
from tilewright.ir.attributes import Type
from tilewright.ir.traits import SameType
from tilewright.ir.types import BF16, F16, F32, F64, I32, I64

ADDED: Final = (F16, BF16, F32, F64)
COUNTED: Final = (I32, I64)
EXCHANGED: Final = (I32, I64, F32, F64)

_ELEMENTS: Final[dict[AtomicMode, tuple[Type, ...]]] = {
    AtomicMode.ADDF: ADDED,
    AtomicMode.XCHG: EXCHANGED,
}
"""The element types of a mode, if not the default integer types."""


def _mode_problems(mode: AtomicMode, element: Type) -> Iterator[str]:
    if mode is AtomicMode.CMPXCHG:
        yield "expected a mode of one value, got cmpxchg: 'cuda_tile.atomic_cas_tko' takes two"
        return
    allowed = _ELEMENTS.get(mode, COUNTED)
    if element not in allowed:
        expected = ", ".join(type.spell() for type in allowed)
        yield f"'{mode.keyword}' works on {expected}, got '{element}'"


def _pointee_problems(pointee: Type, element: Type) -> Iterator[str]:
    if pointee is not element:
        yield f"expected values of '{pointee}' as the pointers have, got '{element}'"


class AtomicPtrOp(TileOp):
    """Base of the atomic operations through pointers; they return the old values in memory."""

    since = (13, 1)

    ordering = d.attribute(MEMORY_ORDERING, spelling="memory_ordering_semantics")
    scope = d.attribute(MEMORY_SCOPE, spelling="memory_scope")
    pointers = d.operand(PTR_TILE)
    result = d.result(ANY_TILE)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        if self.ordering is MemoryOrdering.WEAK:
            yield "expected a memory ordering out of relaxed, acquire, release, acq_rel, got weak"

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        yield 0, "result"
        yield 1, "result_token"


class AtomicCASTkoOp(AtomicPtrOp):
    """Compare and swap: store `val` if memory holds the bits of `cmp`.

    Masked-off elements are not accessed; their results are those of `cmp`.
    """

    name = "cuda_tile.atomic_cas_tko"
    traits = (
        SameType("cmp", "val", "result"),
        same_shape("pointers", "cmp", "mask"),
    )
    syntax = (
        "custom<Ordering>($ordering, $scope) $pointers `,` $cmp `,` $val (`,` $mask^)? "
        "(`token` `` `=` `` $token^)? `` custom<Attributes>() "
        "`:` custom<PointerType>($pointers) `,` type($val) "
        "(`,` type($mask)^)? `->` type($result) `,` type($result_token)"
    )

    cmp = d.operand(ANY_TILE)
    val = d.operand(ANY_TILE)
    mask = d.optional_operand(BOOL_TILE)
    token = d.optional_operand(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        element = tile(self.val).element
        yield from _pointee_problems(pointer(self.pointers).pointee, element)
        if element not in EXCHANGED:
            expected = ", ".join(type.spell() for type in EXCHANGED)
            yield f"works on {expected}, got '{element}'"


class AtomicRMWTkoOp(AtomicPtrOp):
    """Combine each element in memory with one of `arg` by the operation `mode`."""

    name = "cuda_tile.atomic_rmw_tko"
    traits = (SameType("arg", "result"), same_shape("pointers", "arg", "mask"))
    syntax = (
        "custom<Ordering>($ordering, $scope) custom<AtomicOperands>($pointers, $mode, $arg) "
        "(`,` $mask^)? (`token` `` `=` `` $token^)? `` custom<Attributes>() "
        "`:` custom<PointerType>($pointers) `,` type($arg) (`,` type($mask)^)? "
        "`->` type($result) `,` type($result_token)"
    )

    mode = d.attribute(ATOMIC_MODE)
    arg = d.operand(ANY_TILE)
    mask = d.optional_operand(BOOL_TILE)
    token = d.optional_operand(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        element = tile(self.arg).element
        yield from _pointee_problems(pointer(self.pointers).pointee, element)
        yield from _mode_problems(self.mode, element)


class AtomicRedViewTkoOp(TileAccessOp):
    """Combine a tile of a view with a tile of values by the operation `mode`; no result."""

    name = "cuda_tile.atomic_red_view_tko"
    since = (13, 3)
    syntax = (
        "custom<Ordering>($ordering, $scope) $view `[` $indices `]` `,` $mode `,` $value "
        "(`token` `=` $token^)? `` custom<Inbounds>($inbounds) `` custom<KeywordAttributes>() "
        "`:` custom<StoreTypes>($value, $view, $indices) `->` type($result_token)"
    )

    ordering = d.attribute(MEMORY_ORDERING, spelling="memory_ordering_semantics")
    scope = d.attribute(MEMORY_SCOPE, spelling="memory_scope")
    mode = d.attribute(ATOMIC_MODE)
    inbounds = d.attribute(BOOL_ARRAY_ATTR, default=(), since=(13, 5))
    view = d.operand(VIEW)
    indices = d.operands(INT_TILE)
    value = d.operand(ANY_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from self._view_problems()
        yield from _mode_problems(self.mode, tile(self.value).element)
        if self.mode is AtomicMode.XCHG:
            yield "expected a mode that combines, got xchg"
        if self.ordering is not MemoryOrdering.RELAXED:
            yield f"expected memory ordering relaxed, got {self.ordering.keyword}"
        if self.scope is MemoryScope.SYS:
            yield "expected memory scope tl_blk or device, got sys"

    def _view_problems(self) -> Iterator[str]:
        type = view(self.view)
        if isinstance(type, GatherScatterViewType):
            yield "expected a partition_view or strided_view, got a gather_scatter_view"
        if type.padding is not None:
            yield f"expected a view without padding, got {type.padding.keyword}"
        if self.value.type is not type.tile_type:
            yield f"expected a value of type '{type.tile_type}', got '{self.value.type}'"
        if len(self.indices) != type.index_rank:
            yield f"expected {type.index_rank} indices, got {len(self.indices)}"
        if len(self.inbounds) != len(self.indices):
            yield f"expected inbounds for {len(self.indices)} indices, got {len(self.inbounds)}"
        for number, index in enumerate(self.indices):
            if tile(index).shape:
                yield f"expected index #{number} to be a scalar, got '{index.type}'"
