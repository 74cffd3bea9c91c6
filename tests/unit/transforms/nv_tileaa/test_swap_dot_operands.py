"""swap-dot-operands: which dots are swapped, and what their loop carries."""

from __future__ import annotations

from typing import Final

import pytest
from gemm_loops import gemm
from scheduled_loops import lowered_as_far_as

from tilewright.analysis.contiguous_dimension import contiguous_dimension
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.shape import PermuteOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify

PASS: Final = "swap-dot-operands"


def after_pass(text: str, arch: str = "sm_90") -> Operation:
    module = lowered_as_far_as(PASS, text, arch)
    verify(module)
    return module


def the_dot(module: Operation) -> DotOp:
    (dot,) = (op for op in module.walk() if isinstance(op, DotOp))
    return dot


def is_swapped(text: str, arch: str = "sm_90") -> bool:
    return any(isinstance(op, PermuteOp) for op in after_pass(text, arch).walk())


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "i8", "tf32"])
def test_operands_and_accumulators_are_transposed(element: str) -> None:
    module = after_pass(gemm((128, 64, 32), element))
    dot = the_dot(module)
    assert shape(dot.a.type) == (64, 32)
    assert shape(dot.b.type) == (32, 128)
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    assert [shape(value.type) for value in loop.carried] == [(64, 128)]
    # The second operand is K-major in memory now, as wgmma takes it.
    assert contiguous_dimension(dot.b) == 0


def test_signs_follow_their_operands() -> None:
    before = the_dot(lowered_as_far_as("expand-dots", gemm(element="i8"), "sm_90"))
    dot = the_dot(after_pass(gemm(element="i8")))
    assert before.signedness_a is not before.signedness_b
    assert dot.signedness_a is before.signedness_b
    assert dot.signedness_b is before.signedness_a


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (gemm(element="f16"), "wgmma takes both majors"),
        (gemm(b="k"), "B is K-major"),
        (gemm(a="other"), "A would need a transposition instead"),
        (gemm((128, 32, 64)), "N has fewer than the 64 rows of an instruction"),
        (gemm((128, 256, 128)), "partial accumulators and fragments exceed the registers"),
        (gemm(after="%e = addf %d, %acc : tile<128x64xf32>\ncontinue %e : tile<128x64xf32>"),
         "the accumulator is read in the loop"),
    ],
    ids=lambda each: "" if "module" in each else each,
)  # fmt: skip
def test_others_stay(text: str, why: str) -> None:
    assert not is_swapped(text)


def test_registers_suffice_without_partial_accumulators() -> None:
    assert is_swapped(gemm((128, 256, 128), fast=" fast_acc"))


def test_gpus_without_wgmma_keep_their_dots() -> None:
    assert not is_swapped(gemm(), "sm_89")
    assert not is_swapped(gemm(), "sm_100")
