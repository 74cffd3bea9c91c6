"""Cases of threads: registers, barriers, warps, barriers in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from nvvm_cases.case import Case


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
            # ptxas crashes with a segmentation fault on a state that is not from an arrival.
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


def mbarriers_of_clusters() -> Iterator[Case]:
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
