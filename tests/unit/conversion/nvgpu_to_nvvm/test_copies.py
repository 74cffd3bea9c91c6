"""nvgpu's asynchronous copies and packed arithmetic to NVVM."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from lowering import kernel, lowered, to_ptx

from tilewright.ptxsim import Module

ARGUMENTS = "%g: memref<64xf32, 1>, %s: memref<64xf32, 3>, %i: index"
TOKEN = "%{} = llvm.mlir.constant(0 : i32) : i32"


@pytest.mark.requirement("R3-015", "R3-103", "R3-106")
@each_case(("elements", "cache"), [(1, "ca"), (2, "ca"), (4, "ca"), (4, "cg")])
def test_copy_sizes(elements: int, cache: str) -> None:
    bypass = " {bypassL1}" if cache == "cg" else ""
    body = (
        f"%t = nvgpu.device_async_copy %g[%i], %s[%i], {elements}{bypass} "
        ": memref<64xf32, 1> to memref<64xf32, 3>"
    )
    assert lowered(body, ARGUMENTS) == [
        "%0 = llvm.getelementptr %arg1[%arg2] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32",
        "%1 = llvm.getelementptr %arg0[%arg2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32",
        f"nvvm.cp.async.shared.global %0, %1, {4 * elements}, cache = {cache}"
        " : !llvm.ptr<3>, !llvm.ptr<1>",
        TOKEN.format(2),
    ]


@pytest.mark.requirement("R3-015", "R3-104", "R3-105")
def test_groups_and_waits() -> None:
    body = """
        %t = nvgpu.device_async_copy %g[%i], %s[%i], 4 : memref<64xf32, 1> to memref<64xf32, 3>
        %u = nvgpu.device_async_create_group %t
        nvgpu.device_async_wait %u {numGroups = 1 : i32}
        nvgpu.device_async_wait %u
    """
    assert lowered(body, ARGUMENTS)[4:] == [
        "nvvm.cp.async.commit.group",
        "nvvm.cp.async.wait.group 1",
        "nvvm.cp.async.wait.group 0",
    ]


@pytest.mark.requirement("R3-064")
def test_a_copy_runs_and_fills_with_zeros() -> None:
    body = """
        %i = gpu.thread_id x
        %four = arith.constant 4 : index
        %three = arith.constant 3 : index
        %start = arith.muli %i, %four : index
        %t = nvgpu.device_async_copy %g[%start], %s[%start], 4, %three
            : memref<128xf32, 1> to memref<128xf32, 3>
        %u = nvgpu.device_async_create_group %t
        nvgpu.device_async_wait %u {numGroups = 0 : i32}
        gpu.barrier
        %x = vector.load %s[%start] {alignment = 16 : i64} : memref<128xf32, 3>, vector<4xf32>
        vector.store %x, %r[%start] {alignment = 16 : i64} : memref<128xf32, 1>, vector<4xf32>
    """
    arguments = "%g: memref<128xf32, 1>, %r: memref<128xf32, 1>"
    ptx = to_ptx(kernel(body, arguments, "workgroup(%s: memref<128xf32, 3>)"))
    for instruction in (
        "cp.async.ca.shared.global",
        "cp.async.commit_group",
        "cp.async.wait_group",
    ):
        assert instruction in ptx
    g, r = np.arange(1, 129, dtype=np.float32), np.zeros(128, np.float32)
    Module(ptx).launch("k", 1, 32, [g, r])
    expected = g.copy()
    expected[3::4] = 0
    np.testing.assert_array_equal(r, expected)


@pytest.mark.requirement("R3-066")
def test_a_reciprocal_is_approximate_in_ptx() -> None:
    body = """
        %i = arith.constant 0 : index
        %v = vector.load %m[%i] : memref<4xf32, 1>, vector<4xf32>
        %r = nvgpu.rcp %v {rounding = approx, ftz} : vector<4xf32>
        vector.store %r, %m[%i] : memref<4xf32, 1>, vector<4xf32>
    """
    ptx = to_ptx(kernel(body, "%m: memref<4xf32, 1>"))
    assert ptx.count("rcp.approx.ftz.f32") == 4
    m = np.array([1, 2, 4, 0.5], np.float32)
    Module(ptx).launch("k", 1, 1, [m])
    np.testing.assert_allclose(m, [1, 0.5, 0.25, 2], rtol=1e-6)


def test_a_reciprocal_of_each_element() -> None:
    lines = lowered(
        "%r = nvgpu.rcp %v {rounding = approx, ftz} : vector<2xf32>", "%v: vector<2xf32>"
    )
    assert [line.split(" = ")[1] for line in lines if "rcp" in line] == [
        "nvvm.rcp.approx.ftz.f %1 : f32",
        "nvvm.rcp.approx.ftz.f %3 : f32",
    ]


def test_packed_arithmetic() -> None:
    pair = "vector<2xf32>"
    body = f"""
        %r = nvgpu.fma.packed.f32x2 %v, %v, %v : {pair}
        %s = nvgpu.mul.packed.f32x2 %r, %v : {pair}
    """
    names = [line.split()[2] for line in lowered(body, f"%v: {pair}")]
    assert names == ["nvvm.fma.packed.f32x2", "nvvm.mul.packed.f32x2"]
