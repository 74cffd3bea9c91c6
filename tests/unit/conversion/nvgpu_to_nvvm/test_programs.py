"""Whole kernels from text to PTX, run on the emulator against NumPy."""

from __future__ import annotations

import numpy as np
from each_case import each_case
from lowering import to_ptx

from tilewright.ptxsim import Module

VECTOR_ADD = """
builtin.module {
  gpu.module @m {
    gpu.func @add(%a: memref<?xf32, 1>, %b: memref<?xf32, 1>, %c: memref<?xf32, 1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.global_id x
      %c0 = arith.constant 0 : index
      %n = memref.dim %a, %c0 : memref<?xf32, 1>
      %inside = arith.cmpi slt, %i, %n : index
      scf.if %inside {
        %x = memref.load %a[%i] : memref<?xf32, 1>
        %y = memref.load %b[%i] : memref<?xf32, 1>
        %s = arith.addf %x, %y : f32
        memref.store %s, %c[%i] : memref<?xf32, 1>
      }
      gpu.return
    }
  }
}
"""

REDUCTION = """
builtin.module {
  gpu.module @m {
    gpu.func @sum(%a: memref<2x64xf32, 1>, %r: memref<2xf32, 1>)
        workgroup(%buffer: memref<64xf32, 3>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %row = gpu.block_id x
      %i = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %x = memref.load %a[%row, %i] : memref<2x64xf32, 1>
      memref.store %x, %buffer[%i] : memref<64xf32, 3>
      gpu.barrier
      %last = scf.while (%d = %c32) : (index) -> (index) {
        %more = arith.cmpi sgt, %d, %c0 : index
        scf.condition(%more) %d : index
      } do {
      ^bb0(%d: index):
        %adds = arith.cmpi slt, %i, %d : index
        scf.if %adds {
          %j = arith.addi %i, %d : index
          %p = memref.load %buffer[%i] : memref<64xf32, 3>
          %q = memref.load %buffer[%j] : memref<64xf32, 3>
          %s = arith.addf %p, %q : f32
          memref.store %s, %buffer[%i] : memref<64xf32, 3>
        }
        gpu.barrier
        %half = arith.shrui %d, %c1 : index
        scf.yield %half : index
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        %t = memref.load %buffer[%c0] : memref<64xf32, 3>
        memref.store %t, %r[%row] : memref<2xf32, 1>
      }
      gpu.return
    }
  }
}
"""

WARP_SUM = """
builtin.module {
  gpu.module @m {
    gpu.func @sum(%a: memref<32xTYPE, 1>, %r: memref<32xTYPE, 1>) kernel {
      %i = gpu.lane_id
      %x = memref.load %a[%i] : memref<32xTYPE, 1>
      %s = gpu.subgroup_reduce KIND %x : (TYPE) -> TYPE
      memref.store %s, %r[%i] : memref<32xTYPE, 1>
      gpu.return
    }
  }
}
"""


def numbers(*shape: int) -> np.ndarray:
    """Small integers, which are added exactly in any order."""
    return np.random.default_rng(7).integers(-50, 50, shape).astype(np.float32)


def test_vector_add() -> None:
    a, b = numbers(100), numbers(100) * 2
    c = np.zeros(128, np.float32)
    Module(to_ptx(VECTOR_ADD)).launch("add", 2, 64, [a, 100, b, 100, c, 100])
    np.testing.assert_array_equal(c[:100], a + b)
    assert not c[100:].any()


def test_a_reduction_in_shared_memory() -> None:
    a, r = numbers(2, 64), np.zeros(2, np.float32)
    ptx = to_ptx(REDUCTION)
    assert "bar.sync" in ptx or "barrier.sync.aligned" in ptx
    Module(ptx).launch("sum", 2, 64, [a, r])
    np.testing.assert_array_equal(r, a.sum(axis=1))


@each_case(
    ("type", "dtype", "kind"),
    [("f32", np.float32, "add"), ("i32", np.int32, "maxsi"), ("f16", np.float16, "add")],
)
def test_a_reduction_of_a_warp(type: str, dtype: type, kind: str) -> None:
    a = numbers(32).astype(dtype)
    r = np.zeros_like(a)
    text = WARP_SUM.replace("TYPE", type).replace("KIND", kind)
    Module(to_ptx(text)).launch("sum", 1, 32, [a, r])
    expected = a.max() if kind == "maxsi" else a.sum()
    np.testing.assert_array_equal(r, np.full(32, expected, dtype))
