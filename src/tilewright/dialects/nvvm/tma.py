"""TMA copies, reductions and prefetches, and updates of tensor maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.llvm.constraints import BOOL, INT16, INT32, INT64, pointer
from tilewright.dialects.nvvm.attributes import (
    CTA_GROUP,
    MEM_SCOPE,
    TENSORMAP_FIELD,
    TMA_LOAD_MODE,
    TMA_REDUX_KIND,
    TMA_STORE_MODE,
    MemScope,
    TensormapField,
    TMALoadMode,
    TMAStoreMode,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR, I32_ATTR
from tilewright.ir.types import I64
from tilewright.target.engines import TMA

SHARED: Final = pointer(3)
TENSOR_MAP: Final = pointer(0, 1)
"""The pointer to a tensor map: a kernel parameter, or global memory."""

_BOX: Final = "`box` `[` $coordinates `]`"
_IM2COL: Final = "(`im2col` `[` $im2col_offsets^ `]`)?"
_HINT: Final = "(`l2_cache_hint` `=` $l2_cache_hint^)?"


def _rank_problems(rank: int) -> Iterator[str]:
    if not 1 <= rank <= TMA.max_rank:
        yield f"expected 1 to {TMA.max_rank} coordinates, got {rank}"


def _load_problems(mode: TMALoadMode, rank: int, offsets: int) -> Iterator[str]:
    """Check the numbers of coordinates and im2col offsets of a load mode."""
    yield from _rank_problems(rank)
    if mode is TMALoadMode.TILE_GATHER4:
        if rank != TMA.max_rank:
            yield f"expected a column and four rows to gather, got {rank} coordinates"
    elif mode is not TMALoadMode.TILE and rank < 3:
        yield f"expected at least 3 coordinates in mode '{mode.keyword}', got {rank}"
    expected = {TMALoadMode.TILE: 0, TMALoadMode.TILE_GATHER4: 0, TMALoadMode.IM2COL: rank - 2}
    count = expected.get(mode, 2)
    if offsets != count:
        yield f"expected {count} im2col offsets in mode '{mode.keyword}', got {offsets}"


def _store_problems(mode: TMAStoreMode, rank: int) -> Iterator[str]:
    yield from _rank_problems(rank)
    if mode is TMAStoreMode.TILE_SCATTER4 and rank != TMA.max_rank:
        yield f"expected a column and four rows to scatter, got {rank} coordinates"
    if mode is TMAStoreMode.IM2COL and rank < 3:
        yield f"expected at least 3 coordinates in mode 'im2col', got {rank}"


class TensorLoadOp(NvvmOp):
    """Copy a box of a tensor to shared memory, completing at the barrier.

    The operands are destination, tensor map, one coordinate per dimension, barrier, then
    optionally im2col offsets, multicast mask and cache hint.
    """

    name = "nvvm.cp.async.bulk.tensor.shared.cluster.global"
    syntax = (
        f"$dst_mem `,` $tma_descriptor `,` $mbar `,` {_BOX} {_IM2COL} "
        f"(`multicast_mask` `=` $multicast_mask^)? {_HINT} (`predicate` `=` $predicate^)? "
        "attr-dict `:` type($dst_mem) `,` type($tma_descriptor)"
    )

    dst_mem = d.operand(pointer(3, 7))
    tma_descriptor = d.operand(TENSOR_MAP)
    coordinates = d.operands(INT32)
    mbar = d.operand(SHARED)
    im2col_offsets = d.operands(INT16)
    multicast_mask = d.optional_operand(INT16)
    l2_cache_hint = d.optional_operand(INT64)
    predicate = d.optional_operand(BOOL)
    mode = d.attribute(TMA_LOAD_MODE, default=TMALoadMode.TILE)
    cta_only = d.attribute(BOOL_ATTR, default=False, spelling="isCTAOnly")
    """Whether the destination is in this CTA, so that no cluster is needed."""
    group = d.optional_attribute(CTA_GROUP)
    multicast_enable = d.flag(spelling="multicastEnable")
    cache_hint_enable = d.flag(spelling="cacheHintEnable")

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return 2 if self.mode is TMALoadMode.TILE_GATHER4 else len(self.coordinates)

    def verify(self) -> Iterator[str]:
        yield from _load_problems(self.mode, len(self.coordinates), len(self.im2col_offsets))
        if self.multicast_enable and self.multicast_mask is None:
            yield "expected a multicast mask, since 'multicastEnable' is set"
        if self.cache_hint_enable and self.l2_cache_hint is None:
            yield "expected a cache hint, since 'cacheHintEnable' is set"
        if self.cta_only and (self.multicast_mask is not None or self.group is not None):
            yield "cannot have a multicast mask or a CTA group if 'isCTAOnly' is set"
        if self.cta_only and self.dst_mem.type is not SHARED.only:
            yield "expected a destination in address space 3, since 'isCTAOnly' is set"


class TensorStoreOp(NvvmOp):
    """Copy a box from shared memory to a tensor.

    The operands are tensor map, one coordinate per dimension, source, optionally a cache hint.
    """

    name = "nvvm.cp.async.bulk.tensor.global.shared.cta"
    syntax = (
        f"$tma_descriptor `,` $src_mem `,` {_BOX} {_HINT} (`,` `predicate` `=` $predicate^)? "
        "attr-dict `:` type($tma_descriptor) `,` type($src_mem)"
    )

    tma_descriptor = d.operand(TENSOR_MAP)
    coordinates = d.operands(INT32)
    src_mem = d.operand(SHARED)
    l2_cache_hint = d.optional_operand(INT64)
    predicate = d.optional_operand(BOOL)
    mode = d.attribute(TMA_STORE_MODE, default=TMAStoreMode.TILE)
    cache_hint_enable = d.flag(spelling="cacheHintEnable")

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return 2 if self.mode is TMAStoreMode.TILE_SCATTER4 else len(self.coordinates)

    def verify(self) -> Iterator[str]:
        yield from _store_problems(self.mode, len(self.coordinates))
        if self.cache_hint_enable and self.l2_cache_hint is None:
            yield "expected a cache hint, since 'cacheHintEnable' is set"


class TensorReduceOp(NvvmOp):
    """Reduce a box in shared memory into a tensor; operands as of a store."""

    name = "nvvm.cp.async.bulk.tensor.reduce"
    syntax = (
        f"$tma_descriptor `,` $src_mem `,` {_BOX} {_HINT} "
        "attr-dict `:` type($tma_descriptor) `,` type($src_mem)"
    )

    tma_descriptor = d.operand(TENSOR_MAP)
    coordinates = d.operands(INT32)
    src_mem = d.operand(SHARED)
    l2_cache_hint = d.optional_operand(INT64)
    red_kind = d.attribute(TMA_REDUX_KIND, spelling="redKind")
    mode = d.attribute(TMA_STORE_MODE, default=TMAStoreMode.TILE)
    cache_hint_enable = d.flag(spelling="cacheHintEnable")

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.coordinates)

    def verify(self) -> Iterator[str]:
        yield from _store_problems(self.mode, len(self.coordinates))
        if self.mode is TMAStoreMode.TILE_SCATTER4:
            yield "expected the mode 'tile' or 'im2col', got 'tile_scatter4'"
        if self.cache_hint_enable and self.l2_cache_hint is None:
            yield "expected a cache hint, since 'cacheHintEnable' is set"


class TensorPrefetchOp(NvvmOp):
    """Prefetch a box of a tensor into L2."""

    name = "nvvm.cp.async.bulk.tensor.prefetch"
    syntax = f"$tma_descriptor `,` {_BOX} {_IM2COL} {_HINT} attr-dict `:` type($tma_descriptor)"

    tma_descriptor = d.operand(TENSOR_MAP)
    coordinates = d.operands(INT32)
    im2col_offsets = d.operands(INT16)
    l2_cache_hint = d.optional_operand(INT64)
    mode = d.attribute(TMA_LOAD_MODE, default=TMALoadMode.TILE)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return 2 if self.mode is TMALoadMode.TILE_GATHER4 else len(self.coordinates)

    def verify(self) -> Iterator[str]:
        yield from _load_problems(self.mode, len(self.coordinates), len(self.im2col_offsets))


_WIDE_FIELDS: Final = (TensormapField.GLOBAL_ADDRESS, TensormapField.GLOBAL_STRIDE)
_PER_DIMENSION: Final = (
    TensormapField.BOX_DIM,
    TensormapField.GLOBAL_DIM,
    TensormapField.GLOBAL_STRIDE,
    TensormapField.ELEMENT_STRIDE,
)
_CHOICES: Final = {
    TensormapField.ELEMTYPE: 16,
    TensormapField.INTERLEAVE_LAYOUT: 3,
    TensormapField.SWIZZLE_MODE: 4,
    TensormapField.FILL_MODE: 2,
    TensormapField.SWIZZLE_ATOMICITY: 4,
}
"""The fields whose new value is an immediate, and the number of its values."""


class TensormapReplaceOp(NvvmOp):
    """Replace one field of a tensor map in shared or global memory."""

    name = "nvvm.tensormap.replace"
    syntax = (
        "`field` `=` $field (`[` $ord^ `]`)? (`to` $choice^)? "
        "(`,` `new_value` `=` $new_value^)? `in` $addr attr-dict "
        "`:` type($addr) (`,` type($new_value)^)?"
    )

    addr = d.operand(pointer(1, 3))
    new_value = d.optional_operand(INT32 | INT64)
    field = d.attribute(TENSORMAP_FIELD)
    ord = d.optional_attribute(I32_ATTR)
    """The dimension of a field with a value per dimension."""
    choice = d.optional_attribute(I32_ATTR)
    """The new value of a field that takes an immediate."""

    def verify(self) -> Iterator[str]:
        field = self.field
        if (field in _PER_DIMENSION) != (self.ord is not None):
            yield f"expected a dimension if and only if the field has one, got '{field.keyword}'"
        if (field in _CHOICES) != (self.choice is not None):
            yield f"expected a choice if and only if the field takes one, got '{field.keyword}'"
        if self.ord is not None and not 0 <= self.ord < TMA.max_rank:
            yield f"expected a dimension from 0 to {TMA.max_rank - 1}, got {self.ord}"
        count = _CHOICES.get(field, 0)
        if count and self.choice is not None and not 0 <= self.choice < count:
            yield f"expected a '{field.keyword}' from 0 to {count - 1}, got {self.choice}"
        if (field in _CHOICES) == (self.new_value is not None):
            yield f"expected a new value if and only if the field takes one, got '{field.keyword}'"
        elif self.new_value is not None:
            wide = self.new_value.type is I64
            if wide != (field in _WIDE_FIELDS):
                type = self.new_value.type
                yield f"'{field.keyword}' takes {64 if not wide else 32} bits, got '{type}'"


class TensormapCpFenceproxyOp(NvvmOp):
    """Copy a tensor map to global memory and release it to TMA; executed by a whole warp."""

    name = "nvvm.tensormap.cp_fenceproxy"
    syntax = "custom<Bracketed>($scope) $dst `,` $src attr-dict `:` type($dst) `,` type($src)"

    scope = d.attribute(MEM_SCOPE, default=MemScope.GPU)
    dst = d.operand(pointer(1))
    src = d.operand(SHARED)
