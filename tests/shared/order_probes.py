"""Probes of fences, barriers, registers of the machine, indirect branches, vector atomics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from ptx_probes import Probe

THREADS = 128
IMAGE = np.zeros(THREADS * 16, np.uint8)
SHARED = ".reg .b32 %at, %other, %x, %y, %z; .reg .pred %p, %q; .reg .b64 %l, %m;"
PLACES = (
    "shl.b32 %x, %t2, 2; add.u32 %at, %smem, %x; xor.b32 %y, %x, 256; add.u32 %other, %smem, %y;"
)

FENCES = (
    "membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.cta", "fence.acq_rel.cluster",
    "fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys",
)  # fmt: skip
BARRIERS = (
    "bar.sync 0", "bar.sync 3", "bar.sync 5, 128", "barrier.sync 2", "barrier.sync.aligned 4, 128",
    "bar.cta.sync 6", "barrier.cta.sync 7, 128", "barrier.cluster.arrive; barrier.cluster.wait",
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned",
    "bar.arrive",
)  # fmt: skip
REGISTERS = (
    "tid.x", "tid.y", "ntid.x", "ntid.z", "ctaid.x", "nctaid.x", "nctaid.y", "laneid",
    "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "clusterid.x",
    "nclusterid.x", "cluster_ctaid.x", "cluster_nctaid.x", "cluster_ctarank", "cluster_nctarank",
    "dynamic_smem_size",
)  # fmt: skip
NEUTRAL = (
    "griddepcontrol.wait", "griddepcontrol.launch_dependents", "nanosleep.u32 20", "pmevent 1",
    "setmaxnreg.dec.sync.aligned.u32 64; setmaxnreg.inc.sync.aligned.u32 96",
    "prefetch.global.L2 [%p0]", "prefetch.global.L1 [%p0]",
)  # fmt: skip


def _numbers() -> np.ndarray:
    return (np.arange(THREADS, dtype=np.uint32) * np.uint32(2654435761)) ^ np.uint32(0x5BD1)


def _shared(name: str, body: str, outputs: int = 1) -> Probe:
    inputs = [("b32", _numbers())]
    return Probe(
        name, f"{PLACES} {body}", inputs, ["b32"] * outputs, threads=THREADS, image=IMAGE,
        declarations=SHARED,
    )  # fmt: skip


def order_probes() -> Iterator[Probe]:
    """Every probe of this module."""
    yield from map(_flag, FENCES)
    for barrier in BARRIERS:
        yield _meeting(barrier)
    yield from _barrier_votes()
    yield from _registers()
    for text in NEUTRAL:
        yield _shared(text.split()[0].rstrip(";"), f"{text}; add.u32 %o0, %i0, 7;")
    yield from _windows()
    yield from _branches()
    yield from _vector_atomics()
    yield from _copies()
    yield _shared(
        "bar.warp.sync",
        "st.shared.b32 [%at], %i0; bar.warp.sync -1; xor.b32 %y, %x, 4; add.u32 %y, %smem, %y;"
        " ld.shared.b32 %o0, [%y];",
    )


def _flag(fence: str) -> Probe:
    """The first half of the threads sends words to the second, each with a flag of its own."""
    body = f"""
    setp.ge.u32 %p, %t2, 64; mov.u32 %o0, %i0; @%p bra receive;
    st.shared.b32 [%at], %i0; {fence}; st.volatile.shared.b32 [%at+1024], 1; bra done;
    receive: ld.volatile.shared.b32 %z, [%other+1024]; setp.eq.u32 %q, %z, 0; @%q bra receive;
    {fence}; ld.shared.b32 %o0, [%other];
    done:"""
    return _shared(fence, body)


def _meeting(barrier: str) -> Probe:
    name = barrier.split(";")[0]
    if barrier == "bar.arrive":
        # Half of the threads only arrive.
        barrier = "setp.lt.u32 %p, %t2, 64; @!%p bar.sync 8, 128; @%p bar.arrive 8, 128"
        body = f"st.shared.b32 [%at], %i0; {barrier}; mov.u32 %o0, %i0;"
        return _shared(name, f"{body} @!%p ld.shared.b32 %o0, [%other];")
    return _shared(name, f"st.shared.b32 [%at], %i0; {barrier}; ld.shared.b32 %o0, [%other];")


def _barrier_votes() -> Iterator[Probe]:
    for family in ("bar.red", "barrier.red", "barrier.cta.red"):
        yield _shared(
            f"{family}.popc", f"setp.lt.u32 %p, %i0, 0x70000000; {family}.popc.u32 %o0, 1, %p;"
        )
        for vote in ("and", "or"):
            yield _shared(
                f"{family}.{vote}",
                f"setp.ne.u32 %p, %t2, 77; {family}.{vote}.pred %q, 2, 128, %p;"
                " selp.b32 %o0, 1, 0, %q;",
            )


def _registers() -> Iterator[Probe]:
    for name in REGISTERS:
        yield _shared(f"%{name}", f"mov.b32 %o0, %{name};")
    # Clocks only go on.
    for name, type in (("clock", "u32"), ("clock64", "u64"), ("globaltimer", "u64")):
        a, b = ("%x", "%y") if type == "u32" else ("%l", "%m")
        body = f"mov.{type} {a}, %{name}; bar.sync 0; mov.{type} {b}, %{name};"
        compare = f"sub.{type} {b}, {b}, {a}; setp.lt.{type} %p, {b}, 0x40000000;"
        yield _shared(f"%{name}", f"{body} {compare} selp.b32 %o0, 1, 0, %p;")


def _windows() -> Iterator[Probe]:
    """Addresses of shared memory as other CTAs and generic accesses see them."""
    yield _shared(
        "mapa.shared::cluster",
        "st.shared.b32 [%at], %i0; bar.sync 0; mapa.shared::cluster.u32 %y, %other, 0;"
        " ld.shared::cluster.b32 %o0, [%y];",
    )
    yield _shared(
        "mapa",
        "st.shared.b32 [%at], %i0; bar.sync 0; cvt.u64.u32 %l, %other; cvta.shared.u64 %l, %l;"
        " mapa.u64 %m, %l, 0; ld.b32 %o0, [%m];",
    )
    yield _shared(
        "getctarank", "mapa.shared::cluster.u32 %y, %at, 0; getctarank.shared::cluster.u32 %o0, %y;"
    )
    yield _shared(
        "cvta",
        "st.shared.b32 [%at], %i0; bar.sync 0; cvt.u64.u32 %l, %other; cvta.shared.u64 %l, %l;"
        " ld.b32 %o0, [%l]; cvta.to.shared.u64 %l, %l; cvt.u32.u64 %y, %l; sub.u32 %o1, %y, %smem;",
        outputs=2,
    )


def _branches() -> Iterator[Probe]:
    body = """
    and.b32 %x, %i0, 3; table: .branchtargets one, two, three, four; brx.idx %x, table;
    one: mov.u32 %o0, 10; bra done; two: add.u32 %o0, %t2, 20; bra done;
    three: mov.u32 %o0, 30; four: shl.b32 %o0, %t2, 1; done:"""
    yield _shared("brx.idx", body)
    loop = """
    and.b32 %x, %i0, 31; mov.u32 %o0, 0;
    again: add.u32 %o0, %o0, %x; setp.eq.u32 %p, %x, 0; @%p bra done; sub.u32 %x, %x, 1;
    setp.ge.s32 %q, %x, 0; @%q bra again; done:"""
    yield _shared("bra", loop)


def _vector_atomics() -> Iterator[Probe]:
    """Vectors of floats, in global memory: the output of this thread and of its neighbour."""
    address = "ld.param.u64 %l, [image]; cvta.to.global.u64 %l, %l; mul.wide.u32 %m, %t2, 16;"
    first = f"{address} add.s64 %l, %l, %m;"
    one, two = "mov.b32 %x, 0f3f800000; mov.b32 %y, 0f40200000;", "mov.b32 %z, 0fc0400000;"
    yield _shared(
        "red.global.v2.f32",
        f"{first} {one} red.global.v2.f32.add [%l], {{%x, %y}}; bar.sync 0;"
        " ld.global.v2.b32 {%o0, %o1}, [%l];",
        outputs=2,
    )
    yield _shared(
        "atom.global.v4.f32",
        f"{first} {one} {two} atom.global.v4.f32.add {{%o0, %o1, %o2, %o3}}, [%l],"
        " {%x, %y, %z, %x}; bar.sync 0; ld.global.v4.b32 {%o4, %o5, %o6, %o7}, [%l];",
        outputs=8,
    )
    half = "mov.b32 %x, 0x3c003e00; mov.b32 %y, 0xc0004100;"
    for type in ("f16x2", "bf16x2"):
        yield _shared(
            f"red.global.v2.{type}",
            f"{first} {half} red.global.v2.{type}.add.noftz [%l], {{%x, %y}}; bar.sync 0;"
            " ld.global.v2.b32 {%o0, %o1}, [%l];",
            outputs=2,
        )


def _copies() -> Iterator[Probe]:
    """`cp.async` of which only a part is read; the rest of the 16 bytes is zero."""
    start = "ld.param.u64 %l, [in0]; cvta.to.global.u64 %l, %l; and.b32 %x, %t2, 31;"
    addresses = (
        "mul.wide.u32 %m, %x, 16; add.s64 %l, %l, %m; shl.b32 %y, %t2, 4; add.u32 %y, %smem, %y;"
    )
    after = "ld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%y];"
    for name, copy, wait in (
        ("cp.async.ca", "16, %x", "cp.async.wait_all;"),
        ("cp.async.cg", "16, %x", "cp.async.commit_group; cp.async.wait_group 0;"),
        ("cp.async.ca ignored", "16, %p", "cp.async.commit_group; cp.async.wait_all;"),
        ("cp.async.cg.L2::128B", "16", "cp.async.commit_group; cp.async.wait_group 0;"),
    ):
        opcode, _, _ = name.partition(" ")
        opcode = opcode.replace(".L2::128B", ".shared.global.L2::128B")
        opcode = opcode if "global" in opcode else f"{opcode}.shared.global"
        body = (
            f"{start} {addresses} setp.gt.u32 %p, %x, 20; min.u32 %x, %x, 16;"
            f" {opcode} [%y], [%l], {copy}; {wait} {after}"
        )
        yield _shared(name, body, outputs=4)
