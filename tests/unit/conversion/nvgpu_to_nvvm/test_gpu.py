"""gpu to NVVM: registers, barriers, shuffles, functions, as the notes spell them."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from lowering import TO_NVVM, convert, failures, kernel, lowered, read, symbols, to_ptx

from tilewright.conversion.nvgpu_to_nvvm import TARGET
from tilewright.ir.legality import Legality
from tilewright.ptxsim import Module
from tilewright.text.printer import print_op

REGISTERS = {
    "thread_id": "tid",
    "block_id": "ctaid",
    "block_dim": "ntid",
    "grid_dim": "nctaid",
    "cluster_id": "clusterid",
    "cluster_dim": "nclusterid",
    "cluster_block_id": "cluster.ctaid",
}

EVERYTHING = """
    %i = gpu.thread_id x
    %lane = gpu.lane_id
    %s = gpu.subgroup_size : index
    %c = gpu.cluster_block_id y
    gpu.barrier
    %x = arith.index_cast %i : index to i32
    %w = arith.constant 32 : i32
    %y, %valid = gpu.shuffle down %x, %w, %w : i32
    %r = gpu.subgroup_reduce add %y : (i32) -> i32
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.printf "%d", %r : i32
    %f = arith.sitofp %r : i32 to f32
    %g = math.sin %f : f32
    cf.assert %valid, "lost"
    %b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = 3>
    nvgpu.mbarrier.init %b[%i], %s : !nvgpu.mbarrier.group<memorySpace = 3>
"""


@pytest.mark.requirement(
    "R3-006", "R3-024", "R3-025", "R3-026", "R3-027", "R3-028", "R3-029", "R3-030", "R3-031"
)
@each_case("axis", ["x", "y", "z"])
@each_case("query", REGISTERS)
def test_a_query_is_a_register_and_a_cast(query: str, axis: str) -> None:
    assert lowered(f"%i = gpu.{query} {axis}") == [
        f"%0 = nvvm.read.ptx.sreg.{REGISTERS[query]}.{axis} : i32",
        "%1 = llvm.sext %0 : i32 to i64",
    ]


@pytest.mark.requirement("R3-032", "R3-033")
@pytest.mark.parametrize(
    ("query", "register"), [("subgroup_size : index", "warpsize"), ("lane_id", "laneid")]
)
def test_queries_of_a_warp(query: str, register: str) -> None:
    assert lowered(f"%i = gpu.{query}") == [
        f"%0 = nvvm.read.ptx.sreg.{register} : i32",
        "%1 = llvm.sext %0 : i32 to i64",
    ]


@pytest.mark.requirement("R3-007", "R3-034", "R3-035")
def test_the_barrier_keeps_its_position() -> None:
    body = "%i = gpu.lane_id\ngpu.barrier\n%j = gpu.lane_id"
    assert lowered(body) == [
        "%0 = nvvm.read.ptx.sreg.laneid : i32",
        "%1 = llvm.sext %0 : i32 to i64",
        "%2 = llvm.mlir.constant(0 : i32) : i32",
        "nvvm.bar.sync.aligned %2 : i32",
        "%3 = nvvm.read.ptx.sreg.laneid : i32",
        "%4 = llvm.sext %3 : i32 to i64",
    ]
    assert lowered("gpu.barrier", pipeline=f"{TO_NVVM}{{barrier=barrier0}}") == ["nvvm.barrier0"]
    ptx = to_ptx(kernel("gpu.barrier"))
    assert "bar.sync \t0;" in ptx or "barrier.sync.aligned \t0;" in ptx


def test_a_shuffle_returns_the_validity_of_the_lane() -> None:
    body = "%r, %v = gpu.shuffle xor %x, %o, %w : f32"
    assert lowered(body, "%x: f32, %o: i32, %w: i32") == [
        "%0 = llvm.mlir.constant(1 : i32) : i32",
        "%1 = llvm.mlir.constant(32 : i32) : i32",
        "%2 = llvm.mlir.constant(-1 : i32) : i32",
        "%3 = llvm.sub %1, %arg2 : i32",
        "%4 = llvm.lshr %2, %3 : i32",
        "%5 = llvm.sub %arg2, %0 : i32",
        "%6 = nvvm.shfl.sync bfly %4, %arg0, %arg1, %5 {return_value_and_is_valid} "
        ": f32 -> !llvm.struct<(f32, i1)>",
        "%7 = llvm.extractvalue %6[0] : !llvm.struct<(f32, i1)>",
        "%8 = llvm.extractvalue %6[1] : !llvm.struct<(f32, i1)>",
    ]


def lane_kernel(mode: str, offset: int, width: int) -> str:
    return kernel(
        f"""
        %i = gpu.lane_id
        %o = arith.constant {offset} : i32
        %w = arith.constant {width} : i32
        %x = memref.load %a[%i] : memref<32xi32, 1>
        %y, %valid = gpu.shuffle {mode} %x, %o, %w : i32
        %v = arith.extui %valid : i1 to i32
        memref.store %y, %r[%i] : memref<32xi32, 1>
        memref.store %v, %s[%i] : memref<32xi32, 1>
        """,
        "%a: memref<32xi32, 1>, %r: memref<32xi32, 1>, %s: memref<32xi32, 1>",
    )


@each_case("mode", ["up", "down", "xor", "idx"])
def test_shuffles_of_a_whole_warp_run(mode: str) -> None:
    a = np.arange(100, 132, dtype=np.int32)
    r, s = np.zeros_like(a), np.zeros_like(a)
    Module(to_ptx(lane_kernel(mode, 3, 32))).launch("k", 1, 32, [a, r, s])
    lane = np.arange(32)
    source = {"up": lane - 3, "down": lane + 3, "xor": lane ^ 3, "idx": lane * 0 + 3}[mode]
    valid = (source >= 0) & (source < 32)
    np.testing.assert_array_equal(s, valid)
    np.testing.assert_array_equal(r[valid], a[source[valid]])


def test_a_kernel_with_buffers() -> None:
    text = kernel("gpu.return", "%a: f32").replace(
        "      gpu.return\n      gpu.return", "      gpu.return"
    )
    text = text.replace(
        "(%a: f32)  kernel",
        "(%a: f32) workgroup(%b: memref<4x2xf16, 3>) private(%c: memref<3xi32, 5>) kernel "
        "attributes {known_block_size = array<i32: 32, 2, 1>, "
        "known_cluster_size = array<i32: 2, 1, 1>}",
    ).replace("memref<3xi32, 5>", "memref<3xi32, #gpu.address_space<private>>")
    printed = print_op(convert(text))
    for line in (
        "llvm.mlir.global internal @__wg_k_0() {addr_space = 3 : i32, alignment = 16 : i64}"
        " : !llvm.array<8 x f16>",
        "nvvm.kernel, nvvm.reqntid = array<i32: 32, 2, 1>",
        "nvvm.cluster_dim = array<i32: 2, 1, 1>",
        "llvm.mlir.addressof @__wg_k_0 : !llvm.ptr<3>",
        "llvm.br ^bb1(%arg0, ",
    ):
        assert line in printed
    assert "x i32 : (i64) -> !llvm.ptr" in printed


@pytest.mark.requirement("R3-009")
def test_printf_passes_a_buffer_of_arguments() -> None:
    body = 'gpu.printf "%d %f\\n", %i, %v : i32, f32'
    arguments = "%i: i32, %v: f32"
    assert lowered(body, arguments) == [
        "%0 = llvm.mlir.constant(1 : i64) : i64",
        "%1 = llvm.alloca %0 x !llvm.struct<(i32, f64)> : (i64) -> !llvm.ptr",
        "%2 = llvm.mlir.addressof @printf_format : !llvm.ptr",
        "%3 = llvm.fpext %arg1 : f32 to f64",
        "%4 = llvm.getelementptr %1[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, f64)>",
        "llvm.store %arg0, %4 : i32, !llvm.ptr",
        "%5 = llvm.getelementptr %1[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, f64)>",
        "llvm.store %3, %5 : f64, !llvm.ptr",
        "%6 = llvm.call @vprintf(%2, %1) : (!llvm.ptr, !llvm.ptr) -> i32",
    ]
    assert symbols(body, arguments) == [
        "llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32",
        'llvm.mlir.global internal constant @printf_format("%d %f\\0A\\00")',
    ]


def test_the_size_of_dynamic_shared_memory() -> None:
    body = """
        %m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
        %c0 = arith.constant 0 : index
        %n = memref.dim %m, %c0 : memref<?xi8, #gpu.address_space<workgroup>>
        %i = arith.index_cast %n : index to i32
        %v = memref.view %m[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
            to memref<4xi32, #gpu.address_space<workgroup>>
        memref.store %i, %v[%c0] : memref<4xi32, #gpu.address_space<workgroup>>
        %j = memref.load %v[%c0] : memref<4xi32, #gpu.address_space<workgroup>>
        memref.store %j, %r[%c0] : memref<1xi32, 1>
    """
    r = np.zeros(1, np.int32)
    Module(to_ptx(kernel(body, "%r: memref<1xi32, 1>"))).launch("k", 1, 1, [r], shared=48)
    assert r[0] == 48


@pytest.mark.requirement("R3-001", "R3-002", "R3-003", "R3-004")
def test_only_gpu_modules_are_left() -> None:
    module = convert(kernel(EVERYTHING))
    left = [op for op in module.walk() if op.dialect not in ("llvm", "nvvm")]
    assert {op.name for op in left} == {"builtin.module", "gpu.module"}


@pytest.mark.requirement("R3-018")
@pytest.mark.parametrize(
    ("body", "name"),
    [
        (
            """%r = gpu.all_reduce %x {
            ^first(%a: f32, %b: f32):
              cf.br ^second
            ^second:
              gpu.yield %a : f32
            } : (f32) -> f32""",
            "gpu.all_reduce",
        ),
        (
            "%r = nvgpu.mma.sync(%v, %v, %v) {mmaShape = [8, 8, 8]} "
            ": (vector<1x2xf16>, vector<1x2xf16>, vector<1x2xf16>) -> vector<1x2xf16>",
            "nvgpu.mma.sync",
        ),
    ],
)
def test_an_op_without_a_pattern_fails(body: str, name: str) -> None:
    text = kernel(body, "%x: f32, %v: vector<1x2xf16>")
    assert f"failed to legalize operation '{name}' that was marked illegal" in failures(text)


@pytest.mark.requirement("R3-023")
def test_the_conversion_target() -> None:
    module = read(
        kernel('gpu.barrier\n%s = math.sin %x : f32\ncf.assert %c, "m"', "%x: f32, %c: i1")
    )
    said = {op.name: TARGET.legality(op) for op in module.walk()}
    assert said.pop("gpu.module") is said.pop("builtin.module") is Legality.LEGAL
    assert set(said) == {"gpu.func", "gpu.barrier", "math.sin", "cf.assert", "gpu.return"}
    assert set(said.values()) == {Legality.ILLEGAL}
    legal = convert(kernel("gpu.barrier"))
    assert {TARGET.legality(op) for op in legal.walk()} == {Legality.LEGAL}
