"""Tests of nv_tileas: layouts as text, and what threads must hold."""

from __future__ import annotations

from pathlib import Path

from dialect_text import errors, read
from each_case import each_case

from tilewright.text.printer import print_op

LINE = "#nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>"
BACK = "#nv_tileas.layout<[32], register = [], lane = [[16], [8], [4], [2], [1]], warp = []>"
HALVES = "#nv_tileas.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>"
PAIRS = "#nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>"


def problems(line: str, **arguments: str) -> list[str]:
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    return errors(f"nv_tileaa.func @f({signature}) {{ {line}\n nv_tileaa.return }}")


def test_a_program_reads_as_it_is_printed() -> None:
    text = (Path(__file__).parent / "layouts.mlir").read_text()
    op = read(text)
    once = print_op(op)
    assert print_op(read(once)) == once
    assert print_op(read(print_op(op, generic=True))) == once


@each_case(
    ("layout", "message"),
    [
        ("[4], register = [], lane = [[1]], warp = []", "a layout must hold every element"),
        (
            "[2], register = [[1], [1]], lane = [], warp = []",
            "the registers of a thread must hold different elements",
        ),
        ("[2], lane = [[1]]", "a layout must say register, lane, warp, or offset alone, got lane"),
        (
            "[2], offset = [[1]], register = [], lane = [], warp = []",
            "a layout must say register, lane, warp, or offset alone, got offset, register",
        ),
        ("[4], offset = [[1]]", "each offset must hold an element of its own"),
        ("[2], offset = [[1], [1]]", "each offset must hold an element of its own"),
        ("[3], register = [], lane = [], warp = []", "expected a power of two, got 3"),
        (
            "[2], register = [[1, 1]], lane = [], warp = []",
            "expected basis vectors with 1 coordinates",
        ),
        ("[2], register = [[2]], lane = [], warp = []", "expected vectors of register within"),
    ],
)
def test_layouts_that_are_none(layout: str, message: str) -> None:
    (problem,) = problems(f"%x = nv_tileas.make_range : tensor<4xi32, #nv_tileas.layout<{layout}>>")
    assert message in problem


def test_tiles_have_layouts_of_their_shape() -> None:
    (problem,) = problems("%x = nv_tileas.make_range : tensor<4xi32>")
    assert "expected a tile with a layout of its shape, got 'tensor<4xi32>'" in problem
    (problem,) = problems(f"%x = nv_tileas.make_range : tensor<4xi32, {LINE}>")
    assert "expected a tile with a layout of its shape" in problem


def test_shapes_change_without_movement() -> None:
    reversed_lanes = f"%y = nv_tileas.view %x : tensor<32xi32, {LINE}> -> tensor<32xi32, {BACK}>"
    (problem,) = problems(reversed_lanes, x=f"tensor<32xi32, {LINE}>")
    assert "expected a source of which every thread holds what it needs" in problem
    same = f"%y = nv_tileas.view %x : tensor<32xi32, {LINE}> -> tensor<32xi32, {LINE}>"
    assert problems(same, x=f"tensor<32xi32, {LINE}>") == []


def test_registers_say_which_tile_an_element_is_from() -> None:
    line = (
        "%y = nv_tileas.cat %x, %x axis = 0 : "
        f"tensor<32xi32, {LINE}>, tensor<32xi32, {LINE}> -> tensor<64xi32, {{}}>"
    )
    assert problems(line.format(HALVES), x=f"tensor<32xi32, {LINE}>") == []
    (problem,) = problems(line.format(PAIRS), x=f"tensor<32xi32, {LINE}>")
    assert "expected a result whose registers say which tile an element is from" in problem


def test_parts_are_registers() -> None:
    line = f"%y = nv_tileas.extract_slice %x[%i] : tensor<64xi32, {{}}> -> tensor<32xi32, {LINE}>"
    assert problems(line.format(HALVES), x=f"tensor<64xi32, {HALVES}>", i="i32") == []
    (problem,) = problems(line.format(PAIRS), x=f"tensor<64xi32, {PAIRS}>", i="i32")
    assert "expected a source of which every thread holds what it needs" in problem


def test_a_reduction_leaves_the_layout_of_the_rest() -> None:
    body = "{ ^bb0(%a: i32, %b: i32): nv_tileas.yield %a : i32 }"
    line = f"%y = nv_tileas.reduce %x {{axis = 0 : i32}} : tensor<64xi32, {PAIRS}> -> "
    assert problems(f"{line} i32 {body}", x=f"tensor<64xi32, {PAIRS}>") == []
    (problem,) = problems(f"{line} i64 {body}", x=f"tensor<64xi32, {PAIRS}>")
    assert "expected results of types ('i32'), got ('i64')" in problem


def test_vectors_are_within_the_registers() -> None:
    pointers = f"tensor<32x!nv_tileaa.ptr<f32>, {LINE}>"
    line = f"%y, %t = nv_tileas.load weak %x {{vector = 2 : i32}} : {pointers} -> "
    line += f"tensor<32xf32, {LINE}>"
    (problem,) = problems(line, x=pointers)
    assert "expected a power of two of the 1 registers at once, got 2" in problem
