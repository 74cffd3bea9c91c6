"""Slices of dots along K: which dots are sliced, and which parts of a stage each slice reads."""

from __future__ import annotations

import pytest
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation


def matmul(
    k: int, element: str = "f16", *, k_major: bool = False, inside: str = "", operand: str = "%a"
) -> str:
    """A loop of dots of 64xK and Kx64 elements; `inside` computes the `operand` from A."""
    tensor = f"tensor_view<?x?x{element}, strides=[?,1]>"
    b_tensor = f"tensor_view<?x?x{element}, strides={'[1,?]' if k_major else '[?,1]'}>"
    b_strides = "1, %n16" if k_major else "%n16, 1"
    left = f"partition_view<tile=(64x{k}), padding_value = zero, {tensor}>"
    right = f"partition_view<tile=({k}x64), padding_value = zero, {b_tensor}>"
    number, zero = ("i32", "0") if element == "i8" else ("f32", "0.0")
    accumulator = f"tile<64x64x{number}>"
    stored = f"tensor_view<64x64x{number}, strides=[64,1]>"
    whole = f"partition_view<tile=(64x64), {stored}>"
    dot = f"mmai {operand}, %b, %c signed signed" if element == "i8" else f"mmaf {operand}, %b, %c"
    a, b = f"tile<64x{k}x{element}>", f"tile<{k}x64x{element}>"
    return f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<{element}>>, %q: tile<ptr<{element}>>, %r: tile<ptr<{number}>>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %none = constant <{number}: {zero}> : {accumulator}
          %p16 = assume div_by<16>, %p : tile<ptr<{element}>>
          %q16 = assume div_by<16>, %q : tile<ptr<{element}>>
          %n16 = assume div_by<16>, %n : tile<i32>
          %pt = make_tensor_view %p16, shape = [%n16, %n16], strides = [%n16, 1] : tile<i32> -> {tensor}
          %qt = make_tensor_view %q16, shape = [%n16, %n16], strides = [{b_strides}] : tile<i32> -> {b_tensor}
          %rt = make_tensor_view %r, shape = [64, 64], strides = [64, 1] : {stored}
          %pv = make_partition_view %pt : {left}
          %qv = make_partition_view %qt : {right}
          %rv = make_partition_view %rt : {whole}
          %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%c = %none) -> ({accumulator}) {{
            %a, %t1 = load_view_tko weak %pv[%zero, %i] : {left}, tile<i32> -> {a}, token
            %b, %t2 = load_view_tko weak %qv[%i, %zero] : {right}, tile<i32> -> {b}, token
            {inside}
            %d = {dot} : {a}, {b}, {accumulator}
            continue %d : {accumulator}
          }}
          %t = store_view_tko weak %sum, %rv[%zero, %zero] : {accumulator}, {whole}, tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501


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
    inside = "\n".join([f"%u0 = addf %a, %a : {tile}", *chain])
    body = body_of(matmul(64, inside=inside, operand=f"%u{count}"))
    assert len([op for op in body if op.name == "nv_tileaa.mulf"]) == 4 * count
    assert len([op for op in body if isinstance(op, ConsumerReadOp)]) == 8


def test_reductions_are_not_sliced() -> None:
    """A scan is over all of K."""
    tile = "tile<64x64xf16>"
    inside = (
        f"%u = scan %a dim=1 reverse=false identities=[0.0 : f16] : {tile} -> {tile} "
        "(%e: tile<f16>, %f: tile<f16>) {\n %g = addf %e, %f : tile<f16>\n yield %g : tile<f16>\n}"
    )
    body = body_of(matmul(64, inside=inside, operand="%u"))
    assert len([op for op in body if isinstance(op, DotOp)]) == 1
    assert all(op.at is None for op in body if isinstance(op, ConsumerReadOp))
