"""Arrays that the host marks as uninitialised."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.reference.uninitialised import uninitialised_bytes

COPY = """
!view = !cuda_tile.tensor_view<8xi32, strides=[1]>
!tile = !cuda_tile.partition_view<tile=(4), tensor_view<8xi32, strides=[1]>>
cuda_tile.module @m {
  entry @copy(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %n: tile<i32>) {
    %xt = make_tensor_view %x, shape = [8], strides = [1] : !view
    %yt = make_tensor_view %y, shape = [8], strides = [1] : !view
    %xv = make_partition_view %xt : !tile
    %yv = make_partition_view %yt : !tile
    %v, %t = load_view_tko weak %xv[%n] : !tile, tile<i32> -> tile<4xi32>, token
    %u = store_view_tko weak %v, %yv[%n] : tile<4xi32>, !tile, tile<i32> -> token
    return
  }
}
"""
DEVICES = pytest.mark.parametrize("device", ["cpu", "emulator"])


def copy(x: Any, y: Any, at: int, device: str = "cpu", *, check: bool = True) -> None:
    tilewright.execute(COPY, "copy", 1, [x, y, at], on=device, check=check)


def marked(count: int = 8) -> Any:
    return tilewright.mark_uninitialised(np.zeros(count, np.int32))


@DEVICES
def test_reads_before_writes_are_reported(device: str) -> None:
    y = np.zeros(8, np.int32)
    with pytest.raises(tilewright.Error, match=r"never written|uninitiali[sz]ed"):
        copy(marked(), y, 1, device)
    copy(np.zeros(8, np.int32), y, 1, device)


def test_the_report_names_the_element() -> None:
    gist = r"reads byte 16 of argument 0 \(element 4\), which was never written"
    with pytest.raises(tilewright.Error, match=gist):
        copy(marked(), np.zeros(8, np.int32), 1)


@DEVICES
def test_what_a_kernel_writes_is_initialised_for_later_ones(device: str) -> None:
    x, y, z = np.arange(8, dtype=np.int32), marked(), np.zeros(8, np.int32)
    copy(x, y, 0, device)
    copy(y, z, 0, device)
    assert z.tolist() == [0, 1, 2, 3, 0, 0, 0, 0]
    with pytest.raises(tilewright.Error):
        copy(y, z, 1, device)


@DEVICES
def test_runs_without_checks_clear_the_marks(device: str) -> None:
    x = marked()
    copy(np.zeros(8, np.int32), x, 0, device, check=False)
    copy(x, np.zeros(8, np.int32), 1, device)


def test_views_of_the_memory_are_marked_too() -> None:
    whole = np.zeros(16, np.int32)
    tilewright.mark_uninitialised(whole[8:])
    y = np.zeros(8, np.int32)
    copy(whole[:8], y, 1)
    with pytest.raises(tilewright.Error):
        copy(whole[8:], y, 1)


def test_bytes_between_the_elements_of_a_view_are_not_marked() -> None:
    whole = np.zeros((4, 4), np.uint8)
    tilewright.mark_uninitialised(whole[::2, 1:3])
    mask = uninitialised_bytes(whole.reshape(-1))
    assert mask is not None
    expected = [[0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    assert mask.reshape(4, 4).astype(int).tolist() == expected


def test_marks_end_with_the_memory() -> None:
    array = marked()
    memory = np.frombuffer(memoryview(array), np.uint8)
    address = memory.ctypes.data
    assert uninitialised_bytes(memory) is not None
    del array, memory
    gc.collect()
    again = np.zeros(8, np.int32)
    assert again.ctypes.data != address or uninitialised_bytes(again) is None


def test_other_objects_are_rejected() -> None:
    with pytest.raises(TypeError, match="expected a NumPy array or a tensor on the CPU, got list"):
        tilewright.mark_uninitialised([1, 2])
