from __future__ import annotations

import pytest
from dialect_text import errors
from each_case import each_case

SIGNATURE = (
    "%f: f32, %i: i32, %n: index, %m: memref<16x8xf32>, %b: memref<64xi8, 3>, %u: memref<?xf32>"
)

WRONG = {
    "%r = memref.alloca() : memref<?xf32>": "expected 1 sizes, got 0",
    "%r = memref.alloca() {alignment = 3 : i64} : memref<4xf32>": (
        "expected an alignment that is a power of two, got 3"
    ),
    "%r = memref.load %m[%n] : memref<16x8xf32>": "expected 2 indices, got 1",
    '"memref.store"(%i, %m, %n, %n) : (i32, memref<16x8xf32>, index, index) -> ()': (
        "expected a value of type 'f32', got 'i32'"
    ),
    "%r = memref.atomic_rmw addi %f, %m[%n, %n] : (f32, memref<16x8xf32>) -> f32": (
        "expected elements that are integers for 'addi', got 'f32'"
    ),
    "%r = memref.cast %m : memref<16x8xf32> to memref<16x4xf32>": (
        "cannot cast 'memref<16x8xf32>' to 'memref<16x4xf32>'"
    ),
    "%r = memref.cast %m : memref<16x8xf32> to memref<16x8xf32, strided<[1, 16]>>": (
        "cannot cast 'memref<16x8xf32>' to 'memref<16x8xf32, strided<[1, 16]>>'"
    ),
    "%r = memref.memory_space_cast %b : memref<64xi8, 3> to memref<32xi8>": (
        "expected only the memory space of 'memref<64xi8, 3>' to change, got 'memref<32xi8>'"
    ),
    "%r = memref.view %m[%n][] : memref<16x8xf32> to memref<4xf32>": (
        "expected a source of contiguous bytes, got 'memref<16x8xf32>'"
    ),
    "%r = memref.view %b[%n][%n] : memref<64xi8, 3> to memref<4xf32, 3>": "expected 0 sizes, got 1",
    "%r = memref.subview %m[0, 0] [4, 4] [1, 1] : memref<16x8xf32> to memref<4x4xf32>": (
        "expected a subview of 'memref<16x8xf32>' of this shape and strides, got 'memref<4x4xf32>'"
    ),
    "%r = memref.subview %m[0, 0] [4] [1, 1] : memref<16x8xf32> to memref<4x8xf32>": (
        "expected 2 sizes, got 1"
    ),
    "%r = memref.subview %m[1, 0] [4, 8] [1, 1] : memref<16x8xf32> to "
    "memref<4x8xf32, strided<[8, 1]>>": (
        "expected a subview of 'memref<16x8xf32>' of this shape and strides, "
        "got 'memref<4x8xf32, strided<[8, 1]>>'"
    ),
    "%r = memref.reinterpret_cast %u to offset: [0], sizes: [4], strides: [2] : memref<?xf32> to "
    "memref<4xf32>": "expected a result with these extents and strides, got 'memref<4xf32>'",
    "%r = memref.get_global @nothing : memref<4xf32>": "expected '@nothing' to name a global",
    "%r = memref.get_global @global_memref : memref<8xf32>": (
        "expected the type 'memref<4xf32>' of '@global_memref', got 'memref<8xf32>'"
    ),
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    global_memref = "memref.global @global_memref : memref<4xf32> = uninitialized"
    (error,) = errors(f"{global_memref}\nfunc.func @f({SIGNATURE}) {{ {line}\n return }}")
    assert error.endswith(f" op {WRONG[line]}")


GLOBALS = {
    "memref.global @g : memref<?xf32>": "expected a memref of known shape, got 'memref<?xf32>'",
    '"memref.global"() <{sym_name = "g", type = memref<2xf32>, '
    "initial_value = dense<0> : tensor<2xi32>}> : () -> ()": (
        "expected a value of type 'tensor<2xf32>', got 'tensor<2xi32>'"
    ),
}


@pytest.mark.parametrize("line", GLOBALS)
def test_wrong_global(line: str) -> None:
    assert errors(line) == [f"'memref.global' op {GLOBALS[line]}"]
