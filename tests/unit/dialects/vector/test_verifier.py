from __future__ import annotations

from dialect_text import errors
from each_case import each_case

SIGNATURE = (
    "%f: f32, %i: i32, %v: vector<4xf32>, %w: vector<2x4xf32>, %n: index, "
    "%m: memref<4x16xf32>, %t: memref<4x4xf32, strided<[1, 4]>>, %k: vector<2xi1>"
)

WRONG = {
    "%r = vector.broadcast %i : i32 to vector<4xf32>": "expected elements of type 'f32', got 'i32'",
    "%r = vector.broadcast %v : vector<4xf32> to vector<8xf32>": (
        "cannot broadcast 'vector<4xf32>' to 'vector<8xf32>'"
    ),
    "%r = vector.extract %w[2, 0] : f32 from vector<2x4xf32>": "expected indices in 0 to 1, got 2",
    "%r = vector.extract %w[0] : f32 from vector<2x4xf32>": (
        "expected results of types ('vector<4xf32>'), got ('f32')"
    ),
    "%r = vector.insert %f, %w[0] : f32 into vector<2x4xf32>": (
        "expected a value of type 'vector<4xf32>', got 'f32'"
    ),
    "%r = vector.shuffle %v, %v [8] : vector<4xf32>, vector<4xf32>": (
        "expected a mask of numbers in -1 to 7, got [8]"
    ),
    "%r = vector.shuffle %v, %w [0] : vector<4xf32>, vector<2x4xf32>": (
        "expected vectors that differ only in their first extent, "
        "got 'vector<4xf32>' and 'vector<2x4xf32>'"
    ),
    "%r = vector.shape_cast %w : vector<2x4xf32> to vector<4xf32>": (
        "expected as many elements of the type of 'vector<2x4xf32>', got 'vector<4xf32>'"
    ),
    "%r = vector.bitcast %v : vector<4xf32> to vector<4xf16>": (
        "expected the bits of 'vector<4xf32>' in the last dimension, got 'vector<4xf16>'"
    ),
    "%r = vector.from_elements %f, %f : vector<4xf32>": (
        "expected 4 elements of type 'f32', got 2 of ('f32')"
    ),
    "%r = vector.step : vector<4xi32>": (
        "expected a vector of rank 1 of indices, got 'vector<4xi32>'"
    ),
    "%r = vector.reduction <and>, %v : vector<4xf32> into f32": "cannot reduce 'f32' by 'and'",
    "%r = vector.reduction <add>, %w : vector<2x4xf32> into f32": (
        "expected a vector of rank 1, got 'vector<2x4xf32>'"
    ),
    "%r = vector.reduction <add>, %v : vector<4xf32> into i32": (
        "expected a result of type 'f32', got 'i32'"
    ),
    "%r = vector.load %m[%n] : memref<4x16xf32>, vector<4xf32>": "expected 2 indices, got 1",
    "%r = vector.load %m[%n, %n] : memref<4x16xf32>, vector<4xi32>": (
        "expected vectors of 'f32', got 'vector<4xi32>'"
    ),
    "%r = vector.load %t[%n, %n] : memref<4x4xf32, strided<[1, 4]>>, vector<4xf32>": (
        "expected a memref whose last stride is 1, got 'memref<4x4xf32, strided<[1, 4]>>'"
    ),
    "%r = vector.load %m[%n, %n] {alignment = 12 : i64} : memref<4x16xf32>, vector<4xf32>": (
        "expected an alignment that is a power of two, got 12"
    ),
    "vector.maskedstore %m[%n, %n], %k, %v : memref<4x16xf32>, vector<2xi1>, vector<4xf32>": (
        "expected a mask of i1 for each element of 'vector<4xf32>', got 'vector<2xi1>'"
    ),
    "%r = vector.extract_strided_slice %v {offsets = [2], sizes = [3], strides = [1]} : "
    "vector<4xf32> to vector<3xf32>": "expected a slice of 'vector<4xf32>' with strides of one",
    "%r = vector.extract_strided_slice %v {offsets = [0], sizes = [3], strides = [1]} : "
    "vector<4xf32> to vector<2xf32>": (
        "expected results of types ('vector<3xf32>'), got ('vector<2xf32>')"
    ),
    "%r = vector.insert_strided_slice %v, %w {offsets = [2, 0], strides = [1]} : "
    "vector<4xf32> into vector<2x4xf32>": (
        "expected a slice of 'vector<2x4xf32>' with strides of one, got 'vector<4xf32>'"
    ),
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    (error,) = errors(f"func.func @f({SIGNATURE}) {{ {line}\n return }}")
    assert error.endswith(f" op {WRONG[line]}")
