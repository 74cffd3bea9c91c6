"""Tests of addresses: elements without one of their own are rejected."""

from __future__ import annotations

import pytest

from tilewright.driver.compile import compile
from tilewright.support.diagnostics import Unsupported

PROGRAM = """
gpu.module @m attributes {{nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 100>}} {{
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<{element}>, %q: !nv_tileaa.ptr<i64>)
      attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
    %i = arith.constant 3 : i32
    %at = nv_tileaa.addptr %p, %i {unit} : !nv_tileaa.ptr<{element}>, i32
    %n = nv_tileaa.ptr_to_int %at : !nv_tileaa.ptr<{element}> to i64
    %t = nv_tileaa.store weak %q, %n : !nv_tileaa.ptr<i64>, i64
    nv_tileaa.return
  }}
}}
"""  # noqa: E501


@pytest.mark.parametrize("element", ["f4E2M1FN", "i4"])
def test_elements_that_share_a_byte_have_no_address(element: str) -> None:
    with pytest.raises(Unsupported, match="addresses of single elements of 4 bits"):
        compile(PROGRAM.format(element=element, unit=""), arch="sm_100")


@pytest.mark.parametrize(("element", "unit", "bytes"), [
    ("f4E2M1FN", "bytes", 3), ("i1", "", 3), ("f8E4M3FN", "", 3), ("f32", "", 12),
])  # fmt: skip
def test_offsets_count_elements_or_bytes(element: str, unit: str, bytes: int) -> None:
    ptx = compile(PROGRAM.format(element=element, unit=unit), arch="sm_100").ptx
    assert f", {bytes};" in ptx
