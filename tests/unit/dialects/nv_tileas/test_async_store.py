"""Stores by TMA: which layouts, maps and buffers they take."""

from __future__ import annotations

from typing import Final

import pytest
from dialect_text import errors
from each_case import each_case

ACCUMULATOR: Final = (
    "#nv_tileas.layout<[64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], "
    "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>"
)
COALESCED: Final = (
    "#nv_tileas.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], "
    "lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>"
)
STAGED: Final = (
    "#nv_tileas.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], "
    "[1, 8], [2, 16], [4, 32], [8, 0], [32, 0], [16, 0], [0, 64]]>"
)
WHOLE: Final = (
    "#nv_tileas.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], "
    "[1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>"
)
VIEW: Final = (
    "!nv_tileaa.tiled_view<tile = [64, 128], "
    "source = !nv_tileaa.memref<512x512xf16, strides = [512, 1]>>"
)
ADDF: Final = "{rmw_mode = #nv_tileaa.rmw_mode<addf>}"
BUFFER: Final = "!nv_tileas.buffer<shared, 8, 16x64xf16>"


def problems(
    layout: str = ACCUMULATOR,
    staged: str = STAGED,
    buffer: str = BUFFER,
    semantic: str = "weak",
    mode: str = "",
) -> list[str]:
    """What the verifier says of a store."""
    tile, map = f"tensor<64x128xf16, {layout}>", f"!nv_tileas.tensor_map<{VIEW}, {_tile(staged)}>"
    return errors(f"""
      nv_tileaa.func @f(%x: {tile}, %v: {VIEW}, %m: {map}, %i: i32)
          attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}} {{
        %b = nv_tileas.alloc_tensor : {buffer}
        %t = nv_tileas.async.tiled_store {semantic} %x, %v[%i, %i] map = %m buffer = %b {mode}
            : {tile}, i32, i32 of {VIEW}, {map}, {buffer}
        nv_tileaa.return
      }}""")


def test_the_buffer_is_known() -> None:
    """Its offset in shared memory is a constant."""
    map = f"!nv_tileas.tensor_map<{VIEW}, {_tile(STAGED)}>"
    tile = _tile(ACCUMULATOR)
    (problem,) = errors(f"""
      nv_tileaa.func @f(%x: {tile}, %v: {VIEW}, %m: {map}, %i: i32, %b: {BUFFER})
          attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}} {{
        %t = nv_tileas.async.tiled_store weak %x, %v[%i, %i] map = %m buffer = %b
            : {tile}, i32, i32 of {VIEW}, {map}, {BUFFER}
        nv_tileaa.return
      }}""")
    assert "expected a buffer straight from its allocation" in problem


def _tile(layout: str) -> str:
    return f"tensor<64x128xf16, {layout}>"


@pytest.mark.parametrize("stages", [4, 8])
def test_one_or_two_stages_for_each_warp(stages: int) -> None:
    assert not problems(buffer=BUFFER.replace("8", str(stages), 1))


@each_case(("changed", "message"), [
    ({"layout": COALESCED}, "expected boxes that all lanes of a warp hold a part of"),
    ({"staged": WHOLE}, "expected a map of type"),
    ({"buffer": BUFFER.replace("16x64", "64x16")}, "expected stages that hold a box, (16, 64)"),
    ({"buffer": BUFFER.replace("8", "6", 1)}, "expected stages for 4 warps, a divisor of 2 boxes"),
    ({"buffer": BUFFER.replace("8", "16", 1)}, "expected stages for 4 warps, a divisor of 2 boxes"),
    ({"buffer": BUFFER.replace("shared", "tensor")}, "expected a buffer in shared memory"),
    ({"semantic": "relaxed gpu"}, "expected a weak access"),
    ({"semantic": "relaxed gpu", "mode": ADDF}, "cannot reduce 'f16' by 'addf'"),
])  # fmt: skip
def test_stores_that_are_rejected(changed: dict[str, str], message: str) -> None:
    (problem,) = problems(**changed)
    assert message in problem
