"""Functions are inlined into their callers; recursive ones are rejected."""

from __future__ import annotations

import pytest

import tilewright
from tilewright.driver.api import read_level
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation

KERNEL = """\
  nv_tileaa.func @kernel(%n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %twice = nv_tileaa.call @twice(%n) : (i32) -> i32
    %again = nv_tileaa.pragma {unroll = 2 : i32} -> i32 {
      %four = nv_tileaa.call @twice(%twice) : (i32) -> i32
      nv_tileaa.yield %four : i32
    }
    %t = nv_tileaa.print "%d", %again : i32
    nv_tileaa.return
  }
"""
TWICE = """\
  nv_tileaa.func @twice(%x: i32) -> i32 {
    %y = nv_tileaa.call @sum(%x, %x) : (i32, i32) -> i32
    nv_tileaa.return %y : i32
  }
"""
SUM = """\
  nv_tileaa.func @sum(%x: i32, %y: i32) -> i32 {
    %z = nv_tileaa.addi %x, %y : i32
    nv_tileaa.return %z : i32
  }
"""
ENDLESS = """\
  nv_tileaa.func @sum(%x: i32, %y: i32) -> i32 {
    %z = nv_tileaa.call @twice(%x) : (i32) -> i32
    nv_tileaa.return %z : i32
  }
"""


def inlined(*functions: str) -> Operation:
    module = read_level(f"gpu.module @m {{\n{''.join(functions)}}}\n", "calls.mlir")
    parse_pipeline("inline-calls").run(module)
    return module


def test_calls_and_regions_with_directives_go() -> None:
    names = [op.name for op in inlined(KERNEL, TWICE, SUM).walk()]
    assert names.count("nv_tileaa.addi") == 2
    assert names.count("nv_tileaa.func") == 1
    assert not {"nv_tileaa.call", "nv_tileaa.pragma"} & set(names)


def test_functions_that_call_themselves_are_not_supported() -> None:
    with pytest.raises(tilewright.Unsupported, match="which calls itself"):
        inlined(KERNEL, TWICE, ENDLESS)


def test_inlined_kernels_print_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    tilewright.execute(f"gpu.module @m {{\n{KERNEL}{TWICE}{SUM}}}\n", None, 1, [3], "emulator")
    assert capsys.readouterr().out == "12"
