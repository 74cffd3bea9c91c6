"""Documented tolerances, with expected values copied from the documents."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright
from tilewright.dialects.cuda_tile.floating import RoundedFloat, UnaryFloat
from tilewright.ir.operation import Operation
from tilewright.testing.compare import EXACT
from tilewright.testing.documented import tolerance_of


def operation(line: str, type: str) -> Operation:
    text = f"""
    cuda_tile.module @m {{
      entry @k(%a: tile<{type}>, %b: tile<{type}>) {{
        %r = {line} : tile<{type}>
        return
      }}
    }}"""
    module = tilewright.read(text)
    return next(op for op in module.walk() if op.name == f"cuda_tile.{line.split()[0]}")


@pytest.mark.parametrize(
    ("line", "f16", "f32", "f64"),
    [
        ("exp %a", 1, 2, 1),
        ("exp2 %a", 1, 2, 1),
        ("tanh %a", 1, 2, 1),
        ("tan %a", 1, 4, 2),
        ("fpowf %a, %b", 1, 4, 2),
        ("atan2 %a, %b", 1, 3, 2),
        ("rsqrt %a", 1, 2, 1),
    ],
)
def test_functions(line: str, f16: int, f32: int, f64: int) -> None:
    actual = [tolerance_of(operation(line, type)).ulps for type in ("f16", "f32", "f64")]
    assert actual == [f16, f32, f64]


@pytest.mark.parametrize("line", ["addf %a, %b", "divf %a, %b", "sqrt %a", "ceil %a", "negf %a"])
def test_correctly_rounded_ops_are_exact(line: str) -> None:
    assert tolerance_of(operation(line, "f32")) is EXACT


def test_div() -> None:
    full = operation("divf %a, %b rounding<full>", "f32")
    assert isinstance(full, RoundedFloat)
    assert tolerance_of(full).ulps == 2
    fast = operation("divf %a, %b rounding<approx>", "f32")
    divisors = np.array([1.0, -(2.0**126), 2.0**127, 2.0**-127])
    actual = tolerance_of(fast, np.ones(4), divisors).ulps.tolist()
    assert actual == [2, 2, np.inf, np.inf]


def test_fast_functions() -> None:
    fast = operation("exp %a rounding<approx>", "f32")
    assert isinstance(fast, UnaryFloat)
    assert tolerance_of(fast, np.array([0.0, -10.0])).ulps.tolist() == [2, 13]
    assert tolerance_of(operation("tanh %a rounding<approx>", "f32")).relative == 2.0**-11
    assert tolerance_of(operation("sqrt %a rounding<approx>", "f32")).relative == 2.0**-23
