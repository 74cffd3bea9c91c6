"""Layout assignment step by step: constraints, their solution, and its application."""

from __future__ import annotations

import pytest
from dialect_text import read
from each_case import each_case
from integrity import check_integrity

from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_constraints import (
    LayoutConstraints,
    collect_constraints,
)
from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import solve_layouts
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.driver.compile import add_target_spec
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.types import TensorType
from tilewright.ir.verifier import verify
from tilewright.layout.parts import beside
from tilewright.schedule.limits import ASSUMED_TRIPS
from tilewright.support.diagnostics import UserError
from tilewright.target.arch import ARCHES
from tilewright.text.printer import print_op

SM_90 = ARCHES["sm_90"]
MEMREF = "!nv_tileaa.memref<64x64xf32, strides = [64, 1]>"
ROWS = f"!nv_tileaa.tiled_view<tile = [64, 64], source = {MEMREF}>"
COLUMNS = f"!nv_tileaa.tiled_view<tile = [64, 64], source = {MEMREF}, dims = [1, 0]>"
TILE = "tensor<64x64xf32>"


def kernel(body: str) -> tuple[Operation, FuncOp]:
    """Parse a module and its kernel, with views of a matrix along rows and along columns."""
    module = read(f"""gpu.module @kernels {{
      nv_tileaa.func @f(%n: i32, %p: !nv_tileaa.ptr<f32>, %c: i1)
          attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
        %p16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %p : !nv_tileaa.ptr<f32>
        %m = nv_tileaa.make_memref %p16 : !nv_tileaa.ptr<f32> -> {MEMREF}
        %rows = nv_tileaa.block_tile %m : {ROWS}
        %columns = nv_tileaa.block_tile %m : {COLUMNS}
        {body}
        nv_tileaa.return
      }}
    }}""")
    verify(module)
    add_target_spec(module, SM_90)
    (function,) = [op for op in module.walk() if isinstance(op, FuncOp)]
    return module, function


def load(name: str, view: str, type: str) -> str:
    return (
        f"%{name}, %t{name} = nv_tileaa.tiled_load weak %{view}[%n, %n] "
        f": i32, i32 of {type} -> {TILE}\n"
    )


def store(name: str, view: str, type: str) -> str:
    return (
        f"%s{name} = nv_tileaa.tiled_store weak %{name}, %{view}[%n, %n] "
        f": {TILE}, i32, i32 of {type}\n"
    )


def constraints(body: str) -> LayoutConstraints:
    _, function = kernel(body)
    return collect_constraints(function, SM_90, 4)


def test_preferences_of_a_class_add_up() -> None:
    """A load and a store of f32 along rows weigh four bytes an element each."""
    collected = constraints(load("a", "rows", ROWS) + store("a", "rows", ROWS))
    (weights,) = collected.preferences.values()
    assert list(weights.values()) == [2 * 64 * 64 * 4]


def loop(body: str, counter: str = "i") -> str:
    return f"scf.for %{counter} = %n to %n step %n : i32 {{\n{body}}}\n"


def test_loops_multiply_the_weight_of_an_access() -> None:
    collected = constraints(loop(loop(load("a", "rows", ROWS), "j")))
    (weights,) = collected.preferences.values()
    assert list(weights.values()) == [64 * 64 * 4 * ASSUMED_TRIPS**2]


SUM = f"%x = nv_tileaa.addf %a, %b : {TILE}\n"


@pytest.mark.parametrize("heavier", ["rows", "columns"])
def test_a_class_takes_the_layout_with_the_greatest_weight(heavier: str) -> None:
    """Two loads against one, in the class that an element-wise operation makes of them."""
    views = {"rows": ROWS, "columns": COLUMNS}
    body = load("a", "rows", ROWS) + load("b", "columns", COLUMNS)
    body += SUM + load("d", heavier, views[heavier]) + SUM.replace("%x", "%y").replace("%b", "%d")
    collected = constraints(body)
    (weights,) = collected.preferences.values()
    assert len(weights) == 2
    layout, _ = max(weights.items(), key=lambda item: item[1])
    assignment = solve_layouts(collected)
    (leader,) = collected.preferences
    assert assignment.layout(leader) is layout
    # Registers of a thread hold neighbours in memory: elements of a row, or of a column.
    assert layout.vectors("register")[0] == {"rows": 1, "columns": 64}[heavier]


def test_collecting_and_solving_change_nothing() -> None:
    module, function = kernel(load("a", "rows", ROWS) + store("a", "columns", COLUMNS))
    before = print_op(module, debug=True)
    collected = collect_constraints(function, SM_90, 4)
    accesses = dict(collected.accesses)
    assert solve_layouts(collected).layouts == solve_layouts(collected).layouts
    assert collected.accesses == accesses
    assert print_op(module, debug=True) == before


def test_layouts_propagate_through_shape_operations() -> None:
    body = load("a", "rows", ROWS)
    body += f"%flat = nv_tileaa.view %a : {TILE} -> tensor<4096xf32>\n"
    body += "%twice = nv_tileaa.addf %flat, %flat : tensor<4096xf32>\n"
    collected = constraints(body)
    assignment = solve_layouts(collected)
    (leader,) = collected.preferences
    (op,) = collected.shape_ops
    assert assignment.layout(op.results[0]) == assignment.layout(leader).reshape((4096,))


def test_layouts_propagate_through_concatenation() -> None:
    """The registers of a thread hold its elements of both parts, one after the other."""
    whole = "tensor<128x64xf32>"
    body = load("a", "rows", ROWS)
    body += f"%both = nv_tileaa.cat %a, %a axis = 0 : {TILE}, {TILE} -> {whole}\n"
    body += f"%twice = nv_tileaa.addf %both, %both : {whole}\n"
    collected = constraints(body)
    assignment = solve_layouts(collected)
    (leader,) = collected.preferences
    (op,) = collected.shape_ops
    part = assignment.layout(leader)
    assert assignment.layout(op.results[0]) == beside(part, (128, 64))
    assert not [each for each in applied(body).walk() if isinstance(each, ConvertLayoutOp)]


VECTOR_MEMREF = "!nv_tileaa.memref<1024xf32, strides = [1]>"
MATRIX_MEMREF = "!nv_tileaa.memref<1024x1000xf32, strides = [{stride}, 1]>"
VECTOR = f"!nv_tileaa.tiled_view<tile = [1024], source = {VECTOR_MEMREF}>"


def scaled_row(stride: int) -> str:
    """A row of a matrix, scaled by a vector: with an odd stride, only this one has vectors."""
    memref = MATRIX_MEMREF.format(stride=stride)
    view = f"!nv_tileaa.tiled_view<tile = [1, 1024], source = {memref}, padding = zero>"
    row, vector = "tensor<1x1024xf32>", "tensor<1024xf32>"
    return f"""
      %vm = nv_tileaa.make_memref %p16 : !nv_tileaa.ptr<f32> -> {VECTOR_MEMREF}
      %vv = nv_tileaa.block_tile %vm : {VECTOR}
      %mm = nv_tileaa.make_memref %p16 : !nv_tileaa.ptr<f32> -> {memref}
      %mv = nv_tileaa.block_tile %mm : {view}
      %v, %tv = nv_tileaa.tiled_load weak %vv[%n] : i32 of {VECTOR} -> {vector}
      %a, %ta = nv_tileaa.tiled_load weak %mv[%n, %n] : i32, i32 of {view} -> {row}
      %w = nv_tileaa.view %v : {vector} -> {row}
      %x = nv_tileaa.mulf %a, %w : {row}
      %s = nv_tileaa.tiled_store weak %x, %mv[%n, %n] : {row}, i32, i32 of {view}
    """


@each_case(("stride", "vector"), [(1024, 4), (1002, 2), (1001, 1)])
def test_a_class_adopts_narrower_vectors_across_a_reshape(stride: int, vector: int) -> None:
    """Otherwise the scale would pass through shared memory, for its vectors of four elements."""
    body = scaled_row(stride)
    collected = constraints(body)
    assert sorted(access.vector for access in collected.accesses.values()) == [vector, vector, 4]
    assert [access.vector for access in solve_layouts(collected).accesses.values()] == [vector] * 3
    assert not [each for each in applied(body).walk() if isinstance(each, ConvertLayoutOp)]


def test_a_class_with_wider_vectors_keeps_its_layout() -> None:
    """A matrix that is read along its columns has another layout than its flat copy in memory."""
    body = load("a", "columns", COLUMNS)
    body += f"%flat = nv_tileaa.view %a : {TILE} -> tensor<4096xf32>\n"
    memref = "!nv_tileaa.memref<4096xf32, strides = [1]>"
    view = f"!nv_tileaa.tiled_view<tile = [4096], source = {memref}>"
    body += f"%fm = nv_tileaa.make_memref %p16 : !nv_tileaa.ptr<f32> -> {memref}\n"
    body += f"%fv = nv_tileaa.block_tile %fm : {view}\n"
    body += f"%s = nv_tileaa.tiled_store weak %flat, %fv[%n] : tensor<4096xf32>, i32 of {view}\n"
    collected = constraints(body)
    assert solve_layouts(collected).accesses == collected.accesses


def applied(body: str) -> Operation:
    module, _ = kernel(body)
    parse_pipeline("convert-tileaa-to-tileas").run(module)
    verify(module)
    check_integrity(module)
    return module


def test_operations_are_legal_once_their_tiles_carry_layouts() -> None:
    """The conversion is idempotent."""
    body = load("a", "rows", ROWS) + "%x = nv_tileaa.addf %a, %a : tensor<64x64xf32>\n"
    body += f"%r = scf.if %c -> ({TILE}) {{\nscf.yield %x : {TILE}\n}} else {{\n"
    body += f"scf.yield %a : {TILE}\n}}\n" + store("r", "columns", COLUMNS)
    module = applied(body)
    tiles = [value for op in module.walk() for value in (*op.operands, *op.results)]
    tiles = [value for value in tiles if isinstance(value.type, TensorType)]
    assert tiles
    assert all(layout_of(tile) for tile in tiles)
    names = [op.name for op in module.walk()]
    # There is no addition of nv_tileas: that of nv_tileaa is legal.
    assert "nv_tileaa.addf" in names
    assert not [name for name in names if name.startswith("nv_tileaa.tiled_")]
    before = print_op(module, debug=True)
    parse_pipeline("convert-tileaa-to-tileas").run(module)
    assert print_op(module, debug=True) == before


def test_a_conversion_of_layouts_follows_the_definition() -> None:
    """Once, however many operations require it."""
    twice = store("a", "columns", COLUMNS) + store("a", "columns", COLUMNS).replace("%sa", "%sb")
    module = applied(load("a", "rows", ROWS) + loop(load("d", "rows", ROWS)) + twice)
    (conversion,) = [op for op in module.walk() if op.name == "nv_tileas.convert_layout"]
    assert conversion.prev is conversion.operands[0].defining_op()


def test_queues_must_be_lowered_first() -> None:
    queue = "!nv_tileaa.queue<[i32]>"
    module, _ = kernel(f"%q = nv_tileaa.create_queue : {queue}\n")
    with pytest.raises(UserError) as caught:
        parse_pipeline("convert-tileaa-to-tileas").run(module)
    (error,) = caught.value.diagnostics
    assert "failed to legalize operation 'nv_tileaa.create_queue'" in error.message
    assert "convert-queues-to-pipelines" in error.notes[0].message


def test_a_tile_that_the_host_passes_is_rejected() -> None:
    """There is no way to pass one, and no layout in which it would arrive."""
    module = read("""gpu.module @kernels {
      nv_tileaa.func @f(%x: tensor<64xf32>)
          attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
        %y = nv_tileaa.addf %x, %x : tensor<64xf32>
        %z = nv_tileaa.addf %y, %x : tensor<64xf32>
        nv_tileaa.return
      }
    }""")
    add_target_spec(module, SM_90)
    before = print_op(module)
    with pytest.raises(UserError, match=r"failed to legalize operation 'nv_tileaa\.addf'"):
        parse_pipeline("convert-tileaa-to-tileas").run(module)
    assert print_op(module) == before
