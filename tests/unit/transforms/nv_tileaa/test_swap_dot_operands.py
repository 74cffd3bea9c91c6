"""swap-dot-operands: which dots are swapped, and what their loop carries."""

from __future__ import annotations

from typing import Final

import pytest
from scheduled_loops import lowered_as_far_as

from tilewright.analysis.contiguous_dimension import contiguous_dimension
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.shape import PermuteOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify

PASS: Final = "swap-dot-operands"
STRIDES: Final = {"k": ("[1024,1]", "[1,1024]"), "other": ("[1,1024]", "[1024,1]")}
"""The strides of A and B in memory, by what is contiguous in it."""


def gemm(
    tile: tuple[int, int, int] = (128, 64, 64),
    element: str = "f8E4M3FN",
    *,
    a: str = "k",
    b: str = "other",
    after: str = "",
    fast: str = "",
    start: str = "constant <f32: 0.0>",
) -> str:
    """A kernel with a loop over K; `after` follows the dot, whose result is `%d`."""
    m, n, k = tile
    accumulator = "i32" if element == "i8" else "f32"
    views = {
        "a": ((m, k), element, STRIDES[a][0]),
        "b": ((k, n), element, STRIDES[b][1]),
        "c": ((m, n), accumulator, "[1024,1]"),
    }
    types: dict[str, str] = {}
    made = ""
    for name, ((rows, columns), kind, strides) in views.items():
        tensor = f"tensor_view<1024x1024x{kind}, strides={strides}>"
        types[name] = f"partition_view<tile=({rows}x{columns}), padding_value = zero, {tensor}>"
        made += f"%{name}t = make_tensor_view %{name}p, shape = [1024, 1024], strides = {strides} : {tensor}\n"  # noqa: E501
        made += f"%{name}v = make_partition_view %{name}t : {types[name]}\n"
    a_tile, b_tile, c_tile = (
        f"tile<{m}x{k}x{element}>",
        f"tile<{k}x{n}x{element}>",
        f"tile<{m}x{n}x{accumulator}>",
    )
    dot = "mmai %x, %y, %acc signed unsigned" if element == "i8" else f"mmaf %x, %y, %acc{fast}"
    if element == "i8":
        start = "constant <i32: 0>"
    return f"""
      cuda_tile.module @m {{
        entry @k(%ap: tile<ptr<{element}>>, %bp: tile<ptr<{element}>>, %cp: tile<ptr<{accumulator}>>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          {made}
          %none = {start} : {c_tile}
          %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %none) -> ({c_tile}) {{
            %x, %tx = load_view_tko weak %av[%zero, %i] : {types["a"]}, tile<i32> -> {a_tile}, token
            %y, %ty = load_view_tko weak %bv[%i, %zero] : {types["b"]}, tile<i32> -> {b_tile}, token
            %d = {dot} : {a_tile}, {b_tile}, {c_tile}
            {after or f"continue %d : {c_tile}"}
          }}
          %t = store_view_tko weak %sum, %cv[%zero, %zero] : {c_tile}, {types["c"]}, tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501


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
    dot = the_dot(after_pass(gemm(element="i8")))
    assert (str(dot.signedness_a), str(dot.signedness_b)) != (
        str(dot.signedness_b),
        str(dot.signedness_a),
    )
    before = the_dot(lowered_as_far_as("expand-dots", gemm(element="i8"), "sm_90"))
    assert dot.signedness_a is before.signedness_b


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
