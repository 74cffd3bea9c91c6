"""Slices of dots along K: which dots are sliced, and which parts of a stage each slice reads."""

from __future__ import annotations

import pytest
from gemm_text import KLoop, accumulator_of, kernel, zeros
from matrix_programs import View
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation


def matmul(
    k: int, element: str = "f16", *, k_major: bool = False, inside: str = "", operand: str = "%x"
) -> str:
    """A loop of dots of 64xK and Kx64 elements; `inside` computes the `operand` from A."""
    extents, strides = ("%n16", "%n16"), ("%n16", 1)
    a = View("a", extents, strides, (64, k), element, "zero")
    b = View("b", extents, (1, "%n16") if k_major else strides, (k, 64), element, "zero")
    c = View("c", (64, 64), (64, 1), (64, 64), accumulator_of(element), aligned=False)
    loop = KLoop(a, b, c.tile_type, inside=inside, operands=(operand, "%y"))
    return kernel(
        [a, b, c],
        f"{zeros(c.tile_type)}\n{loop.text()}\n{c.store('%sum')}",
        arguments="%n: tile<i32>",
        before="%n16 = assume div_by<16>, %n : tile<i32>",
    )


def body_of(text: str, arch: str = "sm_80") -> list[Operation]:
    """The operations of the loop after the pass."""
    module = lowered_as_far_as("slice-dots", text, arch)
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    return list(loop.body.walk())


def reads_of(dot: DotOp) -> list[ConsumerReadOp]:
    """The reads that A and B of a dot are."""
    reads = [operand.defining_op() for operand in (dot.a, dot.b)]
    return [read for read in reads if isinstance(read, ConsumerReadOp)]


@pytest.mark.parametrize(("element", "k", "step", "k_major"), [
    ("f16", 32, 16, False),
    ("f16", 32, 16, True),
    ("bf16", 64, 16, False),
    ("i8", 64, 32, True),
])  # fmt: skip
def test_slices_have_the_k_of_one_instruction(
    element: str, k: int, step: int, k_major: bool
) -> None:
    """In the order of K, each with the accumulator of the one before."""
    body = body_of(matmul(k, element, k_major=k_major))
    dots = [op for op in body if isinstance(op, DotOp)]
    reads = [reads_of(each) for each in dots]
    assert [[read.at for read in pair] for pair in reads] == [
        [(0, start), (start, 0)] for start in range(0, k, step)
    ]
    assert [[shape(read.values[0].type) for read in pair] for pair in reads] == [
        [(64, step), (step, 64)] for _ in range(0, k, step)
    ]
    assert [each.c for each in dots[1:]] == [each.result for each in dots[:-1]]
    assert len([op for op in body if isinstance(op, ConsumerReadOp)]) == 2 * len(dots)


def test_a_slice_is_read_before_its_dot() -> None:
    """So that only the fragments of one slice have to be in registers."""
    body = body_of(matmul(64))
    kinds = [type(op) for op in body if isinstance(op, DotOp | ConsumerReadOp)]
    assert kinds == [ConsumerReadOp, ConsumerReadOp, DotOp] * 4


def test_a_tile_of_one_instruction_is_not_sliced() -> None:
    body = body_of(matmul(16))
    (dot,) = (op for op in body if isinstance(op, DotOp))
    assert [read.at for read in reads_of(dot)] == [None, None]


def test_an_operand_that_is_transposed_in_registers_is_not_sliced() -> None:
    """N-major B of int8: a lane has four neighbours along K, which no word of a stage has."""
    body = body_of(matmul(64, "i8"))
    (dot,) = (op for op in body if isinstance(op, DotOp))
    assert [read.at for read in reads_of(dot)] == [None]
    assert isinstance(dot.b.defining_op(), ConvertLayoutOp)


def test_wgmma_reads_whole_stages() -> None:
    body = body_of(matmul(64), "sm_90")
    assert [op.at for op in body if isinstance(op, ConsumerReadOp)] == [None, None]


@pytest.mark.parametrize("count", [1, 3])
def test_a_slice_with_two_uses_is_computed_once(count: int) -> None:
    tile = "tile<64x64xf16>"
    chain = [f"%u{i + 1} = mulf %u{i}, %u{i} : {tile}" for i in range(count)]
    inside = "\n".join([f"%u0 = addf %x, %x : {tile}", *chain])
    body = body_of(matmul(64, inside=inside, operand=f"%u{count}"))
    assert len([op for op in body if op.name == "nv_tileaa.mulf"]) == 4 * count
    assert len([op for op in body if isinstance(op, ConsumerReadOp)]) == 8


def test_reductions_are_not_sliced() -> None:
    """A scan is over all of K."""
    tile = "tile<64x64xf16>"
    inside = (
        f"%u = scan %x dim=1 reverse=false identities=[0.0 : f16] : {tile} -> {tile} "
        "(%e: tile<f16>, %f: tile<f16>) {\n %g = addf %e, %f : tile<f16>\n yield %g : tile<f16>\n}"
    )
    body = body_of(matmul(64, inside=inside, operand="%u"))
    assert len([op for op in body if isinstance(op, DotOp)]) == 1
    assert all(op.at is None for op in body if isinstance(op, ConsumerReadOp))
