"""A schedule is text: the attributes that a pass wrote are edited, and the kernel follows them."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from dialect_text import read
from integrity import check_integrity

import tilewright
from tilewright.dialects.nv_tileaa.attribute_names import CONTINUES
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.printer import print_op

SUM: Final = """gpu.module @m attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  nv_tileaa.func @f(%p: !nv_tileaa.ptr<f32>, %q: !nv_tileaa.ptr<f32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128xf32>
    %lane = nv_tileaa.make_range : tensor<128xi32>
    %ps = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<128x!nv_tileaa.ptr<f32>>
    %qs = nv_tileaa.splat %q : !nv_tileaa.ptr<f32> -> tensor<128x!nv_tileaa.ptr<f32>>
    %to = nv_tileaa.addptr %qs, %lane : tensor<128x!nv_tileaa.ptr<f32>>, tensor<128xi32>
    %c128 = arith.constant 128 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128xf32>) : i32 {
      %base = nv_tileaa.muli %i, %c128 : i32
      %bases = nv_tileaa.splat %base : i32 -> tensor<128xi32>
      %index = nv_tileaa.addi %bases, %lane : tensor<128xi32>
      %from = nv_tileaa.addptr %ps, %index : tensor<128x!nv_tileaa.ptr<f32>>, tensor<128xi32>
      %v, %t = nv_tileaa.load weak %from : tensor<128x!nv_tileaa.ptr<f32>> -> tensor<128xf32>
      %w = nv_tileaa.mulf %v, %v : tensor<128xf32>
      %r = nv_tileaa.addf %acc, %w : tensor<128xf32>
      scf.yield %r : tensor<128xf32>
    }
    %t = nv_tileaa.store weak %to, %sum : tensor<128x!nv_tileaa.ptr<f32>>, tensor<128xf32>
    nv_tileaa.return
  }
}"""  # noqa: E501
POINT: Final = "stage = -1, order = 0"


@cache
def chosen() -> str:
    """The program with the schedule that `prefetch-loads` writes."""
    root = read(SUM)
    parse_pipeline("prefetch-loads").run(root)
    text = print_op(root)
    assert text.count(POINT) == text.count("nv_tileaa.at =") == 1
    return text


def executed(root: Operation | str, trips: int, on: str = "cpu") -> Any:
    p = np.arange(5 * 128, dtype=np.float32) / 7
    q = np.zeros(128, np.float32)
    tilewright.execute(root, "f", 1, [p, q, trips], on=on, check=True, arch="sm_80")
    return q


def expected(trips: int) -> Any:
    rows = (np.arange(5 * 128, dtype=np.float32) / np.float32(7)).reshape(5, 128)[:trips]
    added = np.zeros(128, np.float32)
    for row in rows:
        added += row * row
    return added


EDITS: Final = {
    "as it is": (POINT, POINT),
    "in its own iteration": (POINT, "stage = 0, order = 0"),
    "adds one iteration later": (
        "= nv_tileaa.addf %arg4, %11 : tensor",
        "= nv_tileaa.addf %arg4, %11 {nv_tileaa.at = #nv_tileaa.at<stage = 1, order = 1>} : tensor",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_kernel_follows_the_text(edit: str) -> None:
    old, new = EDITS[edit]
    assert old in chosen()
    text = chosen().replace(old, new)
    ptx = tilewright.compile(text, "sm_80", emit="ptx").ptx
    same = tilewright.compile(SUM, "sm_80", emit="ptx").ptx
    assert (ptx == same) == (edit == "as it is")
    root = read(text)
    parse_pipeline("pipeline-loops").run(root)
    verify(root)
    check_integrity(root)
    for trips in (0, 1, 5):
        assert executed(root, trips).tobytes() == expected(trips).tobytes()
        assert np.array_equal(executed(text, trips, "emulator"), expected(trips))


def test_a_loop_that_continues_none_is_an_error() -> None:
    end = " : tensor<128xf32>\n      }"
    assert chosen().count(end) == 1
    text = chosen().replace(end, f"{end} {{{CONTINUES}}}")
    root = read(text)
    with pytest.raises(UserError, match="expected a pipelined loop before it"):
        parse_pipeline("pipeline-loops").run(root)


def test_loops_that_do_not_go_on_are_no_chain() -> None:
    body = """%s{0} = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s{1}) -> (i32) : i32 {{
      %v = nv_tileaa.muli %i, %i {{nv_tileaa.at = #nv_tileaa.at<stage = 0, order = 0>}} : i32
      %r = nv_tileaa.addi %x, %v {{nv_tileaa.at = #nv_tileaa.at<stage = 1, order = 0>}} : i32
      scf.yield %r : i32
    }} {2}
    """
    loops = body.format(1, 0, "") + body.format(2, 1, "{nv_tileaa.continues}")
    root = read(f"""module {{ nv_tileaa.func @f(%s0: i32, %n: i32) {{
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      {loops}
      nv_tileaa.return
    }} }}""")
    with pytest.raises(UserError, match="it does not go on where the loop before it ends"):
        parse_pipeline("pipeline-loops").run(root)
