"""Who reads the sums of products beside them, and which come from the round before."""

from __future__ import annotations

import pytest

from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.plans.accumulators import is_carried, is_read_elsewhere

SUMS = "tile<64x16xf32>"
FACTORS = "tile<64x32xf16>, tile<32x16xf16>"


def products(inside: str) -> list[DotOp]:
    """The products of a kernel that has factors `%a` and `%b`, and a way to show sums."""
    text = f"""
      cuda_tile.module @m {{
        entry @k(%n: tile<i32>, %s: tile<f16>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %four = constant <i32: 4> : tile<i32>
          %none = constant <f32: 0.0> : {SUMS}
          %r = reshape %s : tile<f16> -> tile<1x1xf16>
          %a = broadcast %r : tile<1x1xf16> -> tile<64x32xf16>
          %b = broadcast %r : tile<1x1xf16> -> tile<32x16xf16>
          {inside}
          return
        }}
      }}"""
    root = wrap_in_module(read_runnable(text, "kernel.mlir"))
    for level in ("nv_tileaa", "nv_tileas"):
        parse_pipeline(passes_to(level, "sm_90", 0)).run(root)
    return [op for op in root.walk() if isinstance(op, DotOp)]


def dot(result: str, start: str) -> str:
    return f"%{result} = mmaf %a, %b, %{start} : {FACTORS}, {SUMS}\n"


def shown(value: str) -> str:
    return f'print_tko "%f", %{value} : {SUMS} -> token\n'


def loop(inside: str, upper: str, passed: str = "next") -> str:
    return (
        f"%last = for %i in (%zero to %{upper}, step %one) : tile<i32> "
        f"iter_values(%sum = %none) -> ({SUMS}) {{ {inside} continue %{passed} : {SUMS} }}\n"
        + shown("last")
    )


@pytest.mark.parametrize(
    ("inside", "read"),
    [
        (dot("x", "none") + dot("y", "x") + shown("y"), [False, False]),
        (dot("x", "none") + shown("x") + dot("y", "x") + shown("y"), [False, True]),
        (loop(dot("next", "sum"), "n"), [False]),
        (loop(dot("next", "sum") + shown("next"), "n"), [True]),
        (loop(shown("sum") + dot("next", "sum"), "n"), [True]),
        (loop(dot("x", "sum") + f"%next = addf %x, %x : {SUMS} ", "n"), [True]),
    ],
    ids=["a row", "read between", "a loop", "read in a round", "read before", "made into another"],
)
def test_sums_that_something_else_reads(inside: str, read: list[bool]) -> None:
    assert [is_read_elsewhere(op) for op in products(inside)] == read


@pytest.mark.parametrize(("upper", "carried"), [("n", True), ("four", False)])
def test_a_loop_whose_rounds_are_known_may_be_written_out(upper: str, carried: bool) -> None:
    (op,) = products(loop(dot("next", "sum"), upper))
    assert is_carried(op) == carried


def test_what_comes_from_no_loop_is_not_carried() -> None:
    (op,) = products(dot("x", "none") + shown("x"))
    assert not is_carried(op)
