"""Counters of a launch, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.mark.parametrize(
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


def test_conflicts_are_counted_if_asked_for(run) -> None:
    body = ADDRESS.format(stride=128) + "st.shared.u32 [%r3], %r1; ret;"
    assert run(body, [], "", declarations=SHARED).bank_conflicts == 0


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


def test_instructions(run) -> None:
    counters = run("mov.u32 %r1, 5; add.u32 %r2, %r1, 1; ret;", [], "", block=40, grid=3)
    assert counters.thread_instructions == 3 * 120
    assert counters.by_opcode == {"mov.u32": 120, "add.u32": 120, "ret": 120}
    assert counters.by_family == {"data_movement": 120, "arithmetic": 120, "control_flow": 120}
