"""The diagnostics of the verifier of nv_tileaa."""

from __future__ import annotations

from dialect_text import errors
from each_case import each_case

P = "!nv_tileaa.ptr<f32>"
PS = f"tensor<16x{P}>"
M = "!nv_tileaa.memref<64x64xf32, strides = [64, 1]>"
V = f"!nv_tileaa.tiled_view<tile = [8, 8], source = {M}>"
G = f"!nv_tileaa.tiled_view<tile = [8, 8], source = {M}, sparse = 0>"
ARGUMENTS = (
    f"%p: {P}, %n: i32, %x: f32, %i: tensor<16xi32>, %f: tensor<16xf32>, %ps: {PS}, "
    f"%c: tensor<16xi1>, %h: tensor<16xf16>, %m: {M}, %v: {V}, %g: {G}, %a: tensor<4x8xf32>, "
    "%b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %tile: tensor<8x8xf32>, %j: tensor<8xi32>, "
    "%sa: tensor<4x8xi8>, %sb: tensor<8x4xi8>, %sd: tensor<4x4xi32>, %t: !nv_tileaa.mem_token"
)

CASES = {
    "nv_tileaa.divi %i, %i unsigned rounding<negative_inf> : tensor<16xi32>": (
        "expected signed division with rounding mode negative_inf, got unsigned"
    ),
    "nv_tileaa.divi %i, %i signed rounding<full> : tensor<16xi32>": (
        "expected rounding mode zero or negative_inf or positive_inf, got full"
    ),
    "nv_tileaa.addf %h, %h flush_to_zero : tensor<16xf16>": (
        "expected f32 elements with flush_to_zero, got f16"
    ),
    "nv_tileaa.addf %f, %f rounding<approx> : tensor<16xf32>": (
        "expected rounding mode nearest_even or zero or negative_inf or positive_inf, got approx"
    ),
    "nv_tileaa.exti %i signed : tensor<16xi32> to tensor<16xi8>": (
        "expected elements wider than i32, got i8"
    ),
    "nv_tileaa.trunci %i : tensor<16xi32> to tensor<16xi64>": (
        "expected elements narrower than i32, got i64"
    ),
    "nv_tileaa.fp_to_fp %f : tensor<16xf32> to tensor<16xf32>": (
        "expected a conversion to another type than f32, got the same"
    ),
    "nv_tileaa.fp_to_fp %h rounding<approx> : tensor<16xf16> to tensor<16xbf16>": (
        "expected rounding mode nearest_even or zero, got approx, to convert f16 to bf16"
    ),
    "nv_tileaa.bitcast %f : tensor<16xf32> to tensor<16xi8>": (
        "expected elements of 32 bits like those of f32, got i8 of 8"
    ),
    f"nv_tileaa.bitcast %ps : {PS} to tensor<16xi64>": (
        f"expected pointers on both sides, got '{P}' and 'i64'"
    ),
    "nv_tileaa.splat %x : f32 -> tensor<16xi32>": "expected result of 'f32', got 'i32'",
    "nv_tileaa.make_range {start = 250 : i64} : tensor<16xi8>": (
        "expected numbers that fit i8, got 250 to 265"
    ),
    "nv_tileaa.make_range : tensor<4x4xi32>": (
        "expected a result of rank 1, got 'tensor<4x4xi32>'"
    ),
    "nv_tileaa.view %f : tensor<16xf32> -> tensor<4x8xf32>": (
        "expected a result of 16 elements, got 32"
    ),
    "nv_tileaa.view %f : tensor<16xf32> -> tensor<4x4xi32>": "expected result of 'f32', got 'i32'",
    "nv_tileaa.broadcast %f : tensor<16xf32> -> tensor<32xf32>": (
        "expected a source of shape 32 or with ones in it, got 16"
    ),
    "nv_tileaa.broadcast %f : tensor<16xf32> -> tensor<16x16xf32>": (
        "expected a result of rank 1 like the source, got 2"
    ),
    "nv_tileaa.expand_dims %f {axis = 2 : i64} : tensor<16xf32> -> tensor<16x1xf32>": (
        "expected axis in 0 to 1, got 2"
    ),
    "nv_tileaa.expand_dims %f {axis = 0 : i64} : tensor<16xf32> -> tensor<16x1xf32>": (
        "expected result of shape 1x16, got 16x1"
    ),
    "nv_tileaa.permute %a [0, 0] : tensor<4x8xf32> -> tensor<8x4xf32>": (
        "expected a permutation of 0 to 1, got [0, 0]"
    ),
    "nv_tileaa.permute %a [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>": (
        "expected result of shape 8x4, got 4x8"
    ),
    "nv_tileaa.cat %f, %f axis = 1 : tensor<16xf32>, tensor<16xf32> -> tensor<32xf32>": (
        "expected axis in 0 to 0, got 1"
    ),
    "nv_tileaa.cat %a, %b axis = 0 : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<12x8xf32>": (
        "expected rhs of the same shape as lhs, 4x8, in all dimensions but 0, got 8x4"
    ),
    "nv_tileaa.extract %f[%n, %n] : tensor<16xf32> -> f32": (
        "expected 1 indices, one for each dimension, got 2"
    ),
    "nv_tileaa.extract_slice %f[%n] : tensor<16xf32> -> tensor<3xf32>": (
        "expected result of a shape that divides 16, got 3"
    ),
    "nv_tileaa.pack %f : tensor<16xf32> -> tensor<32xi8>": ("expected result of 512 bits, got 256"),
    "nv_tileaa.dot %sa, %sb, %sd : tensor<4x8xi8>, tensor<8x4xi8>, tensor<4x4xi32>": (
        "expected the signedness of a and b, since they are integers"
    ),
    "nv_tileaa.dot %a, %b, %sd : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xi32>": (
        "expected all integers or all floats, got 'f32', 'f32' and 'i32'"
    ),
    "nv_tileaa.dot %a, %d, %d : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>": (
        "expected b of shape 8x4, got 4x4"
    ),
    'nv_tileaa.dot %a, %b, %d {input_precision = "all"} '
    ": tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>": (
        "expected the input precision ieee or tf32, got 'all'"
    ),
    f"nv_tileaa.load weak gpu %ps : {PS} -> tensor<16xf32>": (
        "expected no memory scope, since the ordering is weak, got gpu"
    ),
    f"nv_tileaa.load acquire %ps : {PS} -> tensor<16xf32>": (
        "expected a memory scope, since the ordering is acquire"
    ),
    f"nv_tileaa.load release gpu %ps : {PS} -> tensor<16xf32>": (
        "expected a memory ordering out of weak, relaxed, acquire, seq_cst, got release"
    ),
    f"nv_tileaa.load weak %ps : {PS} -> tensor<16xi32>": "expected result of 'f32', got 'i32'",
    f"nv_tileaa.store acquire gpu %ps, %f : {PS}, tensor<16xf32>": (
        "expected a memory ordering out of weak, relaxed, release, seq_cst, got acquire"
    ),
    f"nv_tileaa.store weak %ps, %i : {PS}, tensor<16xi32>": "expected value of 'f32', got 'i32'",
    f"nv_tileaa.atomic_rmw relaxed gpu add %ps, %f : {PS}, tensor<16xf32>": (
        "'add' works on i32, i64, got 'f32'"
    ),
    f"nv_tileaa.atomic_rmw weak addf %ps, %f : {PS}, tensor<16xf32>": (
        "expected a memory ordering out of relaxed, acquire, release, acq_rel, got weak"
    ),
    "nv_tileaa.join_mem_token [%t] : !nv_tileaa.mem_token": ("expected two or more tokens, got 1"),
    f"nv_tileaa.alloca 4 align 2 : {P}": "expected an alignment of at least 4 for 'f32', got 2",
    f"nv_tileaa.alloca 4 align 6 : {P}": ("expected an alignment that is a power of two, got 6"),
    f"nv_tileaa.make_memref %p sizes(%n : i32) : {P} -> {M}": "expected 0 sizes, got 1",
    f"nv_tileaa.get_dim_size %m 2 : {M} -> i32": "expected a dimension below the rank 2, got 2",
    f"nv_tileaa.tiled_load weak %v[%n] : i32 of {V} -> tensor<8x8xf32>": (
        "expected 2 indices, got 1"
    ),
    f"nv_tileaa.tiled_load weak %v[%n, %n] : i32, i32 of {V} -> tensor<8x4xf32>": (
        "expected a tile of type 'tensor<8x8xf32>', got 'tensor<8x4xf32>'"
    ),
    f"nv_tileaa.tiled_load weak %g[%j, %n] : tensor<8xi32>, i32 of {G} -> tensor<8x8xf32>": (
        "expected a view without a sparse dimension, got one with"
    ),
    f"nv_tileaa.gather_load weak %g[%n, %n] : i32, i32 of {G} -> tensor<8x8xf32>": (
        "expected index #0 to be a tensor of 8 integers, got 'i32'"
    ),
    f"nv_tileaa.tiled_atomic_rmw acquire gpu addf %tile, %v[%n, %n] "
    f": tensor<8x8xf32>, i32, i32 of {V}": "expected memory ordering relaxed, got acquire",
    "nv_tileaa.assume #nv_tileaa.div_by<16>, %x : f32": (
        "'div_by' expects integers, pointers or a memref, got 'f32'"
    ),
    "nv_tileaa.assume #nv_tileaa.bounded<4, 2>, %n : i32": "'bounded' expects 4 not to be above 2",
    "nv_tileaa.call @missing(%x) : (f32) -> f32": "expected '@missing' to name a function",
    f"nv_tileaa.get_global @missing : {P}": "expected '@missing' to name a global",
    "nv_tileaa.execute @missing(%x) : (f32) -> f32": "expected '@missing' to name a plugin",
}


def program(line: str) -> str:
    return (
        f"module {{ gpu.module @m {{ nv_tileaa.func @k({ARGUMENTS}) {{ "
        f"{line}\nnv_tileaa.return }} }} }}"
    )


def result(line: str) -> str:
    """The operation with names for its results."""
    two = ("load", "tiled_load", "gather_load", "atomic_rmw", "atomic_cas")
    count = 2 if line.split()[0].removeprefix("nv_tileaa.") in two else 1
    return f"%r:{count} = {line}"


@each_case("line", CASES, ids=lambda line: line.split(" :")[0])
def test_refused(line: str) -> None:
    messages = errors(program(result(line)))
    assert len(messages) == 1
    assert messages[0] == f"'{line.split()[0]}' op {CASES[line]}"


REGIONS = {
    "%r = nv_tileaa.reduce %f {axis = 1 : i32} : tensor<16xf32> -> f32 {\n"
    "^bb0(%u: f32, %w: f32):\n nv_tileaa.yield %u : f32 }": (
        "expected an axis below the rank 1, got 1"
    ),
    "%r = nv_tileaa.reduce %f {axis = 0 : i32} : tensor<16xf32> -> tensor<1xf32> {\n"
    "^bb0(%u: f32, %w: f32):\n nv_tileaa.yield %u : f32 }": (
        "expected results of types ('f32'), got ('tensor<1xf32>')"
    ),
    "%r = nv_tileaa.reduce %f {axis = 0 : i32} : tensor<16xf32> -> f32 {\n"
    "^bb0(%u: f32):\n nv_tileaa.yield %u : f32 }": (
        "expected block arguments of types ('f32', 'f32'), got ('f32')"
    ),
    "%r = nv_tileaa.reduce %f {axis = 0 : i32} : tensor<16xf32> -> f32 {\n"
    "^bb0(%u: f32, %w: f32):\n nv_tileaa.yield %n : i32 }": (
        "expected the body to yield ('f32'), got ('i32')"
    ),
    "%r = nv_tileaa.reduce %f {axis = 0 : i32, identities = []} : tensor<16xf32> -> f32 {\n"
    "^bb0(%u: f32, %w: f32):\n nv_tileaa.yield %u : f32 }": "expected 1 identities, got 0",
    "%r = nv_tileaa.scan %f {axis = 0 : i32, inclusive = false} "
    ": tensor<16xf32> -> tensor<16xf32> {\n"
    "^bb0(%u: f32, %w: f32):\n nv_tileaa.yield %u : f32 }": (
        "expected identities, since an exclusive scan begins with them"
    ),
    "%q = nv_tileaa.create_queue : !nv_tileaa.queue<[f32]>\n"
    "nv_tileaa.queue.put %q : !nv_tileaa.queue<[f32]> { nv_tileaa.queue.yield %n : i32 }": (
        "expected the region to yield ('f32'), got ('i32')"
    ),
    "%q = nv_tileaa.create_queue : !nv_tileaa.queue<[f32]>\n"
    "%r = nv_tileaa.queue.get %q : !nv_tileaa.queue<[f32]> -> f32 {\n"
    "^bb0(%u: i32):\n nv_tileaa.queue.yield %x : f32 }": (
        "expected block arguments of types ('f32'), got ('i32')"
    ),
    "%r = nv_tileaa.pragma {} -> f32 { nv_tileaa.yield %n : i32 }": (
        "expected the region to yield ('f32'), got ('i32')"
    ),
    "%r = nv_tileaa.generate : tensor<4xi32> {\n^bb0(%u: f32):\n nv_tileaa.yield %n : i32 }": (
        "expected block arguments of types ('i32'), got ('f32')"
    ),
}


@each_case("text", REGIONS)
def test_regions_are_refused(text: str) -> None:
    messages = errors(program(text))
    assert len(messages) == 1
    assert messages[0].endswith(REGIONS[text])


def test_isolated_queues_take_nothing_from_outside() -> None:
    text = (
        "%q = nv_tileaa.create_queue : !nv_tileaa.queue<[f32], isolated>\n"
        "nv_tileaa.queue.put %q : !nv_tileaa.queue<[f32], isolated> {\n"
        "%s = nv_tileaa.absf %x : f32\n nv_tileaa.queue.yield %s : f32 }"
    )
    assert errors(program(text)) == [
        "'nv_tileaa.absf' op uses a value from outside, "
        "but the queue of 'nv_tileaa.queue.put' is isolated"
    ]


@each_case(
    ("type", "message"),
    [
        ("!nv_tileaa.ptr<tensor<4xf32>>", "pointee must be a number, got 'tensor<4xf32>'"),
        (
            "!nv_tileaa.memref<4x4xf32, strides = [1]>",
            "memref must have 2 strides like extents, got 1",
        ),
        (
            f"!nv_tileaa.tiled_view<tile = [8], source = {M}>",
            "tile, steps and dims must have one number for each dimension of the source",
        ),
        (
            f"!nv_tileaa.tiled_view<tile = [8, 8], source = {M}, sparse = 2>",
            "sparse dimension must be below the rank 2, got 2",
        ),
    ],
)
def test_types_are_refused(type: str, message: str) -> None:
    (actual,) = errors(f"module {{ nv_tileaa.func private @f({type}) }}")
    assert actual == message


def test_kernels_return_nothing() -> None:
    text = "nv_tileaa.func private @f() -> f32 attributes {kernel_spec = #nv_tileaa.kernel_spec<>}"
    assert errors(f"module {{ {text} }}") == [
        "'nv_tileaa.func' op must not return values, got ('f32')"
    ]
