"""Cases of memory: accesses, copies, tensor copies, tensor maps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from nvvm_cases.case import Case

HINTS = (("", ""), (" l2_cache_hint = %l", ".L2::cache_hint"))
MASKS = (("", ""), (" multicast_mask = %h", ".multicast::cluster"))
"""Options of a copy, and their modifiers in PTX."""


def accesses() -> Iterator[Case]:
    for type, bytes in (("i16", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("vector<2xi64>", 16)):
        name = "v2.b64" if bytes == 16 else f"b{bytes * 8}"
        load = f"%r = nvvm.ld.global %g {{bytes = {bytes} : i32}} : !llvm.ptr<1> -> {type}"
        yield Case(load, f"ld.global.{name}", type)
        store = f"{load}\n    nvvm.st.global %g, %r, %b {{bytes = {bytes} : i32}} : "
        yield Case(f"{store}!llvm.ptr<1>, {type}", f"st.global.{name}")


def multimem() -> Iterator[Case]:
    pointer, atomic = "!llvm.ptr<1>", "order = #nvvm.access_order<release>"
    scoped = f"{atomic}, scope = #nvvm.mem_scope<sys>"
    for kind, element, value, type, ptx in (
        ("add", "i32", "%i", "i32", "add.u32"),
        ("min", "i32", "%i", "i32", "min.s32"),
        ("umax", "i32", "%i", "i32", "max.u32"),
        ("xor", "i32", "%i", "i32", "xor.b32"),
        ("add", "i64", "%l", "i64", "add.u64"),
        ("max", "i64", "%l", "i64", "max.s64"),
        ("umin", "i64", "%l", "i64", "min.u64"),
        ("and", "i64", "%l", "i64", "and.b64"),
        ("add", "f32", "%i", "i32", "add.f32"),
        ("add", "f64", "%l", "i64", "add.f64"),
        ("add", "bf16", "%i", "i32", "add.bf16x2"),
    ):
        narrow = ptx.replace("add.b", "add.acc::f32.b")
        text = f"nvvm.multimem.ld_reduce {kind} %g, %b, {value} {{element = {element}}} : "
        name = f"@%p1 multimem.ld_reduce.weak.global.{narrow} "
        yield Case(f"%r = {text}{pointer} -> {type}", name, type, "90")
        text = f"nvvm.multimem.red {kind} %g, {value} {{element = {element}, {scoped}}} : "
        name = f"multimem.red.release.sys.global.{ptx} ["
        yield Case(f"{text}{pointer}, {type}", name, "", "90")
    for kind, element, ptx in (("max", "f16", ".v4.f16x2"), ("add", "f32", ".v4.f32")):
        text = f"nvvm.multimem.ld_reduce {kind} %g {{element = {element}}} : {pointer} -> "
        name = f"multimem.ld_reduce.weak.global.{kind}{ptx} {{"
        yield Case(f"%r = {text}vector<4xi32>", name, "vector<4xi32>", "90")
    for type, ptx in (("i32", "b32"), ("i64", "b64"), ("vector<2xi32>", "v2.f32")):
        load = f"%0 = llvm.load %g : {pointer} -> {type}\n    "
        name = f"multimem.st.weak.global.{ptx} ["
        yield Case(f"{load}nvvm.multimem.st %g, %0, %b : {pointer}, {type}", name, "", "90")


def copies() -> Iterator[Case]:
    yield from async_copies()
    yield from bulk_groups()
    yield from bulk_loads()
    yield from bulk_stores()
    yield from prefetches()
    yield Case("nvvm.st.bulk %s, size = %l : !llvm.ptr<3>", "st.bulk.shared::cta", "", "100")


def async_copies() -> Iterator[Case]:
    types = "!llvm.ptr<3>, !llvm.ptr<1>"
    for cache, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        text = f"nvvm.cp.async.shared.global %s, %g, {size}, cache = {cache}"
        ptx = f"cp.async.{cache}.shared.global ["
        yield Case(f"{text} : {types}", ptx)
        yield Case(f"{text}, %i : {types}, i32", ptx)
        hinted = f"cp.async.{cache}.shared.global.L2::cache_hint ["
        yield Case(f"{text} l2_cache_hint = %l : {types}", hinted)
        yield Case(f"{text}, %i l2_cache_hint = %l : {types}, i32", hinted)
    for priority in ("evict_first", "evict_last", "evict_normal", "evict_unchanged"):
        text = f"%r = nvvm.createpolicy.fractional {priority}"
        yield Case(text, f"createpolicy.fractional.L2::{priority}.b64", "i64")
    yield Case("nvvm.cp.async.commit.group", "cp.async.commit_group;")
    yield Case("nvvm.cp.async.wait.group 2", "cp.async.wait_group \t2")
    yield Case("nvvm.cp.async.wait.all", "cp.async.wait_all;")
    for attribute, noinc in (("", ""), (" {noinc = true}", ".noinc")):
        name = f"cp.async.mbarrier.arrive{noinc}"
        yield Case(
            f"nvvm.cp.async.mbarrier.arrive %s{attribute} : !llvm.ptr<3>", f"{name}.shared.b64"
        )
        yield Case(f"nvvm.cp.async.mbarrier.arrive %p{attribute} : !llvm.ptr", f"{name}.b64")


def bulk_groups() -> Iterator[Case]:
    yield Case("nvvm.cp.async.bulk.commit.group", "cp.async.bulk.commit_group", "", "90")
    yield Case("nvvm.cp.async.bulk.wait_group 1", "cp.async.bulk.wait_group \t1", "", "90")
    yield Case(
        "nvvm.cp.async.bulk.wait_group 1 {read}", "cp.async.bulk.wait_group.read \t1", "", "90"
    )


def bulk_loads() -> Iterator[Case]:
    for (mask, many), (hint, hinted) in product(MASKS, HINTS):
        text = f"nvvm.cp.async.bulk.shared.cluster.global %c, %g, %s, %i{mask}{hint}"
        name = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        yield Case(f"{text} : !llvm.ptr<7>, !llvm.ptr<1>", f"{name}{many}{hinted} [", "", "90")
    yield Case(
        "nvvm.cp.async.bulk.shared.cluster.global %s, %g, %s, %i : !llvm.ptr<3>, !llvm.ptr<1>",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [",
        "",
        "90",
    )
    yield Case(
        "nvvm.cp.async.bulk.shared.cluster.shared.cta %c, %s, %s, %i : !llvm.ptr<7>, !llvm.ptr<3>",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [",
        "",
        "90",
    )


def bulk_stores() -> Iterator[Case]:
    """Stores, and prefetches with the same hints."""
    for hint, extra in HINTS:
        text = f"nvvm.cp.async.bulk.global.shared.cta %g, %s, %i{hint}"
        name = "cp.async.bulk.global.shared::cta.bulk_group"
        yield Case(f"{text} : !llvm.ptr<1>, !llvm.ptr<3>", f"{name}{extra} [", "", "90")
        yield Case(
            f"{text} byte_mask = %h : !llvm.ptr<1>, !llvm.ptr<3>",
            f"{name}{extra}.cp_mask [",
            "",
            "100a",
        )
        yield Case(
            f"nvvm.cp.async.bulk.prefetch %g, %i{hint} : !llvm.ptr<1>",
            f"cp.async.bulk.prefetch.L2.global{extra} [",
            "",
            "90",
        )


def prefetches() -> Iterator[Case]:
    for level in ("L1", "L2"):
        yield Case(f"nvvm.prefetch level = {level}, %g : !llvm.ptr<1>", f"prefetch.global.{level}")
        yield Case(f"nvvm.prefetch level = {level}, %p : !llvm.ptr", f"prefetch.{level}")
    for priority in ("last", "normal"):
        yield Case(
            f"nvvm.prefetch level = L2, evict_priority = evict_{priority}, %g : !llvm.ptr<1>",
            f"prefetch.global.L2::evict_{priority}",
        )
    yield Case("nvvm.prefetch tensormap, %p : !llvm.ptr", "prefetch.tensormap", "", "90")
    yield Case(
        "nvvm.prefetch tensormap, %p, predicate = %b : !llvm.ptr, i1",
        "prefetch.tensormap",
        "",
        "90",
    )


def tensors() -> Iterator[Case]:
    for rank in range(1, 6):
        box = ", ".join(["%i"] * rank)
        yield from tensor_loads(rank, box)
        yield from tensor_stores(rank, box)
    yield from im2col()
    yield from maps()


def tensor_loads(rank: int, box: str) -> Iterator[Case]:
    for (mask, many), (hint, hinted) in product(MASKS, HINTS):
        text = f"nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[{box}]"
        name = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile"
        tail = f".mbarrier::complete_tx::bytes{many}{hinted} ["
        types = "!llvm.ptr<3>, !llvm.ptr"
        yield Case(f"{text}{mask}{hint} : {types}", f"{name}{tail}", "", "90")
        yield Case(f"{text}{mask}{hint} predicate = %b : {types}", f"{name}{tail}", "", "90")
        if not mask:
            near = name.replace("shared::cluster", "shared::cta")
            yield Case(f"{text}{hint} {{isCTAOnly = true}} : {types}", f"{near}{tail}", "", "90")


def tensor_stores(rank: int, box: str) -> Iterator[Case]:
    """Stores, reductions, and prefetches with the same hints."""
    for hint, hinted in HINTS:
        text = f"nvvm.cp.async.bulk.tensor.global.shared.cta %p, %s, box[{box}]{hint}"
        name = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group{hinted} ["
        yield Case(f"{text} : !llvm.ptr, !llvm.ptr<3>", name, "", "90")
        yield Case(f"{text}, predicate = %b : !llvm.ptr, !llvm.ptr<3>", name, "", "90")
        for kind in ("add", "min", "max", "inc", "dec", "and", "or", "xor"):
            yield Case(
                f"nvvm.cp.async.bulk.tensor.reduce %p, %s, box[{box}]{hint} "
                f"{{redKind = #nvvm.tma_redux_kind<{kind}>}} : !llvm.ptr, !llvm.ptr<3>",
                f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{kind}.tile"
                f".bulk_group{hinted} [",
                "",
                "90",
            )
        yield Case(
            f"nvvm.cp.async.bulk.tensor.prefetch %p, box[{box}]{hint} : !llvm.ptr",
            f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global.tile{hinted} [",
            "",
            "90",
        )


def im2col() -> Iterator[Case]:
    for rank in (3, 4, 5):
        box = ", ".join(["%i"] * rank)
        for mode, ptx, count, since in (
            ("im2col", "im2col", rank - 2, "90"),
            ("im2col_w", "im2col::w", 2, "100a"),
            ("im2col_w_128", "im2col::w::128", 2, "100a"),
        ):
            offsets = ", ".join(["%h"] * count)
            attribute = f"{{mode = #nvvm.tma_load_mode<{mode}>}}"
            yield Case(
                f"nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[{box}] "
                f"im2col[{offsets}] {attribute} : !llvm.ptr<3>, !llvm.ptr",
                f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{ptx}.mbarrier",
                "",
                since,
            )
            yield Case(
                f"nvvm.cp.async.bulk.tensor.prefetch %p, box[{box}] im2col[{offsets}] "
                f"{attribute} : !llvm.ptr",
                f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global.{ptx}",
                "",
                since,
            )
        yield Case(
            f"nvvm.cp.async.bulk.tensor.global.shared.cta %p, %s, box[{box}] "
            "{mode = #nvvm.tma_store_mode<im2col>} : !llvm.ptr, !llvm.ptr<3>",
            f"cp.async.bulk.tensor.{rank}d.global.shared::cta.im2col_no_offs.bulk_group",
            "",
            "90",
        )
        yield Case(
            f"nvvm.cp.async.bulk.tensor.reduce %p, %s, box[{box}] {{redKind = "
            "#nvvm.tma_redux_kind<add>, mode = #nvvm.tma_store_mode<im2col>} "
            ": !llvm.ptr, !llvm.ptr<3>",
            f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.add.im2col_no_offs",
            "",
            "90",
        )
    rows = ", ".join(["%i"] * 5)
    yield Case(
        f"nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[{rows}] "
        "{mode = #nvvm.tma_load_mode<tile_gather4>} : !llvm.ptr<3>, !llvm.ptr",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4",
        "",
        "100a",
    )
    yield Case(
        f"nvvm.cp.async.bulk.tensor.global.shared.cta %p, %s, box[{rows}] "
        "{mode = #nvvm.tma_store_mode<tile_scatter4>} : !llvm.ptr, !llvm.ptr<3>",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4",
        "",
        "100a",
    )


def maps() -> Iterator[Case]:
    for pointer, type, space in (
        ("%s", "!llvm.ptr<3>", "shared::cta"),
        ("%g", "!llvm.ptr<1>", "global"),
    ):
        text = "nvvm.tensormap.replace field ="
        for field, value, kind, bits in (
            ("global_address", "%l", "i64", "b64"),
            ("rank", "%i", "i32", "b32"),
            ("box_dim[1]", "%i", "i32", "b32"),
            ("global_dim[4]", "%i", "i32", "b32"),
            ("global_stride[0]", "%l", "i64", "b64"),
            ("element_stride[2]", "%i", "i32", "b32"),
        ):
            name = field.partition("[")[0]
            yield Case(
                f"{text} {field}, new_value = {value} in {pointer} : {type}, {kind}",
                f"tensormap.replace.tile.{name}.{space}.b1024.{bits}",
                "",
                "90",
            )
        for field, choice in (
            ("elemtype", 10), ("interleave_layout", 0), ("swizzle_mode", 3), ("fill_mode", 0),
        ):  # fmt: skip
            yield Case(
                f"{text} {field} to {choice} in {pointer} : {type}",
                f"tensormap.replace.tile.{field}.{space}.b1024.b32",
                "",
                "90",
            )
        for field, choice in (("elemtype", 13), ("swizzle_atomicity", 1)):
            yield Case(
                f"{text} {field} to {choice} in {pointer} : {type}",
                f"tensormap.replace.tile.{field}.{space}.b1024.b32",
                "",
                "100",
            )
    for scope in ("cta", "cluster", "gpu", "sys"):
        yield Case(
            f"nvvm.tensormap.cp_fenceproxy <{scope}> %g, %s : !llvm.ptr<1>, !llvm.ptr<3>",
            f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}",
            "",
            "90",
        )
