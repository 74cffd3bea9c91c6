"""Loads of f32 that TMA rounds to tf32."""

from __future__ import annotations

import pytest
from integrity import check_integrity
from scheduled_loops import lowered_as_far_as
from specialized_programs import Gemm

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nv_tileaa.conversion import FpToFpOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.ir.operation import Operation
from tilewright.ir.types import TF32
from tilewright.transforms.nv_tileas.copy_groups import stage_plan, stage_tile
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded, round_while_copying

ROUNDED = Gemm("f32", precision="tf32", k_major=True)


def lowered(program: str = "") -> tuple[Operation, list[TiledLoadOp]]:
    module = lowered_as_far_as("move-conversions", program or ROUNDED.persistent())
    return module, [op for op in module.walk() if isinstance(op, TiledLoadOp)]


def roundings(module: Operation) -> list[FpToFpOp]:
    return [op for op in module.walk() if isinstance(op, FpToFpOp)]


def test_a_load_that_is_only_rounded() -> None:
    _, loads = lowered()
    assert [is_only_rounded(load.tile) for load in loads] == [True, True]
    tiles = [stage_tile(load, stage_plan(load)) for load in loads]
    assert [element_of(tile) for tile in tiles] == [TF32, TF32]


@pytest.mark.parametrize("mode", [RoundingMode.ZERO, RoundingMode.POSITIVE_INF])
def test_other_rounding_modes(mode: RoundingMode) -> None:
    module, loads = lowered()
    for op in roundings(module):
        op.rounding_mode = mode
    assert not any(is_only_rounded(load.tile) for load in loads)


def test_a_tile_with_another_use() -> None:
    """The loop also adds up A as it is."""
    text = ROUNDED.persistent(f"""
      %all, %sum = for %j in (%zero to %steps, step %one) : tile<i32>
          iter_values(%part = %blank, %acc = %none) -> (tile<64x32xf32>, {ROUNDED.c}) {{
        %x, %tx = load_view_tko weak %av[%i, %j] : {ROUNDED.view("a")}, tile<i32> -> tile<64x32xf32>, token
        %y, %ty = load_view_tko weak %bv[%j, %zero] : {ROUNDED.view("b")}, tile<i32> -> tile<32x64xf32>, token
        %xr = ftof %x : tile<64x32xf32> -> tile<64x32xtf32>
        %yr = ftof %y : tile<32x64xf32> -> tile<32x64xtf32>
        %d = mmaf %xr, %yr, %acc : tile<64x32xtf32>, tile<32x64xtf32>, {ROUNDED.c}
        %more = addf %part, %x : tile<64x32xf32>
        continue %more, %d : tile<64x32xf32>, {ROUNDED.c}
      }}
      {ROUNDED.store()}
      %t3 = store_view_tko weak %all, %av[%i, %zero] : tile<64x32xf32>, {ROUNDED.view("a")}, tile<i32> -> token
    """).replace("%none = ", "%blank = constant <f32: 0.0> : tile<64x32xf32>\n    %none = ")  # noqa: E501
    _, loads = lowered(text)
    assert [is_only_rounded(load.tile) for load in loads] == [False, True]


def test_a_tile_without_uses() -> None:
    _, (a, _) = lowered()
    unused = a.like(a.operands, [result.type for result in a.results])
    unused.insert_before(a)
    assert not is_only_rounded(unused.results[0])


def test_the_rounded_load_replaces_both() -> None:
    module, loads = lowered()
    made = [round_while_copying(load) for load in loads]
    assert roundings(module) == []
    assert [element_of(load.tile.type) for load in made] == [TF32, TF32]
    assert [op for op in module.walk() if isinstance(op, TiledLoadOp)] == made
    check_integrity(module)


def test_stages_hold_tf32() -> None:
    text = ROUNDED.persistent()
    module = lowered_as_far_as("specialize-warps", text, schedule="agents=1")
    (created,) = (op for op in module.walk() if isinstance(op, CreatePipelineOp))
    type = created.result.type
    assert isinstance(type, PipelineType)
    assert [element_of(each) for each in type.elements] == [TF32, TF32]
    assert roundings(module) == []
