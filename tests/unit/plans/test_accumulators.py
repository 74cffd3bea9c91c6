"""Readers of accumulators other than dots, and loop-carried accumulators."""

from __future__ import annotations

import re

from each_case import each_case

import tilewright
from tilewright.analysis.ranges import Ranges
from tilewright.conversion.nv_tileas_to_nvgpu.threads import enclosing_function
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import PLAN, parse_pipeline, passes_to
from tilewright.plans.mma import is_carried, is_read_elsewhere

ACC = "tile<64x16xf32>"
OPERANDS = "tile<64x32xf16>, tile<32x16xf16>"


def dots(inside: str) -> list[DotOp]:
    """Return the dots of a kernel with operands `%a` and `%b`, and a use of accumulators."""
    text = f"""
      cuda_tile.module @m {{
        entry @k(%n: tile<i32>, %s: tile<f16>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %four = constant <i32: 4> : tile<i32>
          %two = constant <i32: 2> : tile<i32>
          %once = mini %n, %one signed : tile<i32>
          %twice = mini %n, %two signed : tile<i32>
          %before = subi %n, %one : tile<i32>
          %none = constant <f32: 0.0> : {ACC}
          %r = reshape %s : tile<f16> -> tile<1x1xf16>
          %a = broadcast %r : tile<1x1xf16> -> tile<64x32xf16>
          %b = broadcast %r : tile<1x1xf16> -> tile<32x16xf16>
          {inside}
          return
        }}
      }}"""
    root = wrap_in_module(read_runnable(text, "kernel.mlir"))
    for level in ("nv_tileaa", PLAN, "nv_tileas"):
        parse_pipeline(passes_to(level, "sm_90", 0)).run(root)
    return [op for op in root.walk() if isinstance(op, DotOp)]


def dot(result: str, start: str) -> str:
    return f"%{result} = mmaf %a, %b, %{start} : {OPERANDS}, {ACC}\n"


def shown(value: str) -> str:
    return f'print_tko "%f", %{value} : {ACC} -> token\n'


def ranges_around(op: DotOp) -> Ranges:
    """Return the intervals of the integers of a dot's function."""
    return Ranges(enclosing_function(op))


def loop(inside: str, upper: str, passed: str = "next", lower: str = "zero") -> str:
    return (
        f"%last = for %i in (%{lower} to %{upper}, step %one) : tile<i32> "
        f"iter_values(%acc = %none) -> ({ACC}) {{ {inside} continue %{passed} : {ACC} }}\n"
        + shown("last")
    )


@each_case(
    ("inside", "read"),
    [
        (dot("x", "none") + dot("y", "x") + shown("y"), [False, False]),
        (dot("x", "none") + shown("x") + dot("y", "x") + shown("y"), [False, True]),
        (loop(dot("next", "acc"), "n"), [False]),
        (loop(dot("next", "acc") + shown("next"), "n"), [True]),
        (loop(shown("acc") + dot("next", "acc"), "n"), [True]),
        (loop(dot("x", "acc") + f"%next = addf %x, %x : {ACC} ", "n"), [True]),
    ],
    ids=[
        "a row",
        "read between",
        "a loop",
        "read in an iteration",
        "read before",
        "made into another",
    ],
)
def test_accumulators_with_other_readers(inside: str, read: list[bool]) -> None:
    assert [is_read_elsewhere(op) for op in dots(inside)] == read


@each_case(
    ("lower", "upper", "carried"),
    [
        ("zero", "n", True),
        ("zero", "four", False),
        ("zero", "once", False),
        ("zero", "twice", True),
        ("before", "n", False),
    ],
    ids=["any", "a known number", "at most one", "at most two", "the last of n"],
)
def test_loops_that_llvm_and_ptxas_may_not_keep(lower: str, upper: str, carried: bool) -> None:
    (op,) = dots(loop(dot("next", "acc"), upper, lower=lower))
    assert is_carried(op, ranges_around(op)) == carried


def test_an_accumulator_outside_of_a_loop_is_not_carried() -> None:
    (op,) = dots(dot("x", "none") + shown("x"))
    assert not is_carried(op, ranges_around(op))


def test_dots_of_a_loop_that_runs_once_have_registers_of_their_own() -> None:
    """ptxas 13.0 and 13.4 give both accumulators the value of one if they share registers."""
    inside = (
        "%a3 = broadcast %ar : tile<1x1xf8E4M3FN> -> tile<128x32xf8E4M3FN>\n"
        "%b3 = broadcast %ar : tile<1x1xf8E4M3FN> -> tile<32x32xf8E4M3FN>\n"
        "%next = mmaf %a3, %b3, %acc "
        ": tile<128x32xf8E4M3FN>, tile<32x32xf8E4M3FN>, tile<128x32xf32>\n"
    )
    text = f"""
      cuda_tile.module @m {{
        entry @k(%n: tile<i32>, %s: tile<f8E4M3FN>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %once = mini %n, %one signed : tile<i32>
          %none = constant <f32: 0.0> : tile<128x32xf32>
          %ar = reshape %s : tile<f8E4M3FN> -> tile<1x1xf8E4M3FN>
          %last = for %i in (%zero to %once, step %one) : tile<i32>
              iter_values(%acc = %none) -> (tile<128x32xf32>) {{
            {inside}
            continue %next : tile<128x32xf32>
          }}
          print_tko "%f", %last : tile<128x32xf32> -> token
          return
        }}
      }}"""
    ptx = tilewright.compile(text, "sm_90", emit="ptx", schedule="warps=4").ptx
    accumulators = re.findall(r"wgmma\.mma_async\S+ \{([^}]*)\}", ptx)
    registers = [register for each in accumulators for register in each.split(", ")]
    assert len(accumulators) == 2
    assert len(set(registers)) == len(registers) == 32
