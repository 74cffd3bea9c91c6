"""The estimate of the registers of a loop, and what a loop without registers computes anew."""

from __future__ import annotations

import pytest
from attention_programs import Attention
from compiled_once import lowered_to
from linear_programs import LinearAttention
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileas.attributes import LayoutAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.shape import MakeRangeOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_level
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.types import I32, TensorType
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.schedule.liveness_with_layouts import is_invariant, lacks_registers, live_registers

C = (
    "#nv_tileas.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], "
    "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>"
)
F32, F16 = f"tensor<64x64xf32, {C}>", f"tensor<64x64xf16, {C}>"


def estimate(body: str, yielded: str) -> int:
    """The estimate for a loop that carries `%c`; `%x` is from before it. Each has 32 registers."""
    text = f"""
gpu.module @kernels {{
  nv_tileaa.func @k(%x: {F32}, %first: {F32}, %n: i32) {{
    %r = scf.for %i = %n to %n step %n iter_args(%c = %first) -> ({F32}) : i32 {{
      {body}
      scf.yield {yielded} : {F32}
    }}
    nv_tileaa.return
  }}
}}"""
    (loop,) = (op for op in read_level(text, "loop.mlir").walk() if isinstance(op, ForOp))
    return live_registers(loop).most


def test_a_carried_tile_is_live() -> None:
    assert estimate("", "%c") == 32


def test_an_element_wise_operation_reuses_the_registers_of_its_last_operand() -> None:
    assert estimate(f"%y = arith.addf %c, %c : {F32}", "%y") == 32


def test_a_tile_from_before_the_loop_is_live_in_all_of_it() -> None:
    assert estimate(f"%y = arith.addf %c, %x : {F32}", "%y") == 64


def test_what_is_used_later_is_live_until_then() -> None:
    body = f"""%y = arith.mulf %c, %c : {F32}
      %z = arith.mulf %y, %y : {F32}
      %w = arith.addf %z, %c : {F32}"""
    assert estimate(body, "%w") == 64
    assert estimate(f"{body}\n%v = arith.addf %w, %y : {F32}", "%v") == 96


def test_narrow_elements_take_half_of_the_registers() -> None:
    body = f"""%y = nv_tileaa.fp_to_fp %c : {F32} to {F16}
      %z = nv_tileaa.fp_to_fp %y : {F16} to {F32}
      %w = arith.addf %z, %c : {F32}"""
    assert estimate(body, "%w") == 64
    assert estimate(f"{body}\n%v = nv_tileaa.fp_to_fp %y : {F16} to {F32}", "%w") == 80


def loops_of(program: str) -> list[ForOp]:
    """The loops with dots before they are lowered to threads."""
    module = lowered_as_far_as("order-warpgroups", program)
    loops = [op for op in module.walk() if isinstance(op, ForOp)]
    return [loop for loop in loops if any(isinstance(op, DotOp) for op in loop.body.block)]


# Heads of 256 elements have 16 descriptors for Q. From a loop in another, 8 are live in both.
@pytest.mark.parametrize("kernel", [
    Attention(128, 64, 256),
    Attention(128, 128, 128, persistent=True),
])  # fmt: skip
def test_descriptors_are_computed_anew_in_loops_that_lack_registers(kernel: Attention) -> None:
    assert any(map(lacks_registers, loops_of(kernel.program)))
    assert "repeated" in lowered_to("nvvm", kernel.program)


@pytest.mark.parametrize("kernel", [LinearAttention(), Attention(128, 128, 128), Attention()])
def test_other_loops_keep_them(kernel: LinearAttention | Attention) -> None:
    assert not any(map(lacks_registers, loops_of(kernel.program)))
    assert "repeated" not in lowered_to("nvvm", kernel.program)


def test_a_loop_that_computes_tiles_anew_computes_descriptors_anew() -> None:
    loops = [loop for loop in loops_of(Attention(64, 64, 256).program) if loop.carried]
    assert not any(map(lacks_registers, loops))
    lanes = [(1,), (2,), (4,), (8,), (16,)]
    layout = Layout.build({REGISTER: [], LANE: lanes, WARP: [(0,), (0,)]}, (32,))
    type = TensorType((32,), I32, LayoutAttr(layout))
    for loop in loops:
        last = loop.body.block.terminator
        assert last is not None
        build = Builder(InsertPoint.before(last), loop.location)
        build.create(MakeRangeOp, repeated=True, types=[type])
    assert any(map(lacks_registers, loops))


def test_an_operand_in_one_of_several_stages_changes() -> None:
    (loop,) = loops_of(LinearAttention().program)
    dots = [op for op in loop.body.block if isinstance(op, DotOp)]
    operands = [(is_invariant(dot.a, loop), is_invariant(dot.b, loop)) for dot in dots]
    assert (False, False) in operands
    assert any(b for _, b in operands)
