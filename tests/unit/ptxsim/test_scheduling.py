from __future__ import annotations

import numpy as np
import pytest

from tilewright.support.diagnostics import UserError

SPIN_LOCK = """
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    SPIN:
    atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    ld.volatile.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    st.volatile.global.u32 [%rd2], %r2;
    membar.gl;
    atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
    ret;
"""


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_spin_lock_between_threads_and_ctas(run, seed: int) -> None:
    lock, count = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    run(SPIN_LOCK, [lock, count], "u64 u64", grid=3, block=8, seed=seed)
    assert count[0] == 24
    assert lock[0] == 0


@pytest.mark.parametrize("seed", [0, 5])
def test_a_cta_may_wait_for_another_one(run, seed: int) -> None:
    flag, out = np.zeros(1, np.uint32), np.zeros(2, np.uint32)
    run(
        """
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %ctaid.x;
        setp.eq.u32 %p1, %r1, 1;
        @%p1 bra SET;
        WAIT: ld.acquire.gpu.global.u32 %r2, [%rd1];
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra WAIT;
        st.global.u32 [%rd2], %r2;
        ret;
        SET: st.release.gpu.global.u32 [%rd1], 77;
        ret;""",
        [flag, out],
        "u64 u64",
        grid=2,
        seed=seed,
    )
    assert out[0] == 77


@pytest.mark.parametrize("seed", [0, 5])
def test_a_cta_may_wait_with_barriers_in_between(run, seed: int) -> None:
    """One thread polls the flag and broadcasts it; the others wait only at the barrier."""
    flag, out = np.zeros(1, np.uint32), np.zeros(2, np.uint32)
    run(
        """
        .shared .align 4 .b8 seen[4];
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r3, %tid.x;
        setp.ne.u32 %p3, %r3, 0;
        setp.eq.u32 %p1, %r1, 1;
        @%p1 bra SET;
        WAIT: @%p3 bra TOLD;
        ld.acquire.gpu.global.u32 %r2, [%rd1];
        st.shared.u32 [seen], %r2;
        TOLD: bar.sync 0;
        ld.shared.u32 %r2, [seen];
        bar.sync 0;
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra WAIT;
        @%p3 ret;
        st.global.u32 [%rd2], %r2;
        ret;
        SET: @%p3 ret;
        st.release.gpu.global.u32 [%rd1], 77;
        ret;""",
        [flag, out],
        "u64 u64",
        grid=2,
        block=64,
        seed=seed,
    )
    assert out[0] == 77


REDUCTION = """
    .shared .align 4 .b8 partials[512];
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 128, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.u32 %r4, [%rd4];
    shl.b32 %r5, %r1, 2;
    mov.u32 %r6, partials;
    add.u32 %r7, %r6, %r5;
    st.shared.u32 [%r7], %r4;
    mov.u32 %r8, 64;
    LOOP:
    bar.sync 0;
    setp.ge.u32 %p1, %r1, %r8;
    @%p1 bra NEXT;
    shl.b32 %r10, %r8, 2;
    add.u32 %r11, %r7, %r10;
    ld.shared.u32 %r12, [%r11];
    ld.shared.u32 %r13, [%r7];
    add.u32 %r13, %r13, %r12;
    st.shared.u32 [%r7], %r13;
    NEXT:
    shr.u32 %r8, %r8, 1;
    setp.ne.u32 %p2, %r8, 0;
    @%p2 bra LOOP;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 ret;
    mul.wide.u32 %rd5, %r2, 4;
    add.s64 %rd6, %rd2, %rd5;
    ld.shared.u32 %r14, [partials];
    st.global.u32 [%rd6], %r14;
    ret;
"""


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("resident", [None, 1])
def test_a_reduction_in_shared_memory(run, seed: int, resident: int | None) -> None:
    data = np.random.default_rng(7).integers(0, 1000, 5 * 128).astype(np.uint32)
    out = np.zeros(5, np.uint32)
    run(REDUCTION, [data, out], "u64 u64", grid=5, block=128, seed=seed, resident=resident)
    np.testing.assert_array_equal(out, data.reshape(5, 128).sum(axis=1))


def test_named_barriers_with_counts(run) -> None:
    """Warp 0 fills, warp 1 empties, over barriers 1 and 2; warp 2 takes no part."""
    out = np.zeros(32, np.uint32)
    run(
        """
        .shared .align 4 .b8 box[128];
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %tid.x;
        and.b32 %r2, %r1, 31;
        shl.b32 %r3, %r2, 2;
        mov.u32 %r4, box;
        add.u32 %r4, %r4, %r3;
        shr.u32 %r5, %r1, 5;
        mov.u32 %r6, 0;
        mov.u32 %r9, 0;
        setp.eq.u32 %p1, %r5, 2;
        @%p1 ret;
        setp.eq.u32 %p2, %r5, 1;
        @%p2 bra EMPTY;
        FILL:
        st.shared.u32 [%r4], %r6;
        bar.sync 1, 64;
        bar.sync 2, 64;
        add.u32 %r6, %r6, 1;
        setp.lt.u32 %p3, %r6, 5;
        @%p3 bra FILL;
        ret;
        EMPTY:
        bar.sync 1, 64;
        ld.shared.u32 %r7, [%r4];
        add.u32 %r9, %r9, %r7;
        bar.sync 2, 64;
        add.u32 %r6, %r6, 1;
        setp.lt.u32 %p3, %r6, 5;
        @%p3 bra EMPTY;
        mul.wide.u32 %rd2, %r2, 4;
        add.s64 %rd3, %rd1, %rd2;
        st.global.u32 [%rd3], %r9;
        ret;""",
        [out],
        "u64",
        block=96,
    )
    np.testing.assert_array_equal(out, 10)


@pytest.mark.parametrize("seed", [0, 3])
def test_reductions_at_a_barrier(run, seed: int) -> None:
    out = np.zeros((96, 3), np.uint32)
    run(
        """
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %tid.x;
        mad.wide.u32 %rd2, %r1, 12, %rd1;
        setp.lt.u32 %p1, %r1, 40;
        bar.red.popc.u32 %r2, 0, %p1;
        barrier.red.and.pred %p2, 1, 96, %p1;
        barrier.cta.red.or.aligned.pred %p3, 2, !%p1;
        st.global.u32 [%rd2], %r2;
        selp.u32 %r3, 1, 0, %p2;
        selp.u32 %r4, 1, 0, %p3;
        st.global.u32 [%rd2+4], %r3;
        st.global.u32 [%rd2+8], %r4;
        ret;""",
        [out],
        "u64",
        block=96,
        seed=seed,
    )
    np.testing.assert_array_equal(out, np.broadcast_to([40, 0, 1], (96, 3)))


def test_a_deadlock_names_threads_and_barriers(run) -> None:
    with pytest.raises(UserError) as caught:
        run(
            """
            mov.u32 %r1, %tid.x;
            setp.lt.u32 %p1, %r1, 32;
            @%p1 bra FIRST;
            bar.sync 1, 64;
            bar.sync 2, 64;
            ret;
            FIRST:
            bar.sync 2, 64;
            bar.sync 1, 64;
            ret;""",
            [],
            "",
            block=64,
        )
    text = caught.value.render()
    assert "error: deadlock" in text
    assert "thread (0, 0, 0) of block (0, 0, 0) (and 31 more) waits for barrier 2" in text
    assert "thread (32, 0, 0) of block (0, 0, 0) (and 31 more) waits for barrier 1" in text
    assert "at 32 of 64 threads" in text


def test_deadlock_in_a_loop(run) -> None:
    lock = np.ones(1, np.uint32)
    with pytest.raises(UserError, match="waits in a loop for memory that no thread"):
        run(SPIN_LOCK, [lock, np.zeros(1, np.uint32)], "u64 u64", block=2)


def test_a_barrier_that_too_many_reach(run) -> None:
    with pytest.raises(UserError, match="96 threads arrive at a barrier for 64"):
        run("bar.sync 1, 64;\nret;", [], "", block=96)


def test_a_barrier_for_part_of_a_warp(run) -> None:
    with pytest.raises(UserError, match="expected a multiple of 32 threads, got 40"):
        run("bar.sync 1, 40;\nret;", [], "", block=64)


def test_threads_wait_for_their_warp(run) -> None:
    """One thread stores before it reaches `bar.warp.sync`; then the whole warp loads."""
    out = np.zeros(32, np.uint32)
    run(
        """
        .shared .align 4 .b8 word[4];
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %tid.x;
        setp.ne.u32 %p1, %r1, 31;
        @%p1 bra JOIN;
        st.shared.u32 [word], 9;
        JOIN:
        bar.warp.sync -1;
        ld.shared.u32 %r2, [word];
        mad.wide.u32 %rd2, %r1, 4, %rd1;
        st.global.u32 [%rd2], %r2;
        ret;""",
        [out],
        "u64",
        seed=4,
    )
    np.testing.assert_array_equal(out, 9)


def test_special_registers(run) -> None:
    out = np.zeros((2 * 3, 2 * 40, 8), np.uint32)
    names = (
        "%tid.x", "%tid.y", "%ctaid.x", "%ctaid.y", "%ntid.x", "%nctaid.y", "%laneid", "%warpid",
    )  # fmt: skip
    stores = "\n".join(
        f"mov.u32 %r9, {name};\nst.global.u32 [%rd2+{4 * at}], %r9;"
        for at, name in enumerate(names)
    )
    run(
        """
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;
        mad.lo.u32 %r5, %r4, 2, %r3;
        mad.lo.u32 %r5, %r5, 2, %r2;
        mad.lo.u32 %r5, %r5, 40, %r1;
        mad.wide.u32 %rd2, %r5, 32, %rd1;"""
        + stores
        + "\nret;",
        [out],
        "u64",
        grid=(2, 3),
        block=(40, 2),
    )
    cta, thread = np.meshgrid(np.arange(6), np.arange(80), indexing="ij")
    expected = [
        thread % 40, thread // 40, cta % 2, cta // 2, 40, 3, thread % 32, thread // 32,
    ]  # fmt: skip
    for at, name in enumerate(names):
        np.testing.assert_array_equal(out[..., at], expected[at], err_msg=name)


AS_CLUSTERS = ".reqntid 1, 1, 1 .reqnctapercluster 2, 1, 1 .blocksareclusters"


def test_a_grid_may_count_clusters(run) -> None:
    """With `.blocksareclusters`, a grid of 3 by 2 has clusters of two CTAs each."""
    out = np.zeros((2, 3, 2, 4), np.uint32)
    run(
        """
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %clusterid.x; mov.u32 %r2, %clusterid.y; mov.u32 %r3, %cluster_ctarank;
        mov.u32 %r4, %nclusterid.x; mov.u32 %r5, %nctaid.x; mov.u32 %r6, %ctaid.x;
        mad.lo.u32 %r7, %r2, 3, %r1;
        mad.lo.u32 %r7, %r7, 2, %r3;
        mad.wide.u32 %rd2, %r7, 16, %rd1;
        st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r3};
        ret;""",
        [out],
        "u64",
        grid=(3, 2),
        block=1,
        directives=AS_CLUSTERS,
    )
    assert (out[..., 0] == 3).all()
    assert (out[..., 1] == 6).all()
    np.testing.assert_array_equal(out[..., 2], np.arange(12).reshape(2, 3, 2) % 6)
    assert (out[..., 3] == np.arange(2)).all()


def test_a_grid_of_clusters_needs_their_size(run) -> None:
    with pytest.raises(UserError, match=r"expected \.reqntid and \.reqnctapercluster"):
        run("ret;", [], "", directives=".reqntid 32, 1, 1 .blocksareclusters")


def test_clusters(run) -> None:
    """Every CTA of a cluster reads a word of the next one's shared memory."""
    out = np.zeros((4, 3), np.uint32)
    run(
        """
        .shared .align 4 .b8 word[4];
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %cluster_ctarank;
        mov.u32 %r3, %clusterid.x;
        mul.lo.u32 %r4, %r1, 10;
        st.shared.u32 [word], %r4;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        xor.b32 %r5, %r2, 1;
        mov.u32 %r6, word;
        mapa.shared::cluster.u32 %r7, %r6, %r5;
        ld.shared::cluster.u32 %r8, [%r7];
        barrier.cluster.arrive;
        barrier.cluster.wait;
        getctarank.shared::cluster.u32 %r9, %r7;
        mad.wide.u32 %rd2, %r1, 12, %rd1;
        st.global.u32 [%rd2], %r8;
        st.global.u32 [%rd2+4], %r9;
        st.global.u32 [%rd2+8], %r3;
        ret;""",
        [out],
        "u64",
        grid=4,
        block=1,
        cluster=2,
    )
    np.testing.assert_array_equal(out, [[10, 1, 0], [0, 0, 0], [30, 1, 1], [20, 0, 1]])
