"""Where the elements of a memref lie: strides and offset, counted in elements."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.ir.types import DYNAMIC, MemRefType, StridedLayoutAttr

Steps = tuple[tuple[int, ...], int]
"""The strides of the dimensions, and the offset of the first element."""


def steps_of(type: MemRefType) -> Steps | None:
    """Strides and offset; nothing for a layout that is no plain list of strides."""
    if type.shape is None:
        return None
    if type.layout is None:
        return row_major(type.shape), 0
    layout = type.layout
    return (layout.strides, layout.offset) if isinstance(layout, StridedLayoutAttr) else None


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of elements that follow each other, the last dimension fastest."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step = times(step, extent)
    return tuple(reversed(strides))


def times(a: int, b: int) -> int:
    """A product of which a factor may be unknown."""
    if 0 in (a, b):
        return 0
    return DYNAMIC if DYNAMIC in (a, b) else a * b


def plus(a: int, b: int) -> int:
    """A sum of which a part may be unknown."""
    return DYNAMIC if DYNAMIC in (a, b) else a + b


def agrees(a: int, b: int) -> bool:
    """Whether two extents or steps may be the same."""
    return a == b or DYNAMIC in (a, b)


def is_unit_stride(type: MemRefType) -> bool:
    """Whether neighbours along the last dimension are neighbours in memory."""
    steps = steps_of(type)
    return steps is not None and (not steps[0] or steps[0][-1] == 1)


def is_contiguous(type: MemRefType) -> bool:
    """Whether the elements follow each other, the last dimension fastest."""
    steps = steps_of(type)
    if steps is None or type.shape is None:
        return False
    step = 1
    for extent, stride in zip(reversed(type.shape), reversed(steps[0]), strict=True):
        if extent != 1 and (stride != step or stride == DYNAMIC):
            return False
        step = times(step, extent)
    return True


def part_steps(source: MemRefType, offsets: Sequence[int], strides: Sequence[int]) -> Steps | None:
    """Strides and offset of a part that starts and steps so within another memref."""
    steps = steps_of(source)
    if steps is None:
        return None
    outer, offset = steps
    for start, stride in zip(offsets, outer, strict=True):
        offset = plus(offset, times(start, stride))
    return tuple([times(a, b) for a, b in zip(outer, strides, strict=True)]), offset
