from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ptxsim.tensor_map import FIELDS, SIZE, TensorMap, box_at, decode, swizzled


def test_bytes_and_back() -> None:
    map = TensorMap(
        0x7F0000001000, "bf16", (50, 9, 4), (112, 1024), (32, 8, 2), (1, 2, 1), swizzle=64, nan=True
    )
    assert len(bytes(map)) == SIZE
    assert decode(bytes(map)) == map


def test_fields_that_a_kernel_replaces() -> None:
    values = {"global_address": 4096, "rank": 1, "elemtype": 2, "swizzle_mode": 3}
    lists = {"global_dim": (64, 9), "global_stride": (256,), "box_dim": (32, 8)}
    data = bytearray(SIZE)
    for name, value in values.items():
        offset, width, _ = FIELDS[name]
        data[offset : offset + width] = value.to_bytes(width, "little")
    for name, numbers in {**lists, "element_stride": (1, 1)}.items():
        offset, width, _ = FIELDS[name]
        for at, value in enumerate(numbers):
            start = offset + at * width
            data[start : start + width] = value.to_bytes(width, "little")
    assert decode(bytes(data)) == TensorMap(
        4096, "u32", (64, 9), (256,), (32, 8), (1, 1), swizzle=128
    )


@each_case(
    ("fields", "text"),
    [
        ({"address": 8}, "expected an address and strides that 16 divides"),
        ({"strides": (250,)}, "expected an address and strides that 16 divides"),
        ({"strides": (1 << 40,)}, "expected strides below 1099511627776 bytes"),
        ({"box": (257, 8)}, "expected a box of 1 to 256 elements each way"),
        ({"box": (3, 8)}, "expected rows of a multiple of 16 bytes, got 12"),
        ({"box": (16, 8), "swizzle": 32}, "expected rows of at most 32 and a multiple of 16"),
        ({"element_strides": (1, 9)}, "expected steps of 1 to 8 elements"),
        ({"dims": (64, 0)}, "expected a tensor with elements"),
        ({"strides": ()}, "expected 1 to 5 dimensions and one stride less"),
        ({"interleave": 16}, "expected at least 3 dimensions to interleave"),
    ],
)
def test_invalid_tensor_maps_are_rejected(fields: dict[str, Any], text: str) -> None:
    good: dict[str, Any] = {
        "address": 0, "type": "u32", "dims": (64, 9), "strides": (256,), "box": (32, 8),
    }  # fmt: skip
    TensorMap(**good)
    with pytest.raises(ValueError, match=text):
        TensorMap(**{**good, **fields})


@each_case("at", [8, 9, 10, 11, 12])
def test_bytes_that_are_no_map(at: int) -> None:
    data = bytearray(bytes(TensorMap(0, "u32", (64, 9), (256,), (32, 8))))
    data[at] = 200
    with pytest.raises(ValueError, match="expected known numbers of type, rank and modes"):
        decode(bytes(data))


@given(st.data())
def test_boxes_are_slices(data: st.DataObject) -> None:
    """A box equals NumPy's slice of a padded array."""
    rank = data.draw(st.integers(1, 4))
    dims = [data.draw(st.integers(1, 9)) for _ in range(rank)]
    box = [4 * data.draw(st.integers(1, 2)), *(data.draw(st.integers(1, 4)) for _ in dims[1:])]
    at = [4 * data.draw(st.integers(-3, 3)), *(data.draw(st.integers(-5, 9)) for _ in dims[1:])]
    shape = [-(-dims[0] // 4) * 4, *dims[1:]]
    tensor = np.arange(1, np.prod(shape) + 1, dtype=np.uint32).reshape(shape[::-1])
    strides = tuple(reversed(tensor.strides[:-1]))
    map = TensorMap(0, "u32", tuple(dims), strides, tuple(box))
    actual = box_at(map, tuple(at)).gather(tensor.reshape(-1).view(np.uint8), 0).view(np.uint32)
    inside = tensor[..., : dims[0]]
    padded = np.pad(inside, [(16, 32)] * rank)
    window = tuple(slice(16 + low, 16 + low + size) for low, size in zip(at, box, strict=True))
    np.testing.assert_array_equal(actual.reshape(box[::-1]), padded[window[::-1]])


@each_case("swizzle", [32, 64, 128])
def test_swizzles_permute_chunks_within_rows(swizzle: int) -> None:
    map = TensorMap(0, "u8", (swizzle, 64), (swizzle,), (swizzle, 64), swizzle=swizzle)
    offsets = swizzled(map, 0).reshape(64, -1)
    assert sorted(offsets.reshape(-1)) == list(range(0, 64 * swizzle, 16))
    rows = np.arange(64)[:, None] + np.zeros_like(offsets)
    np.testing.assert_array_equal(offsets // swizzle, rows)
    if swizzle == 128:
        # The first chunks of eight rows are in eight different groups of banks.
        assert sorted(offsets[:8, 0] % 128) == list(range(0, 128, 16))
