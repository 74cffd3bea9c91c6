"""Small kernels in the llvm and nvvm dialects, run on the emulator against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.emit.cubin import assemble
from tilewright.emit.ptx import compile_ptx
from tilewright.ptxsim import Module
from tilewright.target.arch import ARCHES

THREADS = 128

WARP_SUM = """
llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %half = llvm.mlir.constant(16 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %lane = nvvm.read.ptx.sreg.laneid : i32
  %p = llvm.getelementptr %in[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %x = llvm.load %p : !llvm.ptr<1> -> f32
  llvm.br ^loop(%half, %x : i32, f32)
^loop(%d: i32, %s: f32):
  %o = nvvm.shfl.sync bfly %all, %s, %d, %clamp : f32 -> f32
  %t = llvm.fadd %s, %o : f32
  %e = llvm.lshr %d, %one : i32
  %more = llvm.icmp "ne" %e, %zero : i32
  llvm.cond_br %more, ^loop(%e, %t : i32, f32), ^end
^end:
  %q = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %t, %q : f32, !llvm.ptr<1>
  llvm.return
}
"""


def numbers(*shape: int) -> np.ndarray:
    """Small integers, whose adds and multiplies are exact."""
    return np.random.default_rng(7).integers(-8, 8, shape).astype(np.float32)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_the_sum_of_a_warp(arch: str, emit) -> None:
    ptx = compile_ptx(emit(WARP_SUM, arch))
    values, results = numbers(32), np.zeros(32, np.float32)
    Module(ptx).launch("k", 1, 32, [values, results])
    np.testing.assert_array_equal(results, np.full(32, values.sum()))
    assert assemble(ptx, ARCHES[arch]).entries["k"].stack == 0


# Rows of eight 16-bit elements lie together in blocks of eight rows; blocks along K come first.
DESCRIPTOR = (128 >> 4) << 16 | (256 >> 4) << 32
STRUCT = "!llvm.struct<(f32, f32, f32, f32)>"
STORES = "".join([
    f"""
  %e{n} = llvm.extractvalue %d[{n}] : {STRUCT}
  %q{n} = llvm.getelementptr %mine[{n}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %e{n}, %q{n} : f32, !llvm.ptr<1>"""
    for n in range(4)
])  # fmt: skip
WGMMA = f"""
llvm.mlir.global internal @a() {{addr_space = 3 : i32, alignment = 128 : i64}} : !llvm.array<4096 x i8>
llvm.mlir.global internal @b() {{addr_space = 3 : i32, alignment = 128 : i64}} : !llvm.array<512 x i8>
llvm.func @k(%ga: !llvm.ptr<1>, %gb: !llvm.ptr<1>, %gf: !llvm.ptr<1>, %out: !llvm.ptr<1>)
    attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}} {{
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %sa = llvm.mlir.addressof @a : !llvm.ptr<3>
  %sb = llvm.mlir.addressof @b : !llvm.ptr<3>
  %pa = llvm.getelementptr %ga[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xi32>
  %va = llvm.load %pa : !llvm.ptr<1> -> vector<8xi32>
  %qa = llvm.getelementptr %sa[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<8xi32>
  llvm.store %va, %qa : vector<8xi32>, !llvm.ptr<3>
  %pb = llvm.getelementptr %gb[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %vb = llvm.load %pb : !llvm.ptr<1> -> i32
  %qb = llvm.getelementptr %sb[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %vb, %qb : i32, !llvm.ptr<3>
  nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
  nvvm.barrier0
  %four = llvm.mlir.constant(4 : i64) : i64
  %low = llvm.mlir.constant(16383 : i64) : i64
  %rest = llvm.mlir.constant({DESCRIPTOR} : i64) : i64
  %na = llvm.ptrtoint %sa : !llvm.ptr<3> to i64
  %ha = llvm.lshr %na, %four : i64
  %ma = llvm.and %ha, %low : i64
  %a0 = llvm.or %ma, %rest : i64
  %nb = llvm.ptrtoint %sb : !llvm.ptr<3> to i64
  %hb = llvm.lshr %nb, %four : i64
  %mb = llvm.and %hb, %low : i64
  %b0 = llvm.or %mb, %rest : i64
  %nexta = llvm.mlir.constant(128 : i64) : i64
  %nextb = llvm.mlir.constant(16 : i64) : i64
  %a1 = llvm.add %a0, %nexta : i64
  %b1 = llvm.add %b0, %nextb : i64
  %pf = llvm.getelementptr %gf[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xi32>
  FRAGMENT
  %mine = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
  %acc = llvm.mlir.constant([1.000000e+00 : f32, 1.000000e+00 : f32, 1.000000e+00 : f32, 1.000000e+00 : f32]) : {STRUCT}
  %yes = llvm.mlir.constant(true) : i1
  nvvm.wgmma.fence.aligned
  %x = nvvm.wgmma.steps SOURCE B(%b0, %b1) CONDITION, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <SCALE>], A[<bf16>, <SIGN>, <row>], B[<bf16>, <one>, <col>] commit : {STRUCT}
  %d = nvvm.wgmma.wait.group.sync.aligned 0, %x : {STRUCT}{STORES}
  llvm.return
}}
"""  # noqa: E501
FRAGMENT = "".join([
    f"""%r{n} = llvm.getelementptr %pf[0, {n}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, vector<8xi32>
  %f{n} = llvm.load %r{n} : !llvm.ptr<1> -> i32
  """
    for n in range(8)
])  # fmt: skip


def bf16(values: np.ndarray) -> np.ndarray:
    """bf16 as the upper 16 bits of f32, exact for small integers."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def blocks(matrix: np.ndarray) -> np.ndarray:
    """Rows of 32 elements as two steps of 16, each in blocks of eight rows by eight columns."""
    rows = matrix.shape[0]
    parts = matrix.reshape(rows // 8, 8, 2, 2, 8).transpose(2, 0, 3, 1, 4)
    return np.ascontiguousarray(bf16(parts))


def fragments(a: np.ndarray) -> np.ndarray:
    """The registers of A of each thread: four pairs a step (PTX ISA, "Register fragments")."""
    thread = np.arange(THREADS)
    row, column = 16 * (thread // 32) + thread % 32 // 4, 2 * (thread % 4)
    registers = [
        a[row + 8 * (n % 2), column + k]
        for step in (0, 16)
        for n in range(4)
        for k in (step + 8 * (n // 2), step + 8 * (n // 2) + 1)
    ]
    return np.ascontiguousarray(bf16(np.stack(registers, axis=1)))


def gathered(out: np.ndarray) -> np.ndarray:
    """The accumulators of all threads as a matrix."""
    thread = np.arange(THREADS)
    row, column = 16 * (thread // 32) + thread % 32 // 4, 2 * (thread % 4)
    matrix = np.zeros((64, 8), np.float32)
    for n in range(4):
        matrix[row + 8 * (n // 2), column + n % 2] = out[:, n]
    return matrix


@pytest.mark.parametrize(
    ("source", "condition", "scale", "sign", "start"),
    [
        ("A(%a0, %a1)", "", "one", "one", 1),
        ("A(%a0, %a1)", "", "zero", "one", 0),
        ("A(%a0, %a1)", "if %yes", "zero", "neg", 1),
        ("registers", "", "one", "one", 1),
    ],
)
def test_wgmma(source: str, condition: str, scale: str, sign: str, start: int, emit) -> None:
    if source == "registers":
        names = ", ".join([f"%f{n}" for n in range(8)])
        source = f"registers({names} : {', '.join(['i32'] * 8)})"
    text = WGMMA.replace("FRAGMENT", FRAGMENT).replace("SOURCE", source)
    text = text.replace("CONDITION", condition).replace("SCALE", scale).replace("SIGN", sign)
    ptx = compile_ptx(emit(text))
    a, b = numbers(64, 32), numbers(8, 32)
    out = np.zeros((THREADS, 4), np.float32)
    Module(ptx).launch("k", 1, THREADS, [blocks(a), blocks(b), fragments(a), out])
    expected = start + (a @ b.T) * (-1 if sign == "neg" else 1)
    np.testing.assert_array_equal(gathered(out), expected)
    cubin = assemble(ptx, ARCHES["sm_90"])
    assert cubin.warnings == []
