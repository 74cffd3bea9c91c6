"""Staging of large tiles of loops in shared memory: conditions, number of stages, copies."""

from __future__ import annotations

import pytest

from tilewright.driver.api import read_runnable
from tilewright.driver.compile import Compilation, target
from tilewright.driver.settings import Settings

PADDING = "padding_value = zero, "
TOKEN = "%t0 = make_token : token"


def compiled(
    rows: int = 64,
    padding: str = PADDING,
    token: str = TOKEN,
    after: str = "%t0",
    arch: str = "sm_90",
    opt_level: int = 3,
) -> str:
    """Lower a loop that copies tiles of `rows` rows of 128 numbers to nv_tileas."""
    tensor = "tensor_view<?x128xf32, strides=[128,1]>"
    view = f"partition_view<tile=({rows}x128), {padding}{tensor}>"
    tile = f"tile<{rows}x128xf32>"
    text = f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %first, %by, %bz = get_tile_block_id : tile<i32>
          %step, %ny, %nz = get_num_tile_blocks : tile<i32>
          {token}
          %pt = make_tensor_view %p, shape = [%n, 128], strides = [128, 1] : tile<i32> -> {tensor}
          %qt = make_tensor_view %q, shape = [%n, 128], strides = [128, 1] : tile<i32> -> {tensor}
          %pv = make_partition_view %pt : {view}
          %qv = make_partition_view %qt : {view}
          for %i in (%first to %n, step %step) : tile<i32> {{
            %a, %t1 = load_view_tko weak %pv[%i, %zero] token = %t0 : {view}, tile<i32> -> {tile}, token
            %t2 = store_view_tko weak %a, %qv[%i, %zero] token = {after} : {tile}, {view}, tile<i32> -> token
            continue
          }}
          return
        }}
      }}"""  # noqa: E501
    module = read_runnable(text, "kernel.mlir")
    return str(Compilation(module, Settings(target(arch), opt_level)).to("nv_tileas"))


@pytest.mark.parametrize(("rows", "stages"), [(16, 4), (32, 2), (64, 1)])
def test_as_many_stages_as_fit(rows: int, stages: int) -> None:
    text = compiled(rows)
    assert f"!nv_tileas.buffer<shared, {stages}, {rows}x128xf32>" in text
    assert text.count("nv_tileas.stage_load") == stages + 1
    assert text.count("nv_tileas.take_staged") == 1
    assert f"pending = {stages - 1} : i32" in text


@pytest.mark.parametrize("rows", [8, 128])
def test_small_tiles_and_very_large_ones_stay(rows: int) -> None:
    assert "stage_load" not in compiled(rows)


def test_other_padding_than_zero_stays() -> None:
    assert "stage_load" not in compiled(padding="padding_value = nan, ")


def test_without_padding_any_value_is_allowed() -> None:
    assert "stage_load" in compiled(padding="")


def test_loads_with_dependent_accesses_stay() -> None:
    assert "stage_load" not in compiled(after="%t1")


def test_loads_that_wait_for_accesses_stay() -> None:
    before = (
        "%one = constant <f32: 1.0> : tile<f32> "
        "%t0 = store_ptr_tko weak %p, %one : tile<ptr<f32>>, tile<f32> -> token"
    )
    assert "stage_load" not in compiled(token=before)


def test_it_is_a_matter_of_the_optimization_level() -> None:
    assert "stage_load" not in compiled(opt_level=1)
    assert "stage_load" in compiled(opt_level=2)


def matmul(m: int, n: int, k: int, arch: str) -> str:
    """Lower an f16 matmul, in a loop over tiles, to nv_tileas."""
    tensor = "tensor_view<?x?xf16, strides=[?,1]>"
    left = f"partition_view<tile=({m}x{k}), padding_value = zero, {tensor}>"
    right = f"partition_view<tile=({k}x{n}), padding_value = zero, {tensor}>"
    accumulator = f"tile<{m}x{n}xf32>"
    text = f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f32>>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %none = constant <f32: 0.0> : {accumulator}
          %p16 = assume div_by<16>, %p : tile<ptr<f16>>
          %q16 = assume div_by<16>, %q : tile<ptr<f16>>
          %n16 = assume div_by<16>, %n : tile<i32>
          %pt = make_tensor_view %p16, shape = [%n16, %n16], strides = [%n16, 1] : tile<i32> -> {tensor}
          %qt = make_tensor_view %q16, shape = [%n16, %n16], strides = [%n16, 1] : tile<i32> -> {tensor}
          %pv = make_partition_view %pt : {left}
          %qv = make_partition_view %qt : {right}
          %rt = make_tensor_view %r, shape = [{m}, {n}], strides = [{n}, 1] : tensor_view<{m}x{n}xf32, strides=[{n},1]>
          %rv = make_partition_view %rt : partition_view<tile=({m}x{n}), tensor_view<{m}x{n}xf32, strides=[{n},1]>>
          %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%c = %none) -> ({accumulator}) {{
            %a, %t1 = load_view_tko weak %pv[%zero, %i] : {left}, tile<i32> -> tile<{m}x{k}xf16>, token
            %b, %t2 = load_view_tko weak %qv[%i, %zero] : {right}, tile<i32> -> tile<{k}x{n}xf16>, token
            %d = mmaf %a, %b, %c : tile<{m}x{k}xf16>, tile<{k}x{n}xf16>, {accumulator}
            continue %d : {accumulator}
          }}
          %t = store_view_tko weak %sum, %rv[%zero, %zero] : {accumulator}, partition_view<tile=({m}x{n}), tensor_view<{m}x{n}xf32, strides=[{n},1]>>, tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501
    module = read_runnable(text, "kernel.mlir")
    return str(Compilation(module, Settings(target(arch), 3)).to("nv_tileas"))


def test_dot_operands_have_more_capacity() -> None:
    """Two blocks fit onto an SM: 112 KiB each, of which wgmma has 32 KiB to itself."""
    text = matmul(128, 128, 64, "sm_90")
    assert text.count("#nv_tileas.atom<wgmma>") == 1
    assert "!nv_tileas.buffer<shared, 2, 128x64xf16>" in text
    assert "!nv_tileas.buffer<shared, 2, 64x128xf16>" in text


def test_dot_operands_stay_with_48_kib() -> None:
    assert "take_staged" not in matmul(128, 128, 64, "sm_80")
