from __future__ import annotations

import pytest
from dialect_text import errors, read
from each_case import each_case

from tilewright.driver.registry import context
from tilewright.text.parser import parse_type

SHARED = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>"
GLOBAL = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<global>>"

BARRIER_USES = {
    "nvgpu.mbarrier.init %b[%n], %n : {}": 0,
    "%t = nvgpu.mbarrier.arrive %b[%n] : {} -> !nvgpu.mbarrier.token": 0,
    "%t = nvgpu.mbarrier.arrive.nocomplete %b[%n], %n : {} -> !nvgpu.mbarrier.token": 0,
    "nvgpu.mbarrier.arrive.expect_tx %b[%n], %n : {}": 0,
    "nvgpu.mbarrier.try_wait.parity %b[%n], %p, %n : {}": 0,
    "nvgpu.tma.async.load %map[%n, %n], %b[%n] to %tile : {map}, {} -> memref<64x64xf16, 3>": 1,
}


def map_type(box: str = "memref<64x64xf16, 3>", **modes: str) -> str:
    named = {"swizzle": "none", "l2promo": "none", "oob": "zero", "interleave": "none", **modes}
    spelled = ", ".join(f"{name} = {mode}" for name, mode in named.items())
    return f"!nvgpu.tensormap.descriptor<tensor = {box}, {spelled}>"


def problems(line: str, **arguments: str) -> list[str]:
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    return errors(f"func.func @f({signature}) {{ {line}\n return }}")


@pytest.mark.requirement("R3-019")
@each_case("use", BARRIER_USES)
def test_barriers_are_in_shared_memory(use: str) -> None:
    line = use.replace("{}", GLOBAL).replace("{map}", map_type())
    (error,) = problems(
        line, b=GLOBAL, n="index", p="i1", map=map_type(), tile="memref<64x64xf16, 3>"
    )
    label = f"operand #{BARRIER_USES[use]}"
    assert error.endswith(f"op {label} must be mbarrier barrier type, but got '{GLOBAL}'")
    line = use.replace("{}", SHARED).replace("{map}", map_type())
    arguments = {"n": "index", "p": "i1", "map": map_type(), "tile": "memref<64x64xf16, 3>"}
    assert problems(line, b=SHARED, **arguments) == []


@pytest.mark.requirement("R3-019")
def test_barriers_are_created_in_shared_memory() -> None:
    line = "%b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = 1, num_barriers = 2>"
    assert problems(line) == [
        "'nvgpu.mbarrier.create' op result #0 must be mbarrier barrier type, but got "
        "'!nvgpu.mbarrier.group<memorySpace = 1, num_barriers = 2>'"
    ]


@pytest.mark.parametrize("name", ["nvgpu.mbarrier.inval", "nvgpu.tma.async.reduce"])
def test_ops_that_nvgpu_does_not_have(name: str) -> None:
    dialect = context().dialect("nvgpu")
    assert dialect is not None
    assert name not in dialect.ops


def test_one_barrier_has_two_spellings() -> None:
    old = parse_type(SHARED.replace("mbarrier.group", "mbarrier.barrier"), context())
    assert old is parse_type(SHARED, context())


LOADS = {
    ("memref<64x64xf16, 3>", "memref<64x64xf16>"): (
        "expected a memref in shared memory, got 'memref<64x64xf16>'"
    ),
    ("memref<64x64xf16, 3>", "memref<64x32xf16, 3>"): (
        "expected a memref of the shape of 'memref<64x64xf16, 3>', got 'memref<64x32xf16, 3>'"
    ),
    ("memref<64x64xf16, 3>", "memref<64x64xbf16, 3>"): (
        "expected elements of type 'f16' like the tensor map, got 'bf16'"
    ),
    ("memref<64x512xf16, 3>", "memref<64x512xf16, 3>"): "expected box extents in 1 to 256, got 512",
    ("memref<?x64xf16, 3>", "memref<?x64xf16, 3>"): (
        "expected a box of known shape and rank 1 to 5, got 'memref<?x64xf16, 3>'"
    ),
    ("memref<64x64xf16>", "memref<64x64xf16, 3>"): (
        "expected a tensor map of a box in shared memory, got 'memref<64x64xf16>'"
    ),
}


@each_case(("box", "tile"), LOADS)
def test_wrong_load(box: str, tile: str) -> None:
    map = map_type(box)
    line = f"nvgpu.tma.async.load %m[%n, %n], %b[%n] to %t : {map}, {SHARED} -> {tile}"
    assert problems(line, m=map, b=SHARED, n="index", t=tile) == [
        f"'nvgpu.tma.async.load' op {LOADS[box, tile]}"
    ]


def test_coordinates_for_each_dimension() -> None:
    map = map_type()
    line = f"nvgpu.tma.async.load %m[%n], %b[%n] to %t : {map}, {SHARED} -> memref<64x64xf16, 3>"
    assert problems(line, m=map, b=SHARED, n="index", t="memref<64x64xf16, 3>") == [
        "'nvgpu.tma.async.load' op expected 2 coordinates, got 1"
    ]


@pytest.mark.parametrize(
    ("modes", "message"),
    [
        (
            {"swizzle": "swizzle_64b"},
            "expected a box of at most 64 bytes along its last dimension, got 128",
        ),
        ({"interleave": "interleave_16b"}, "expected no interleaving, got interleave_16b"),
    ],
)
def test_wrong_modes(modes: dict[str, str], message: str) -> None:
    map = map_type(**modes)
    line = f"nvgpu.tma.async.store %t to %m[%n, %n] : memref<64x64xf16, 3> -> {map}"
    assert problems(line, m=map, n="index", t="memref<64x64xf16, 3>") == [
        f"'nvgpu.tma.async.store' op {message}"
    ]


def mma_types(a: str, b: str, c: str) -> tuple[str, dict[str, str]]:
    matrix = "!nvgpu.warpgroup.descriptor<tensor = memref<{}, 3>>"
    types = {"a": matrix.format(a), "b": matrix.format(b)}
    types["c"] = f"!nvgpu.warpgroup.accumulator<fragmented = vector<{c}>>"
    line = f"%d = nvgpu.warpgroup.mma %a, %b, %c : {', '.join(types.values())} -> {types['c']}"
    return line, types


@each_case(
    ("element", "accumulator", "k"),
    [
        ("f16", "f32", 64),
        ("f16", "f16", 64),
        ("bf16", "f32", 64),
        ("tf32", "f32", 32),
        ("f8E4M3FN", "f32", 128),
        ("f8E5M2", "f16", 128),
        ("i8", "i32", 128),
        ("ui8", "i32", 128),
    ],
)
def test_warpgroup_mma(element: str, accumulator: str, k: int) -> None:
    line, types = mma_types(f"128x{k}x{element}", f"{k}x64x{element}", f"128x64x{accumulator}")
    assert problems(line, **types) == []


@each_case(
    ("a", "b", "c", "message"),
    [
        (
            "64x64xf16",
            "64x64xf16",
            "64x64xi32",
            "cannot accumulate mma of 'f16' and 'f16' in 'i32'",
        ),
        (
            "64x64xbf16",
            "64x64xbf16",
            "64x64xf16",
            "cannot accumulate mma of 'bf16' and 'bf16' in 'f16'",
        ),
        ("32x64xf16", "64x64xf16", "32x64xf32", "expected a multiple of 64 rows, got 32"),
        (
            "64x64xf16",
            "64x60xf16",
            "64x60xf32",
            "expected a number of columns that wgmma has for 'f16', got 60",
        ),
        (
            "64x24xf16",
            "24x64xf16",
            "64x64xf32",
            "expected K that is a multiple of 16, got 24",
        ),
        (
            "64x64xi8",
            "64x40xi8",
            "64x40xi32",
            "expected a number of columns that wgmma has for 'i8', got 40",
        ),
    ],
)
def test_wrong_warpgroup_mma(a: str, b: str, c: str, message: str) -> None:
    line, types = mma_types(a, b, c)
    assert problems(line, **types) == [f"'nvgpu.warpgroup.mma' op {message}"]


def test_warpgroup_mma_is_synchronous() -> None:
    line, types = mma_types("64x64xf16", "64x64xf16", "64x64xf32")
    line = line.replace("%c :", "%c {waitGroup = 1 : i64} :")
    assert problems(line, **types) == [
        "'nvgpu.warpgroup.mma' op expected 'waitGroup' 0, since the operation is synchronous, got 1"
    ]


def test_descriptors_need_a_tensor_map_or_attributes() -> None:
    line = (
        "%d = nvgpu.warpgroup.generate.descriptor %t {matrix_stride = 64 : i64} : "
        "memref<64x64xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>"
    )
    assert problems(line, t="memref<64x64xf16, 3>") == [
        "'nvgpu.warpgroup.generate.descriptor' op expected a tensor map, or the attributes "
        "'leading_byte_offset', 'matrix_stride' and 'swizzle_mode'"
    ]


# Shape, and the fragments of A, B and C of a lane, by the tables of PTX.
MMAS = [
    ([16, 8, 8], "2x2xf16", "1x2xf16", "2x2xf32"),
    ([16, 8, 16], "4x2xf16", "2x2xf16", "2x2xf16"),
    ([16, 8, 16], "4x2xbf16", "2x2xbf16", "2x2xf32"),
    ([16, 8, 4], "2x1xf32", "1x1xf32", "2x2xf32"),
    ([16, 8, 8], "4x1xf32", "2x1xf32", "2x2xf32"),
    ([8, 8, 4], "1x1xf64", "1x1xf64", "1x2xf64"),
    ([16, 8, 32], "4x4xi8", "2x4xi8", "2x2xi32"),
    ([16, 8, 64], "4x8xi4", "2x8xi4", "2x2xi32"),
    ([16, 8, 32], "4x4xf8E4M3FN", "2x4xf8E4M3FN", "2x2xf32"),
]


@each_case("flag", ["transposeA", "transposeB"])
@each_case(("element", "accumulator"), [("tf32", "f32"), ("f8E5M2", "f32"), ("i8", "i32")])
def test_only_16_bit_elements_can_be_transposed(flag: str, element: str, accumulator: str) -> None:
    line, types = mma_types(f"64x128x{element}", f"128x64x{element}", f"64x64x{accumulator}")
    assert problems(line.replace("%c :", f"%c {{{flag}}} :"), **types) == [
        f"'nvgpu.warpgroup.mma' op expected elements of 16 bits to transpose, got '{element}'"
    ]


def mma_errors(shape: list[int], a: str, b: str, c: str, name: str = "mma.sync") -> list[str]:
    types = ", ".join(f"vector<{part}>" for part in (a, b, c))
    meta = " metadata(%m)" if name == "mma.sp.sync" else ""
    line = f"%d = nvgpu.{name}(%a, %b, %c){meta} {{mmaShape = {shape}}} : ({types}) -> vector<{c}>"
    return problems(line, a=f"vector<{a}>", b=f"vector<{b}>", c=f"vector<{c}>", m="vector<2xi16>")


@each_case(("shape", "a", "b", "c"), MMAS)
def test_mma_sync(shape: list[int], a: str, b: str, c: str) -> None:
    assert mma_errors(shape, a, b, c) == []


@pytest.mark.parametrize(
    ("shape", "a", "b", "c"),
    [
        ([16, 8, 32], "4x2xf16", "4x2xf16", "2x2xf32"),
        ([16, 8, 64], "4x4xi8", "4x4xi8", "2x2xi32"),
    ],
)
def test_sparse_mma_sync(shape: list[int], a: str, b: str, c: str) -> None:
    assert mma_errors(shape, a, b, c, "mma.sp.sync") == []


@each_case(
    ("shape", "a", "b", "c", "message"),
    [
        (
            [16, 8, 16],
            "2x2xf16",
            "2x2xf16",
            "2x2xf32",
            "expected matrix A of shape 4x2, got 'vector<2x2xf16>'",
        ),
        (
            [16, 8, 16],
            "4x2xf16",
            "2x2xbf16",
            "2x2xf32",
            "expected A and B of i1, i4, i8, f8, f16, bf16, f32 (as tf32) or f64, "
            "got 'vector<4x2xf16>' and 'vector<2x2xbf16>'",
        ),
        (
            [16, 8, 32],
            "4x4xi8",
            "2x4xi8",
            "2x2xf32",
            "cannot accumulate mma of 'i8' in 'f32'",
        ),
        (
            [16, 8, 12],
            "4x2xf16",
            "2x2xf16",
            "2x2xf32",
            "expected 'mmaShape' in multiples of [8, 8, 8], got [16, 8, 12]",
        ),
    ],
)
def test_wrong_mma_sync(shape: list[int], a: str, b: str, c: str, message: str) -> None:
    assert mma_errors(shape, a, b, c) == [f"'nvgpu.mma.sync' op {message}"]


@each_case(
    ("shape", "a", "b", "c"),
    [
        ([16, 8, 32], "4x4xi8", "2x4xui8", "2x2xi32"),
        ([16, 8, 64], "4x8xui4", "2x8xi4", "2x2xi32"),
        ([16, 8, 32], "4x4xf8E4M3FN", "2x4xf8E5M2", "2x2xf16"),
        ([16, 8, 256], "4x32xi1", "2x32xi1", "2x2xi32"),
    ],
)
def test_mma_sync_of_mixed_element_types(shape: list[int], a: str, b: str, c: str) -> None:
    assert mma_errors(shape, a, b, c) == []


@each_case(
    ("shape", "a", "b", "c", "most"),
    [
        # The metadata is in one, two or all of the four lanes of a row.
        ([16, 8, 16], "2x2xf16", "2x2xf16", "2x2xf32", 3),
        ([16, 8, 32], "4x2xf16", "4x2xf16", "2x2xf32", 1),
        ([16, 8, 8], "2x1xf32", "2x1xf32", "2x2xf32", 3),
        ([16, 8, 16], "4x1xf32", "4x1xf32", "2x2xf32", 1),
        ([16, 8, 32], "2x4xi8", "2x4xi8", "2x2xi32", 1),
        ([16, 8, 64], "4x4xi8", "4x4xi8", "2x2xi32", 0),
        ([16, 8, 64], "2x8xi4", "2x8xi4", "2x2xi32", 1),
        ([16, 8, 128], "4x8xi4", "4x8xi4", "2x2xi32", 0),
    ],
)
def test_which_lanes_may_hold_metadata(shape: list[int], a: str, b: str, c: str, most: int) -> None:
    types = [f"vector<{part}>" for part in (a, b, c)]
    for selector in range(5):
        line = (
            f"%d = nvgpu.mma.sp.sync(%a, %b, %c) metadata(%m) {{mmaShape = {shape}, "
            f"sparsitySelector = {selector} : i32}} : ({', '.join(types)}) -> {types[2]}"
        )
        actual = problems(line, **dict(zip("abc", types, strict=True)), m="vector<2xi16>")
        message = f"expected a sparsity selector from 0 to {most}, got {selector}"
        wrong = [] if selector <= most else [f"'nvgpu.mma.sp.sync' op {message}"]
        assert actual == wrong


LOADS_OF_MATRICES = {
    ("memref<8x8xf16>", 4, "false", "4x2xf16"): (
        "expected a source in shared memory, got 'memref<8x8xf16>'"
    ),
    ("memref<8x8xf16, 3>", 3, "false", "3x2xf16"): "expected 1, 2 or 4 matrices, got 3",
    ("memref<8x8xf16, 3>", 4, "false", "2x2xf16"): (
        "expected a result of type 'vector<4x2xf16>', got 'vector<2x2xf16>'"
    ),
    ("memref<8x8xf32, 3>", 4, "true", "4x1xf32"): (
        "expected elements of 16 bits to transpose, got 'f32'"
    ),
}


@each_case(("source", "count", "transpose", "result"), LOADS_OF_MATRICES)
def test_wrong_ldmatrix(source: str, count: int, transpose: str, result: str) -> None:
    line = (
        f"%r = nvgpu.ldmatrix %s[%n, %n] {{numTiles = {count} : i32, transpose = {transpose}}} : "
        f"{source} -> vector<{result}>"
    )
    assert problems(line, s=source, n="index") == [
        f"'nvgpu.ldmatrix' op {LOADS_OF_MATRICES[source, count, transpose, result]}"
    ]


COPIES = {
    ("memref<16xf32>", "memref<16xf32>", "4"): (
        "expected a destination in shared memory, got 'memref<16xf32>'"
    ),
    ("memref<16xf32>", "memref<16xf32, 3>", "3"): (
        "expected elements of 4, 8 or 16 bytes together, got 3 of 'f32'"
    ),
    ("memref<16xf32>", "memref<16xf32, 3>", "2 {bypassL1}"): (
        "expected 16 bytes to go around the L1 cache, got 8"
    ),
    ("memref<16xf32, strided<[2]>>", "memref<16xf32, 3>", "4"): (
        "expected a source whose last stride is 1, got 'memref<16xf32, strided<[2]>>'"
    ),
}


@each_case(("source", "target", "count"), COPIES)
def test_wrong_copy(source: str, target: str, count: str) -> None:
    line = f"%t = nvgpu.device_async_copy %s[%n], %d[%n], {count} : {source} to {target}"
    assert problems(line, s=source, d=target, n="index") == [
        f"'nvgpu.device_async_copy' op {COPIES[source, target, count]}"
    ]


CONVERSIONS = {
    "nvgpu.cvt_fptrunc %a : vector<3xf32> to vector<3xbf16>": (
        "expected vectors of one shape, of pairs, got 'vector<3xf32>' and 'vector<3xbf16>'"
    ),
    "nvgpu.cvt_fptrunc %b : vector<4xf64> to vector<4xf16>": (
        "cannot convert pairs of 'f64' to 'f16'"
    ),
    "nvgpu.cvt_fptrunc %c {rounding = #nvgpu<packed_rounding rm>} : vector<4xf32> to "
    "vector<4xf16>": "expected the rounding 'rn' or 'rz', got 'rm'",
    "nvgpu.cvt_fpext %c : vector<4xf32> to vector<4xf64>": "cannot convert pairs of 'f32' to 'f64'",
    "nvgpu.rcp %c{rounding = rn} : vector<4xf32>": "expected the rounding 'approx', got 'rn'",
}


@each_case("line", CONVERSIONS)
def test_wrong_conversion(line: str) -> None:
    types = {"a": "vector<3xf32>", "b": "vector<4xf64>", "c": "vector<4xf32>"}
    (error,) = problems(f"%r = {line}", **types)
    assert error.endswith(f" op {CONVERSIONS[line]}")


def test_wrong_parameters_of_types() -> None:
    for text, message in (
        ("!nvgpu.mbarrier.group<num_barriers = 2>", "expected the parameter 'memorySpace'"),
        ("!nvgpu.mbarrier.group<memorySpace = 3, size = 2>", "expected one of num_barriers"),
        ("!nvgpu.mbarrier.group<memorySpace = 3, num_barriers = 0>", "expected a positive number"),
        ("!nvgpu.warpgroup.descriptor<tensor = f32>", "expected a memref, got 'f32'"),
    ):
        (error,) = errors(f"func.func private @f({text})")
        assert error.startswith(message)


def test_waits_with_and_without_a_result() -> None:
    text = (
        f"func.func @f(%b: {SHARED}, %n: index, %p: i1) {{\n"
        f"  nvgpu.mbarrier.try_wait.parity %b[%n], %p, %n : {SHARED}\n"
        f"  %r = nvgpu.mbarrier.try_wait.parity %b[%n], %p, %n : {SHARED} -> i1\n  return\n}}"
    )
    waits = [op for op in read(text).walk() if op.name.startswith("nvgpu.")]
    assert [len(op.results) for op in waits] == [0, 1]
