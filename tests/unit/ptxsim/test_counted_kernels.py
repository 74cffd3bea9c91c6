"""Counters of five kernels: copy, transpose, reduction, matmul, divergent branches.

Every expected number is derived in a comment from the kernel, not from what the emulator prints.
"""

from __future__ import annotations

import numpy as np
from each_case import each_case

FILE = '.file 1 "kernel.cu"\n'

COPY = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
    mad.wide.u32 %rd3, %r4, 4, %rd1; mad.wide.u32 %rd4, %r4, 4, %rd2;
    .loc 1 4 9
    ld.global.u32 %r5, [%rd3 + OFFSET];
    .loc 1 5 9
    st.global.u32 [%rd4], %r5;
    ret;
"""


@each_case(("offset", "read_sectors"), [(0, 4), (4, 5), (32, 4)])
def test_copy(run, offset: int, read_sectors: int) -> None:
    """Two blocks of 64 threads copy 4 bytes each.

    Eleven instructions, 128 threads, 4 warps. A warp reads 128 bytes: four sectors of 32 bytes
    if they start at a multiple of 32, and five otherwise.
    """
    source, target = np.arange(160, dtype=np.uint32), np.zeros(128, np.uint32)
    counters = run(
        COPY.replace("OFFSET", str(offset)), [source, target], "u64 u64",
        grid=2, block=64, declarations=FILE, profile=True,
    )  # fmt: skip
    np.testing.assert_array_equal(target, source[offset // 4 :][:128])
    assert counters.thread_instructions == 11 * 128
    assert counters.warp_instructions == 11 * 4
    assert counters.divergent_instructions == 0
    # Three `mov`, two `ld.param`, a load and a store; three `mad`.
    assert counters.by_family == {
        "data_movement": 7 * 128,
        "arithmetic": 3 * 128,
        "control_flow": 128,
    }
    assert counters.bytes_moved == {"global loads": 512, "global stores": 512}
    assert counters.sectors == {"global loads": 4 * read_sectors, "global stores": 16}
    assert (counters.shared_requests, counters.bank_conflicts) == (0, 0)
    assert counters.waits == {}
    load, store = (counters.by_line["kernel.cu", line] for line in (4, 5))
    assert (load.warp_instructions, load.sectors) == (4, 4 * read_sectors)
    # The line of the store has `ret`, too.
    assert (store.warp_instructions, store.sectors) == (8, 16)


TRANSPOSE = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, tile;
    ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
    mad.lo.u32 %r4, %r2, 32, %r1;
    mad.wide.u32 %rd3, %r4, 4, %rd1; mad.wide.u32 %rd4, %r4, 4, %rd2;
    mad.lo.u32 %r5, %r2, PITCH, %r1; mad.lo.u32 %r5, %r5, 4, %r3;
    mad.lo.u32 %r6, %r1, PITCH, %r2; mad.lo.u32 %r6, %r6, 4, %r3;
    ld.global.u32 %r7, [%rd3];
    .loc 1 7 5
    st.shared.u32 [%r5], %r7;
    .loc 1 8 5
    bar.sync 0;
    .loc 1 9 5
    ld.shared.u32 %r8, [%r6];
    .loc 1 10 5
    st.global.u32 [%rd4], %r8;
    ret;
"""


@each_case(("pitch", "conflicts"), [(32, 31), (33, 0), (34, 1), (36, 3)])
def test_transpose(run, pitch: int, conflicts: int) -> None:
    """A block of 32×32 threads transposes a tile through shared memory with rows of `pitch` words.

    A warp is a row. It stores 32 consecutive words: one cycle. It loads the words x * pitch + y
    for x below 32, in the banks (x * pitch + y) % 32. These take gcd(pitch, 32) different x to the
    same bank: 32 words of one bank are 31 extra cycles, 2 are one, and 4 are three.
    """
    source, target = np.arange(1024, dtype=np.uint32), np.zeros(1024, np.uint32)
    counters = run(
        TRANSPOSE.replace("PITCH", str(pitch)), [source, target], "u64 u64", block=(32, 32),
        declarations=FILE + ".shared .align 16 .b8 tile[4736];", profile=True,
    )  # fmt: skip
    np.testing.assert_array_equal(target.reshape(32, 32), source.reshape(32, 32).T)
    # 18 instructions of 32 warps.
    assert counters.thread_instructions == 18 * 1024
    assert counters.warp_instructions == 18 * 32
    assert counters.divergent_instructions == 0
    assert counters.by_family["barriers"] == 1024
    assert counters.bytes_moved == {
        "global loads": 4096,
        "shared stores": 4096,
        "shared loads": 4096,
        "global stores": 4096,
    }
    # Rows of 128 bytes are four sectors.
    assert counters.sectors == {"global loads": 128, "global stores": 128}
    assert counters.shared_requests == 32 + 32
    assert counters.bank_conflicts == 32 * conflicts
    lines = {line: each for (file, line), each in counters.by_line.items() if file == "kernel.cu"}
    assert {line: each.shared_requests for line, each in lines.items()} == {
        7: 32,
        8: 0,
        9: 32,
        10: 0,
    }
    assert {line: each.bank_conflicts for line, each in lines.items()} == {
        7: 0,
        8: 0,
        9: 32 * conflicts,
        10: 0,
    }


REDUCTION = """
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shr.u32 %r3, %r1, 5;
    ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
    mad.wide.u32 %rd3, %r1, 4, %rd1; ld.global.u32 %r4, [%rd3];
    shfl.sync.down.b32 %r5, %r4, 16, 31, -1; add.u32 %r4, %r4, %r5;
    shfl.sync.down.b32 %r5, %r4, 8, 31, -1; add.u32 %r4, %r4, %r5;
    shfl.sync.down.b32 %r5, %r4, 4, 31, -1; add.u32 %r4, %r4, %r5;
    shfl.sync.down.b32 %r5, %r4, 2, 31, -1; add.u32 %r4, %r4, %r5;
    shfl.sync.down.b32 %r5, %r4, 1, 31, -1; add.u32 %r4, %r4, %r5;
    mov.u32 %r6, cells; mad.lo.u32 %r7, %r3, 4, %r6;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 st.shared.u32 [%r7], %r4;
    bar.sync 0;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra done;
    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [cells];
    add.u32 %r10, %r10, %r11; add.u32 %r12, %r12, %r13; add.u32 %r10, %r10, %r12;
    st.global.u32 [%rd2], %r10;
    done: ret;
"""


def test_reduction(run) -> None:
    """A block of 128 threads adds 128 numbers: shuffles in each warp, then its first thread.

    24 instructions of all threads up to the branch: 7, five shuffles with an addition each, 3,
    the store, the barrier, and `setp` and `bra`. Thread 0 alone executes 5 more, which are
    divergent, and all meet again at `ret`.
    """
    source, target = np.arange(128, dtype=np.uint32), np.zeros(1, np.uint32)
    counters = run(
        REDUCTION, [source, target], "u64 u64", block=128,
        declarations=".shared .align 16 .b8 cells[16];", profile=True,
    )  # fmt: skip
    assert target[0] == 127 * 128 // 2
    assert counters.thread_instructions == 24 * 128 + 5 + 128
    assert counters.warp_instructions == 24 * 4 + 5 + 4
    assert counters.divergent_instructions == 5
    assert counters.by_opcode["shfl.sync.down.b32"] == 5 * 128
    assert counters.by_opcode["add.u32"] == 5 * 128 + 3
    # One thread of each warp stores.
    assert counters.predicated_off == 128 - 4
    assert counters.bytes_moved == {
        "global loads": 128 * 4,
        "shared stores": 4 * 4,
        "shared loads": 16,
        "global stores": 4,
    }
    assert counters.sectors == {"global loads": 4 * 4, "global stores": 1}
    assert (counters.shared_requests, counters.bank_conflicts) == (4 + 1, 0)


MATMUL = """
    mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3;
    ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2];
    mul.lo.u32 %r4, %r2, 128; mad.lo.u32 %r4, %r3, 4, %r4;
    cvt.u64.u32 %rd4, %r4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4;
    mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
    mov.u32 %r5, 0;
    loop:
    ld.global.b32 %r10, [%rd1]; ld.global.b32 %r11, [%rd1 + 1024];
    ld.global.b32 %r12, [%rd1 + 16]; ld.global.b32 %r13, [%rd1 + 1040];
    ld.global.b32 %r14, [%rd2]; ld.global.b32 %r15, [%rd2 + 16];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f1, %f2, %f3, %f4};
    add.u64 %rd1, %rd1, 32; add.u64 %rd2, %rd2, 32; add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 4;
    @%p1 bra loop;
    mul.lo.u32 %r6, %r2, 32; mad.lo.u32 %r6, %r3, 8, %r6;
    cvt.u64.u32 %rd5, %r6; add.u64 %rd3, %rd3, %rd5;
    st.global.v2.f32 [%rd3], {%f1, %f2}; st.global.v2.f32 [%rd3 + 256], {%f3, %f4};
    ret;
"""


def test_matmul(run) -> None:
    """A warp multiplies 16×64 by 64×8 f16 with four `mma.sync` of K = 16.

    16 instructions before the loop, 12 in each of four iterations, and 7 after it. Rows of A, and
    columns of B, are 128 bytes long. A load of a fragment reads 16 bytes of each of 8 rows: half
    of a sector, 8 sectors. The result is 16 rows of 32 bytes: a store writes 8 of them.
    """
    a = (np.arange(16 * 64) % 5 - 2).astype(np.float16).reshape(16, 64)
    b = (np.arange(64 * 8) % 7 - 3).astype(np.float16).reshape(8, 64)
    c = np.zeros((16, 8), np.float32)
    counters = run(MATMUL, [a, b, c], "u64 u64 u64", profile=True)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))
    assert counters.warp_instructions == 16 + 4 * 12 + 7
    assert counters.thread_instructions == 32 * (16 + 4 * 12 + 7)
    assert counters.divergent_instructions == 0
    assert counters.by_family["mma_sync"] == 4 * 32
    assert counters.bytes_moved == {
        "global loads": 16 * 64 * 2 + 64 * 8 * 2,
        "global stores": 16 * 8 * 4,
    }
    assert counters.sectors == {"global loads": 4 * (4 + 2) * 8, "global stores": 16}


DIVERGENT = """
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; mov.u32 %r3, 0;
    setp.ge.u32 %p1, %r1, 40;
    @%p1 bra high;
    loop: add.u32 %r3, %r3, 1; setp.le.u32 %p2, %r3, %r2; @%p2 bra loop;
    bra join;
    high: add.u32 %r3, %r3, 100; sub.u32 %r3, %r3, %r2;
    join:
    ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2], %r3;
    ret;
"""


def test_divergent_branch(run) -> None:
    """72 threads: those below 40 go through a loop 1 to 4 times, by their number modulo 4.

    The warps have 32, 32 and 8 threads; the last one is never divergent, since all of its threads
    take one path. Before the branch: 5 instructions of 3 warps.

    Loop, 3 instructions for each iteration: in the first, all 32 threads of warp 0, and 8 of
    warp 1 (divergent). After each iteration a quarter of the threads leaves, so that the other
    three iterations are divergent in both warps. The `bra` after it: 1 instruction of 2 warps, in
    warp 0 of all threads, since those that leave early wait for the others.

    At `high`: 2 instructions of 24 threads of warp 1 (divergent) and of the 8 of warp 2.
    At `join`: 4 instructions of all threads.
    """
    result = np.zeros(72, np.uint32)
    counters = run(DIVERGENT, [result], "u64", block=72, profile=True)
    index = np.arange(72)
    np.testing.assert_array_equal(result, np.where(index < 40, index % 4 + 1, 100 - index % 4))
    iterations = 10 * 1 + 10 * 2 + 10 * 3 + 10 * 4
    assert counters.thread_instructions == 5 * 72 + 3 * iterations + 40 + 2 * 32 + 4 * 72
    assert counters.warp_instructions == 5 * 3 + 3 * 4 * 2 + 2 + 2 * 2 + 4 * 3
    assert counters.divergent_instructions == 3 * (4 + 3) + 1 + 2
    # Two warps of 128 bytes, and 8 threads with 32.
    assert counters.sectors == {"global stores": 4 + 4 + 1}
