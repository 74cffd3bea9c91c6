"""Lowering of single operations of every version of Tile IR."""

from __future__ import annotations

import pytest
from each_case import each_case
from tile_lowering import kernel, lines, parsed, tile_module

from tilewright.conversion.cuda_tile_to_nv_tileaa import ConvertCudaTileToTileAA
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.text.printer import print_op

ARGUMENTS = "%n: tile<i32>, %w: tile<i64>, %x: tile<f32>, %c: tile<i1>, %p: tile<ptr<f32>>"
NAMES = {"%n": "%arg0", "%w": "%arg1", "%x": "%arg2", "%c": "%arg3", "%p": "%arg4"}

SCALARS = {
    "absi %n : tile<i32>": "absi %n : i32",
    "negi %n overflow<no_signed_wrap> : tile<i32>": "negi %n overflow<nsw> : i32",
    "addi %n, %n : tile<i32>": "addi %n, %n : i32",
    "addi %n, %n overflow<no_wrap> : tile<i32>": "addi %n, %n overflow<nsw, nuw> : i32",
    "subi %n, %n overflow<no_unsigned_wrap> : tile<i32>": "subi %n, %n overflow<nuw> : i32",
    "muli %n, %n : tile<i32>": "muli %n, %n : i32",
    "mulhii %n, %n : tile<i32>": "mulhiui %n, %n : i32",
    "divi %n, %n signed : tile<i32>": "divi %n, %n signed : i32",
    "divi %n, %n signed rounding<negative_inf> : tile<i32>": (
        "divi %n, %n signed rounding<negative_inf> : i32"
    ),
    "remi %n, %n unsigned : tile<i32>": "remi %n, %n unsigned : i32",
    "shli %n, %n : tile<i32>": "shli %n, %n : i32",
    "shri %n, %n signed : tile<i32>": "shri %n, %n signed : i32",
    "andi %n, %n : tile<i32>": "andi %n, %n : i32",
    "ori %n, %n : tile<i32>": "ori %n, %n : i32",
    "xori %n, %n : tile<i32>": "xori %n, %n : i32",
    "cmpi equal %n, %n, signed : tile<i32> -> tile<i1>": "cmpi eq, %n, %n : i32",
    "cmpi not_equal %n, %n, unsigned : tile<i32> -> tile<i1>": "cmpi ne, %n, %n : i32",
    "cmpi less_than %n, %n, signed : tile<i32> -> tile<i1>": "cmpi slt, %n, %n : i32",
    "cmpi less_than %n, %n, unsigned : tile<i32> -> tile<i1>": "cmpi ult, %n, %n : i32",
    "cmpi less_than_or_equal %n, %n, signed : tile<i32> -> tile<i1>": "cmpi sle, %n, %n : i32",
    "cmpi greater_than %n, %n, unsigned : tile<i32> -> tile<i1>": "cmpi ugt, %n, %n : i32",
    "cmpi greater_than_or_equal %n, %n, unsigned : tile<i32> -> tile<i1>": (
        "cmpi uge, %n, %n : i32"
    ),
    "absf %x : tile<f32>": "absf %x : f32",
    "negf %x : tile<f32>": "negf %x : f32",
    "addf %x, %x rounding<zero> : tile<f32>": "addf %x, %x rounding<zero> : f32",
    "subf %x, %x flush_to_zero : tile<f32>": "subf %x, %x flush_to_zero : f32",
    "mulf %x, %x : tile<f32>": "mulf %x, %x : f32",
    "divf %x, %x rounding<approx> : tile<f32>": "divf %x, %x rounding<approx> : f32",
    "remf %x, %x : tile<f32>": "remf %x, %x : f32",
    "maxf %x, %x propagate_nan : tile<f32>": "maxf %x, %x propagate_nan : f32",
    "minf %x, %x : tile<f32>": "minf %x, %x : f32",
    "cmpf equal ordered %x, %x : tile<f32> -> tile<i1>": "cmpf oeq, %x, %x : f32",
    "cmpf not_equal unordered %x, %x : tile<f32> -> tile<i1>": "cmpf une, %x, %x : f32",
    "cmpf less_than unordered %x, %x : tile<f32> -> tile<i1>": "cmpf ult, %x, %x : f32",
    "cmpf greater_than_or_equal ordered %x, %x : tile<f32> -> tile<i1>": "cmpf oge, %x, %x : f32",
    "ceil %x : tile<f32>": "ceil %x : f32",
    "floor %x : tile<f32>": "floor %x : f32",
    "sqrt %x rounding<approx> : tile<f32>": "sqrt %x rounding<approx> : f32",
    "exp %x : tile<f32>": "exp %x : f32",
    "exp2 %x flush_to_zero : tile<f32>": "exp2 %x flush_to_zero : f32",
    "log %x : tile<f32>": "log %x : f32",
    "tan %x : tile<f32>": "tan %x : f32",
    "sinh %x : tile<f32>": "sinh %x : f32",
    "cosh %x : tile<f32>": "cosh %x : f32",
    "atan2 %x, %x : tile<f32>": "atan2 %x, %x : f32",
    "fpowf %x, %x : tile<f32>": "fpowf %x, %x : f32",
    "fpowi %x, %n : tile<f32>, tile<i32>": "fpowi %x, %n : f32, i32",
    "bitcast %x : tile<f32> -> tile<i32>": "bitcast %x : f32 to i32",
    "exti %n unsigned : tile<i32> -> tile<i64>": "exti %n unsigned : i32 to i64",
    "trunci %n overflow<no_signed_wrap> : tile<i32> -> tile<i8>": (
        "trunci %n overflow<nsw> : i32 to i8"
    ),
    "ftof %x rounding<zero> : tile<f32> -> tile<f16>": "fp_to_fp %x rounding<zero> : f32 to f16",
    "ftoi %x signed saturating : tile<f32> -> tile<i32>": "ftoi %x signed saturating : f32 to i32",
    "int_to_ptr %w : tile<i64> -> tile<ptr<f32>>": "int_to_ptr %w : i64 to !nv_tileaa.ptr<f32>",
    "ptr_to_int %p : tile<ptr<f32>> -> tile<i64>": "ptr_to_int %p : !nv_tileaa.ptr<f32> to i64",
    "ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i8>>": (
        "bitcast %p : !nv_tileaa.ptr<f32> to !nv_tileaa.ptr<i8>"
    ),
    "select %c, %x, %x : tile<i1>, tile<f32>": "select %c, %x, %x : i1, f32",
    "offset %p, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>": (
        "addptr %p, %n : !nv_tileaa.ptr<f32>, i32"
    ),
    "reshape %x : tile<f32> -> tile<1x1xf32>": "splat %x : f32 -> tensor<1x1xf32>",
    "alloca num_elem = 4, alignment = 8 global : tile<ptr<f32>>": (
        "alloca 4 align 8 {shared_by_grid} : !nv_tileaa.ptr<f32>"
    ),
    "gdc_wait_tko -> token": "wait_on_dependencies : !nv_tileaa.mem_token",
    "gdc_launch_dependents_tko -> token": "launch_dependents : !nv_tileaa.mem_token",
    'print_tko "%d", %n : tile<i32> -> token': 'print "%d", %n : i32',
}


@pytest.mark.requirement("R1-060", "R0-029")
@each_case("line", SCALARS)
def test_scalars(line: str) -> None:
    expected = SCALARS[line]
    for name, argument in NAMES.items():
        expected = expected.replace(name, argument)
    assert lines(f"%r = {line}", ARGUMENTS) == [f"%0 = nv_tileaa.{expected}"]


def shaped(body: str) -> str:
    """The last line of the lowering of shape operations."""
    text = f"%i = iota : tile<8xi32>\n%m = reshape %i : tile<8xi32> -> tile<2x4xi32>\n{body}"
    return lines(text, "%n: tile<i32>")[-1].partition(" = ")[2]


@each_case(
    ("line", "expected"),
    [
        (
            "reshape %i : tile<8xi32> -> tile<8x1xi32>",
            "expand_dims %0 {axis = 1 : i64} : tensor<8xi32> -> tensor<8x1xi32>",
        ),
        (
            "reshape %i : tile<8xi32> -> tile<1x8xi32>",
            "expand_dims %0 {axis = 0 : i64} : tensor<8xi32> -> tensor<1x8xi32>",
        ),
        (
            "reshape %i : tile<8xi32> -> tile<1x8x1xi32>",
            "view %0 : tensor<8xi32> -> tensor<1x8x1xi32>",
        ),
        (
            "reshape %m : tile<2x4xi32> -> tile<4x2x1xi32>",
            "view %1 : tensor<2x4xi32> -> tensor<4x2x1xi32>",
        ),
        (
            "permute %m [1, 0] : tile<2x4xi32> -> tile<4x2xi32>",
            "permute %1 [1, 0] : tensor<2x4xi32> -> tensor<4x2xi32>",
        ),
        (
            "cat %m, %m dim = 1 : tile<2x4xi32>, tile<2x4xi32> -> tile<2x8xi32>",
            "cat %1, %1 axis = 1 : tensor<2x4xi32>, tensor<2x4xi32> -> tensor<2x8xi32>",
        ),
        (
            "extract %m[%n, %n] : tile<2x4xi32> -> tile<1x2xi32>",
            "extract_slice %1[%arg0, %arg0] : tensor<2x4xi32> -> tensor<1x2xi32>",
        ),
        (
            "insert %i, %i[%n] : tile<8xi32>, tile<8xi32>",
            "insert_slice %0, %0[%arg0] : tensor<8xi32>, tensor<8xi32>",
        ),
        ("pack %i : tile<8xi32> -> tile<32xi8>", "pack %0 : tensor<8xi32> -> tensor<32xi8>"),
    ],
)
def test_shapes(line: str, expected: str) -> None:
    assert shaped(f"%r = {line}") == f"nv_tileaa.{expected}"


SCALED = """%a = constant <f8E4M3FN: 1.0> : tile<16x32xf8E4M3FN>
%b = constant <f8E4M3FN: 1.0> : tile<32x16xf8E4M3FN>
%d = constant <f32: 1.0> : tile<16x16xf32>
%s = constant <f8E8M0FNU: 1.0> : tile<16x1xf8E8M0FNU>
%t = constant <f8E8M0FNU: 1.0> : tile<1x16xf8E8M0FNU>
%r = mmaf_scaled %a, %b, %d, %s, %t : tile<16x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<16x16xf32>,
    tile<16x1xf8E8M0FNU>, tile<1x16xf8E8M0FNU>"""


def test_scaled_dots() -> None:
    assert lines(SCALED)[-1] == (
        "%5 = nv_tileaa.dot %0, %1, %2 scaled by %3, %4 "
        '{input_precision = "tf32"} : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, '
        "tensor<16x16xf32> by tensor<16x1xf8E8M0FNU>, tensor<1x16xf8E8M0FNU>"
    )


def test_one_element_becomes_a_scalar() -> None:
    body = (
        "%o = reshape %x : tile<f32> -> tile<1x1xf32>\n%s = reshape %o : tile<1x1xf32> -> tile<f32>"
    )
    assert lines(body, "%x: tile<f32>") == [
        "%0 = nv_tileaa.splat %arg0 : f32 -> tensor<1x1xf32>",
        "%c0_i32 = arith.constant 0 : i32",
        "%1 = nv_tileaa.extract %0[%c0_i32, %c0_i32] : tensor<1x1xf32> -> f32",
    ]


def test_shape_operations_on_scalars_fold() -> None:
    body = """
    %a = reshape %x : tile<f32> -> tile<f32>
    %b = broadcast %a : tile<f32> -> tile<f32>
    %c = extract %b[] : tile<f32> -> tile<f32>
    %d = absf %c : tile<f32>
    """
    assert lines(body, "%x: tile<f32>") == ["%0 = nv_tileaa.absf %arg0 : f32"]


def test_the_grid() -> None:
    body = (
        "%a, %b, %c = get_tile_block_id : tile<i32>\n%d, %e, %f = get_num_tile_blocks : tile<i32>"
    )
    assert lines(body) == [
        "%0:3 = nv_tileaa.get_program_id : i32, i32, i32",
        "%1:3 = nv_tileaa.get_num_programs : i32, i32, i32",
    ]


TENSOR = "tensor_view<?x64xf32, strides=[64,1]>"
GATHERED = f"gather_scatter_view<tile=(8x8), {TENSOR}, sparse_dim=0>"
STRIDED = f"strided_view<tile=(8x8), traversal_strides=[4,8], padding_value = zero, {TENSOR}>"
PLAIN = f"partition_view<tile=(8x8), {TENSOR}>"
MEMREF = "!nv_tileaa.memref<?x64xf32, strides = [64, 1]>"
NEW_GATHERED = f"!nv_tileaa.tiled_view<tile = [8, 8], source = {MEMREF}, sparse = 0>"
NEW_STRIDED = (
    f"!nv_tileaa.tiled_view<tile = [8, 8], source = {MEMREF}, steps = [4, 8], padding = zero>"
)
NEW_PLAIN = f"!nv_tileaa.tiled_view<tile = [8, 8], source = {MEMREF}>"


def test_views() -> None:
    body = f"""
    %v = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> {TENSOR}
    %g = make_gather_scatter_view %v : {GATHERED}
    %s = make_strided_view %v : {STRIDED}
    %q = make_partition_view %v : {PLAIN}
    %d:2 = get_tensor_shape %v : {TENSOR} -> tile<i64>
    %e:2 = get_index_space_shape %s : {STRIDED} -> tile<i32>
    %i = iota : tile<8xi32>
    %a, %t = load_view_tko weak %g[%i, %n] : {GATHERED}, tile<8xi32>, tile<i32>
        -> tile<8x8xf32>, token
    %b, %u = load_view_tko weak %s[%n, %n] inbounds = [true, false] : {STRIDED}, tile<i32>
        -> tile<8x8xf32>, token
    %k = store_view_tko weak %a, %g[%i, %n] : tile<8x8xf32>, {GATHERED}, tile<8xi32>, tile<i32>
        -> token
    %l = atomic_red_view_tko relaxed device %q[%n, %n], addf, %b token = %k
        : tile<8x8xf32>, {PLAIN}, tile<i32> -> token
    """
    assert lines(body, "%p: tile<ptr<f32>>, %n: tile<i32>") == [
        f"%0 = nv_tileaa.make_memref %arg0 sizes(%arg1 : i32) : !nv_tileaa.ptr<f32> -> {MEMREF}",
        f"%1 = nv_tileaa.block_tile %0 : {NEW_GATHERED}",
        f"%2 = nv_tileaa.block_tile %0 : {NEW_STRIDED}",
        f"%3 = nv_tileaa.block_tile %0 : {NEW_PLAIN}",
        f"%4 = nv_tileaa.get_dim_size %0 0 : {MEMREF} -> i64",
        f"%5 = nv_tileaa.get_dim_size %0 1 : {MEMREF} -> i64",
        f"%6 = nv_tileaa.get_dim_size %2 0 : {NEW_STRIDED} -> i32",
        f"%7 = nv_tileaa.get_dim_size %2 1 : {NEW_STRIDED} -> i32",
        "%8 = nv_tileaa.make_range : tensor<8xi32>",
        f"%9:2 = nv_tileaa.gather_load weak %1[%8, %arg1] : tensor<8xi32>, i32 of {NEW_GATHERED} "
        "-> tensor<8x8xf32>",
        "%10:2 = nv_tileaa.tiled_load weak %2[%arg1, %arg1] "
        f"{{in_bounds = array<i1: true, false>}} : i32, i32 of {NEW_STRIDED} -> tensor<8x8xf32>",
        "%11 = nv_tileaa.scatter_store weak %9#0, %1[%8, %arg1] "
        f": tensor<8x8xf32>, tensor<8xi32>, i32 of {NEW_GATHERED}",
        "%12 = nv_tileaa.tiled_atomic_rmw relaxed gpu addf %10#0, %3[%arg1, %arg1] token = %11 "
        f": tensor<8x8xf32>, i32, i32 of {NEW_PLAIN}",
    ]


@each_case(
    ("capability", "latency"), [("sm_90", "3 : i64"), ("sm_100", "7 : i64"), ("sm_80", "None")]
)
def test_hints_are_those_for_the_gpu(capability: str, latency: str) -> None:
    body = (
        "%x, %t = load_ptr_tko weak %p "
        "optimization_hints = <sm_90 = {latency = 3}, sm_100 = {latency = 7}> "
        ": tile<ptr<f32>> -> tile<f32>, token"
    )
    module = parsed(tile_module(body, "%p: tile<ptr<f32>>"))
    verify(module)
    ConvertCudaTileToTileAA(compute_capability=capability).run(module, Sink())
    (load,) = [op for op in module.walk() if op.name == "nv_tileaa.load"]
    assert str(load.attributes.get("latency")) == latency


def test_hints_of_kernels() -> None:
    text = (
        "cuda_tile.module @m { entry @k() optimization_hints=<sm_90 = {num_cta_in_cga = 2, "
        "occupancy = 3}, default = {num_worker_warps_per_cta = 8}> { return } }"
    )
    module = parsed(text)
    verify(module)
    ConvertCudaTileToTileAA(compute_capability="sm_90").run(module, Sink())
    (function,) = [op for op in module.walk() if op.name == "nv_tileaa.func"]
    text = print_op(function).splitlines()[0]
    assert "kernel_spec = #nv_tileaa.kernel_spec<>" in text
    requests = "num_ctas = <2, entry>, warps = <8, entry>, occupancy = <3, entry>"
    assert f"nv_tileaa.asked = #nv_tileaa.asked<{requests}>" in text


def test_references_to_globals() -> None:
    around = "global @table <i32: [1, 2]> : tile<2xi32>"
    function = kernel("%g = get_global @table : tile<ptr<i32>>", "", around)
    assert "nv_tileaa.get_global @table : !nv_tileaa.ptr<i32>" in print_op(function)
