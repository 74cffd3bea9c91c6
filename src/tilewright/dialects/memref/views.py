"""Casts, subviews and views of memrefs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects.elements import ANY_MEMREF, INDEX_TYPE, RANKED_MEMREF, memref
from tilewright.dialects.memref.layout import (
    agrees,
    is_contiguous,
    strides_and_offset,
    subview_strides_and_offset,
)
from tilewright.dialects.type_syntax import INDICES, index_problems
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ARRAY_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import DYNAMIC, I8, MemRefType

if TYPE_CHECKING:
    from tilewright.text.syntax import Directive


class MemRefCast(Operation):
    """Base of the casts between memref types."""

    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `to` type($result)"

    source = d.operand(ANY_MEMREF)
    result = d.result(ANY_MEMREF)


class CastOp(MemRefCast):
    """Cast between static and dynamic extents and strides."""

    name = "memref.cast"

    def verify(self) -> Iterator[str]:
        source, result = memref(self.source), memref(self.result)
        if not _are_compatible(source, result):
            yield f"cannot cast '{source}' to '{result}'"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "cast"),)


def _are_compatible(source: MemRefType, result: MemRefType) -> bool:
    if source.element is not result.element or source.space is not result.space:
        return False
    if source.shape is None or result.shape is None:
        return source.shape is not result.shape
    if len(source.shape) != len(result.shape) or not _all_agree(source.shape, result.shape):
        return False
    before, after = strides_and_offset(source), strides_and_offset(result)
    if before is None or after is None:
        return source.layout is result.layout
    return _all_agree(before[0], after[0]) and agrees(before[1], after[1])


def _all_agree(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(agrees(*pair) for pair in zip(a, b, strict=True))


class MemorySpaceCastOp(MemRefCast):
    """Cast to another memory space."""

    name = "memref.memory_space_cast"

    def verify(self) -> Iterator[str]:
        source, result = memref(self.source), memref(self.result)
        if MemRefType(source.shape, source.element, source.layout, result.space) is not result:
            yield f"expected only the memory space of '{source}' to change, got '{result}'"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "memspacecast"),)


class SubViewOp(Operation):
    """A strided subview: offset, size and stride along each dimension.

    The result may drop unit dimensions.
    """

    name = "memref.subview"
    effects = Effects.PURE
    directives: ClassVar[Mapping[str, Directive]] = {"Indices": INDICES}
    syntax = (
        "$source `` custom<Indices>($offsets, $static_offsets) "
        "custom<Indices>($sizes, $static_sizes) custom<Indices>($strides, $static_strides) "
        "attr-dict `:` type($source) `to` type($result)"
    )

    source = d.operand(RANKED_MEMREF)
    offsets = d.operands(INDEX_TYPE)
    sizes = d.operands(INDEX_TYPE)
    strides = d.operands(INDEX_TYPE)
    static_offsets = d.attribute(I64_ARRAY_ATTR)
    static_sizes = d.attribute(I64_ARRAY_ATTR)
    static_strides = d.attribute(I64_ARRAY_ATTR)
    result = d.result(RANKED_MEMREF)

    def verify(self) -> Iterator[str]:
        source, result = memref(self.source), memref(self.result)
        rank = len(source.shape or ())
        lists = (
            ("offsets", self.static_offsets, self.offsets),
            ("sizes", self.static_sizes, self.sizes),
            ("strides", self.static_strides, self.strides),
        )
        for name, static, dynamic in lists:
            yield from index_problems(name, static, dynamic)
            if len(static) != rank:
                yield f"expected {rank} {name}, got {len(static)}"
                return
        if source.element is not result.element or source.space is not result.space:
            yield f"expected the element type and memory space of '{source}', got '{result}'"
        layout = subview_strides_and_offset(source, self.static_offsets, self.static_strides)
        actual = strides_and_offset(result)
        if layout is not None and actual is not None and not self._fits(*layout, *actual):
            yield f"expected a subview of '{source}' of this shape and strides, got '{result}'"

    def _fits(
        self, strides: tuple[int, ...], offset: int, actual: tuple[int, ...], start: int
    ) -> bool:
        """Return whether the result has these strides and offset, up to dropped unit dimensions."""
        if offset != start:
            return False
        remaining = list(zip(memref(self.result).shape or (), actual, strict=True))
        for size, stride in zip(self.static_sizes, strides, strict=True):
            if remaining and remaining[0] == (size, stride):
                remaining.pop(0)
            elif size != 1:
                return False
        return not remaining

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "subview"),)


class ReinterpretCastOp(Operation):
    """The memory of a memref with a new offset, extents and strides."""

    name = "memref.reinterpret_cast"
    effects = Effects.PURE
    directives: ClassVar[Mapping[str, Directive]] = {"Indices": INDICES}
    syntax = (
        "$source `to` `offset` `` `:` custom<Indices>($offsets, $static_offsets) `` `,` "
        "`sizes` `` `:` custom<Indices>($sizes, $static_sizes) `` `,` "
        "`strides` `` `:` custom<Indices>($strides, $static_strides) "
        "attr-dict `:` type($source) `to` type($result)"
    )

    source = d.operand(ANY_MEMREF)
    offsets = d.operands(INDEX_TYPE)
    sizes = d.operands(INDEX_TYPE)
    strides = d.operands(INDEX_TYPE)
    static_offsets = d.attribute(I64_ARRAY_ATTR)
    static_sizes = d.attribute(I64_ARRAY_ATTR)
    static_strides = d.attribute(I64_ARRAY_ATTR)
    result = d.result(RANKED_MEMREF)

    def verify(self) -> Iterator[str]:
        source, result = memref(self.source), memref(self.result)
        shape = result.shape or ()
        for name, static, dynamic, count in (
            ("offsets", self.static_offsets, self.offsets, 1),
            ("sizes", self.static_sizes, self.sizes, len(shape)),
            ("strides", self.static_strides, self.strides, len(shape)),
        ):
            yield from index_problems(name, static, dynamic)
            if len(static) != count:
                yield f"expected {count} {name}, got {len(static)}"
                return
        if source.element is not result.element or source.space is not result.space:
            yield f"expected the element type and memory space of '{source}', got '{result}'"
        layout = strides_and_offset(result)
        if layout is None:
            return
        static = (*self.static_sizes, *self.static_strides, *self.static_offsets)
        if not _all_agree(static, (*shape, *layout[0], layout[1])):
            yield f"expected a result with these extents and strides, got '{result}'"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "reinterpret_cast"),)


class ViewOp(Operation):
    """A contiguous view of a byte buffer at an offset, as another type and shape."""

    name = "memref.view"
    effects = Effects.PURE
    syntax = (
        "$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict "
        "`:` type($source) `to` type($result)"
    )

    source = d.operand(RANKED_MEMREF)
    byte_shift = d.operand(INDEX_TYPE)
    sizes = d.operands(INDEX_TYPE)
    result = d.result(RANKED_MEMREF)

    def verify(self) -> Iterator[str]:
        source, result = memref(self.source), memref(self.result)
        is_bytes = source.element is I8 and len(source.shape or ()) == 1
        if not is_bytes or not is_contiguous(source):
            yield f"expected a source of contiguous bytes, got '{source}'"
        if result.layout is not None:
            yield f"expected a result without a layout, got '{result}'"
        if source.space is not result.space:
            yield f"expected the memory space of '{source}', got '{result}'"
        count = (result.shape or ()).count(DYNAMIC)
        if count != len(self.sizes):
            yield f"expected {count} sizes, got {len(self.sizes)}"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "view"),)
