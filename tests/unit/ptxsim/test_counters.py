"""Counters of a launch, against numbers worked out by hand."""

from __future__ import annotations

import json

import numpy as np
from each_case import each_case

SHARED = ".shared .align 16 .b8 cells[8192];"
ADDRESS = "mov.u32 %r1, %tid.x; mov.u32 %r2, cells; mad.lo.u32 %r3, %r1, {stride}, %r2;"


def test_bytes_by_space(run) -> None:
    """64 threads: 4 bytes of global memory in, 16 of shared out and 8 in, 2 to global."""
    body = (
        ADDRESS.format(stride=16)
        + """
    ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r4, [%rd2];
    st.shared.v4.u32 [%r3], {%r4, %r4, %r4, %r4}; ld.shared.u64 %rd3, [%r3];
    st.global.u16 [%rd2], %r4; bar.sync 0; atom.shared.add.u32 %r5, [cells], 1; ret;
    """
    )
    counters = run(body, [np.zeros(64, np.uint32)], "u64", block=64, declarations=SHARED)
    assert counters.bytes_moved == {
        "global loads": 64 * 4,
        "shared stores": 64 * 16,
        "shared loads": 64 * 8,
        "global stores": 64 * 2,
        "shared atomics": 64 * 4,
    }


def test_lanes_that_a_guard_excludes_access_no_memory(run) -> None:
    body = ADDRESS.format(stride=4) + "setp.lt.u32 %p1, %r1, 5; @%p1 st.shared.u32 [%r3], %r1; ret;"
    counters = run(body, [], "", block=64, declarations=SHARED)
    assert counters.bytes_moved == {"shared stores": 20}


@each_case(
    ("stride", "store", "requests", "conflicts"),
    [
        (4, "st.shared.u32 [%r3], %r1", 1, 0),
        (8, "st.shared.u32 [%r3], %r1", 1, 1),
        (128, "st.shared.u32 [%r3], %r1", 1, 31),
        (132, "st.shared.u32 [%r3], %r1", 1, 0),
        # All threads on one word, and four on each word, are no conflict.
        (0, "st.shared.u32 [%r3], 7", 1, 0),
        (1, "st.shared.u8 [%r3], 7", 1, 0),
        # Half a warp at a time, and a quarter.
        (8, "st.shared.v2.u32 [%r3], {%r1, %r1}", 2, 0),
        (16, "st.shared.v2.u32 [%r3], {%r1, %r1}", 2, 2),
        (16, "st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1}", 4, 0),
        (128, "st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1}", 4, 4 * 7),
    ],
)
def test_bank_conflicts(run, stride: int, store: str, requests: int, conflicts: int) -> None:
    body = ADDRESS.format(stride=stride) + f"{store}; ret;"
    counters = run(body, [], "", declarations=SHARED, profile=True, check=False)
    assert (counters.shared_requests, counters.bank_conflicts) == (requests, conflicts)


def test_conflicts_of_ldmatrix(run) -> None:
    """Four matrices of eight rows, 128 bytes apart: each is a request of eight cycles."""
    body = (
        ADDRESS.format(stride=128)
        + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3]; ret;"
    )
    counters = run(body, [], "", declarations=SHARED, profile=True, check=False)
    assert counters.bytes_moved == {"shared loads": 4 * 8 * 16}
    assert (counters.shared_requests, counters.bank_conflicts) == (4, 4 * 7)


def test_what_costs_time_is_counted_if_asked_for(run) -> None:
    body = (
        ADDRESS.format(stride=128)
        + """
    ld.param.u64 %rd1, [p0]; setp.eq.u32 %p1, %r1, 0; st.shared.u32 [%r3], %r1;
    @%p1 st.global.u32 [%rd1], 1; @%p1 bra skip; add.u32 %r1, %r1, 1; skip: ret;
    """
    )
    profiled, plain = (
        run(body, [np.zeros(1, np.uint32)], "u64", declarations=SHARED, profile=profile)
        for profile in (True, False)
    )
    # Seven instructions, one of 31 threads, and one of all.
    assert (profiled.warp_instructions, profiled.divergent_instructions) == (10, 1)
    assert (profiled.bank_conflicts, profiled.predicated_off) == (31, 31)
    assert profiled.sectors == {"global stores": 1}
    assert (plain.warp_instructions, plain.divergent_instructions) == (0, 0)
    assert (plain.bank_conflicts, plain.predicated_off) == (0, 0)
    assert (plain.sectors, plain.by_line) == ({}, {})
    assert plain.by_opcode == profiled.by_opcode
    assert plain.bytes_moved == profiled.bytes_moved


@each_case(
    ("stride", "store", "sectors"),
    [
        (4, "st.global.u32 [%rd2], %r1", 4),
        (8, "st.global.u32 [%rd2], %r1", 8),
        (32, "st.global.u32 [%rd2], %r1", 32),
        (0, "st.global.u32 [%rd2], %r1", 1),
        (2, "st.global.u16 [%rd2], 7", 2),
        (16, "st.global.v4.u32 [%rd2], {%r1, %r1, %r1, %r1}", 16),
        (4, "red.global.add.u32 [%rd2], %r1", 4),
    ],
)
def test_sectors(run, stride: int, store: str, sectors: int) -> None:
    """Two warps in the same memory: each has sectors of its own."""
    body = f"""
    mov.u32 %r1, %laneid; ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd2, %r1, {stride}, %rd1;
    {store}; ret;
    """
    counters = run(body, [np.zeros(256, np.uint32)], "u64", block=64, profile=True)
    name = "global atomics" if store.startswith("red") else "global stores"
    assert counters.sectors == {name: 2 * sectors}


def test_asynchronous_copies(run) -> None:
    """32 threads copy 16 bytes each, of which eight copy 4 and eight none; the rest is zero."""
    body = (
        ADDRESS.format(stride=16)
        + """
    ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd2, %r1, 16, %rd1;
    mov.u32 %r4, 16; setp.lt.u32 %p1, %r1, 16; @%p1 mov.u32 %r4, 4;
    setp.lt.u32 %p2, %r1, 8; @%p2 mov.u32 %r4, 0;
    cp.async.cg.shared.global [%r3], [%rd2], 16, %r4; cp.async.wait_all; ret;
    """
    )
    counters = run(body, [np.zeros(128, np.uint32)], "u64", declarations=SHARED, profile=True)
    assert counters.bytes_moved == {
        "global asynchronous reads": 16 * 16 + 8 * 4,
        "shared asynchronous writes": 32 * 16,
    }
    # Threads 8 to 31 read from 24 * 16 bytes.
    assert counters.sectors == {"global asynchronous reads": 12}
    assert (counters.shared_requests, counters.bank_conflicts) == (4, 0)


BULK = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
    setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, cells; mov.u32 %r3, bar;
    @!%p1 bra wait;
    mbarrier.init.shared.b64 [%r3], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r3], 144;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r2], [%rd1 + 16], 144, [%r3];
    wait: bar.sync 0;
    again: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra again;
    @!%p1 bra done;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 64;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    done: ret;
"""


def test_bulk_copies(run) -> None:
    """144 bytes from offset 16 touch sectors 0 to 4, 64 bytes from offset 0 sectors 0 and 1."""
    declared = SHARED + ".shared .align 8 .b64 bar;"
    arrays = [np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)]
    counters = run(BULK, arrays, "u64 u64", declarations=declared, profile=True)
    np.testing.assert_array_equal(arrays[1][:16], np.arange(4, 20))
    assert counters.bytes_moved == {
        "global bulk reads": 144,
        "shared bulk writes": 144,
        "shared bulk reads": 64,
        "global bulk writes": 64,
    }
    assert counters.sectors == {"global bulk reads": 5, "global bulk writes": 2}


def test_instructions_that_are_retried_count_once(run) -> None:
    """Half of the warp reaches the shuffle first, and executes it with the others."""
    body = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, 0; setp.lt.u32 %p1, %r1, 16;
    @%p1 bra meet;
    loop: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9000; @%p2 bra loop;
    meet: shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1; ret;
    """
    counters = run(body, [], "", profile=True, seed=3)
    assert counters.by_opcode["shfl.sync.bfly.b32"] == 32
    assert counters.waits["convergence"] == 16
    assert counters.warp_instructions == 4 + 9000 * 3 + 2
    assert counters.divergent_instructions == 9000 * 3


def test_json(run) -> None:
    body = ADDRESS.format(stride=128) + "\nst.shared.u32 [%r3], %r1; ret;"
    counters = run(body, [], "", declarations=SHARED, profile=True)
    values = json.loads(json.dumps(counters.as_dict()))
    assert values.keys() == {*counters.__slots__} - {"output"}
    assert values["bytes_moved"] == {"shared stores": 128}
    assert values["bank_conflicts"] == 31
    first, second = values["by_line"]
    assert first["file"] == second["file"] == "k.ptx"
    assert second["line"] == first["line"] + 1
    assert (first["bank_conflicts"], second["bank_conflicts"]) == (0, 31)
    assert (first["warp_instructions"], second["warp_instructions"]) == (3, 2)


def test_waits(run) -> None:
    """Of two warps, the first to reach the barrier waits for the other."""
    body = """
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; mov.u32 %r2, 0;
    @%p1 bra join;
    loop: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 10; @%p2 bra loop;
    barrier.sync 0, 64; ret;
    join: barrier.sync 0, 64; ret;
    """
    counters = run(body, [], "", block=64)
    assert counters.waits == {"barrier": 32}


def test_waits_by_line(run) -> None:
    """The 32 threads of the warp that arrives first wait at the barrier of their own line."""
    body = """
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; mov.u32 %r2, 0; @%p1 bra join;
    .loc 1 3 1
    barrier.sync 0, 64; ret;
    .loc 1 4 1
    join: barrier.sync 0, 64; ret;
    """
    counters = run(body, [], "", block=64, declarations='.file 1 "k.cu"', profile=True)
    waits = {position: each.waits for position, each in counters.by_line.items() if each.waits}
    assert sum(waits.values()) == 32
    assert waits.keys() < {("k.cu", 3), ("k.cu", 4)}


def test_instructions(run) -> None:
    counters = run("mov.u32 %r1, 5; add.u32 %r2, %r1, 1; ret;", [], "", block=40, grid=3)
    assert counters.thread_instructions == 3 * 120
    assert counters.by_opcode == {"mov.u32": 120, "add.u32": 120, "ret": 120}
    assert counters.by_family == {"data_movement": 120, "arithmetic": 120, "control_flow": 120}
