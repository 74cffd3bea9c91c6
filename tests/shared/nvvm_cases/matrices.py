"""Cases of mma by warps and warpgroups."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from nvvm_cases.case import Case


def first_of(struct: str, body: str) -> str:
    """A body whose result is the first member of its struct `%t`."""
    return f"%t = {body}\n    %r = llvm.extractvalue %t[0] : {struct}"


def small_matrices() -> Iterator[Case]:
    for num, (layout, trans) in product((1, 2, 4), (("row", ""), ("col", ".trans"))):
        struct = f"!llvm.struct<({', '.join(['i32'] * num)})>"
        attributes = f"{{layout = #nvvm.mma_layout<{layout}>, num = {num} : i32}}"
        text = f"nvvm.ldmatrix %s {attributes} : (!llvm.ptr<3>) -> "
        body = f"%r = {text}i32" if num == 1 else first_of(struct, f"{text}{struct}")
        yield Case(body, f"ldmatrix.sync.aligned.m8n8.x{num}{trans}.shared.b16", "i32")
        values, types = ", ".join(["%i"] * num), ", ".join(["i32"] * num)
        yield Case(
            f"nvvm.stmatrix %s, {values} {{layout = #nvvm.mma_layout<{layout}>}} "
            f": !llvm.ptr<3>, {types}",
            f"stmatrix.sync.aligned.m8n8.x{num}{trans}.shared.b16",
            "",
            "90",
        )
    pair = "!llvm.struct<(i32, i32)>"
    yield Case(
        first_of(
            pair,
            "nvvm.ldmatrix %s {eltType = #nvvm.ld_st_matrix_elt_type<b8>, "
            "layout = #nvvm.mma_layout<col>, num = 1 : i32, "
            f"shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>}} : (!llvm.ptr<3>) -> {pair}",
        ),
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8",
        "i32",
        "100",
    )
    yield Case(
        "nvvm.stmatrix %s, %i {eltType = #nvvm.ld_st_matrix_elt_type<b8>, "
        "layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 8>} "
        ": !llvm.ptr<3>, i32",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8",
        "",
        "100",
    )


FRAGMENTS = {"f16": ("%v", "vector<2xf16>"), "f32": ("%x", "f32"), "f64": ("%y", "f64")}


def fragment(type: str, count: int) -> tuple[str, str]:
    """Some registers of a type, and the type of one."""
    value, kind = FRAGMENTS.get(type, ("%i", "i32"))
    return ", ".join([value] * count), kind


def mma(
    a: str, b: str, c: str, shape: str, counts: tuple[int, int, int], ptx: str, since: str,
    *, extra: str = "", sparse: bool = False,
) -> Case:  # fmt: skip
    """An mma.sync with these numbers of registers."""
    m, n, k = shape.replace("m", "").replace("n", " ").replace("k", " ").split()
    (left, left_type), (right, right_type), (acc, acc_type) = (
        fragment(type, count) for type, count in zip((a, b, c), counts, strict=True)
    )
    struct = f"!llvm.struct<({', '.join([acc_type] * counts[2])})>"
    types = f"{left_type}, {right_type}, {acc_type}"
    name, metadata = "nvvm.mma.sync", ""
    if sparse:
        name, metadata, types = "nvvm.mma.sp.sync", " sparseMetadata[%i]", f"{types}, i32"
    body = (
        f"{name} A[{left}] B[{right}] C[{acc}]{metadata} {{{extra}"
        "layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
        f"multiplicandAPtxType = #nvvm.mma_type<{a}>, "
        f"multiplicandBPtxType = #nvvm.mma_type<{b}>, "
        f"shape = #nvvm.shape<m = {m}, n = {n}, k = {k}>}} : ({types}) -> {struct}"
    )
    return Case(first_of(struct, body), ptx, acc_type, since)


SIGNS_8 = tuple(product(("s8", "u8"), ("s8", "u8")))
SIGNS_4 = tuple(product(("s4", "u4"), ("s4", "u4")))
FP8 = tuple(product(("e4m3", "e5m2"), ("e4m3", "e5m2")))

# Types of A and B; types of C with the number of its registers; shapes with the numbers of
# registers of A and B; the first GPU. The numbers are those of the fragment tables of the PTX ISA.
DENSE = (
    ((("f16", "f16"),), (("f16", 2), ("f32", 4)), (("m16n8k8", 2, 1), ("m16n8k16", 4, 2)), "80"),
    ((("bf16", "bf16"),), (("f32", 4),), (("m16n8k8", 2, 1), ("m16n8k16", 4, 2)), "80"),
    ((("tf32", "tf32"),), (("f32", 4),), (("m16n8k4", 2, 1), ("m16n8k8", 4, 2)), "80"),
    ((("f64", "f64"),), (("f64", 2),), (("m8n8k4", 1, 1),), "80"),
    (
        (("f64", "f64"),), (("f64", 4),),
        (("m16n8k4", 2, 1), ("m16n8k8", 4, 2), ("m16n8k16", 8, 4)), "90",
    ),
    (SIGNS_8, (("s32", 2),), (("m8n8k16", 1, 1),), "80"),
    (SIGNS_8, (("s32", 4),), (("m16n8k16", 2, 1), ("m16n8k32", 4, 2)), "80"),
    (SIGNS_4, (("s32", 2),), (("m8n8k32", 1, 1),), "80"),
    (SIGNS_4, (("s32", 4),), (("m16n8k32", 2, 1), ("m16n8k64", 4, 2)), "80"),
    (FP8, (("f16", 2), ("f32", 4)), (("m16n8k16", 2, 1), ("m16n8k32", 4, 2)), "89"),
)  # fmt: skip
SPARSE = (
    ((("f16", "f16"),), (("f16", 2), ("f32", 4)), (("m16n8k16", 2, 2), ("m16n8k32", 4, 4)), "80"),
    ((("bf16", "bf16"),), (("f32", 4),), (("m16n8k16", 2, 2), ("m16n8k32", 4, 4)), "80"),
    ((("tf32", "tf32"),), (("f32", 4),), (("m16n8k8", 2, 2), ("m16n8k16", 4, 4)), "80"),
    (SIGNS_8, (("s32", 4),), (("m16n8k32", 2, 2), ("m16n8k64", 4, 4)), "80"),
    (SIGNS_4, (("s32", 4),), (("m16n8k64", 2, 2), ("m16n8k128", 4, 4)), "80"),
    (FP8, (("f32", 4),), (("m16n8k64", 4, 4),), "89"),
)
SATURATED = "intOverflowBehavior = #nvvm.mma_int_overflow<satfinite>, "


def dense_mmas() -> Iterator[Case]:
    for pairs, accumulators, shapes, since in DENSE:
        for (a, b), (c, count), (shape, n_a, n_b) in product(pairs, accumulators, shapes):
            counts = (n_a, n_b, count)
            tail = f"{c}.{a}.{b}.{c}"
            ptx = f"mma.sync.aligned.{shape}.row.col"
            yield mma(a, b, c, shape, counts, f"{ptx}.{tail}", since)
            if c == "s32":
                ptx = f"{ptx}.satfinite.{tail}"
                yield mma(a, b, c, shape, counts, ptx, since, extra=SATURATED)
    for (bits, word), (shape, counts) in product(
        (("xor_popc", "xor.popc"), ("and_popc", "and.popc")),
        (("m8n8k128", (1, 1, 2)), ("m16n8k128", (2, 1, 4)), ("m16n8k256", (4, 2, 4))),
    ):
        ptx = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{word}"
        extra = f"b1Op = #nvvm.mma_b1op<{bits}>, "
        yield mma("b1", "b1", "s32", shape, counts, ptx, "80", extra=extra)


def sparse_mmas() -> Iterator[Case]:
    for extra, head in (
        ("", "mma.sp.sync.aligned"),
        ("orderedMetadata, ", "mma.sp::ordered_metadata.sync.aligned"),
    ):
        for pairs, accumulators, shapes, since in SPARSE:
            for (a, b), (c, count), (shape, n_a, n_b) in product(pairs, accumulators, shapes):
                ptx = f"{head}.{shape}.row.col.{c}.{a}.{b}.{c}"
                counts = (n_a, n_b, count)
                yield mma(a, b, c, shape, counts, ptx, since, extra=extra, sparse=True)


def wgmma(
    a: str, b: str, c: str, n: int, k: int, *, layouts: tuple[str, str] = ("row", "col")
) -> Case:
    """A wgmma into new accumulators."""
    type = {"f32": "f32", "s32": "i32", "f16": "vector<2xf16>"}[c]
    count = 64 * n // 128 // (2 if c == "f16" else 1)
    struct = f"!llvm.struct<({', '.join([type] * count)})>"
    body = (
        f"%u = llvm.mlir.undef : {struct}\n    "
        f"%t = nvvm.wgmma.mma_async %l, %l, %u, <m = 64, n = {n}, k = {k}>, D[<{c}>, <zero>], "
        f"A[<{a}>, <one>, <{layouts[0]}>], B[<{b}>, <one>, <{layouts[1]}>] : {struct} -> {struct}"
        f"\n    %d = nvvm.wgmma.wait.group.sync.aligned 0, %t : {struct}"
        f"\n    %r = llvm.extractvalue %d[{count - 1}] : {struct}"
    )
    ptx = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{c}.{a}.{b}"
    return Case(body, ptx, type, "90a")


def warpgroups() -> Iterator[Case]:
    yield Case("nvvm.wgmma.fence.aligned", "wgmma.fence.sync.aligned", "", "90a")
    yield Case("nvvm.wgmma.commit.group.sync.aligned", "wgmma.commit_group.sync", "", "90a")
    yield Case(
        "nvvm.wgmma.wait.group.sync.aligned 1", "wgmma.wait_group.sync.aligned \t1", "", "90a"
    )
    for n in (8, 24, 136, 256):
        yield wgmma("f16", "f16", "f16", n, 16)
        yield wgmma("f16", "f16", "f32", n, 16)
        yield wgmma("bf16", "bf16", "f32", n, 16)
        yield wgmma("tf32", "tf32", "f32", n, 8)
        for a, b, c in product(("e4m3", "e5m2"), ("e4m3", "e5m2"), ("f16", "f32")):
            yield wgmma(a, b, c, n, 32)
    for n in (8, 24, 48, 256):
        for a, b in product(("s8", "u8"), ("s8", "u8")):
            yield wgmma(a, b, "s32", n, 32)
        yield wgmma("b1", "b1", "s32", n, 256)
    for layouts in (("col", "col"), ("row", "row"), ("col", "row")):
        yield wgmma("bf16", "bf16", "f32", 64, 16, layouts=layouts)
        yield wgmma("f16", "f16", "f16", 64, 16, layouts=layouts)
    struct = f"!llvm.struct<({', '.join(['f32'] * 4)})>"
    tail = (
        "<m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<bf16>, <neg>, <row>], "
        f"B[<bf16>, <one>, <row>] commit : {struct}"
    )
    for source in (
        "A(%l, %l) B(%l, %l)", "A(%l, %l) B(%l, %l) if %b",
        "registers(%i, %i, %i, %i, %w, %w, %w, %w : i32, i32, i32, i32, vector<2xbf16>, "
        "vector<2xbf16>, vector<2xbf16>, vector<2xbf16>) B(%l, %l)",
    ):  # fmt: skip
        yield Case(
            f"%u = llvm.mlir.undef : {struct}\n"
            "    nvvm.wgmma.fence.aligned\n"
            f"    %t = nvvm.wgmma.steps {source}, %u, {tail}\n"
            f"    %s2 = nvvm.wgmma.steps {source}, %u, {tail}\n"
            f"    %d:2 = nvvm.wgmma.wait.group.sync.aligned 0, %t, %s2 : {struct}, {struct}\n"
            f"    %r = llvm.extractvalue %d#1[3] : {struct}",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
            "f32",
            "90a",
        )
    yield from vector_accumulators()


def vector_accumulators() -> Iterator[Case]:
    """wgmmas into vector accumulators, after a fence of the accumulators."""
    for a, c, element, k in (
        ("bf16", "f32", "f32", 16),
        ("f16", "f16", "f16", 16),
        ("s8", "s32", "i32", 32),
    ):
        vector = f"vector<4x{element}>"
        tail = (
            f"<m = 64, n = 8, k = {k}>, D[<{c}>, <one>], A[<{a}>, <one>, <row>], "
            f"B[<{a}>, <one>, <col>] commit : {vector}"
        )
        for apart in ("", " apart"):
            yield Case(
                f"%u = llvm.mlir.zero : {vector}\n"
                f"    %f:2 = nvvm.wgmma.fence.aligned{apart}(%u, %u : {vector}, {vector})\n"
                f"    %t = nvvm.wgmma.steps A(%l) B(%l), %f#0, {tail}\n"
                f"    %s2 = nvvm.wgmma.steps fence{apart} A(%l) B(%l), %f#1, {tail}\n"
                f"    %d:2 = nvvm.wgmma.wait.group.sync.aligned 0, %t, %s2 : {vector}, {vector}\n"
                f"    %three = llvm.mlir.constant(3 : i32) : i32\n"
                f"    %r = llvm.extractelement %d#1[%three : i32] : {vector}",
                f"wgmma.mma_async.sync.aligned.m64n8k{k}.{c}.{a}.{a}",
                element,
                "90a",
            )
