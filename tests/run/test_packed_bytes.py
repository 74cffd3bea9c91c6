"""int8 converted to f16 and shifted four at a time: every byte, and every shift."""

from __future__ import annotations

import numpy as np
import pytest
from repeats import keep

import tilewright

COUNT = 1024
EVERY_BYTE = np.arange(COUNT, dtype=np.uint16).astype(np.uint8)


def program(operations: str, result: str) -> str:
    """A kernel that computes `%y` from a tile of bytes, `%x`."""
    source, target = f"tile<{COUNT}xi8>", f"tile<{COUNT}x{result}>"
    views = [f"tensor_view<{COUNT}x{each}, strides=[1]>" for each in ("i8", result)]
    parts = [f"partition_view<tile=({COUNT}), {each}>" for each in views]
    return f"""
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<i8>>, %q: tile<ptr<{result}>>) {{
    %zero = constant <i32: 0> : tile<i32>
    %p16 = assume div_by<16>, %p : tile<ptr<i8>>
    %q16 = assume div_by<16>, %q : tile<ptr<{result}>>
    %pt = make_tensor_view %p16, shape = [{COUNT}], strides = [1] : {views[0]}
    %qt = make_tensor_view %q16, shape = [{COUNT}], strides = [1] : {views[1]}
    %pv = make_partition_view %pt : {parts[0]}
    %qv = make_partition_view %qt : {parts[1]}
    %x, %t0 = load_view_tko weak %pv[%zero] : {parts[0]}, tile<i32> -> {source}, token
    {operations}
    %t1 = store_view_tko weak %y, %qv[%zero] : {target}, {parts[1]}, tile<i32> -> token
    return
  }}
}}"""


def run(text: str, out: np.ndarray[tuple[int], np.dtype[np.generic]]) -> None:
    """Run a kernel on all bytes, on the emulator."""
    arguments = [EVERY_BYTE.view(np.int8), out]
    tilewright.execute(text, "k", 1, arguments, "emulator", check=True, arch="sm_90")


@pytest.mark.parametrize(("signedness", "dtype"), [("signed", np.int8), ("unsigned", np.uint8)])
def test_every_byte_in_f16(signedness: str, dtype: type[np.generic]) -> None:
    text = program(f"%y = itof %x {signedness} : tile<{COUNT}xi8> -> tile<{COUNT}xf16>", "f16")
    out = np.zeros(COUNT, np.float16)
    run(text, out)
    # Zero is positive: its bits are compared, too.
    expected = EVERY_BYTE.view(dtype).astype(np.float16)
    np.testing.assert_array_equal(out.view(np.uint16), expected.view(np.uint16))
    ptx = tilewright.compile(text, arch="sm_90", emit="ptx").ptx
    assert "prmt.b32" in ptx
    assert "cvt.rn.f16" not in ptx


@pytest.mark.parametrize("count", keep(range(8), (0, 1, 4, 7).__contains__))
@pytest.mark.parametrize("signedness", ["unsigned", "signed"])
def test_shifts_stay_within_their_bytes(count: int, signedness: str) -> None:
    tile = f"tile<{COUNT}xi8>"
    shift = f"%s = constant <i8: {count}> : {tile}\n%y = shri %x, %s {signedness} : {tile}"
    out = np.zeros(COUNT, np.int8)
    run(program(shift, "i8"), out)
    dtype = np.int8 if signedness == "signed" else np.uint8
    np.testing.assert_array_equal(out.view(dtype), EVERY_BYTE.view(dtype) >> count)
