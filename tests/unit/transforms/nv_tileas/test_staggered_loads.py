"""Loops some of whose tiles have one stage, and are used after the others."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from scheduled_loops import lowered_as_far_as, matmul

from tilewright.dialects.nv_tileas.attribute_names import LATE
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerWaitOp,
    CreatePipelineOp,
    ProducerCopyOp,
)
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation

ATTENTION: Final = Path(__file__).parents[3] / "run" / "kernels" / "attention_rows.mlir"
"""Asks for two blocks on an SM: beside Q, three tiles of K and V fit into shared memory."""
TENSOR: Final = "tensor_view<192x16xf16, strides=[16,1]>"
VIEW: Final = f"partition_view<tile=(64x16), {TENSOR}>"
TILE: Final = "tile<64x16xf16>"


def program(after: str = "") -> str:
    """Two dots, as in attention: the second multiplies the result of the first."""
    return f"""
      cuda_tile.module @m {{
        entry @k(%q: tile<ptr<f16>>, %kp: tile<ptr<f16>>, %vp: tile<ptr<f16>>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %none = constant <f32: 0.0> : tile<64x64xf32>
          %init = constant <f32: 0.0> : tile<64x16xf32>
          %q16 = assume div_by<16>, %q : tile<ptr<f16>>
          %k16 = assume div_by<16>, %kp : tile<ptr<f16>>
          %v16 = assume div_by<16>, %vp : tile<ptr<f16>>
          %qt = make_tensor_view %q16, shape = [192, 16], strides = [16, 1] : {TENSOR}
          %qv = make_partition_view %qt : {VIEW}
          %kt = make_tensor_view %k16, shape = [192, 16], strides = [16, 1] : {TENSOR}
          %kv = make_partition_view %kt : {VIEW}
          %vt = make_tensor_view %v16, shape = [192, 16], strides = [16, 1] : {TENSOR}
          %vv = make_partition_view %vt : {VIEW}
          %x, %t0 = load_view_tko weak %qv[%zero, %zero] : {VIEW}, tile<i32> -> {TILE}, token
          %sum = for %i in (%zero to %n, step %one) : tile<i32>
              iter_values(%acc = %init) -> (tile<64x16xf32>) {{
            %y, %t1 = load_view_tko weak %kv[%i, %zero] : {VIEW}, tile<i32> -> {TILE}, token
            %z, %t2 = load_view_tko weak %vv[%i, %zero] : {VIEW}, tile<i32> -> {TILE}, token
            %yt = permute %y [1, 0] : {TILE} -> tile<16x64xf16>
            %s = mmaf %x, %yt, %none : {TILE}, tile<16x64xf16>, tile<64x64xf32>
            %p = ftof %s : tile<64x64xf32> -> tile<64x64xf16>
            %o = mmaf %p, %z, %acc : tile<64x64xf16>, {TILE}, tile<64x16xf32>
            {after or "%next = addf %o, %init : tile<64x16xf32>"}
            continue %next : tile<64x16xf32>
          }}
          %h = ftof %sum : tile<64x16xf32> -> {TILE}
          %t = store_view_tko weak %h, %qv[%zero, %zero] : {TILE}, {VIEW}, tile<i32> -> token
          return
        }}
      }}"""


def lowered(text: str, to: str, schedule: str = "stages=1,rotate=0") -> Operation:
    return lowered_as_far_as(to, text, schedule=schedule)


def the_loop(module: Operation) -> ForOp:
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    return loop


def test_the_operand_of_the_second_dot_is_late() -> None:
    loop = the_loop(lowered(program(), "schedule-loops"))
    loads = [op for op in loop.body.block if op.name == "nv_tileas.tiled_load"]
    assert [LATE in load.attributes for load in loads] == [False, True]


def test_copies_run_while_the_other_tile_is_used() -> None:
    module = lowered(program(), "synchronize")
    loop = the_loop(module)
    pipelines = [op.result for op in module.walk() if isinstance(op, CreatePipelineOp)]
    assert [pipeline(each).stages for each in pipelines] == [1, 1]
    early, late = pipelines
    kinds = (ConsumerWaitOp, ProducerCopyOp, DotOp)
    order = [op for op in loop.body.walk() if isinstance(op, kinds)]
    assert [type(op) for op in order] == [*kinds, *kinds]
    used = [op.operands[0] for op in order if not isinstance(op, DotOp)]
    assert used == [early, late, late, early]


def test_the_only_barriers_follow_waits() -> None:
    loop = the_loop(lowered(program(), "synchronize"))
    kinds = (ConsumerWaitOp, BarrierOp)
    order = [op for op in loop.body.walk() if isinstance(op, kinds)]
    assert [type(op) for op in order] == [*kinds, *kinds]


def test_early_tiles_have_two_stages_where_they_fit() -> None:
    """An iteration waits for its own K, while that of the next one may still be copied."""
    module = lowered(ATTENTION.read_text(), "synchronize", schedule="rotate=0,agents=0")
    pipelines = [op.result for op in module.walk() if isinstance(op, CreatePipelineOp)]
    assert [pipeline(each).stages for each in pipelines] == [2, 1]
    waits = [op for op in the_loop(module).body.walk() if isinstance(op, ConsumerWaitOp)]
    assert [(op.pipeline, op.pending) for op in waits] == [(pipelines[0], 1), (pipelines[1], 0)]
    copies = [op for op in the_loop(module).body.walk() if isinstance(op, ProducerCopyOp)]
    assert [op.pipeline for op in copies] == [pipelines[1], pipelines[0]]


def test_tiles_that_a_dot_in_flight_reads_are_not_copied_over() -> None:
    """In a rotated loop, Q @ K is in flight when P @ V starts."""
    module = lowered(ATTENTION.read_text(), "schedule-loops", schedule="rotate=1,agents=0")
    assert any(isinstance(op, DotOp) and op.asynchronous for op in module.walk())
    assert not any(LATE in op.attributes for op in module.walk())


AGAIN: Final = f"""
    %w = mmaf %x, %yt, %s : {TILE}, tile<16x64xf16>, tile<64x64xf32>
    %h = ftof %w : tile<64x64xf32> -> tile<64x64xf16>
    %next = mmaf %h, %z, %o : tile<64x64xf16>, {TILE}, tile<64x16xf32>"""
"""A third dot reads the operand of the first again."""


@pytest.mark.parametrize(("after", "is_staggered"), [("", True), (AGAIN, False)])
def test_early_tiles_are_read_before_late_ones_are_used(after: str, is_staggered: bool) -> None:
    module = lowered(program(after), "schedule-loops")
    late = [op for op in module.walk() if LATE in op.attributes]
    assert bool(late) == is_staggered


def test_several_stages_are_preferred() -> None:
    module = lowered(program(), "schedule-loops", schedule="stages=0")
    assert not any(LATE in op.attributes for op in module.walk())


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
def test_operands_of_one_dot_are_used_together(arch: str) -> None:
    """Also where they are computed one after the other, before the dot."""
    module = lowered_as_far_as("schedule-loops", matmul(64, 64, 64), arch, schedule="stages=1")
    assert not any(LATE in op.attributes for op in module.walk())


def test_late_tiles_order_no_other_access() -> None:
    """A store between the load of a late tile and its first use would not wait for the copy."""
    store = f"%t3 = store_view_tko weak %x, %vv[%i, %zero] token = %t2 : {TILE}, {VIEW}, tile<i32>"
    text = program().replace("%yt = permute", f"{store} -> token\n            %yt = permute", 1)
    module = lowered(text, "schedule-loops")
    assert not any(LATE in op.attributes for op in module.walk())
