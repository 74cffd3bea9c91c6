from __future__ import annotations

from dialect_text import errors
from each_case import each_case

WRONG = {
    '"gpu.shuffle"(%f, %i, %i) <{mode = #gpu<shuffle_mode xor>}> : (f32, i32, i32) -> (i32, i1)': (
        "'gpu.shuffle' op expected value and shuffle_result to have the same type"
    ),
    "gpu.subgroup_reduce and %f : (f32) -> f32": (
        "'gpu.subgroup_reduce' op cannot reduce 'f32' by 'and'"
    ),
    "gpu.subgroup_reduce maxnumf %i : (i32) -> i32": (
        "'gpu.subgroup_reduce' op cannot reduce 'i32' by 'maxnumf'"
    ),
    "gpu.subgroup_reduce add %f cluster(size = 3) : (f32) -> f32": (
        "'gpu.subgroup_reduce' op expected a cluster size that is a power of two, got 3"
    ),
    "gpu.all_reduce %f { } : (f32) -> f32": (
        "'gpu.all_reduce' op expected either an operation or a body to combine values"
    ),
    "gpu.all_reduce %f { ^bb0(%a: i32, %b: i32): gpu.yield %a : i32 } : (f32) -> f32": (
        "'gpu.all_reduce' op expected block arguments of types ('f32', 'f32'), got ('i32', 'i32')"
    ),
    "gpu.dynamic_shared_memory : memref<?xi8>": (
        "'gpu.dynamic_shared_memory' op result #0 must be memref of bytes of unknown number in "
        "workgroup memory, but got 'memref<?xi8>'"
    ),
    "gpu.thread_id x upper_bound 0": ("'gpu.thread_id' op expected a positive upper bound, got 0"),
    "gpu.thread_id w": "expected one of 'x', 'y', 'z', got 'w'",
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    text = f"gpu.module @m {{ gpu.func @f(%f: f32, %i: i32) {{ %r:1 = {line}\n gpu.return }} }}"
    text = text.replace("%r:1", "%r, %s") if "shuffle" in line else text.replace("%r:1", "%r")
    assert errors(text)[0] == WRONG[line]


FUNCTIONS = {
    "gpu.func @f() -> i32 kernel { %c = arith.constant 1 : i32\n gpu.return %c : i32 }": (
        "'gpu.func' op expected a kernel without results, got ('i32')"
    ),
    "gpu.func @f() workgroup(%a: memref<4xf32, 1>) { gpu.return }": (
        "'gpu.func' op expected workgroup buffers in workgroup memory, got 'memref<4xf32, 1>'"
    ),
    "gpu.func @f() private(%a: memref<4xf32, 3>) { gpu.return }": (
        "'gpu.func' op expected private buffers in private memory, got 'memref<4xf32, 3>'"
    ),
    "gpu.func @f() attributes {known_block_size = array<i32: 1, 2>} { gpu.return }": (
        "'gpu.func' op expected three positive sizes of the block, got [1, 2]"
    ),
    "gpu.func @f() -> i32 { gpu.return }": (
        "'gpu.return' op expected operands of types ('i32'), got ()"
    ),
}


@each_case("text", FUNCTIONS)
def test_wrong_function(text: str) -> None:
    assert errors(f"gpu.module @m {{ {text} }}") == [FUNCTIONS[text]]


def test_functions_are_in_modules() -> None:
    assert errors("gpu.func @f() { gpu.return }") == [
        "'gpu.func' op expected parent op 'gpu.module', got 'builtin.module'"
    ]
