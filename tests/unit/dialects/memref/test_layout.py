from __future__ import annotations

import numpy as np
from each_case import each_case

from tilewright.dialects.memref.layout import (
    is_contiguous,
    strides_and_offset,
    subview_strides_and_offset,
)
from tilewright.ir.attributes import OpaqueAttr
from tilewright.ir.types import DYNAMIC, F32, MemRefType, StridedLayoutAttr


@each_case("shape", [(), (5,), (2, 3), (4, 1, 7)])
def test_row_major(shape: tuple[int, ...]) -> None:
    steps = strides_and_offset(MemRefType(shape, F32))
    strides = np.zeros(shape, np.uint8).strides
    assert steps == (strides, 0)


def test_dynamic_extents_make_dynamic_strides() -> None:
    assert strides_and_offset(MemRefType((4, DYNAMIC, 2), F32)) == ((DYNAMIC, 2, 1), 0)


def test_other_layouts_have_no_strides() -> None:
    layout = OpaqueAttr("affine_map<(d0) -> (d0 mod 2)>")
    assert strides_and_offset(MemRefType((4,), F32, layout)) is None


def test_subview() -> None:
    whole = np.arange(6 * 8, dtype=np.uint8).reshape(6, 8)
    part = whole[2::2, 1::3]
    steps = subview_strides_and_offset(MemRefType((6, 8), F32), (2, 1), (2, 3))
    assert steps == (part.strides, int(part.flat[0]))


@each_case(
    ("layout", "expected"),
    [
        (None, True),
        (StridedLayoutAttr((8, 1)), True),
        (StridedLayoutAttr((8, 1), DYNAMIC), True),
        (StridedLayoutAttr((9, 1)), False),
        (StridedLayoutAttr((1, 4)), False),
        (StridedLayoutAttr((DYNAMIC, 1)), False),
    ],
)
def test_contiguous(layout: StridedLayoutAttr | None, expected: bool) -> None:
    assert is_contiguous(MemRefType((4, 8), F32, layout)) == expected
