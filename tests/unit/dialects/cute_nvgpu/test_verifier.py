from __future__ import annotations

from dialect_text import errors
from each_case import each_case

SHARED = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>"
MAP = (
    "!nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, "
    "l2promo = none, oob = zero, interleave = none>"
)
DYNAMIC_MAP = MAP.replace("64x64", "?x64")
STAGES = "memref<4x128x64xbf16, 3>"

TYPES = {
    "a": "i64",
    "r": "vector<8xbf16>",
    "c": "vector<64xf32>",
    "h": "vector<64xf16>",
    "i": "vector<20xi32>",
    "p": "i1",
    "n": "index",
    "m": MAP,
    "b": SHARED,
    "s": STAGES,
    "t": "memref<4x128x32xbf16, 3>",
    "g": "memref<4x128x64xbf16>",
    "w": "memref<3x32xi32, 3>",
    "x": "i32",
    "k": "memref<256x128xi32, 1>",
    "f": "vector<3x2xbf16>",
    "q": "!llvm.ptr<3>",
}

WRONG = {
    "%0 = cute_nvgpu.wgmma.issue %a, %a, %h : bf16, bf16, i64, vector<64xf16>": (
        "cannot accumulate mma of 'bf16' and 'bf16' in 'f16'"
    ),
    "%0 = cute_nvgpu.wgmma.issue %a, %a, %i : i8, i8, i64, vector<20xi32>": (
        "expected an accumulator that wgmma has for 'i8', got 'vector<20xi32>'"
    ),
    "%0 = cute_nvgpu.wgmma.issue %r, %a, %c steps 2 by 0, 2 : bf16, bf16, vector<8xbf16>, "
    "vector<64xf32>": ("expected 'vector<16xbf16>', 16 elements of 16 bits, got 'vector<8xbf16>'"),
    "%0 = cute_nvgpu.wgmma.issue %r, %a, %c {transpose_a} : bf16, bf16, vector<8xbf16>, "
    "vector<64xf32>": ("expected neither 'transpose_a' nor a step for a matrix in registers"),
    "%0 = cute_nvgpu.wgmma.issue %a, %a, %c {transpose_b} : tf32, tf32, i64, vector<64xf32>": (
        "expected elements of 16 bits for 'transpose_b', got 'tf32'"
    ),
    "%0 = cute_nvgpu.wgmma.issue %a, %a, %c steps 0 by 2, 2 : bf16, bf16, i64, vector<64xf32>": (
        "expected a positive number of steps, and no negative advance"
    ),
    '%0 = "cute_nvgpu.wgmma.wait"(%c) <{pending = 1 : i32}> : (vector<64xf32>) -> f32': (
        "result #0 must be vector of any type values, but got 'f32'"
    ),
    '"cute_nvgpu.wgmma.wait"(%c) <{pending = 1 : i32}> : (vector<64xf32>) -> ()': (
        "expected results of types ('vector<64xf32>'), got ()"
    ),
    "cute_nvgpu.wgmma.wait 8": "expected 0 to 7 groups, got 8",
    f"%0 = cute_nvgpu.wgmma.descriptor %s[%n, %n, %n] none leading 8 stride 1024 : {STAGES}": (
        "expected a leading offset that is a multiple of 16, got 8"
    ),
    "%0 = cute_nvgpu.wgmma.descriptor %g[%n, %n, %n] none leading 16 stride 1024 : "
    "memref<4x128x64xbf16>": "expected a matrix in shared memory, got 'memref<4x128x64xbf16>'",
    f"cute_nvgpu.tma.load %m[%n, %n], %b[%n] to %t[%n, %n, %n] : {MAP}, {SHARED} to "
    "memref<4x128x32xbf16, 3>": (
        "expected a buffer that holds a contiguous 'memref<64x64xbf16, 3>', "
        "got 'memref<4x128x32xbf16, 3>'"
    ),
    f"cute_nvgpu.tma.load %m[%n], %b[%n] to %s[%n, %n, %n] : {MAP}, {SHARED} to {STAGES}": (
        "expected 2 coordinates, got 1"
    ),
    f"cute_nvgpu.tma.store %s[%n] to %m[%n, %n] : {STAGES} to {MAP}": "expected 3 indices, got 1",
    f"cute_nvgpu.tma.reduce and %s[%n, %n, %n] to %m[%n, %n] : {STAGES} to {MAP}": (
        "cannot reduce 'bf16' by 'and'"
    ),
    "cute_nvgpu.tma.wait -1": "expected a number of groups, got -1",
    "cute_nvgpu.tensormap.fill %w[%n, %n], %a sizes[%x] strides[%a] : "
    f"memref<3x32xi32, 3>, {MAP}": ("expected 2 sizes and 1 strides, got 1 and 1"),
    "cute_nvgpu.tensormap.fill %w[%n, %n], %a sizes[%x, %x] strides[%a] : "
    f"memref<3x32xi32, 3>, {DYNAMIC_MAP}": "expected 1 extents of the box, got 0",
    "cute_nvgpu.tensormap.fill %w[%n, %n], %a sizes[%x, %x] strides[%a] : "
    "memref<3x32xi32, 3>, i32": "expected the type of a tensor map, got 'i32'",
    f"%0 = cute_nvgpu.tensormap.at %w[%n, %n] : memref<3x32xi32, 3> -> {MAP}": (
        "expected slots in global memory, got 'memref<3x32xi32, 3>'"
    ),
    "%0 = cute_nvgpu.slot.acquire %w[%n, %n] users 2 : memref<3x32xi32, 3>": (
        "expected locks that are i32 in global memory, got 'memref<3x32xi32, 3>'"
    ),
    "%0 = cute_nvgpu.slot.acquire %k[%n, %n] users 0 : memref<256x128xi32, 1>": (
        "expected at least one user, got 0"
    ),
    "%0 = cute_nvgpu.buffer_at %q : !llvm.ptr<3> to memref<16xi8, 1>": (
        "expected a buffer in shared memory like the address, got 'memref<16xi8, 1>'"
    ),
    "%0 = cute_nvgpu.buffer_at %q : !llvm.ptr<3> to memref<?xi8, 3>": (
        "expected a contiguous buffer of static shape, got 'memref<?xi8, 3>'"
    ),
    "cute_nvgpu.set_max_registers increase 33": "expected a multiple of 8 in 24 to 256, got 33",
    f"cute_nvgpu.stmatrix %f, %s[%n, %n, %n] : vector<3x2xbf16>, {STAGES}": (
        "expected 1, 2 or 4 pairs of 16-bit elements, got 'vector<3x2xbf16>'"
    ),
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    signature = ", ".join(f"%{name}: {type}" for name, type in TYPES.items())
    (error,) = errors(f"func.func @f({signature}) {{ {line}\n return }}")
    assert error.endswith(f" op {WRONG[line]}")


@each_case("element", ["f16", "bf16"])
@each_case("kind", ["add", "min", "max"])
def test_float_reductions(element: str, kind: str) -> None:
    map, stages = (text.replace("bf16", element) for text in (MAP, STAGES))
    line = f"cute_nvgpu.tma.reduce {kind} %s[%n, %n, %n] to %m[%n, %n] : {stages} to {map}"
    assert errors(f"func.func @f(%s: {stages}, %m: {map}, %n: index) {{ {line}\n return }}") == []
