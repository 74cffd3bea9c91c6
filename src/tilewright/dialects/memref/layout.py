"""Strides and offset of a memref, in elements."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.ir.types import DYNAMIC, MemRefType, StridedLayoutAttr

StridesAndOffset = tuple[tuple[int, ...], int]
"""The strides of the dimensions, and the offset of the first element."""


def strides_and_offset(type: MemRefType) -> StridesAndOffset | None:
    """Return strides and offset, or `None` for a layout without strides."""
    if type.shape is None:
        return None
    if type.layout is None:
        return row_major(type.shape), 0
    layout = type.layout
    return (layout.strides, layout.offset) if isinstance(layout, StridedLayoutAttr) else None


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the row-major strides of a shape."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step = times(step, extent)
    return tuple(reversed(strides))


def times(a: int, b: int) -> int:
    """Multiply numbers that may be dynamic."""
    if 0 in (a, b):
        return 0
    return DYNAMIC if DYNAMIC in (a, b) else a * b


def plus(a: int, b: int) -> int:
    """Add numbers that may be dynamic."""
    return DYNAMIC if DYNAMIC in (a, b) else a + b


def agrees(a: int, b: int) -> bool:
    """Return whether two extents, strides or offsets are equal or one is dynamic."""
    return a == b or DYNAMIC in (a, b)


def is_unit_stride(type: MemRefType) -> bool:
    """Return whether the last stride is 1."""
    layout = strides_and_offset(type)
    return layout is not None and (not layout[0] or layout[0][-1] == 1)


def is_contiguous(type: MemRefType) -> bool:
    """Return whether a memref is contiguous and row-major."""
    layout = strides_and_offset(type)
    if layout is None or type.shape is None:
        return False
    step = 1
    for extent, stride in zip(reversed(type.shape), reversed(layout[0]), strict=True):
        if extent != 1 and (stride != step or stride == DYNAMIC):
            return False
        step = times(step, extent)
    return True


def subview_strides_and_offset(
    source: MemRefType, offsets: Sequence[int], strides: Sequence[int]
) -> StridesAndOffset | None:
    """Return strides and offset of a subview with these offsets and strides."""
    layout = strides_and_offset(source)
    if layout is None:
        return None
    outer, offset = layout
    for start, stride in zip(offsets, outer, strict=True):
        offset = plus(offset, times(start, stride))
    return tuple([times(a, b) for a, b in zip(outer, strides, strict=True)]), offset
