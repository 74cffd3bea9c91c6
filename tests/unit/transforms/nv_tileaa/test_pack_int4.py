"""Tests of pack-int4: its results on the reference executor, and its errors."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from dialect_text import read
from programs import Run, parse_runs, problems

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink, Unsupported
from tilewright.text.printer import print_op
from tilewright.transforms.nv_tileaa.pack_int4 import PackInt4

PROGRAMS = Path(__file__).parents[3] / "run" / "view" / "nibbles.mlir"
FLOAT = "f4E2M1FN"


@pytest.mark.parametrize("cut", ["", "slice-tiles{words=8},"], ids=["whole", "sliced"])
@pytest.mark.parametrize("run", parse_runs(PROGRAMS.read_text()), ids=lambda run: run.entry)
def test_programs_do_the_same_with_bytes(run: Run, cut: str) -> None:
    root = wrap_in_module(read_runnable(PROGRAMS.read_text(), PROGRAMS.name))
    parse_pipeline(f"{passes_to('nv_tileaa', 'sm_100')},{cut}pack-int4").run(root)
    verify(root)
    assert f"x{FLOAT}, strides" not in print_op(root)
    before = run.values()
    after = copy.deepcopy(before)
    tilewright.execute(root, run.entry, run.grid, list(after.values()), check=True, seed=1)
    assert list(problems(run, before, after)) == []


def packed(tensor: str, view: str, body: str, made: str = "", arguments: str = "") -> str:
    """The program after the pass; `%v` is a view of the tensor at `%p`."""
    memref = f"!nv_tileaa.memref<{tensor}>"
    tiles = f"!nv_tileaa.tiled_view<{view.replace('SOURCE', memref)}>"
    text = f"""gpu.module @m {{
      nv_tileaa.func @k(%p: !nv_tileaa.ptr<{FLOAT}>{arguments})
          attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
        %i = arith.constant 0 : i32
        %m = nv_tileaa.make_memref %p {made} : !nv_tileaa.ptr<{FLOAT}> -> {memref}
        %v = nv_tileaa.block_tile %m : {tiles}
        {body.replace("VIEW", tiles)}
        nv_tileaa.return
      }}
    }}"""
    module = read(text)
    PackInt4().run(module, Sink())
    verify(module)
    return print_op(module)


def load(tile: str, indices: str = "%i, %i", types: str = "i32, i32") -> str:
    result = f"tensor<{tile}x{FLOAT}>"
    return f"%t, %k = nv_tileaa.tiled_load weak %v[{indices}] : {types} of VIEW -> {result}"


WHOLE = f"8x32x{FLOAT}, strides = [32, 1]"
TILES = "tile = [4, 16], source = SOURCE"
ROWS = "%r = nv_tileaa.make_range : tensor<4xi32>\n"


@pytest.mark.parametrize(
    ("tensor", "view", "made", "reason"),
    [
        (f"8x31x{FLOAT}, strides = [32, 1]", TILES, "", "a contiguous dimension of even extent"),
        (f"8x32x{FLOAT}, strides = [64, 2]", TILES, "", "a contiguous dimension of even extent"),
        (f"8x32x{FLOAT}, strides = [33, 1]", TILES, "", "a contiguous dimension of even extent"),
        (f"8x32x{FLOAT}, strides = [?, 1]", TILES, "strides(%n : i32)", "a stride that is not"),
        (f"8x?x{FLOAT}, strides = [32, 1]", TILES, "sizes(%n : i32)", "a contiguous extent that"),
        (WHOLE, "tile = [16, 1], source = SOURCE", "", "one of two elements of 4 bits"),
        (WHOLE, f"{TILES}, steps = [4, 3]", "", "begin inside of a byte"),
        (WHOLE, f"{TILES}, padding = nan", "", "a padding that elements of 4 bits cannot hold"),
    ],
)
def test_accesses_to_parts_of_a_byte_are_rejected(
    tensor: str, view: str, made: str, reason: str
) -> None:
    tile = "16x1" if "[16, 1]" in view else "4x16"
    with pytest.raises(Unsupported, match=reason):
        packed(tensor, view, load(tile), made, ", %n: i32")


@pytest.mark.parametrize(
    ("sparse", "indices", "types", "reason"),
    [
        (0, "%r, %n", "tensor<4xi32>, i32", "an index that is not known to be even"),
        (1, "%i, %r", "i32, tensor<4xi32>", "picked one by one"),
    ],
)
def test_elements_are_not_picked_one_by_one(
    sparse: int, indices: str, types: str, reason: str
) -> None:
    body = ROWS + load("4x4", indices, types).replace("tiled_load", "gather_load")
    view = f"tile = [4, 4], source = SOURCE, sparse = {sparse}"
    with pytest.raises(Unsupported, match=reason):
        packed(WHOLE, view, body, arguments=", %n: i32")


@pytest.mark.parametrize("stride", ["4", "7", "?"])
def test_a_stride_that_is_never_used_may_be_odd(stride: str) -> None:
    made = "strides(%n : i32)" if stride == "?" else ""
    tensor = f"1x32x{FLOAT}, strides = [{stride}, 1]"
    view = "tile = [1, 16], source = SOURCE"
    text = packed(tensor, view, load("1x16"), made, ", %n: i32")
    assert f"memref<1x16xi8, strides = [{'?' if made else int(stride) // 2}, 1]>" in text


def test_views_may_be_loop_carried() -> None:
    body = f"""%one = arith.constant 1 : i32
        %w = scf.for %c = %i to %one step %one iter_args(%u = %v) -> (VIEW) : i32 {{
          {load("4x16").replace("%v[", "%u[")}
          scf.yield %u : VIEW
        }}"""
    text = packed(WHOLE, TILES, body)
    assert "tile = [4, 8], source = !nv_tileaa.memref<8x16xi8, strides = [16, 1]>" in text
    assert f"memref<8x32x{FLOAT}" not in text


def test_a_tensor_without_accesses_stays() -> None:
    body = "%n = nv_tileaa.get_dim_size %m 1 : !nv_tileaa.memref<8x31xf4E2M1FN, strides = [31, 1]> -> i32"  # noqa: E501
    text = packed(f"8x31x{FLOAT}, strides = [31, 1]", TILES, body)
    assert f"memref<8x31x{FLOAT}" in text


def test_bytes_hold_the_even_element_in_their_low_bits() -> None:
    """By hand: 1.0 is 2 and -6.0 is 15, so the byte of both is 0xf2."""
    text = f"""cuda_tile.module @m {{ entry @k(%p: tile<ptr<{FLOAT}>>) {{
      %i = constant <i32: 0> : tile<i32>
      %x = constant <{FLOAT}: [1.0, -6.0]> : tile<2x{FLOAT}>
      %t = make_tensor_view %p, shape = [2], strides = [1] : tensor_view<2x{FLOAT}, strides=[1]>
      %v = make_partition_view %t : partition_view<tile=(2), tensor_view<2x{FLOAT}, strides=[1]>>
      %w = store_view_tko weak %x, %v[%i] : tile<2x{FLOAT}>,
        partition_view<tile=(2), tensor_view<2x{FLOAT}, strides=[1]>>, tile<i32> -> token
      return }} }}"""
    out = np.zeros(1, np.uint8)
    tilewright.execute(text, "k", 1, [out], "emulator", check=True, arch="sm_100")
    assert out.tolist() == [0xF2]
