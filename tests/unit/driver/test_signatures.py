"""Signatures of kernels: which arrays a kernel may write."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.signatures import signature_of

ASSUMED = """
cuda_tile.module @m {
  entry @copy(%from: tile<ptr<f32>>, %to: tile<ptr<f32>>) {
    %source = assume div_by<16>, %from : tile<ptr<f32>>
    %target = assume div_by<16>, %to : tile<ptr<f32>>
    %x, %read = load_ptr_tko weak %source : tile<ptr<f32>> -> tile<f32>, token
    %written = store_ptr_tko weak %target, %x : tile<ptr<f32>>, tile<f32> -> token
  }
}
"""


def test_an_assumption_about_a_pointer_does_not_write_to_it() -> None:
    signature = signature_of(read_runnable(ASSUMED, "copy.mlir"), "copy")
    assert [parameter.is_written for parameter in signature.parameters] == [False, True]
    assert [parameter.divisor for parameter in signature.parameters] == [16, 16]


@pytest.mark.parametrize("on", ["cpu", "emulator"])
def test_read_only_arrays_are_read_through_assumptions(on: str) -> None:
    x, y = np.full(1, 7, np.float32), np.zeros(1, np.float32)
    x.flags.writeable = False
    tilewright.execute(ASSUMED, "copy", 1, [x, y], on=on)
    assert y[0] == 7


@pytest.mark.parametrize("on", ["cpu", "emulator"])
def test_read_only_arrays_are_not_written_through_assumptions(on: str) -> None:
    x, y = np.full(1, 7, np.float32), np.zeros(1, np.float32)
    y.flags.writeable = False
    with pytest.raises(tilewright.UserError, match="argument 1"):
        tilewright.execute(ASSUMED, "copy", 1, [x, y], on=on)
    assert y[0] == 0
