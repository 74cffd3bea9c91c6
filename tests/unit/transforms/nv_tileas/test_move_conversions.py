"""Hoisting of layout conversions: which ones, and what is converted instead."""

from __future__ import annotations

from typing import Final

import pytest
from lowering import convert

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation

ROWS: Final = (
    "#nv_tileas.layout<[64, 64], register = [[0, 1], [0, 2], [16, 0], [32, 0]], "
    "lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0], [8, 0]]>"
)
"""A thread has 4 neighbours: 16 bytes of f32."""
LEFT: Final = (
    "#nv_tileas.layout<[64, 64], register = [[8, 0], [0, 4], [0, 8], [0, 16], [0, 32]], "
    "lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 0]]>"
)
"""A of mma.sync, tf32."""
VIEW: Final = (
    "!nv_tileaa.tiled_view<tile = [64, 64], "
    "source = !nv_tileaa.memref<72x272xf32, strides = [272, 1]>, padding = zero>"
)


def hoisted(body: str, arguments: str = "", capability: int = 80) -> list[Operation]:
    """The conversions of a loop that loads `%x` and needs `%m` in another layout."""
    rows, left = f"tensor<64x64xf32, {ROWS}>", f"tensor<64x64xf32, {LEFT}>"
    body = body.replace("!x", rows).replace("!y", left)
    module = convert(
        f"""
        gpu.module @kernels attributes {{nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = {capability}>}} {{
          nv_tileaa.func @k(%v: {VIEW}, %init: {left}, %n: i32 {arguments.replace("!x", rows)})
              attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>}} {{
            %c0 = arith.constant 0 : i32
            %c1 = arith.constant 1 : i32
            %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> ({left}) : i32 {{
              %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {{vector = 4 : i32}} : i32, i32 of {VIEW} -> {rows}
              {body}
              %y = nv_tileas.convert_layout %m : {rows} -> {left}
              %next = nv_tileaa.addf %acc, %y : {left}
              scf.yield %next : {left}
            }}
            nv_tileaa.return
          }}
        }}""",  # noqa: E501
        "move-conversions",
    )
    return [op for op in module.walk() if isinstance(op, ConvertLayoutOp)]


def is_loaded(op: Operation) -> bool:
    """Whether a conversion is one of the loaded tile."""
    return isinstance(op.operands[0].defining_op(), TiledLoadOp)


@pytest.mark.parametrize("body", [
    "%m = nv_tileaa.negf %x#0 : !x",
    "%m = nv_tileaa.mulf %x#0, %x#0 : !x",
    "%u = nv_tileaa.negf %x#0 : !x\n%m = nv_tileaa.addf %u, %u : !x",
    "%s = arith.constant dense<2.0> : !x\n%m = nv_tileaa.mulf %x#0, %s : !x",
])  # fmt: skip
def test_elementwise_operations_follow(body: str) -> None:
    (conversion,) = hoisted(body)
    assert is_loaded(conversion)


def test_a_loaded_tile_is_converted_once() -> None:
    """It reaches the result along two paths."""
    body = (
        "%u = nv_tileaa.negf %x#0 : !x\n%w = nv_tileaa.mulf %x#0, %x#0 : !x\n"
        "%m = nv_tileaa.addf %u, %w : !x"
    )
    (conversion,) = hoisted(body)
    assert is_loaded(conversion)


@pytest.mark.parametrize(("element", "is_hoisted"), [("i8", True), ("i16", False)])
def test_other_tiles_have_at_most_a_quarter_of_the_bytes(element: str, is_hoisted: bool) -> None:
    """4 KiB of int8 are exchanged instead of 16 KiB, but not 8 KiB of i16."""
    other, view = f"tensor<64x64x{element}, {ROWS}>", VIEW.replace("xf32", f"x{element}")
    # Each iteration loads the same tile: it is not pipelined.
    body = (
        f"%z:2 = nv_tileas.tiled_load weak %u[%c0, %c1] : i32, i32 of {view} -> {other}\n"
        f"%w = arith.sitofp %z#0 : {other} to !x\n%m = nv_tileaa.addf %x#0, %w : !x"
    )
    conversions = hoisted(body, f", %u: {view}")
    converted = [str(element_of(each.operands[0].type)) for each in conversions]
    assert converted == (["f32", "i8"] if is_hoisted else ["f32"])
    assert is_loaded(conversions[0]) == is_hoisted


def test_results_with_other_uses_are_converted() -> None:
    (conversion,) = hoisted(
        "%m = nv_tileaa.negf %x#0 : !x\n%t = nv_tileas.tiled_store weak %m, %v[%c1, %k] "
        f": !x, i32, i32 of {VIEW}"
    )
    assert not is_loaded(conversion)


def test_a_reshape_with_other_uses_is_repeated() -> None:
    """It costs nothing: the load is converted, and each use has a reshape of its own."""
    (conversion,) = hoisted(
        "%r = nv_tileas.permute %x#0 [0, 1] : !x -> !x\n"
        f"%t = nv_tileas.tiled_store weak %r, %v[%c1, %k] : !x, i32, i32 of {VIEW}\n"
        "%m = nv_tileaa.negf %r : !x"
    )
    assert is_loaded(conversion)


def test_a_tile_is_not_converted_back() -> None:
    """It is used as it was before it was converted to the layout of the loaded tile."""
    body = (
        "%p = nv_tileaa.negf %acc : !y\n%q = nv_tileas.convert_layout %p : !y -> !x\n"
        "%m = nv_tileaa.addf %x#0, %q : !x"
    )
    (conversion,) = hoisted(body)
    assert is_loaded(conversion)


def test_values_from_before_the_loop_are_converted_before_it() -> None:
    before, inside = hoisted("%m = nv_tileaa.addf %x#0, %z : !x", ", %z: !x")
    assert is_loaded(inside)
    assert isinstance(inside.parent_op, ForOp)
    assert not isinstance(before.parent_op, ForOp)


@pytest.mark.parametrize(("count", "is_hoisted"), [(2, True), (3, False), (40, False)])
def test_work_that_is_repeated_is_little(count: int, is_hoisted: bool) -> None:
    """Two warps have each element: at most four instructions are repeated.

    Each operand is used twice: 40 operations would have 2 ** 40 paths.
    """
    squares = [f"%u{i + 1} = nv_tileaa.mulf %u{i}, %u{i} : !x" for i in range(count)]
    end = f"%m = nv_tileaa.negf %u{count} : !x"
    body = "\n".join(["%u0 = nv_tileaa.negf %x#0 : !x", *squares, end])
    (conversion,) = hoisted(body)
    assert is_loaded(conversion) == is_hoisted


def test_rounding_to_tf32_is_not_repeated_without_an_instruction() -> None:
    """On sm_80 it takes six integer instructions, and two warps have each element."""
    rounded = f"tensor<64x64xtf32, {ROWS}>"
    body = (
        f"%r = nv_tileaa.fp_to_fp %x#0 : !x to {rounded}\n"
        f"%m = nv_tileaa.fp_to_fp %r : {rounded} to !x"
    )
    assert [is_loaded(hoisted(body, capability=each)[0]) for each in (80, 90)] == [False, True]
