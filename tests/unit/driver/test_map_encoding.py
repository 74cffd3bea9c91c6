"""The emulator's encoder of tensor maps writes the bytes that a kernel writes."""

from __future__ import annotations

import numpy as np
import pytest
from map_programs import MAP_CASES, WORDS, MapCase

import tilewright
from tilewright.driver.emulate import encode_map
from tilewright.ptxsim import Module


@pytest.mark.parametrize("case", [pytest.param(each) for each in MAP_CASES])
def test_host_and_kernel_encode_the_same(case: MapCase) -> None:
    module = Module(tilewright.compile(case.text, "sm_90", emit="ptx").ptx)
    out = module.upload(np.zeros(WORDS, np.uint32))
    module.launch("encode", 1, 32, [*case.arguments, out], check=True, seed=1)
    words = np.frombuffer(encode_map(case.parameter, case.tensor), np.uint32)
    np.testing.assert_array_equal(out.download(np.uint32), words)
