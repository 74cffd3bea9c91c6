from __future__ import annotations

import re

import numpy as np
import pytest
from each_case import each_case

from tilewright.support.diagnostics import UserError

HEAD = """
    .shared .align 1024 .b8 tile[2048];
    .shared .align 8 .b8 full[8];
    .shared .align 8 .b8 empty[8];
    .shared .align 4 .b8 flag[4];
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    and.b32 %r3, %r1, 31;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r2, 0;
    shl.b32 %r4, %r1, 2;
    mov.u32 %r5, tile;
    add.u32 %r6, %r5, %r4;
    xor.b32 %r7, %r4, 128;
    add.u32 %r7, %r5, %r7;
    xor.b32 %r8, %r4, 4;
    add.u32 %r8, %r5, %r8;
"""
# Both warps have 32 words in `tile`: %r6 is a thread's own, %r7 one of the other warp's, %r8 one
# of its own warp's.
INIT = "@%p1 mbarrier.init.shared.b64 [full], 1;\nbar.sync 0;\n"
WAIT = """
    again:
    mbarrier.try_wait.parity.shared.b64 %p5, [full], 0;
    @!%p5 bra again;
"""
LOAD = """
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
"""


@pytest.fixture
def attempt(run):
    """Run a body with two warps and 1024 bytes of global memory; checks are on."""

    def launch(body: str, *, seed: int = 0, block: int = 64, **options: object) -> None:
        data = np.arange(256, dtype=np.uint32)
        run(f"{HEAD}{body}\nret;", [data], "u64", block=block, seed=seed, **options)

    return launch


@pytest.fixture
def report(attempt):
    """Return the checker's diagnostic for a body."""

    def launch(body: str, **options: object) -> str:
        with pytest.raises(UserError) as caught:
            attempt(body, **options)
        return caught.value.render()

    return launch


@each_case("seed", [0, 1, 2])
@each_case(
    ("first", "second"),
    [
        ("st.shared.u32 [%r6], %r1;", "ld.shared.u32 %r9, [%r7];"),
        ("ld.shared.u32 %r9, [%r7];", "st.shared.u32 [%r6], %r1;"),
        ("st.shared.u32 [%r6], %r1;", "st.shared.u32 [%r7], %r1;"),
        ("st.shared.u32 [%r6], %r1;", "atom.shared.add.u32 %r9, [%r7], 1;"),
        ("atom.shared.add.u32 %r9, [%r6], 1;", "ld.shared.u32 %r9, [%r7];"),
        ("st.shared.u16 [%r6], %rs1;", "ld.shared.u16 %rs2, [%r7];"),
        ("st.shared.u32 [%r6], %r1;", "ld.volatile.shared.u32 %r9, [%r7];"),
        ("st.volatile.shared.u32 [%r6], %r1;", "ld.shared.u32 %r9, [%r7];"),
    ],
)
def test_warps_need_a_barrier(attempt, report, first: str, second: str, seed: int) -> None:
    fill = "st.shared.u32 [%r6], 7;\nbar.sync 0;\n"
    attempt(f"{fill}{first}\nbar.sync 0;\n{second}", seed=seed)
    assert "race: nothing orders this" in report(f"{fill}{first}\n{second}", seed=seed)


def test_a_report_names_threads_and_locations(run) -> None:
    body = """
    .file 1 "kernel.py"
    .loc 1 12 3
    st.shared.u32 [%r6], %r1;
    .loc 1 13 5
    ld.shared.u32 %r9, [%r7];
    ret;"""
    with pytest.raises(UserError) as caught:
        run(HEAD + body, [np.zeros(4, np.uint32)], "u64", block=64)
    text = caught.value.render()
    match = re.search(r"k.ptx:(\d+):5: error: ld.shared.u32: race: nothing orders this load", text)
    assert match is not None
    line = int(match[1])
    assert "\n    ld.shared.u32 %r9, [%r7];\n" in text
    assert "at shared address 0x80" in text
    assert "thread (0, 0, 0) of block (0, 0, 0)" in text
    assert "kernel.py:13:6: note: source line" in text
    earlier = "note: the earlier write is st.shared.u32, by thread (32, 0, 0) of block (0, 0, 0)"
    assert f"k.ptx:{line - 2}:5: {earlier}\n    st.shared.u32 [%r6], %r1;\n" in text


@pytest.mark.parametrize("seed", [0, 3])
def test_lanes_need_a_warp_barrier(attempt, report, seed: int) -> None:
    attempt("st.shared.u32 [%r6], %r1;\nbar.warp.sync -1;\nld.shared.u32 %r9, [%r8];", seed=seed)
    text = report("st.shared.u32 [%r6], %r1;\nld.shared.u32 %r9, [%r8];", seed=seed)
    assert "race: nothing orders this load" in text


@each_case("seed", [0, 1])
@each_case(
    "body",
    [
        # All threads store the same value, or the value that is already in memory.
        "st.shared.u32 [flag], 1;",
        "@%p1 st.shared.u32 [flag], 5;\nbar.sync 0;\nst.shared.u32 [flag], 5;",
        # Atomic and volatile accesses do not race.
        "@%p1 st.shared.u32 [flag], 0;\nbar.sync 0;\natom.shared.add.u32 %r9, [flag], 1;\n"
        "ld.volatile.shared.u32 %r10, [flag];\nst.volatile.shared.u32 [flag], %r1;",
        # Threads read their own stores; the low and the high half of a word belong to two warps.
        "st.shared.u32 [%r6], %r1;\nld.shared.u32 %r9, [%r6];",
        "shl.b32 %r9, %r2, 1;\nadd.u32 %r9, %r9, %r5;\ncvt.u16.u32 %rs1, %r2;\n"
        "st.shared.u16 [%r9], %rs1;\nld.shared.u16 %rs2, [%r9];",
    ],
)
def test_accesses_that_do_not_race(attempt, body: str, seed: int) -> None:
    attempt(body, seed=seed)


def test_different_values_at_one_address_race(report) -> None:
    assert "race: nothing orders this store" in report("st.shared.u32 [flag], %r2;")


FLAG = """
    st.shared.u32 [flag], 0;
    bar.sync 0;
    @%p2 bra producer;
    spin:
    {load} %r9, [flag];
    setp.eq.u32 %p3, %r9, 0;
    @%p3 bra spin;
    {after}
    ld.shared.u32 %r10, [%r7];
    bra end;
    producer:
    st.shared.u32 [%r6], %r1;
    bar.warp.sync -1;
    {before}
    {store} [flag], 1;
    end:
"""


@each_case(
    ("load", "store", "before", "after", "right"),
    [
        ("ld.acquire.cta.shared.u32", "st.release.cta.shared.u32", "", "", True),
        ("ld.relaxed.cta.shared.u32", "st.relaxed.cta.shared.u32", "fence.acq_rel.cta;",
         "fence.acq_rel.cta;", True),
        ("ld.volatile.shared.u32", "st.volatile.shared.u32", "membar.cta;", "membar.cta;", True),
        ("ld.relaxed.cta.shared.u32", "red.release.cta.shared.or.b32", "", "fence.sc.cta;", True),
        ("ld.relaxed.cta.shared.u32", "st.relaxed.cta.shared.u32", "fence.release.cta;",
         "fence.acquire.cta;", True),
        ("ld.relaxed.cta.shared.u32", "st.relaxed.cta.shared.u32", "fence.acquire.cta;",
         "fence.acquire.cta;", False),
        ("ld.relaxed.cta.shared.u32", "st.relaxed.cta.shared.u32", "fence.release.cta;",
         "fence.release.cta;", False),
        ("ld.volatile.shared.u32", "st.volatile.shared.u32", "", "", False),
        ("ld.volatile.shared.u32", "st.volatile.shared.u32", "membar.cta;", "", False),
        ("ld.acquire.cta.shared.u32", "st.relaxed.cta.shared.u32", "", "", False),
    ],
)  # fmt: skip
def test_flags_need_fences(
    attempt, report, load: str, store: str, before: str, after: str, right: bool
) -> None:
    body = FLAG.format(load=load, store=store, before=before, after=after)
    if right:
        attempt(body)
    else:
        assert "race: nothing orders this load" in report(body)


EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [full], {size};\n"
READ = "ld.shared.u32 %r9, [%r6];"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_transaction_count_of_an_mbarrier(attempt, report, seed: int) -> None:
    start = INIT + EXPECT
    attempt(start.format(size=256) + f"@%p1 {LOAD}" + WAIT + READ, seed=seed)
    text = report(start.format(size=512) + f"@%p1 {LOAD}" + WAIT + READ, seed=seed)
    assert "deadlock" in text
    assert "waits for phase 0 of the mbarrier at shared address" in text
    assert "at 1 of 1 arrivals and 256 bytes missing" in text
    twice = f"@%p1 {LOAD}" + f"@%p1 {LOAD}".replace("[tile]", "[tile+256]")
    late = WAIT + "ld.shared.u32 %r9, [%r6];\nld.shared.u32 %r9, [%r6+256];"
    attempt(start.format(size=512) + twice + late, seed=seed)
    assert "race: nothing orders this load" in report(start.format(size=256) + twice + late)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_wrong_parity(attempt, report, seed: int) -> None:
    start = INIT + EXPECT.format(size=256) + f"@%p1 {LOAD}"
    early = report(start + WAIT.replace("[full], 0", "[full], 1") + READ, seed=seed)
    # In phase 0, parity 1 is the completed phase: no thread waits, or one waits for ever.
    assert "race: nothing orders this load" in early or "deadlock" in early
    text = report(start + WAIT + READ + WAIT.replace("again", "more").replace(", 0;", ", 1;"))
    assert "deadlock" in text
    assert "waits for phase 1 of the mbarrier" in text
    assert "at 0 of 1 arrivals" in text


def test_two_warps_wait_for_each_other(report) -> None:
    body = """
    @%p1 mbarrier.init.shared.b64 [full], 32;
    @%p1 mbarrier.init.shared.b64 [empty], 32;
    bar.sync 0;
    @%p2 bra first;
    a: mbarrier.try_wait.parity.shared.b64 %p5, [full], 0;
    @!%p5 bra a;
    mbarrier.arrive.shared.b64 %rd9, [empty];
    bra end;
    first:
    b: mbarrier.try_wait.parity.shared.b64 %p5, [empty], 0;
    @!%p5 bra b;
    mbarrier.arrive.shared.b64 %rd9, [full];
    end:
    """
    text = report(body)
    assert "deadlock" in text
    assert text.count("waits for phase 0 of the mbarrier") == 2
    assert "thread (0, 0, 0) of block (0, 0, 0) (and 31 more)" in text
    assert "thread (32, 0, 0) of block (0, 0, 0) (and 31 more)" in text


PIPELINE = """
    @%p1 mbarrier.init.shared.b64 [full], 1;
    @%p1 mbarrier.init.shared.b64 [empty], 32;
    bar.sync 0;
    mov.u32 %r20, 0;
    @%p2 bra consumer;
    setp.ne.u32 %p6, %r3, 0;
    @%p6 bra end;
    produce:
    and.b32 %r21, %r20, 1;
    xor.b32 %r22, %r21, 1;
    {wait_empty}
    mbarrier.arrive.expect_tx.shared.b64 %rd9, [full], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p6, %r20, 4;
    @%p6 bra produce;
    bra end;
    consumer:
    and.b32 %r21, %r20, 1;
    c: mbarrier.try_wait.parity.shared.b64 %p5, [full], %r21;
    @!%p5 bra c;
    ld.shared.u32 %r9, [%r6];
    {arrive}
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p6, %r20, 4;
    @%p6 bra consumer;
    end:
"""
WAIT_EMPTY = "p: mbarrier.try_wait.parity.shared.b64 %p5, [empty], %r22;\n@!%p5 bra p;"
ARRIVE = "mbarrier.arrive.shared.b64 %rd9, [empty];"


@pytest.mark.parametrize("seed", range(5))
def test_a_ring_of_one_stage(attempt, report, seed: int) -> None:
    attempt(PIPELINE.format(wait_empty=WAIT_EMPTY, arrive=ARRIVE), seed=seed)
    text = report(PIPELINE.format(wait_empty="", arrive=ARRIVE), seed=seed)
    assert "race: nothing orders this" in text or "1 arrivals are more than 0" in text
    text = report(PIPELINE.format(wait_empty=WAIT_EMPTY, arrive=f"@%p1 {ARRIVE}"), seed=seed)
    assert "deadlock" in text
    assert "at 1 of 32 arrivals" in text


COPY = "cp.async.ca.shared.global [%r6], [%rd2], 4;\n"
SOURCE = "cvt.u64.u32 %rd2, %r4;\nadd.u64 %rd2, %rd2, %rd1;\n"


@pytest.mark.parametrize("seed", range(3))
def test_cp_async(attempt, report, seed: int) -> None:
    commit, wait = "cp.async.commit_group;\n", "cp.async.wait_group {n};\n"
    attempt(SOURCE + COPY + commit + wait.format(n=0) + READ, seed=seed)
    attempt(SOURCE + COPY + "cp.async.wait_all;\n" + READ, seed=seed)
    for body in (
        COPY + commit + READ,
        COPY + wait.format(n=0) + READ,
        COPY + commit + wait.format(n=1) + READ,
        COPY + commit + wait.format(n=0) + "ld.shared.u32 %r9, [%r7];",
        "st.shared.u32 [%r6], 1;\nld.shared.u32 %r9, [%r7];\n" + COPY,
    ):
        assert "race: nothing orders this" in report(SOURCE + body, seed=seed)


STORE = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;\n"
GROUP = "@%p1 cp.async.bulk.commit_group;\n"
READ_DONE = "@%p1 cp.async.bulk.wait_group.read 0;\n"
ALL_DONE = "@%p1 cp.async.bulk.wait_group 0;\n"
PROXY = "fence.proxy.async.shared::cta;\n"
WRITE = "st.shared.u32 [%r6], %r1;\n"
BARRIER = "bar.sync 0;\n"


@pytest.mark.parametrize("seed", range(3))
def test_bulk_stores(attempt, report, seed: int) -> None:
    attempt(WRITE + PROXY + BARRIER + STORE + GROUP + ALL_DONE, seed=seed)
    reuse = WRITE + PROXY + BARRIER + STORE + GROUP + READ_DONE + BARRIER
    attempt(reuse + "st.shared.u32 [%r6], 3;\n" + ALL_DONE, seed=seed)
    text = report(WRITE + BARRIER + STORE + GROUP + ALL_DONE, seed=seed)
    assert "no fence.proxy.async in between" in text
    text = report(WRITE + PROXY + STORE + GROUP + ALL_DONE, seed=seed)
    assert "race: nothing orders this asynchronous read" in text
    in_flight = WRITE + PROXY + BARRIER + STORE + GROUP + BARRIER
    early = in_flight + "st.shared.u32 [%r6], 3;\n" + ALL_DONE
    assert "race: nothing orders this write after an earlier read" in report(early, seed=seed)
    text = report(WRITE + PROXY + BARRIER + STORE + GROUP, seed=seed)
    assert "the CTA exits before any thread waits for this copy" in text


@each_case("seed", range(3))
@each_case(
    "access", ["ld.global.u32 %r9, [%rd1];\n", "@%p1 st.global.u32 [%rd1], 3;\n", STORE + GROUP]
)
def test_accesses_to_what_a_bulk_store_writes(attempt, report, access: str, seed: int) -> None:
    """A wait with `.read` says nothing of the writes."""
    stored = WRITE + PROXY + BARRIER + STORE + GROUP
    attempt(stored + ALL_DONE + BARRIER + access + ALL_DONE, seed=seed)
    for wait in (READ_DONE, ""):
        text = report(stored + wait + BARRIER + access + ALL_DONE, seed=seed)
        assert "race in global memory" in text
        assert "a bulk copy may still write it" in text


def test_bulk_stores_of_what_cp_async_wrote(attempt, report) -> None:
    """It writes through the generic proxy, as it completes."""
    copied = SOURCE + COPY + "cp.async.wait_all;\n"
    attempt(copied + PROXY + BARRIER + STORE + GROUP + ALL_DONE)
    text = report(copied + BARRIER + STORE + GROUP + ALL_DONE)
    assert "no fence.proxy.async in between" in text


def test_a_proxy_fence_after_the_barrier_suffices(attempt) -> None:
    attempt(WRITE + BARRIER + f"@%p1 {PROXY}" + STORE + GROUP + ALL_DONE)


def test_a_bulk_load_over_ordinary_stores_needs_a_proxy_fence(attempt, report) -> None:
    """Over what was only read, a barrier suffices."""
    load = INIT + EXPECT.format(size=256) + f"@%p1 {LOAD}" + WAIT
    again = "@%p1 mbarrier.inval.shared.b64 [full];\n" + load
    attempt(WRITE + PROXY + load)
    attempt(load + READ + BARRIER + again.replace("again", "third"))
    assert "overwrites shared memory that was written by ordinary stores" in report(WRITE + load)


@each_case(
    ("body", "text"),
    [
        ("mbarrier.arrive.shared.b64 %rd9, [full];", "was never initialised"),
        ("@%p1 mbarrier.init.shared.b64 [full], 1;\nmbarrier.test_wait.parity.shared.b64 %p5,"
         " [full], 0;", "nothing orders this after the initialisation of the mbarrier"),
        (INIT + "@%p1 mbarrier.init.shared.b64 [full], 1;", "exists already"),
        (INIT + "@%p1 mbarrier.arrive.shared.b64 %rd9, [full], 2;",
         "2 arrivals are more than 1 that are pending"),
        (INIT + "@%p1 mbarrier.arrive.noComplete.shared.b64 %rd9, [full], 1;",
         "this arrival completes the phase"),
        (INIT + "@%p1 st.shared.u32 [full], 0;", "store in the memory of an mbarrier object"),
        (INIT + "@%p1 ld.shared.u32 %r9, [full];", "load in the memory of an mbarrier object"),
        ("@%p1 mbarrier.init.shared.b64 [full], 0;", "expected a count of 1 to 1048575, got 0"),
        ("@%p1 mbarrier.init.shared.b64 [full+4], 1;", "misaligned"),
        ("@%p2 bra a;\nbar.sync 1, 64;\nbra b;\na: bar.sync 1, 32;\nb:",
         "barrier 1 is for"),
        ("setp.lt.u32 %p3, %r3, 16;\n@%p3 bra a;\nbar.sync 0;\nbra b;\na: bar.sync 0;\nb:",
         "expected all threads of a warp at the same barrier instruction"),
        ("@%p2 bra a;\nbar.sync 1;\nbra b;\na: bar.sync 2;\nb:", "deadlock"),
        ("barrier.cluster.wait;", "expected barrier.cluster.arrive before the wait"),
        ("barrier.cluster.arrive;\nbarrier.cluster.arrive;", "between two arrivals"),
    ],
)  # fmt: skip
def test_misuse_of_barriers(report, body: str, text: str) -> None:
    assert text in report(body)


def test_an_mbarrier_is_invalidated(attempt) -> None:
    body = "@%p1 mbarrier.inval.shared.b64 [full];\n@%p1 st.shared.u32 [full], 7;\n"
    attempt(INIT + body + "@%p1 mbarrier.init.shared.b64 [full], 2;")


def test_a_cluster_needs_its_barrier(attempt, report) -> None:
    peer = "mov.u32 %r9, %cluster_ctarank;\nxor.b32 %r9, %r9, 1;\n"
    peer += "mapa.shared::cluster.u32 %r10, %r6, %r9;\n"
    arrive, wait = "barrier.cluster.arrive;\n", "barrier.cluster.wait;\n"
    load = "ld.shared::cluster.u32 %r11, [%r10];\n"
    options = {"grid": 4, "cluster": 2}
    attempt(peer + WRITE + arrive + wait + load + arrive + wait, **options)
    assert "race: nothing orders this load" in report(peer + WRITE + load, **options)
    relaxed = "barrier.cluster.arrive.relaxed;\n"
    assert "race" in report(peer + WRITE + relaxed + wait + load, **options)


PART_EXITS = {
    "all others wait": "@%p1 exit;\n bar.sync 0;\n ret;",
    "after the others arrive": "@%p1 bra OUT;\n bar.sync 0;\n ret;\n OUT: nanosleep.u32 5;\n exit;",
    "with a count": "@%p1 exit;\n bar.sync 1, 64;\n ret;",
    "with a vote": "@%p1 exit;\n bar.red.popc.u32 %r2, 0, %p1;\n ret;",
    "aligned by name": "@%p1 exit;\n barrier.sync.aligned 0;\n ret;",
}


@each_case("seed", [0, 1, 2])
@each_case("body", PART_EXITS)
def test_a_warp_does_not_exit_in_part_at_an_aligned_barrier(run, body: str, seed: int) -> None:
    head = "mov.u32 %r1, %tid.x;\n setp.ge.u32 %p1, %r1, 40;\n"
    with pytest.raises(UserError) as caught:
        run(head + PART_EXITS[body], [], "", block=64, seed=seed)
    text = caught.value.render()
    assert "expected all threads of a warp at the barrier, and 24 of them have exited" in text
    assert "thread (32, 0, 0) of block (0, 0, 0)" in text


@each_case("seed", range(4))
def test_a_warp_that_arrives_without_waiting_may_exit(run, seed: int) -> None:
    body = """
        mov.u32 %r1, %tid.x;
        setp.ge.u32 %p1, %r1, 32;
        @%p1 bra WAIT;
        bar.arrive 1, 64;
        exit;
        WAIT:
        bar.sync 1, 64;
        ret;
    """
    run(body, [], "", block=64, seed=seed)


def test_padding_threads_of_a_warp_have_not_exited(run) -> None:
    run("bar.sync 0;\n ret;", [], "", block=40)


def test_a_cta_does_not_exit_while_another_uses_its_memory(attempt, report) -> None:
    """The barrier of the cluster does not wait for threads that have exited."""
    peer = "mov.u32 %r9, %cluster_ctarank;\nxor.b32 %r10, %r9, 1;\n"
    peer += "mapa.shared::cluster.u32 %r10, %r6, %r10;\nsetp.eq.u32 %p6, %r9, 0;\n"
    sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    store = "st.shared::cluster.u32 [%r10], %r1;\n"
    options = {"grid": 2, "cluster": 2}
    attempt(peer + sync + store + sync, **options)
    message = "store of 4 bytes of shared memory in a CTA that has exited"
    assert message in report(peer + "@%p6 exit;\n" + sync + store, **options)
    # Its own memory is there as long as it runs.
    own = "mapa.shared::cluster.u32 %r10, %r6, %r9;\n"
    attempt(peer + own + "@%p6 exit;\n" + sync + store, **options)
