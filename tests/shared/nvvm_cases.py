"""One case or more for each operation of the NVVM dialect: its text, and what PTX it must become.

The expected instructions and the first GPU that has them are those of the PTX ISA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

ARGUMENTS = (
    "%p: !llvm.ptr, %g: !llvm.ptr<1>, %s: !llvm.ptr<3>, %c: !llvm.ptr<7>, %i: i32, %h: i16, "
    "%l: i64, %b: i1, %x: f32, %y: f64, %v: vector<2xf16>, %w: vector<2xbf16>, %z: vector<2xi8>, "
    "%q: vector<2xf32>, %o: i8"
)


class Case:
    """The text of a body, the type of its result `%r` if any, and a part of the PTX."""

    def __init__(self, body: str, ptx: str, result: str = "", since: str = "80") -> None:
        self.body = body
        self.ptx = ptx
        self.result = result
        self.since = since

    def function(self, name: str) -> str:
        """A kernel that uses the result."""
        lines = [self.body]
        if self.result:
            lines.append(f"llvm.store %r, %g : {self.result}, !llvm.ptr<1>")
        inside = "\n    ".join([*lines, "llvm.return"])
        return (
            f"  llvm.func @{name}({ARGUMENTS}) attributes {{nvvm.kernel}} {{\n    {inside}\n  }}\n"
        )

    def __repr__(self) -> str:
        return self.body


HAVING: dict[str, Callable[[int], bool]] = {
    "80": lambda number: True,
    "89": lambda number: number >= 89,
    "90": lambda number: number >= 90,
    "90a": lambda number: number == 90,
    "100": lambda number: number >= 100,
    "100a": lambda number: 100 <= number < 120,
    "redux": lambda number: number in (100, 103, 107),
    "rs": lambda number: number in (100, 103),
}
"""Which GPUs have what, by what the PTX ISA says of targets; LLVM 22 has less of sm_110."""


def accesses() -> Iterator[Case]:
    for type, bytes in (("i16", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("vector<2xi64>", 16)):
        name = "v2.b64" if bytes == 16 else f"b{bytes * 8}"
        load = f"%r = nvvm.ld.global %g {{bytes = {bytes} : i32}} : !llvm.ptr<1> -> {type}"
        yield Case(load, f"ld.global.{name}", type)
        store = f"{load}\n    nvvm.st.global %g, %r, %b {{bytes = {bytes} : i32}} : "
        yield Case(f"{store}!llvm.ptr<1>, {type}", f"st.global.{name}")


def registers() -> Iterator[Case]:
    for register in ("tid", "ntid", "ctaid", "nctaid"):
        for axis in "xyz":
            yield Case(
                f"%r = nvvm.read.ptx.sreg.{register}.{axis} : i32", f"%{register}.{axis}", "i32"
            )
    for register in ("clusterid", "nclusterid", "cluster.ctaid", "cluster.nctaid"):
        ptx = register.replace("cluster.", "cluster_")
        for axis in "xyz":
            yield Case(
                f"%r = nvvm.read.ptx.sreg.{register}.{axis} : i32", f"%{ptx}.{axis}", "i32", "90"
            )
    for register in ("laneid", "warpid", "nwarpid", "smid", "nsmid"):
        yield Case(f"%r = nvvm.read.ptx.sreg.{register} : i32", f"%{register}", "i32")
    yield Case("%r = nvvm.read.ptx.sreg.warpsize : i32", ", 32;", "i32")  # LLVM knows it
    yield Case("%r = nvvm.read.ptx.sreg.gridid : i32", "%gridid", "i32")
    for rank in ("ctarank", "nctarank"):
        name = f"cluster.{rank}"
        yield Case(f"%r = nvvm.read.ptx.sreg.{name} : i32", f"%cluster_{rank}", "i32", "90")
    for mask in ("eq", "le", "lt", "ge", "gt"):
        yield Case(f"%r = nvvm.read.ptx.sreg.lanemask.{mask} : i32", f"%lanemask_{mask}", "i32")
    yield Case("%r = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32", "%tid.x", "i32")
    yield Case("%r = nvvm.read.ptx.sreg.clock : i32", "%clock;", "i32")
    yield Case("%r = nvvm.read.ptx.sreg.clock64 : i64", "%clock64", "i64")
    yield Case("%r = nvvm.read.ptx.sreg.globaltimer : i64", "%globaltimer", "i64")


def barriers() -> Iterator[Case]:
    yield Case("nvvm.barrier0", "bar.sync \t0;")
    yield Case("nvvm.barrier", "bar.sync \t0;")
    yield Case("nvvm.barrier id = %i", "bar.sync \t%r")
    yield Case("nvvm.bar.sync.aligned %i : i32", "bar.sync \t%r")
    yield Case("nvvm.barrier id = %i number_of_threads = %i", "bar.sync \t%r")
    yield Case("nvvm.barrier.arrive id = %i number_of_threads = %i", "bar.arrive \t%r")
    yield Case("nvvm.barrier.arrive number_of_threads = %i", "bar.arrive \t0, %r")
    yield Case("nvvm.bar.warp.sync %i : i32", "bar.warp.sync \t%r")
    for aligned, suffix in (("", ""), (" {aligned}", ".aligned")):
        for op in ("arrive", "arrive.relaxed", "wait"):
            yield Case(f"nvvm.cluster.{op}{aligned}", f"barrier.cluster.{op}{suffix};", "", "90")
    for scope, level in (("cta", "membar.cta"), ("gpu", "membar.gl"), ("sys", "membar.sys")):
        yield Case(f"nvvm.memory_barrier <{scope}>", level)
    yield Case("nvvm.memory_barrier <cluster>", "fence.sc.cluster", "", "90")
    yield Case("nvvm.fence.sc.cluster", "fence.sc.cluster", "", "90")
    yield Case("nvvm.fence.mbarrier.init", "fence.mbarrier_init.release.cluster", "", "90")
    yield Case("nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}", "fence.proxy.alias")
    for kind in ("async", "async.global"):
        text = f"nvvm.fence.proxy {{kind = #nvvm.proxy_kind<{kind}>}}"
        yield Case(text, f"fence.proxy.{kind};", "", "90")
    for space in ("cta", "cluster"):
        text = (
            "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, "
            f"space = #nvvm.shared_space<{space}>}}"
        )
        yield Case(text, f"fence.proxy.async.shared::{space}", "", "90")
    for scope in ("cta", "cluster", "gpu", "sys"):
        name = "fence.proxy.tensormap::generic"
        yield Case(
            f"nvvm.fence.proxy.acquire <{scope}> %p, %i", f"{name}.acquire.{scope} [", "", "90"
        )
        yield Case(f"nvvm.fence.proxy.release <{scope}>", f"{name}.release.{scope};", "", "90")
    for action, word in (("increase", "inc"), ("decrease", "dec")):
        text = f"nvvm.setmaxregister {action} 64"
        yield Case(text, f"setmaxnreg.{word}.sync.aligned.u32 \t64", "", "90")
    yield Case("nvvm.griddepcontrol wait", "griddepcontrol.wait", "", "90")
    yield Case(
        "nvvm.griddepcontrol launch_dependents", "griddepcontrol.launch_dependents", "", "90"
    )
    yield Case("nvvm.nanosleep 64", "nanosleep.u32 \t64")
    yield Case("nvvm.exit", "exit;")
    shared = "%r = nvvm.mapa %s, %i : !llvm.ptr<3> -> !llvm.ptr<7>"
    yield Case(shared, "mapa.shared::cluster", "!llvm.ptr<7>", "90")
    yield Case("%r = nvvm.mapa %p, %i : !llvm.ptr -> !llvm.ptr", "mapa.u64", "!llvm.ptr", "90")


def warps() -> Iterator[Case]:
    for kind, (type, value) in product(
        ("bfly", "up", "down", "idx"), (("i32", "%i"), ("f32", "%x"))
    ):
        text = f"nvvm.shfl.sync {kind} %i, {value}, %i, %i"
        yield Case(f"%r = {text} : {type} -> {type}", f"shfl.sync.{kind}.b32", type)
        pair = f"!llvm.struct<({type}, i1)>"
        yield Case(
            f"%t = {text} {{return_value_and_is_valid}} : {type} -> {pair}\n"
            f"    %r = llvm.extractvalue %t[1] : {pair}",
            f"shfl.sync.{kind}.b32",
            "i1",
        )
    for kind in ("any", "all", "uni"):
        yield Case(f"%r = nvvm.vote.sync {kind} %i, %b -> i1", f"vote.sync.{kind}.pred", "i1")
    yield Case("%r = nvvm.vote.sync ballot %i, %b -> i32", "vote.sync.ballot.b32", "i32")
    for type, value in (("i32", "%i"), ("i64", "%l")):
        bits = type.replace("i", "b")
        text = f"%r = nvvm.match.sync any %i, {value} : {type} -> i32"
        yield Case(text, f"match.any.sync.{bits}", "i32")
        text = (
            f"%t = nvvm.match.sync all %i, {value} : {type} -> !llvm.struct<(i32, i1)>\n"
            "    %r = llvm.extractvalue %t[0] : !llvm.struct<(i32, i1)>"
        )
        yield Case(text, f"match.all.sync.{bits}", "i32")
    for kind, ptx in (
        ("add", "add.s32"), ("and", "and.b32"), ("or", "or.b32"), ("xor", "xor.b32"),
        ("min", "min.s32"), ("max", "max.s32"), ("umin", "min.u32"), ("umax", "max.u32"),
    ):  # fmt: skip
        yield Case(f"%r = nvvm.redux.sync {kind} %i, %i : i32 -> i32", f"redux.sync.{ptx}", "i32")
    for kind, (attributes, extra) in product(
        ("fmin", "fmax"),
        (("", ""), (" {abs = true}", ".abs"), (" {nan = true}", ".NaN"),
         (" {abs = true, nan = true}", ".abs.NaN")),
    ):  # fmt: skip
        text = f"%r = nvvm.redux.sync {kind} %x, %i{attributes} : f32 -> f32"
        yield Case(text, f"redux.sync.{kind[1:]}{extra}.f32", "f32", "redux")
    yield Case("%r = nvvm.elect.sync -> i1", "elect.sync", "i1", "90")
    yield Case("%r = nvvm.elect.sync %i -> i1", "elect.sync", "i1", "90")


def mbarriers() -> Iterator[Case]:
    for suffix, pointer, type in ((".shared", "%s", "!llvm.ptr<3>"), ("", "%p", "!llvm.ptr")):
        name = "nvvm.mbarrier"
        yield Case(f"{name}.init{suffix} {pointer}, %i : {type}, i32", f"mbarrier.init{suffix}.b64")
        yield Case(
            f"{name}.init{suffix} {pointer}, %i, predicate = %b : {type}, i32, i1",
            f"mbarrier.init{suffix}.b64",
        )
        yield Case(f"{name}.inval{suffix} {pointer} : {type}", f"mbarrier.inval{suffix}.b64")
        yield Case(
            f"%r = {name}.arrive{suffix} {pointer} : {type} -> i64",
            f"mbarrier.arrive{suffix}.b64",
            "i64",
        )
        yield Case(
            f"%r = {name}.arrive.nocomplete{suffix} {pointer}, %i : {type}, i32 -> i64",
            f"mbarrier.arrive.noComplete{suffix}.b64",
            "i64",
        )
        yield Case(
            f"{name}.arrive.expect_tx{suffix} {pointer}, %i : {type}, i32",
            f"mbarrier.arrive.expect_tx{suffix}",
            "",
            "90",
        )
        yield Case(
            f"{name}.arrive.expect_tx{suffix} {pointer}, %i, predicate = %b : {type}, i32, i1",
            f"mbarrier.arrive.expect_tx{suffix}",
            "",
            "90",
        )
        yield Case(
            # A state that no arrival gave makes ptxas end with a segmentation fault.
            f"%t = {name}.arrive{suffix} {pointer} : {type} -> i64\n"
            f"    %r = {name}.test.wait{suffix} {pointer}, %t : {type}, i64 -> i1",
            f"mbarrier.test_wait{suffix}.b64",
            "i1",
        )
        for phase in ("i1", "i32"):
            value = "%b" if phase == "i1" else "%i"
            text = f"{name}.try_wait.parity{suffix} {pointer}, {value}, %i : {type}, {phase}, i32"
            yield Case(f"%r = {text} -> i1", f"_wait.parity{suffix}.b64", "i1")
            yield Case(text, f"_wait.parity{suffix}.b64")
    yield Case(
        "nvvm.mbarrier.expect_tx %s, %i : !llvm.ptr<3>, i32", "mbarrier.expect_tx.relaxed", "", "90"
    )
    yield Case(
        "nvvm.mbarrier.complete_tx %s, %i : !llvm.ptr<3>, i32", "mbarrier.complete_tx", "", "90"
    )
    yield Case(
        "nvvm.mbarrier.arrive.shared.cluster <cta> %c, %i : !llvm.ptr<7>, i32",
        "mbarrier.arrive.shared::cluster.b64 _",
        "",
        "90",
    )
    yield Case(
        "nvvm.mbarrier.arrive.shared.cluster <cluster> %c, %i : !llvm.ptr<7>, i32",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _",
        "",
        "90",
    )


def copies() -> Iterator[Case]:
    types = "!llvm.ptr<3>, !llvm.ptr<1>"
    for cache, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        text = f"nvvm.cp.async.shared.global %s, %g, {size}, cache = {cache}"
        ptx = f"cp.async.{cache}.shared.global ["
        yield Case(f"{text} : {types}", ptx)
        yield Case(f"{text}, %i : {types}, i32", ptx)
    yield Case("nvvm.cp.async.commit.group", "cp.async.commit_group;")
    yield Case("nvvm.cp.async.wait.group 2", "cp.async.wait_group \t2")
    yield Case("nvvm.cp.async.wait.all", "cp.async.wait_all;")
    for attribute, noinc in (("", ""), (" {noinc = true}", ".noinc")):
        name = f"cp.async.mbarrier.arrive{noinc}"
        yield Case(
            f"nvvm.cp.async.mbarrier.arrive %s{attribute} : !llvm.ptr<3>", f"{name}.shared.b64"
        )
        yield Case(f"nvvm.cp.async.mbarrier.arrive %p{attribute} : !llvm.ptr", f"{name}.b64")
    yield Case("nvvm.cp.async.bulk.commit.group", "cp.async.bulk.commit_group", "", "90")
    yield Case("nvvm.cp.async.bulk.wait_group 1", "cp.async.bulk.wait_group \t1", "", "90")
    yield Case(
        "nvvm.cp.async.bulk.wait_group 1 {read}", "cp.async.bulk.wait_group.read \t1", "", "90"
    )
    for mask, hint in product(("", " multicast_mask = %h"), ("", " l2_cache_hint = %l")):
        ptx = ".multicast::cluster" * bool(mask) + ".L2::cache_hint" * bool(hint)
        text = f"nvvm.cp.async.bulk.shared.cluster.global %c, %g, %s, %i{mask}{hint}"
        name = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        yield Case(f"{text} : !llvm.ptr<7>, !llvm.ptr<1>", f"{name}{ptx} [", "", "90")
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
    for hint, extra in (("", ""), (" l2_cache_hint = %l", ".L2::cache_hint")):
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
    yield Case("nvvm.st.bulk %s, size = %l : !llvm.ptr<3>", "st.bulk.shared::cta", "", "100")


def tensors() -> Iterator[Case]:
    hints = (("", ""), (" l2_cache_hint = %l", ".L2::cache_hint"))
    masks = (("", ""), (" multicast_mask = %h", ".multicast::cluster"))
    for rank in range(1, 6):
        box = ", ".join(["%i"] * rank)
        for (mask, many), (hint, hinted) in product(masks, hints):
            text = f"nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[{box}]"
            name = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile"
            tail = f".mbarrier::complete_tx::bytes{many}{hinted} ["
            types = "!llvm.ptr<3>, !llvm.ptr"
            yield Case(f"{text}{mask}{hint} : {types}", f"{name}{tail}", "", "90")
            yield Case(f"{text}{mask}{hint} predicate = %b : {types}", f"{name}{tail}", "", "90")
            if not mask:
                near = name.replace("shared::cluster", "shared::cta")
                yield Case(
                    f"{text}{hint} {{isCTAOnly = true}} : {types}", f"{near}{tail}", "", "90"
                )
        for hint, hinted in hints:
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
    yield from im2col()
    yield from maps()


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


def first_of(struct: str, body: str) -> str:
    """A body whose struct `%t` gives its first member as the result."""
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
    """A product of a warp, given the numbers of registers."""
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


def dense_products() -> Iterator[Case]:
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


def sparse_products() -> Iterator[Case]:
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
    """A product of a warpgroup into fresh accumulators."""
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
    """Products into vectors of elements, behind a fence that the accumulators go through."""
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
        yield Case(
            f"%u = llvm.mlir.zero : {vector}\n"
            f"    %f:2 = nvvm.wgmma.fence.aligned(%u, %u : {vector}, {vector})\n"
            f"    %t = nvvm.wgmma.steps A(%l) B(%l), %f#0, {tail}\n"
            f"    %s2 = nvvm.wgmma.steps fence A(%l) B(%l), %f#1, {tail}\n"
            f"    %d:2 = nvvm.wgmma.wait.group.sync.aligned 0, %t, %s2 : {vector}, {vector}\n"
            f"    %three = llvm.mlir.constant(3 : i32) : i32\n"
            f"    %r = llvm.extractelement %d#1[%three : i32] : {vector}",
            f"wgmma.mma_async.sync.aligned.m64n8k{k}.{c}.{a}.{a}",
            element,
            "90a",
        )


def arithmetic() -> Iterator[Case]:
    for rnd in ("rn", "rm", "rp", "rz"):
        attribute = f"rnd = #nvvm.fp_rnd_mode<{rnd}>"
        for type, value in (("f32", "%x"), ("f64", "%y")):
            for word in ("add", "mul", "div"):
                text = f"%r = nvvm.{word}f {value}, {value} {{{attribute}}} : {type}"
                yield Case(text, f"{word}.{rnd}.{type}", type)
            text = f"%r = nvvm.fma {value}, {value}, {value} {{{attribute}}} : {type}"
            yield Case(text, f"fma.{rnd}.{type}", type)
            for word in ("sqrt", "rcp"):
                text = f"%r = nvvm.{word}f {value} {{{attribute}}} : {type}"
                yield Case(text, f"{word}.{rnd}.{type}", type)
        text = f"%r = nvvm.addf %x, %x {{ftz, {attribute}}} : f32"
        yield Case(text, f"add.{rnd}.ftz.f32", "f32")
        for word in ("add", "mul"):
            text = f"%r = nvvm.{word}.packed.f32x2 %q, %q {{{attribute}}} : vector<2xf32>"
            yield Case(text, f"{word}.{rnd}.f32x2", "vector<2xf32>", "100")
        text = f"%r = nvvm.fma.packed.f32x2 %q, %q, %q {{ftz, {attribute}}} : vector<2xf32>"
        yield Case(text, f"fma.{rnd}.ftz.f32x2", "vector<2xf32>", "100")
    yield Case(
        "%r = nvvm.fma.packed.f32x2 %q, %q, %q : vector<2xf32>",
        "fma.rn.f32x2",
        "vector<2xf32>",
        "100",
    )
    yield Case("%r = nvvm.rcp.approx.ftz.f %x : f32", "rcp.approx.ftz.f32", "f32")
    for ftz, extra in (("", ""), (" {ftz}", ".ftz")):
        for word in ("rcp", "sqrt", "rsqrt", "lg2", "sin", "cos", "ex2"):
            yield Case(f"%r = nvvm.{word}.approx %x{ftz} : f32", f"{word}.approx{extra}.f32", "f32")
        yield Case(f"%r = nvvm.div.approx %x, %x{ftz} : f32", f"div.approx{extra}.f32", "f32")
    yield Case("%r = nvvm.div.approx %x, %x {full} : f32", "div.full.f32", "f32")
    yield Case("%r = nvvm.div.approx %x, %x {ftz, full} : f32", "div.full.ftz.f32", "f32")
    yield Case("%r = nvvm.ex2.approx %v : vector<2xf16>", "ex2.approx.f16x2", "vector<2xf16>")
    yield Case(
        "%r = nvvm.ex2.approx %w {ftz} : vector<2xbf16>",
        "ex2.approx.ftz.bf16x2",
        "vector<2xbf16>",
        "90",
    )
    yield Case("%r = nvvm.tanh.approx %x : f32", "tanh.approx.f32", "f32")
    yield Case("%r = nvvm.tanh.approx %v : vector<2xf16>", "tanh.approx.f16x2", "vector<2xf16>")
    yield Case(
        "%r = nvvm.tanh.approx %w : vector<2xbf16>", "tanh.approx.bf16x2", "vector<2xbf16>", "90"
    )


def conversions() -> Iterator[Case]:
    rounding = "rnd = #nvvm.fp_rnd_mode<{}>".format
    finite = "sat = #nvvm.sat_mode<satfinite>"
    text = "%r = nvvm.convert.float.to.tf32 %x"
    yield Case(f"{text} {{{rounding('rna')}}}", "cvt.rna.tf32.f32", "i32")
    yield Case(f"{text} {{{rounding('rna')}, {finite}}}", "cvt.rna.satfinite.tf32.f32", "i32", "89")
    for rnd, (relu, extra) in product(("rn", "rz"), (("", ""), ("relu = true, ", ".relu"))):
        yield Case(f"{text} {{{relu}{rounding(rnd)}}}", f"cvt.{rnd}{extra}.tf32.f32", "i32", "90")
        yield Case(
            f"{text} {{{relu}{rounding(rnd)}, {finite}}}",
            f"cvt.{rnd}{extra}.satfinite.tf32.f32",
            "i32",
            "100",
        )
        for half in ("f16", "bf16"):
            type = f"vector<2x{half}>"
            yield Case(
                f"%r = nvvm.convert.f32x2.to.{half}x2 %x, %x {{{relu}{rounding(rnd)}}} : {type}",
                f"cvt.{rnd}{extra}.{half}x2.f32",
                type,
            )
    for half in ("f16", "bf16"):
        type = f"vector<2x{half}>"
        yield Case(
            f"%r = nvvm.convert.f32x2.to.{half}x2 %x, %x, %i : {type}",
            f"cvt.rs.{half}x2.f32",
            type,
            "rs",
        )
    for format, name in (("f8E4M3FN", "e4m3"), ("f8E5M2", "e5m2")):
        for relu, extra in (("", ""), ("relu = true, ", ".relu")):
            yield Case(
                f"%r = nvvm.convert.f32x2.to.f8x2 %x, %x {{{relu}{rounding('rn')}, {finite}}} "
                f": i16 ({format})",
                f"cvt.rn.satfinite{extra}.{name}x2.f32",
                "i16",
                "89",
            )
        yield Case(
            f"%r = nvvm.convert.f32x2.to.f8x2 %x, %x {{{rounding('rn')}, {finite}}} "
            f": vector<2xi8> ({format})",
            f"cvt.rn.satfinite.{name}x2.f32",
            "vector<2xi8>",
            "89",
        )
        yield Case(
            f"%r = nvvm.convert.f16x2.to.f8x2 %v : vector<2xf16> -> i16 ({format})",
            f"cvt.rn.satfinite.{name}x2.f16x2",
            "i16",
            "89",
        )
        yield Case(
            f"%r = nvvm.convert.f8x2.to.f16x2 %z : vector<2xi8> ({format}) -> vector<2xf16>",
            f"cvt.rn.f16x2.{name}x2",
            "vector<2xf16>",
            "89",
        )
    yield from narrow_conversions(rounding, finite)


def narrow_conversions(rounding: object, finite: str) -> Iterator[Case]:
    for rnd, (sat, extra) in product(("rz", "rp"), (("", ""), (f", {finite}", ".satfinite"))):
        attributes = f"{{rnd = #nvvm.fp_rnd_mode<{rnd}>{sat}}}"
        yield Case(
            f"%r = nvvm.convert.f32x2.to.f8x2 %x, %x {attributes} : i16 (f8E8M0FNU)",
            f"cvt.{rnd}{extra}.ue8m0x2.f32",
            "i16",
            "100",
        )
        yield Case(
            f"%r = nvvm.convert.bf16x2.to.f8x2 %w {attributes} : vector<2xbf16> -> i16 (f8E8M0FNU)",
            f"cvt.{rnd}{extra}.ue8m0x2.bf16x2",
            "i16",
            "100",
        )
    for format, name in (("f6E2M3FN", "e2m3"), ("f6E3M2FN", "e3m2")):
        yield Case(
            f"%r = nvvm.convert.f32x2.to.f6x2 %x, %x : i16 ({format})",
            f"cvt.rn.satfinite.{name}x2.f32",
            "i16",
            "100",
        )
        yield Case(
            f"%r = nvvm.convert.f6x2.to.f16x2 %z : vector<2xi8> ({format}) -> vector<2xf16>",
            f"cvt.rn.f16x2.{name}x2",
            "vector<2xf16>",
            "100",
        )
    yield Case(
        "%r = nvvm.convert.f32x2.to.f4x2 %x, %x : i8 (f4E2M1FN)",
        "cvt.rn.satfinite.e2m1x2.f32",
        "i8",
        "100",
    )
    yield Case(
        "%r = nvvm.convert.f4x2.to.f16x2 %o : i8 (f4E2M1FN) -> vector<2xf16>",
        "cvt.rn.f16x2.e2m1x2",
        "vector<2xf16>",
        "100",
    )
    yield Case(
        "%r = nvvm.convert.f8x2.to.bf16x2 %z : vector<2xi8> (f8E8M0FNU) -> vector<2xbf16>",
        "cvt.rn.bf16x2.ue8m0x2",
        "vector<2xbf16>",
        "100",
    )


CASES = [
    *accesses(),
    *registers(),
    *barriers(),
    *warps(),
    *mbarriers(),
    *copies(),
    *tensors(),
    *small_matrices(),
    *dense_products(),
    *sparse_products(),
    *warpgroups(),
    *arithmetic(),
    *conversions(),
]
