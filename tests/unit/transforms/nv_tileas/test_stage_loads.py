"""Large tiles of loops through shared memory: when, how many at a time, and with what."""

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
    """A copy of tiles of so many rows of 128 numbers, in a loop, as nv_tileas."""
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
def test_as_many_stages_as_there_is_room_for(rows: int, stages: int) -> None:
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


def test_without_padding_anything_will_do() -> None:
    assert "stage_load" in compiled(padding="")


def test_what_others_wait_for_stays() -> None:
    assert "stage_load" not in compiled(after="%t1")


def test_what_waits_for_others_stays() -> None:
    before = (
        "%one = constant <f32: 1.0> : tile<f32> "
        "%t0 = store_ptr_tko weak %p, %one : tile<ptr<f32>>, tile<f32> -> token"
    )
    assert "stage_load" not in compiled(token=before)


def test_it_is_a_matter_of_the_optimization_level() -> None:
    assert "stage_load" not in compiled(opt_level=1)
    assert "stage_load" in compiled(opt_level=2)
