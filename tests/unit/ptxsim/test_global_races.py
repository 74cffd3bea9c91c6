"""The optional race check of global memory reports planted races and no ordered accesses."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_programs import all_programs
from each_case import each_case
from program_table import Program, check

from tilewright.ptxsim import Module
from tilewright.ptxsim.machine import CHECKS
from tilewright.support.diagnostics import UserError

ALL = CHECKS | {"global"}
# %rd2 is a word for each thread of the grid, %rd3 that of the same thread of the next block (or
# the first), %rd4 that of the other warp, %rd5 one word for all threads.
HEAD = """
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r5, %r2, %r3, %r1; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd2, %rd1;
    add.u32 %r6, %r2, 1; rem.u32 %r6, %r6, %r4; mad.lo.u32 %r7, %r6, %r3, %r1;
    mul.wide.u32 %rd3, %r7, 4; add.u64 %rd3, %rd3, %rd1;
    xor.b32 %r8, %r1, 32; mad.lo.u32 %r9, %r2, %r3, %r8; mul.wide.u32 %rd4, %r9, 4;
    add.u64 %rd4, %rd4, %rd1; add.u64 %rd5, %rd1, 4000;
    setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; add.u32 %r10, %r5, 1;
"""
STORE = "st.global.u32 [%rd2], %r10;\n"
# A barrier of the grid: every block increments a counter and waits for all others.
GRID = """
    bar.sync 0;
    @!%p1 bra WAITED;
    fence.acq_rel.gpu;
    atom.global.add.u32 %r20, [%rd5+64], 1;
AGAIN: ld.acquire.gpu.global.u32 %r21, [%rd5+64];
    setp.ne.u32 %p5, %r21, %r4;
    @%p5 bra AGAIN;
WAITED: bar.sync 0;
"""


@pytest.fixture
def attempt(run):
    def launch(body: str, *, seed: int = 0, check: object = ALL) -> None:
        data = np.zeros(2048, np.uint32)
        run(f"{HEAD}{body}\nret;", [data], "u64", grid=3, block=64, seed=seed, check=check)

    return launch


BLOCKS = CHECKS | {"global-blocks"}
"""The races between CTAs alone."""


@each_case("seed", [0, 1, 2])
@each_case(
    ("body", "is_race"),
    [
        ("ld.global.u32 %r11, [%rd4];" + STORE, False),
        (STORE + "ld.global.u32 %r11, [%rd4];", False),
        ("ld.global.u32 %r11, [%rd3];" + STORE, True),
        ("st.global.u32 [%rd5], %r2;", True),
    ],
)
def test_races_between_blocks_alone(attempt, body: str, is_race: bool, seed: int) -> None:
    if not is_race:
        attempt(body, seed=seed, check=BLOCKS)
        return
    with pytest.raises(UserError, match="race in global memory"):
        attempt(body, seed=seed, check=BLOCKS)


@each_case("seed", [0, 1, 2])
@each_case(
    ("body", "text"),
    [
        (STORE + "ld.global.u32 %r11, [%rd3];", "nothing orders this load after a write"),
        (STORE + "ld.global.u32 %r11, [%rd4];", "nothing orders this load after a write"),
        (STORE + "bar.sync 0; ld.global.u32 %r11, [%rd3];", "this load after a write"),
        ("ld.global.u32 %r11, [%rd3]; bar.sync 0;" + STORE, "this store after a read"),
        ("ld.global.u32 %r11, [%rd4];" + STORE, "this store after a read"),
        ("st.global.u32 [%rd5], %r10;", "nothing orders this store after a write"),
        ("@%p1 st.global.u32 [%rd5], %r10;", "nothing orders this store after a write"),
        ("cvt.u16.u32 %rs1, %r2; st.global.u8 [%rd5+8], %rs1;", "this store after a write"),
    ],
)
def test_races(attempt, body: str, text: str, seed: int) -> None:
    with pytest.raises(UserError, match=text):
        attempt(body, seed=seed)
    attempt(body, seed=seed, check=CHECKS)


@each_case("seed", [0, 1, 2])
@each_case(
    "body",
    [
        STORE + "ld.global.u32 %r11, [%rd2];",
        STORE + "bar.sync 0; ld.global.u32 %r11, [%rd4];",
        STORE + GRID + "ld.global.u32 %r11, [%rd3];",
        "ld.global.u32 %r11, [%rd3];" + GRID + STORE,
        # Stores of the same value, and atomic adds.
        "st.global.u32 [%rd5], 7;",
        "red.global.add.u32 [%rd5], 1;",
        # Neighbouring bytes.
        "cvt.u64.u32 %rd6, %r5; add.u64 %rd6, %rd6, %rd1; st.global.u8 [%rd6], %rs1;",
    ],
)
def test_ordered_accesses_are_no_races(attempt, body: str, seed: int) -> None:
    attempt(f"mov.u16 %rs1, 3;{body}", seed=seed)


def test_a_report_names_threads_and_addresses(attempt) -> None:
    with pytest.raises(UserError) as caught:
        attempt(STORE + "bar.sync 0;\nld.global.u32 %r11, [%rd3];")
    text = caught.value.render()
    assert "ld.global.u32: race in global memory at address 0x7f" in text
    assert ": note: the other is st.global.u32, by the warp of" in text
    assert "thread (0, 0, 0) of block (0, 0, 0)" in text
    assert "by the warp of thread (0, 0, 0) of block (1, 0, 0)" in text


def test_unknown_checks(attempt) -> None:
    with pytest.raises(ValueError, match="expected checks among barriers, global"):
        attempt(STORE, check={"everything"})


@pytest.mark.parametrize("program", all_programs(), ids=lambda program: program.name)
@pytest.mark.sampled(30)
def test_programs_have_no_races(program: Program) -> None:
    args, expected = program.case()
    shape = program.grid, program.block
    launch = Module(program.text()).launch
    launch(program.kernel, *shape, args, shared=program.shared, check=ALL, seed=4)
    check(args, expected)
