"""Widths of memory accesses, and near misses that make them narrow."""

from __future__ import annotations

import numpy as np
import pytest
from dialect_text import read
from each_case import each_case

from tilewright.analysis.axis import AxisFacts
from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import (
    Vectorization,
    coalesced,
    in_layout,
    vectorize,
)
from tilewright.driver.execute import execute
from tilewright.ir.operation import Operation
from tilewright.layout.linear import LANE, REGISTER
from tilewright.layout.spread import spread
from tilewright.plans.accesses import accessed

HEAD = """
nv_tileaa.func @f(%p: !nv_tileaa.ptr<f32>, %n: i32, %m: i32, %s: i32, %rows: tensor<16xi32>) {
  %zero = arith.constant 0 : i32
  %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
  %p16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %p : !nv_tileaa.ptr<f32>
  %p8 = nv_tileaa.assume #nv_tileaa.div_by<8>, %p : !nv_tileaa.ptr<f32>
  %n16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %n : i32
  %n2 = nv_tileaa.assume #nv_tileaa.div_by<2>, %n : i32
  %s4 = nv_tileaa.assume #nv_tileaa.div_by<4>, %s : i32
"""


def access(body: str) -> tuple[Operation, AxisFacts]:
    """The access of a function, and the facts."""
    function = read(HEAD + body + "\nnv_tileaa.return }").regions[0].block.first
    assert function is not None
    op = next(op for op in function.walk() if accessed(op) is not None)
    return op, AxisFacts(function)


def vectorization(body: str) -> Vectorization:
    op, facts = access(body)
    tile = accessed(op)
    assert tile is not None
    return vectorize(op, tile, facts)


def tiled(
    *,
    base: str = "%p16",
    sizes: str = "%n16",
    index: str = "%x",
    source: str = "memref<?xf32, strides = [1]>",
    tile: str = "tile = [1024]",
    attributes: str = "",
    order: str = "weak",
) -> str:
    """A load of one tile of a tensor of one dimension."""
    view = f"!nv_tileaa.tiled_view<{tile}, source = !nv_tileaa.{source}>"
    return f"""
    %v = nv_tileaa.make_memref {base} sizes({sizes} : i32) : !nv_tileaa.ptr<f32>
      -> !nv_tileaa.{source}
    %t = nv_tileaa.block_tile %v : {view}
    %l:2 = nv_tileaa.tiled_load {order} %t[{index}] {attributes} : i32 of {view} -> tensor<1024xf32>
    """


@each_case(
    ("body", "vector"),
    [
        (tiled(), 4),
        (tiled(base="%p8"), 2),
        (tiled(base="%p"), 1),
        (tiled(sizes="%n"), 4),
        (tiled(sizes="%n", attributes="{in_bounds = array<i1: true>}"), 4),
        # Tiles that start at odd offsets.
        (tiled(tile="tile = [1024], steps = [2]"), 2),
        (tiled(tile="tile = [1024], steps = [3]"), 1),
        (tiled(tile="tile = [1024], steps = [3]", index="%n16"), 4),
        # Tiles that overlap, and so may begin before the tensor and end in it.
        (tiled(tile="tile = [1024], steps = [3]", index="%n16", sizes="%n2"), 2),
        # An order between threads.
        (tiled(order="relaxed gpu"), 1),
        (tiled(attributes="{volatile}"), 1),
        (tiled(source="memref<?xf32, strides = [2]>"), 1),
    ],
)
def test_lines(body: str, vector: int) -> None:
    assert vectorization(body)[:2] == (0, vector)


@each_case(("sizes", "whole"), [("%n16", 16), ("%n2", 2), ("%n", 1)])
def test_vectors_may_be_partly_out_of_bounds(sizes: str, whole: int) -> None:
    assert vectorization(tiled(sizes=sizes)) == Vectorization(0, 4, whole)


def test_vectors_are_whole_in_bounds_that_are_not_checked() -> None:
    chosen = vectorization(tiled(sizes="%n", attributes="{in_bounds = array<i1: true>}"))
    assert chosen.whole >= chosen.width


def matrix(stride: str, tile: str, index: str = "%x, %y", steps: str = "") -> str:
    """A load of a tile of a matrix with a dynamic row stride."""
    source = "!nv_tileaa.memref<?x64xf32, strides = [?, 1]>"
    view = f"!nv_tileaa.tiled_view<tile = [{tile}], source = {source}{steps}>"
    shape = tile.replace(", ", "x")
    return f"""
    %v = nv_tileaa.make_memref %p16 sizes(%n : i32) strides({stride} : i32)
      : !nv_tileaa.ptr<f32> -> {source}
    %t = nv_tileaa.block_tile %v : {view}
    %l:2 = nv_tileaa.tiled_load weak %t[{index}] : i32, i32 of {view} -> tensor<{shape}xf32>
    """


@each_case(
    ("body", "expected"),
    [
        (matrix("%s4", "32, 64"), (1, 4)),
        (matrix("%s", "32, 64"), (1, 1)),
        # One row, at a multiple of sixteen rows.
        (matrix("%s", "1, 64", index="%n16, %y"), (1, 4)),
        (matrix("%s", "1, 64"), (1, 1)),
        # The dimensions of the tile are those of the tensor the other way round.
        (matrix("%s4", "64, 32", steps=", dims = [1, 0]"), (0, 4)),
    ],
)
def test_matrices(body: str, expected: tuple[int, int]) -> None:
    assert vectorization(body)[:2] == expected


def test_rows_that_are_picked_one_by_one() -> None:
    source = "!nv_tileaa.memref<?x64xf32, strides = [?, 1]>"
    view = f"!nv_tileaa.tiled_view<tile = [16, 64], source = {source}, sparse = 0>"
    body = f"""
    %v = nv_tileaa.make_memref %p16 sizes(%n : i32) strides(%s4 : i32)
      : !nv_tileaa.ptr<f32> -> {source}
    %t = nv_tileaa.block_tile %v : {view}
    %l:2 = nv_tileaa.gather_load weak %t[%rows, %zero]
      : tensor<16xi32>, i32 of {view} -> tensor<16x64xf32>
    """
    assert vectorization(body)[:2] == (1, 4)
    assert vectorization(body.replace("strides(%s4", "strides(%s"))[:2] == (1, 1)


def pointers(bound: str, base: str = "%p16", offset: str = "%start") -> str:
    """A load through pointers below a bound."""
    return f"""
    %c = arith.constant 1024 : i32
    %start = nv_tileaa.muli %x, %c : i32
    %line = nv_tileaa.make_range : tensor<1024xi32>
    %starts = nv_tileaa.splat {offset} : i32 -> tensor<1024xi32>
    %own = nv_tileaa.addi %starts, %line : tensor<1024xi32>
    %bounds = nv_tileaa.splat {bound} : i32 -> tensor<1024xi32>
    %mask = nv_tileaa.cmpi slt, %own, %bounds : tensor<1024xi32>
    %base = nv_tileaa.splat {base} : !nv_tileaa.ptr<f32> -> tensor<1024x!nv_tileaa.ptr<f32>>
    %q = nv_tileaa.addptr %base, %own : tensor<1024x!nv_tileaa.ptr<f32>>, tensor<1024xi32>
    %l:2 = nv_tileaa.load weak %q mask = %mask
      : tensor<1024x!nv_tileaa.ptr<f32>> -> tensor<1024xf32>
    """


@each_case(
    ("body", "vector"),
    [
        (pointers("%n16"), 4),
        (pointers("%n2"), 2),
        (pointers("%n"), 1),
        (pointers("%n16", base="%p8"), 2),
        (pointers("%n16", base="%p"), 1),
        (pointers("%n16", offset="%s4"), 4),
        (pointers("%n16", offset="%s"), 1),
    ],
)
def test_pointers(body: str, vector: int) -> None:
    assert vectorization(body)[:2] == (0, vector)


@each_case(("warps", "vector"), [(1, 4), (4, 4), (8, 4), (16, 2), (32, 1)])
def test_no_warp_is_idle_for_a_wider_vector(warps: int, vector: int) -> None:
    op, facts = access(tiled())
    tile = accessed(op)
    assert tile is not None
    choice = coalesced(op, tile, warps, facts)
    assert choice.vector == vector
    assert 0 not in choice.layout.vectors("warp")
    assert choice.layout.vectors(LANE)[0] == vector


def test_contiguous_elements_go_to_registers_first() -> None:
    op, facts = access(matrix("%s4", "64, 32", steps=", dims = [1, 0]"))
    tile = accessed(op)
    assert tile is not None
    layout = coalesced(op, tile, 4, facts).layout
    assert layout.vectors(REGISTER)[:2] == (32, 64)
    assert layout.vectors(LANE)[:2] == (128, 256)


@each_case(("width", "vector"), [(1, 1), (2, 2), (4, 4), (8, 4)])
def test_an_access_in_the_layout_of_others(width: int, vector: int) -> None:
    op, facts = access(tiled())
    tile = accessed(op)
    assert tile is not None
    choice = coalesced(op, tile, 4, facts)
    assert in_layout(choice, spread((1024,), 4, vector=width)).vector == vector


COPY = """
cuda_tile.module @m {{
  entry @copy(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>, %n: tile<i32>) {{
    %a16 = assume div_by<16>, %a : tile<ptr<{element}>>
    %b16 = assume div_by<16>, %b : tile<ptr<{element}>>
    %n16 = assume div_by<{divisor}>, %n : tile<i32>
    %va = make_tensor_view %a16, shape = [%n16], strides = [1] : tile<i32> -> {tensor}
    %vb = make_tensor_view %b16, shape = [%n16], strides = [1] : tile<i32> -> {tensor}
    %pa = make_partition_view %va : {view}
    %pb = make_partition_view %vb : {view}
    %x, %y, %z = get_tile_block_id : tile<i32>
    %t, %k = load_view_tko weak %pa[%x] : {view}, tile<i32> -> tile<512x{element}>, token
    %l = store_view_tko weak %t, %pb[%x] : tile<512x{element}>, {view}, tile<i32> -> token
    return
  }}
}}
"""


@pytest.mark.parametrize("divisor", [1, 4, 16])
@pytest.mark.parametrize("element", ["i8", "f16", "f32", "i64"])
def test_compiled_copies_are_complete_and_in_bounds(element: str, divisor: int) -> None:
    """The last tile ends at every offset that the assumption allows."""
    tensor = f"tensor_view<?x{element}, strides=[1]>"
    view = f"partition_view<tile=(512), {tensor}>"
    text = COPY.format(element=element, divisor=divisor, tensor=tensor, view=view)
    kind = {"i8": np.int8, "f16": np.float16, "f32": np.float32, "i64": np.int64}[element]
    for count in (divisor, 512 + 3 * divisor, 1024 - divisor, 1024):
        source = (np.arange(1024) % 100 + 1).astype(kind)
        target = np.zeros(1024, kind)
        execute(text, "copy", (3,), [source, target, count], on="emulator", check=True)
        assert (target[:count] == source[:count]).all()
        assert (target[count:] == 0).all()
