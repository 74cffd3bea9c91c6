"""Kernels of bulk copies: PTX text around one instruction, for the emulator and for a GPU."""

from __future__ import annotations

HEAD = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry probe(
    .param .align 64 .b8 map[128], .param .u64 tensor, .param .u64 output, .param .u64 input)
.reqntid 128
{
    .reg .b64 %map, %tensor, %output, %input, %d<20>;
    .reg .b32 %t, %n, %rank, %peer, %theirs, %theirbar, %r<60>;
    .reg .b16 %h<8>;
    .reg .pred %p, %q, %first;
    .shared .align 1024 .b8 smem[16384];
    .shared .align 8 .b8 bar[16];
    ld.param.u64 %tensor, [tensor];
    ld.param.u64 %output, [output];
    ld.param.u64 %input, [input];
    mov.b64 %d0, map;
    cvta.param.u64 %map, %d0;
    mov.u32 %t, %tid.x;
    setp.eq.u32 %first, %t, 0;
    mov.u32 %rank, %cluster_ctarank;
    mad.wide.u32 %output, %rank, 16400, %output;
    xor.b32 %peer, %rank, 1;
    shl.b32 %n, %t, 2;
    mov.u32 %r1, smem;
    add.u32 %r1, %r1, %n;
    cvt.u64.u32 %d1, %n;
    add.u64 %d1, %d1, %input;
"""
# Shared memory from the input, word by word.
FILL = """
    mov.u32 %r2, 0;
fill:
    ld.global.u32 %r3, [%d1];
    st.shared.u32 [%r1], %r3;
    add.u64 %d1, %d1, 512;
    add.u32 %r1, %r1, 512;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 32;
    @%p bra fill;
    fence.proxy.async;
    @%first mbarrier.init.shared::cta.b64 [bar], 1;
    @%first fence.mbarrier_init.release.cluster;
    bar.sync 0;
"""
# At most 100 tries, so that a wrong number of bytes does not hang the machine.
WAIT = """
    mov.u32 %r4, 0;
wait:
    mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;
    @%q bra done;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p, %r4, 100;
    @%p bra wait;
done:
    selp.u32 %r5, 1, 0, %q;
    @%first st.global.u32 [%output+16384], %r5;
"""
# Shared memory to the output, word by word.
DUMP = """
    bar.sync 0;
    mov.u32 %r1, smem;
    add.u32 %r1, %r1, %n;
    cvt.u64.u32 %d2, %n;
    add.u64 %d2, %d2, %output;
    mov.u32 %r2, 0;
dump:
    ld.shared.u32 %r3, [%r1];
    st.global.u32 [%d2], %r3;
    add.u64 %d2, %d2, 512;
    add.u32 %r1, %r1, 512;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 32;
    @%p bra dump;
    ret;
}
"""


def _coordinates(values: tuple[int, ...]) -> str:
    return "{" + ", ".join(str(value) for value in values) + "}"


def load_ptx(at: tuple[int, ...], size: int, offset: int = 0) -> str:
    """A tensor load of `size` bytes to `smem + offset`."""
    issue = f"""
    @!%first bra issued;
    mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [bar], {size};
    cp.async.bulk.tensor.{len(at)}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [smem+{offset}], [%map, {_coordinates(at)}], [bar];
issued:
"""
    return HEAD + FILL + issue + WAIT + DUMP


def store_ptx(at: tuple[int, ...], reduction: str = "", offset: int = 0) -> str:
    """A tensor store, or a reduction."""
    name = f"cp.reduce.async.bulk.tensor.{len(at)}d.global.shared::cta.{reduction}"
    if not reduction:
        name = f"cp.async.bulk.tensor.{len(at)}d.global.shared::cta"
    issue = f"""
    @!%first bra issued;
    {name}.tile.bulk_group [%map, {_coordinates(at)}], [smem+{offset}];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
issued:
    mov.pred %q, 1;
    @%first st.global.u32 [%output+16384], 1;
"""
    return HEAD + FILL + issue + DUMP


def reduce_ptx(reduction: str, size: int) -> str:
    """A reduction of plain bytes into the tensor."""
    issue = f"""
    @!%first bra issued;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.{reduction} [%tensor], [smem], {size};
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
issued:
    @%first st.global.u32 [%output+16384], 1;
"""
    return HEAD + FILL + issue + DUMP


TOKENS = (
    HEAD
    + """
    @!%first bra end;
    mbarrier.init.shared.b64 [bar], 3;
    mbarrier.arrive.shared.b64 %d3, [bar];
    mbarrier.pending_count.b64 %r10, %d3;
    mbarrier.arrive.noComplete.shared.b64 %d4, [bar], 1;
    mbarrier.pending_count.b64 %r11, %d4;
    mbarrier.test_wait.shared.b64 %p, [bar], %d3;
    selp.u32 %r12, 1, 0, %p;
    mbarrier.arrive_drop.shared.b64 %d5, [bar];
    mbarrier.pending_count.b64 %r13, %d5;
    mbarrier.test_wait.shared.b64 %p, [bar], %d3;
    selp.u32 %r14, 1, 0, %p;
    mbarrier.test_wait.parity.shared.b64 %p, [bar], 0;
    selp.u32 %r15, 1, 0, %p;
    mbarrier.test_wait.parity.shared.b64 %p, [bar], 1;
    selp.u32 %r16, 1, 0, %p;
    mbarrier.arrive.shared.b64 %d6, [bar], 2;
    mbarrier.pending_count.b64 %r17, %d6;
    mbarrier.test_wait.parity.shared.b64 %p, [bar], 1;
    selp.u32 %r18, 1, 0, %p;
    mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 64;
    mbarrier.arrive.shared.b64 %d7, [bar], 2;
    mbarrier.test_wait.parity.shared.b64 %p, [bar], 0;
    selp.u32 %r19, 1, 0, %p;
    mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 64;
    mbarrier.test_wait.parity.shared.b64 %p, [bar], 0;
    selp.u32 %r20, 1, 0, %p;
"""
    + "".join(f"    st.global.u32 [%output+{4 * at}], %r{10 + at};\n" for at in range(11))
    + "end:\n    ret;\n}\n"
)


# The addresses in the other CTA of the cluster that correspond to `smem` and `bar`.
PEER = """
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mov.u32 %r20, smem;
    mov.u32 %r21, bar;
    mapa.shared::cluster.u32 %theirs, %r20, %peer;
    mapa.shared::cluster.u32 %theirbar, %r21, %peer;
"""
LEAVE = """
    barrier.cluster.arrive;
    barrier.cluster.wait;
"""


def copy_ptx(size: int) -> str:
    """Every thread copies its number of bytes, modulo the size and one; odd ones skip some."""
    level = "cg" if size == 16 else "ca"
    issue = f"""
    mul.lo.u32 %r20, %t, {size};
    mov.u32 %r21, smem;
    add.u32 %r21, %r21, %r20;
    cvt.u64.u32 %d4, %r20;
    add.u64 %d4, %d4, %tensor;
    rem.u32 %r22, %t, {size + 1};
    cp.async.{level}.shared.global [%r21], [%d4], {size}, %r22;
    cp.async.commit_group;
    and.b32 %r23, %t, 1;
    setp.eq.u32 %p, %r23, 1;
    cp.async.{level}.shared.global [%r21+4096], [%d4], {size}, %p;
    cp.async.{level}.shared::cta.global.L2::128B [%r21+8192], [%d4+64], {size};
    cp.async.commit_group;
    cp.async.wait_group 0;
    @%first st.global.u32 [%output+16384], 1;
"""
    return HEAD + FILL + issue + DUMP


REPLACED = """
    @!%first bra built;
    mov.u32 %r20, 0;
zero:
    mov.u32 %r21, smem;
    add.u32 %r21, %r21, %r20;
    st.shared.u32 [%r21+8192], 0;
    add.u32 %r20, %r20, 4;
    setp.lt.u32 %p, %r20, 128;
    @%p bra zero;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [smem+8192], %tensor;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [smem+8192], 1;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [smem+8192], 0, 32;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [smem+8192], 1, 8;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [smem+8192], 0, 50;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [smem+8192], 1, 9;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [smem+8192], 0, 112;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [smem+8192], 0, 1;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [smem+8192], 1, 1;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [smem+8192], 10;
    tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [smem+8192], 0;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [smem+8192], 2;
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [smem+8192], 1;
built:
    bar.sync 0;
    setp.lt.u32 %p, %t, 32;
    @!%p bra copied;
    mov.u32 %r21, smem;
    add.u32 %r21, %r21, 8192;
    add.u64 %map, %tensor, 24576;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
        [%map], [%r21], 128;
    @%first fence.proxy.tensormap::generic.acquire.gpu [%map], 128;
    @!%first bra copied;
    mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [bar], 512;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [smem], [%map, {32, 5}], [bar];
copied:
"""
# What the device's own map holds is not ours to compare: all of it is cleared again.
CLEARED = """
    bar.sync 0;
    setp.lt.u32 %p, %t, 32;
    add.u64 %d6, %tensor, 24576;
    cvt.u64.u32 %d7, %n;
    add.u64 %d6, %d6, %d7;
    @%p st.global.u32 [%d6], 0;
    @%p st.shared.u32 [smem+8192], 0;
    mov.u32 %r21, smem;
    add.u32 %r21, %r21, %n;
    @%p st.shared.u32 [%r21+8192], 0;
"""


VOTES = (
    HEAD
    + """
    and.b32 %r20, %t, 3;
    setp.eq.u32 %q, %r20, 1;
    bar.red.popc.u32 %r21, 1, %q;
    setp.lt.u32 %p, %t, 200;
    bar.red.and.pred %q, 2, %p;
    selp.u32 %r22, 1, 0, %q;
    setp.eq.u32 %p, %t, 77;
    barrier.red.or.aligned.pred %q, 3, 128, %p;
    selp.u32 %r23, 1, 0, %q;
    shl.b32 %r21, %r21, 2;
    shl.b32 %r22, %r22, 1;
    or.b32 %r21, %r21, %r22;
    or.b32 %r21, %r21, %r23;
    cvt.u64.u32 %d4, %n;
    add.u64 %d4, %d4, %output;
    st.global.u32 [%d4], %r21;
    ret;
}
"""
)


NAMED = (
    HEAD
    + FILL
    + """
    setp.ge.u32 %p, %t, 64;
    @%p bra takers;
    mul.lo.u32 %r20, %t, 3;
    add.u32 %r21, %r1, -16384;
    st.shared.u32 [%r21], %r20;
    bar.arrive 1, 128;
    bra met;
takers:
    bar.sync 1, 128;
    add.u32 %r21, %r1, -16384;
    ld.shared.u32 %r20, [%r21+-256];
    st.shared.u32 [%r21+4096], %r20;
met:
    @%first st.global.u32 [%output+16384], 1;
"""
    + DUMP
)

# Threads store to the other CTA and arrive at its mbarrier.
REMOTE = (
    HEAD
    + FILL
    + PEER
    + """
    mad.lo.u32 %r22, %rank, 1000, %t;
    add.u32 %r23, %theirs, %n;
    st.shared::cluster.u32 [%r23+512], %r22;
    bar.sync 0;
    @%first fence.acq_rel.cluster;
    @%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%theirbar];
"""
    + WAIT.replace("parity.shared::cta", "parity.acquire.cluster.shared::cta")
    + LEAVE
    + DUMP
)

# Every thread's copy arrives for it, once by its own count and once not.
TOLD = (
    HEAD
    + FILL
    + """
    @%first mbarrier.init.shared::cta.b64 [bar+8], 128;
    bar.sync 0;
    shl.b32 %r20, %t, 4;
    mov.u32 %r21, smem;
    add.u32 %r21, %r21, %r20;
    cvt.u64.u32 %d4, %r20;
    add.u64 %d4, %d4, %tensor;
    cp.async.cg.shared.global [%r21], [%d4], 16;
    cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar+8];
    cp.async.cg.shared.global [%r21+4096], [%d4+2048], 16;
    cp.async.mbarrier.arrive.shared::cta.b64 [bar];
told:
    mbarrier.try_wait.parity.shared::cta.b64 %q, [bar+8], 0;
    @!%q bra told;
    bar.sync 0;
    @%first mbarrier.arrive.shared::cta.b64 %d3, [bar];
"""
    + WAIT
    + DUMP
)
