"""Detection of kernels that never terminate, without false positives."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from repeats import keep_first

import tilewright
from tilewright.ptxsim import livelock, scheduler
from tilewright.support.diagnostics import UserError

_LIMIT_S = 600  # generous: only an emulator that never ends reaches it


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """Fail a test whose endless loop is not detected, instead of hanging the test run."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"still running after {_LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def finding(run: Any, body: str, args: list[Any], params: str, **options: Any) -> str:
    """Return the diagnostic for a kernel that never terminates."""
    with pytest.raises(UserError) as caught:
        run(body, args, params, **options)
    return caught.value.render()


seeds = pytest.mark.parametrize("seed", keep_first([0, 5]))
few_repeats = pytest.mark.parametrize("repeats", keep_first([8, livelock._SURER]), indirect=True)


@pytest.fixture
def repeats(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a state must repeat that threads keep writing: every time slice takes a while."""
    monkeypatch.setattr(livelock, "_SURER", request.param)
    if request.param == 8:
        monkeypatch.setattr(scheduler, "_TIME_SLICE", 512)
    return request.param


FOREVER = "HERE: bra HERE;"
POLL = """
    ld.param.u64 %rd1, [p0];
    WAIT: ld{}.global.u32 %r1, [%rd1+4];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    ret;
"""


@seeds
def test_a_branch_to_itself(run: Any, seed: int) -> None:
    text = finding(run, FOREVER, [], "", block=96, grid=2, seed=seed)
    assert (
        "k.ptx:9:7: error: never ends: thread (0, 0, 0) of block (0, 0, 0) (and 191 more)" in text
    )
    assert "it reads" not in text


def test_one_thread_does_not_end(run: Any) -> None:
    body = "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 37;\n@%p1 ret;\n" + FOREVER
    text = finding(run, body, [], "", block=64)
    assert "never ends: thread (37, 0, 0) of block (0, 0, 0) runs in a loop" in text


@seeds
@pytest.mark.parametrize("order", ["", ".volatile", ".acquire.gpu"])
def test_a_poll_of_global_memory(run: Any, order: str, seed: int) -> None:
    flags = np.zeros(2, np.uint32)
    text = finding(run, POLL.format(order), [flags], "u64", block=64, seed=seed)
    assert "(and 63 more) waits in a loop for memory that no thread is left to change" in text
    assert re.search(r"k\.ptx:11:11: error: never ends", text)
    assert re.search(r"it reads 4 bytes at global address 0x7f[0-9a-f]+ \(p0 \+ 4\)", text)


@pytest.mark.parametrize("check", keep_first([False, True]))
def test_checks_are_not_needed(run: Any, check: bool) -> None:
    flags = np.zeros(2, np.uint32)
    assert "never ends" in finding(run, POLL.format(".volatile"), [flags], "u64", check=check)


def test_the_line_of_the_source_is_named(run: Any) -> None:
    body = POLL.format(".volatile").replace("WAIT:", ".loc 1 12 3\nWAIT:")
    declarations = '.file 1 "kernel.mlir"'
    text = finding(run, body, [np.zeros(2, np.uint32)], "u64", declarations=declarations)
    assert "is left to change, source line kernel.mlir:12:3\n" in text


@seeds
def test_a_poll_with_barriers(run: Any, seed: int) -> None:
    """One thread polls the flag and broadcasts it through shared memory, for ever."""
    text = finding(
        run,
        """
        .shared .align 4 .b8 seen[4];
        ld.param.u64 %rd1, [p0];
        mov.u32 %r3, %tid.x;
        setp.ne.u32 %p3, %r3, 0;
        WAIT: @%p3 bra LOADED;
        ld.acquire.gpu.global.u32 %r2, [%rd1];
        st.shared.u32 [seen], %r2;
        LOADED: bar.sync 0;
        ld.shared.u32 %r2, [seen];
        bar.sync 0;
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra WAIT;
        ret;""",
        [np.zeros(1, np.uint32)],
        "u64",
        grid=2,
        block=96,
        seed=seed,
    )
    assert "never ends: thread" in text
    assert "(and 191 more) waits in a loop for memory that no thread is left to change" in text
    assert "4 bytes at shared address 0x0" in text
    assert "(p0 + 0)" in text


@seeds
def test_a_loop_around_a_barrier(run: Any, seed: int) -> None:
    text = finding(run, "AGAIN: bar.sync 0;\nbra AGAIN;", [], "", block=64, grid=2, seed=seed)
    assert "never ends: thread" in text


@seeds
def test_votes_at_a_barrier(run: Any, seed: int) -> None:
    body = "setp.eq.u32 %p1, 1, 2;\nAGAIN: bar.red.or.pred %p2, 0, %p1;\n@!%p2 bra AGAIN;\nret;"
    assert "never ends: thread" in finding(run, body, [], "", block=64, seed=seed)


@seeds
def test_a_phase_that_never_completes(run: Any, seed: int) -> None:
    text = finding(
        run,
        """
        .shared .align 8 .b8 bar[8];
        mov.u32 %r1, %tid.x;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra READY;
        mbarrier.init.shared.b64 [bar], 3;
        READY: bar.sync 0;
        @%p1 bra WAIT;
        mbarrier.arrive.shared.b64 %rd1, [bar];
        WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
        @!%p2 bra WAIT;
        ret;""",
        [],
        "",
        block=64,
        seed=seed,
    )
    assert "waits for phase 0 of the mbarrier at shared address 0x0 of block (0, 0, 0)" in text
    assert "at 1 of 3 arrivals" in text


RING = """
    .shared .align 8 .b8 bar[8];
    ld.param.u32 %r4, [p0];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [bar], 8;
    READY: bar.sync 0;
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
    AGAIN: mbarrier.arrive.shared.b64 _, [bar];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r2;
    @!%p2 bra WAIT;
    xor.b32 %r2, %r2, 1;
    add.u32 %r3, %r3, %r4;
    setp.lt.u32 %p3, %r3, 600;
    @%p3 bra AGAIN;
    ret;
"""


@few_repeats
@seeds
def test_phases_that_complete_for_ever(run: Any, seed: int, repeats: int) -> None:
    """The step of the loop is 0; with another it ends, after many more phases than repeats."""
    run(RING, [6 if repeats == 8 else 1], "u32", block=8, seed=seed)
    assert "never ends: thread" in finding(run, RING, [0], "u32", block=8, seed=seed)


def test_many_warps_in_random_order(run: Any) -> None:
    flags = np.zeros(2, np.uint32)
    text = finding(run, POLL.format(".volatile"), [flags], "u64", grid=16, block=256, seed=7)
    assert "(and 4095 more) waits in a loop" in text


EACH_OTHER = """
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    xor.b32 %r2, %r1, {};
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd1, %rd4;
    WAIT: ld.acquire.gpu.global.u32 %r3, [%rd5];
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra WAIT;
    st.release.gpu.global.u32 [%rd3], 1;
    ret;
"""


@seeds
def test_ctas_that_wait_for_each_other(run: Any, seed: int) -> None:
    flags = np.zeros(2, np.uint32)
    text = finding(run, EACH_OTHER.format(1), [flags], "u64", grid=2, seed=seed)
    assert "waits in a loop for memory that no thread is left to change" in text


def test_waves_that_wait_for_each_other(run: Any) -> None:
    """More threads than are emulated together: the CTAs of one pair are far apart."""
    flags = np.zeros(512, np.uint32)
    text = finding(run, EACH_OTHER.format(256), [flags], "u64", grid=512, block=64)
    assert "waits in a loop for memory that no thread is left to change" in text


def test_loops_of_different_length(run: Any) -> None:
    """Two warps poll, and one counts in between."""
    body = """
        ld.param.u64 %rd1, [p0];
        mov.u32 %r9, %tid.x;
        setp.ge.u32 %p3, %r9, 32;
        WAIT: ld.volatile.global.u32 %r1, [%rd1];
        setp.ne.u32 %p1, %r1, 0;
        @%p1 ret;
        @%p3 bra WAIT;
        mov.u32 %r2, 0;
        PAUSE: add.u32 %r2, %r2, 1;
        setp.lt.u32 %p2, %r2, 77;
        @%p2 bra PAUSE;
        bra WAIT;
    """
    text = finding(run, body, [np.zeros(1, np.uint32)], "u64", block=64)
    assert "thread (32, 0, 0) of block (0, 0, 0) (and 31 more) is in a loop" in text


@few_repeats
@seeds
def test_memory_that_alternates_between_states(run: Any, seed: int, repeats: int) -> None:
    """A flag that is read under a lock: memory changes, but returns to earlier states."""
    text = finding(
        run,
        """
        ld.param.u64 %rd1, [p0];
        TAKE: atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra TAKE;
        ld.volatile.global.u32 %r2, [%rd1+4];
        atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra TAKE;
        ret;""",
        [np.zeros(2, np.uint32)],
        "u64",
        grid=2,
        block=1,
        seed=seed,
    )
    assert "never ends: thread" in text


def test_recursion_without_end(run: Any) -> None:
    function = ".func f() { call f, (); ret; }"
    text = finding(run, "call f, ();\nret;", [], "", declarations=function)
    assert "call: expected at most 1024 nested calls" in text


# Kernels that terminate


@seeds
@pytest.mark.parametrize("looks", ["", "ld.volatile.global.u32 %r9, [%rd1];"])
def test_a_long_countdown(run: Any, looks: str, seed: int) -> None:
    """With and without a load of memory that no thread changes."""
    out = np.zeros(1, np.uint32)
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, 15000;
        NEXT: {looks}
        sub.u32 %r1, %r1, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra NEXT;
        st.global.u32 [%rd1], 7;
        ret;""",
        [out],
        "u64",
        seed=seed,
    )
    assert out[0] == 7


@seeds
def test_a_countdown_in_memory(run: Any, seed: int) -> None:
    """All registers return to earlier values, memory does not: it toggles and counts."""
    out = np.array([0, 2500], np.uint32)
    run(
        """
        ld.param.u64 %rd1, [p0];
        NEXT: atom.global.xor.b32 %r1, [%rd1], 1;
        atom.global.xor.b32 %r1, [%rd1], 1;
        atom.global.add.u32 %r1, [%rd1+4], -1;
        setp.ne.u32 %p1, %r1, 1;
        mov.u32 %r1, 0;
        @%p1 bra NEXT;
        ret;""",
        [out],
        "u64",
        block=1,
        seed=seed,
    )
    assert out.tolist() == [0, 0]


@seeds
def test_a_clock_goes_on(run: Any, seed: int) -> None:
    run(
        """
        mov.u64 %rd1, %clock64;
        add.u64 %rd1, %rd1, 1000000;
        WAIT: nanosleep.u32 20;
        mov.u64 %rd2, %clock64;
        setp.lt.u64 %p1, %rd2, %rd1;
        mov.u64 %rd2, 0;
        @%p1 bra WAIT;
        ret;""",
        [],
        "",
        seed=seed,
    )


@pytest.mark.parametrize(("grid", "order"), [(3, ""), (3, ".volatile"), (600, ".acquire.gpu")])
def test_a_flag_that_the_last_cta_sets(run: Any, grid: int, order: str) -> None:
    """Also if there are more CTAs than are emulated together."""
    flag, out = np.zeros(1, np.uint32), np.zeros(grid, np.uint32)
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %ctaid.x;
        mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd2, %rd2, %rd3;
        setp.ne.u32 %p1, %r1, {grid - 1};
        @%p1 bra WAIT;
        st.release.gpu.global.u32 [%rd1], 77;
        WAIT: ld{order}.global.u32 %r2, [%rd1];
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra WAIT;
        st.global.u32 [%rd2], %r2;
        ret;""",
        [flag, out],
        "u64 u64",
        grid=grid,
        block=32,
    )
    np.testing.assert_array_equal(out, 77)


def test_ctas_that_are_not_resident_do_not_help(run: Any) -> None:
    """With `resident` given, CTAs beyond it do not run, and the wait is reported."""
    flags = np.array([0, 0, 1], np.uint32)
    text = finding(run, EACH_OTHER.format(1), [flags], "u64", grid=3, resident=1)
    assert "2 more blocks of the grid begin only when resident ones have ended" in text


def test_a_slow_warp_sets_the_flag(run: Any) -> None:
    """Polling threads repeat earlier states many times before the flag is set."""
    flag = np.zeros(1, np.uint32)
    run(
        """
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %tid.x;
        setp.ge.u32 %p1, %r1, 32;
        @%p1 bra WAIT;
        mov.u32 %r2, 30000;
        WORK: sub.u32 %r2, %r2, 1;
        setp.ne.u32 %p2, %r2, 0;
        @%p2 bra WORK;
        st.release.gpu.global.u32 [%rd1], 1;
        ret;
        WAIT: ld.acquire.gpu.global.u32 %r3, [%rd1];
        setp.eq.u32 %p3, %r3, 0;
        @%p3 bra WAIT;
        ret;""",
        [flag],
        "u64",
        block=96,
    )
    assert flag[0] == 1


@seeds
@pytest.mark.parametrize("inside", [3, 16, 100])
def test_a_flag_under_a_lock(run: Any, inside: int, seed: int) -> None:
    """Two CTAs take the lock again and again, for long; the third gets it in the end."""
    words = np.zeros(2, np.uint32)
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        mov.u32 %r9, %ctaid.x;
        setp.eq.u32 %p4, %r9, 2;
        TAKE: atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra TAKE;
        mov.u32 %r4, 0;
        @%p4 bra SET;
        HOLD: ld.volatile.global.u32 %r2, [%rd1+4];
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p2, %r4, {inside};
        @%p2 bra HOLD;
        atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
        setp.eq.u32 %p3, %r2, 0;
        @%p3 bra TAKE;
        ret;
        SET: st.volatile.global.u32 [%rd1+4], 1;
        atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
        ret;""",
        [words],
        "u64",
        grid=3,
        block=1,
        seed=seed,
    )
    assert words.tolist() == [0, 1]


@seeds
def test_a_wait_that_is_given_up(run: Any, seed: int) -> None:
    """A wait for an mbarrier that fails a thousand times, as it may, and then is not repeated."""
    out = np.zeros(1, np.uint32)
    run(
        """
        .shared .align 8 .b8 bar[8];
        ld.param.u64 %rd2, [p0];
        mbarrier.init.shared.b64 [bar], 2;
        mov.u32 %r1, 1000;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
        sub.u32 %r1, %r1, 1;
        setp.ne.and.u32 %p1, %r1, 0, !%p2;
        @%p1 bra WAIT;
        st.global.u32 [%rd2], 1;
        ret;""",
        [out],
        "u64",
        block=1,
        seed=seed,
    )
    assert out[0] == 1


@pytest.mark.parametrize(("entry", "count"), [("alone", 1), ("each_other", 2)])
def test_compiled_tile_ir(entry: str, count: int) -> None:
    """The reference executor reports the same about the program."""
    program = Path(__file__).parents[2] / "run" / "errors" / "endless.mlir"
    flags = np.zeros(count, np.int32)
    with pytest.raises(
        UserError, match=r"never ends: thread .* no thread is left to change"
    ) as caught:
        tilewright.execute(program.read_text(), entry, count, [flags], "emulator")
    assert f"(argument 0 + {4 * (count - 1)})" in caught.value.render()


def test_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "poll.ptx"
    registers = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;"
    file.write_text(
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        f".visible .entry k(.param .u64 p0) {{\n{registers}{POLL.format('.volatile')}}}\n"
    )
    command = [sys.executable, "-m", "tilewright", "ptx", "run", str(file), "--block", "32"]
    done = subprocess.run(
        [*command, "--no-check", "--arg", "zeros:2xi32"],
        capture_output=True, text=True, timeout=_LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "poll.ptx:7:11: error: never ends: thread (0, 0, 0)" in done.stderr
    assert "Traceback" not in done.stderr
