"""int8 weights that are converted to f16 in the K loop of few rows: each warp reads its own."""

from __future__ import annotations

import numpy as np
import pytest
from pipeline_text import Loop, Operand, text_of
from random_pipelines import arguments_of, outcomes
from repeats import keep_first
from scheduled_loops import lowered_as_far_as, optimized

import tilewright
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.driver.api import read_runnable
from tilewright.plans.scratch import stays_in_warps


def decoding(n: int, k: int, *, k_major: bool = False, arch: str = "sm_90") -> Loop:
    """A loop over K for 16 rows of A in f16, and `n` columns of B in int8."""
    a = Operand("a", "f16", "f16", "", k_major=True, gathered=False)
    b = Operand("b", "i8", "f16", "", k_major=k_major, gathered=False)
    return Loop(arch, "", a, b, (16, n, k), (16, n, 5 * k), True, (0, 1), False, 1, False, "")


@pytest.mark.parametrize("n", [64, 128])
def test_weights_are_exchanged_within_warps(n: int) -> None:
    module = lowered_as_far_as("move-conversions", optimized(text_of(decoding(n, 64))))
    (dot,) = (op for op in module.walk() if isinstance(op, DotOp))
    assert dot.atom is Atom.MMA_SYNC
    fragments = dot.b.defining_op()
    assert isinstance(fragments, ConvertLayoutOp)
    assert stays_in_warps(fragments)
    # The stage is read in the layout of the conversion to f16.
    converted = fragments.source.defining_op()
    assert converted is not None
    read = converted.operands[0].defining_op()
    assert isinstance(read, ConvertLayoutOp)
    assert isinstance(read.source.defining_op(), TiledLoadOp)


@pytest.mark.parametrize("arch", keep_first(["sm_90", "sm_80"]))
@pytest.mark.parametrize(("n", "k"), keep_first([(64, 64), (128, 128)]))
@pytest.mark.parametrize("k_major", [False, True])
def test_results(n: int, k: int, k_major: bool, arch: str) -> None:
    loop = decoding(n, k, k_major=k_major, arch=arch)
    module = read_runnable(text_of(loop), "decoding.mlir")
    expected = arguments_of(loop, 0)
    tilewright.execute(module, "k", (1, 1, 1), expected)
    assert np.abs(expected[2]).max() > 1
    for actual in outcomes(loop, 0, module, gpu=False):
        np.testing.assert_array_equal(actual[2], expected[2])
