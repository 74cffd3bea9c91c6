from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each_case import each_case
from matrix_probes import vector
from ptx_probes import Array, Probe, emulate

from tilewright.support.diagnostics import Unsupported, UserError

# Rows of 16 bytes, eight of them a core matrix; A at 0, B at 4096, every element is 1.
HIGH = (128 >> 4) << 16 | (256 >> 4) << 32
A, B = "%da", "%db"
SETUP = f"""
cvt.u64.u32 %da, %smem; shr.u64 %da, %da, 4; add.s64 %da, %da, {HIGH}; add.s64 %db, %da, 256;
mov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0; mov.b32 %o3, 0;
mov.b32 %e0, 0; mov.b32 %e1, 0; mov.b32 %e2, 0; mov.b32 %e3, 0;
mov.b32 %a0, 0x3c003c00; mov.b32 %a1, %a0; mov.b32 %a2, %a0; mov.b32 %a3, %a0;
"""
DECLARATIONS = ".reg .b64 %da, %db; .reg .b32 %e<4>, %a<4>, %x; .reg .pred %q;"
FENCE = "wgmma.fence.sync.aligned;"
COMMIT = "wgmma.commit_group.sync.aligned;"
WAIT = "wgmma.wait_group.sync.aligned 0;"
MULTIPLY = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%o0, %o1, %o2, %o3}, %da, %db,"
    " 1, 1, 1, 0, 0;"
)
OTHER = MULTIPLY.replace("%o", "%e")
FROM_REGISTERS = MULTIPLY.replace("%da", vector("a", 0, 4)).replace("0, 0;", "0;")


def results(body: str, threads: int = 128, image: Array | None = None, **options: object) -> Array:
    """Run a body and return the first element of D of every thread."""
    ones = np.full(4096, 1, np.float16) if image is None else image
    probe = Probe(
        "test", SETUP + body, [], ["b32"] * 4, threads=threads, image=ones,
        declarations=DECLARATIONS,
    )  # fmt: skip
    return emulate(probe, **options)[0].view(np.float32)


def report(body: str, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        results(body, **options)
    return caught.value.render()


@each_case("seed", range(6))
@each_case(
    ("body", "expected"),
    [
        (f"{FENCE} {MULTIPLY} {COMMIT} {WAIT}", 16),
        (f"{FENCE} {MULTIPLY} {MULTIPLY} {COMMIT} {MULTIPLY} {COMMIT} {WAIT}", 48),
        (f"{FENCE} {FROM_REGISTERS} {COMMIT} {WAIT} mov.b32 %a0, 0;", 16),
        # The group of %e is still under way while %o is used.
        (f"{FENCE} {MULTIPLY} {COMMIT} {OTHER} {COMMIT} wgmma.wait_group.sync.aligned 1;"
         f" add.f32 %o0, %o0, %o0; {WAIT} add.f32 %o0, %o0, %e0;", 48),
        # Touched, fenced and used again.
        (f"{FENCE} {MULTIPLY} {COMMIT} {WAIT} mul.f32 %o0, %o0, 0f40000000;"
         f" {FENCE} {MULTIPLY} {COMMIT} {WAIT}", 48),
    ],
)  # fmt: skip
def test_correct_programs_pass_the_checks(body: str, expected: float, seed: int) -> None:
    assert results(body, seed=seed).tolist() == [expected] * 128


@each_case(
    ("body", "text"),
    [
        (f"{FENCE} {MULTIPLY} {COMMIT} add.f32 %x, %o2, %o2; {WAIT}", "'%o2' is read before"),
        (f"{FENCE} {MULTIPLY} {COMMIT} mov.b32 %o1, 0; {WAIT}", "'%o1' is written before"),
        (f"{FENCE} {MULTIPLY} add.f32 %x, %o0, %o0; {COMMIT} {WAIT}", "'%o0' is read before"),
        (f"{FENCE} {FROM_REGISTERS} {COMMIT} mov.b32 %a3, 0; {WAIT}", "'%a3' is written before"),
        (
            f"{FENCE} {OTHER} {COMMIT} {MULTIPLY} {COMMIT} wgmma.wait_group.sync.aligned 1;"
            " mov.b32 %x, %o0;",
            "'%o0' is read before",
        ),
        (f"{MULTIPLY} {COMMIT} {WAIT}", "no wgmma.fence precedes"),
        (
            f"{FENCE} {MULTIPLY} {COMMIT} {WAIT} mov.b32 %o0, 0; {MULTIPLY} {COMMIT} {WAIT}",
            "no wgmma.fence follows other accesses to",
        ),
    ],
)
@each_case("seed", [0, 1, 2])
def test_registers_in_flight_are_not_accessed(body: str, text: str, seed: int) -> None:
    actual = report(body, seed=seed)
    assert text in actual
    assert "thread (0, 0, 0) of block (0, 0, 0)" in actual or seed


STORE = "mov.u32 %x, %tid.x; mad.lo.u32 %x, %x, 16, %smem; st.shared.b32 [%x], 0;"


@each_case(
    ("order", "wrong"),
    [
        ("bar.sync 0;", True),
        ("fence.acq_rel.cta; bar.sync 0;", True),
        ("fence.proxy.async.global; bar.sync 0;", True),
        ("fence.proxy.async.shared::cta; bar.sync 0;", False),
        ("fence.proxy.async; bar.sync 0;", False),
        # The warpgroup of the wgmma may fence for threads that it has synchronised with.
        ("bar.sync 0; fence.proxy.async;", False),
    ],
)
def test_ordinary_stores_need_a_proxy_fence(order: str, wrong: bool) -> None:
    body = f"{STORE} {order} {FENCE} {MULTIPLY} {COMMIT} {WAIT}"
    if not wrong:
        assert results(body).max() < 16
        return
    text = report(body)
    assert "reads shared memory that was written by ordinary stores" in text
    assert "written by thread (0, 0, 0) of block (0, 0, 0)" in text
    assert results(body, check=False).max() < 16


def test_a_fence_of_another_thread_is_no_help_without_a_barrier() -> None:
    body = f"{STORE} setp.ne.u32 %q, %x, 16; @%q fence.proxy.async;"
    assert "address 0x10" in report(f"{body} {FENCE} {MULTIPLY} {COMMIT} {WAIT}", check=["proxies"])


def test_reads_outside_of_shared_memory() -> None:
    body = f"add.s64 %db, %db, 248; {FENCE} {MULTIPLY} {COMMIT} {WAIT}"
    assert "reads 16 bytes outside of shared memory at address 0x2000" in report(body)


def test_reads_of_uninitialized_shared_memory() -> None:
    declarations = f"{DECLARATIONS} .shared .align 128 .b8 empty[4096];"
    body = SETUP.replace("%smem", "%x") + f"{FENCE} {MULTIPLY} {COMMIT} {WAIT}"
    probe = Probe(
        "test", f"mov.u32 %x, empty; {body}", [], ["b32"] * 4, threads=128,
        image=np.ones(4096, np.float16), declarations=declarations,
    )  # fmt: skip
    with pytest.raises(UserError, match="reads 16 bytes that were never written"):
        emulate(probe)


def test_a_warpgroup_has_four_warps() -> None:
    text = report(f"{FENCE} {MULTIPLY} {COMMIT} {WAIT}", threads=96)
    assert "waits for the other warps of its warpgroup" in text


def test_warps_of_a_warpgroup_wait_for_each_other() -> None:
    body = f"mov.u32 %x, %tid.x; setp.lt.u32 %q, %x, 64; @%q bra go; nanosleep.u32 9; go: {FENCE}"
    actual = results(f"{body} {MULTIPLY} {COMMIT} {WAIT}", seed=5)
    assert actual.tolist() == [16] * 128


def test_wgmma_may_read_memory_as_late_as_the_wait() -> None:
    clobber = "bar.sync 0; st.shared.b32 [%x], 0; bar.sync 0;"
    address = "mov.u32 %x, %tid.x; mad.lo.u32 %x, %x, 16, %smem;"
    body = f"{address} {FENCE} {MULTIPLY} {COMMIT} {clobber} {WAIT}"
    accumulators = {float(results(body, seed=seed, check=False)[0]) for seed in range(8)}
    # Of the eight numbers of a chunk of A two are overwritten, if they were not read before.
    assert accumulators == {16.0, 12.0}


@each_case(
    ("opcode", "text"),
    [
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "sparse A"),
        ("wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16", "m64n8k8 of .f16"),
        ("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16", "m64n12k16 of .f16"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16", "from .f16 and .bf16"),
    ],
)
def test_unsupported_forms_are_named(opcode: str, text: str) -> None:
    with pytest.raises(Unsupported, match=f"{opcode}.*{text}"):
        results(f"{opcode} {MULTIPLY.partition(' ')[2]}")


def test_operands_are_counted() -> None:
    with pytest.raises(UserError, match="expected 8 operands, got 7"):
        results(MULTIPLY.replace(", 0, 0;", ", 0;"))
    with pytest.raises(UserError, match="expected 4 registers as operand 1, got 3"):
        results(MULTIPLY.replace(", %o3", ""))
    with pytest.raises(UserError, match="expected scales of 1 or -1"):
        results(MULTIPLY.replace("1, 1, 1, 0", "1, 2, 1, 0"))
