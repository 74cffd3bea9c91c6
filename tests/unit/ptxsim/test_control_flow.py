from __future__ import annotations

import re

import numpy as np
import pytest
from each_case import each_case

from tilewright.ptxsim import Module
from tilewright.ptxsim.order import loop_order
from tilewright.support.diagnostics import Unsupported, UserError

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
# Thread i stores %r9 in word i.
STORE = """
    ld.param.u64 %rd1, [p0];
    mov.u32 %r50, %ctaid.x;
    mov.u32 %r51, %ntid.x;
    mad.lo.u32 %r52, %r50, %r51, %r1;
    mul.wide.u32 %rd2, %r52, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r9;
    ret;
"""


def test_the_two_arms_of_a_branch_reconverge(run) -> None:
    out = np.zeros(64, np.uint32)
    counters = run(
        """
        mov.u32 %r1, %tid.x;
        and.b32 %r2, %r1, 1;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 bra EVEN;
        mov.u32 %r9, 100;
        bra.uni JOIN;
        EVEN: mov.u32 %r9, 200;
        JOIN: add.u32 %r9, %r9, %r1;"""
        + STORE,
        [out],
        "u64",
        block=64,
    )
    i = np.arange(64)
    np.testing.assert_array_equal(out, np.where(i % 2, 100, 200) + i)
    # Each arm is executed as one vector, and so is the code after the join.
    stores = counters.by_opcode["st.global.u32"]
    assert stores == 64
    assert counters.vector_instructions == 4 + 2 + 1 + 1 + 7 + 1


def test_loops_of_different_length_end_together(run) -> None:
    out = np.zeros(96, np.uint32)
    counters = run(
        """
        mov.u32 %r1, %tid.x;
        mov.u32 %r9, 0;
        mov.u32 %r2, %r1;
        LOOP:
        setp.eq.u32 %p1, %r2, 0;
        @%p1 bra DONE;
        add.u32 %r9, %r9, %r2;
        sub.u32 %r2, %r2, 1;
        bra LOOP;
        DONE:"""
        + STORE,
        [out],
        "u64",
        block=96,
    )
    i = np.arange(96)
    np.testing.assert_array_equal(out, i * (i + 1) // 2)
    assert counters.vector_instructions == 3 + 96 * 2 + 95 * 3 + 8


def test_nested_loops_with_an_exit_block_before_them(run) -> None:
    """The exit block precedes the loop in the text; threads still reconverge there."""
    out = np.zeros(32, np.uint32)
    counters = run(
        """
        mov.u32 %r1, %tid.x;
        mov.u32 %r9, 0;
        mov.u32 %r3, 0;
        bra OUTER;
        EXIT:"""
        + STORE
        + """
        OUTER:
        setp.gt.u32 %p1, %r3, %r1;
        @%p1 bra EXIT;
        mov.u32 %r4, 0;
        INNER:
        add.u32 %r9, %r9, 1;
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p2, %r4, %r3;
        @%p2 bra INNER;
        add.u32 %r3, %r3, 1;
        bra OUTER;""",
        [out],
        "u64",
    )
    expected = [sum(max(1, outer) for outer in range(i + 1)) for i in range(32)]
    np.testing.assert_array_equal(out, expected)
    assert counters.by_opcode["st.global.u32"] == 32
    assert counters.vector_instructions < 4 + 33 * 2 + 32 * 3 + 500 * 4 + 8


def test_predicated_instructions(run) -> None:
    out = np.zeros(32, np.uint32)
    run(
        """
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 10;
        setp.ge.u32 %p2|%p3, %r1, 5;
        mov.u32 %r9, 0;
        @%p1 add.u32 %r9, %r9, 1;
        @!%p1 add.u32 %r9, %r9, 2;
        @%p2 add.u32 %r9, %r9, 4;
        @%p3 add.u32 %r9, %r9, 8;"""
        + STORE,
        [out],
        "u64",
    )
    i = np.arange(32)
    np.testing.assert_array_equal(out, np.where(i < 10, 1, 2) + np.where(i >= 5, 4, 8))


def test_a_table_of_targets(run) -> None:
    out = np.zeros(32, np.uint32)
    run(
        """
        mov.u32 %r1, %tid.x;
        rem.u32 %r2, %r1, 3;
        ts: .branchtargets A, B, C;
        brx.idx %r2, ts;
        A: mov.u32 %r9, 10; bra.uni END;
        B: mov.u32 %r9, 20; bra.uni END;
        C: mov.u32 %r9, 30;
        END:"""
        + STORE,
        [out],
        "u64",
    )
    np.testing.assert_array_equal(out, np.arange(32) % 3 * 10 + 10)


FUNCTIONS = """
.func (.param .b32 result) gcd(.param .b32 a, .param .b32 b)
{
    .reg .b32 %r<9>; .reg .pred %p<2>;
    ld.param.b32 %r1, [a];
    ld.param.b32 %r2, [b];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra DONE;
    rem.u32 %r3, %r1, %r2;
    {
        .param .b32 p0; .param .b32 p1; .param .b32 q;
        st.param.b32 [p0], %r2;
        st.param.b32 [p1], %r3;
        call.uni (q), gcd, (p0, p1);
        ld.param.b32 %r1, [q];
    }
    DONE: st.param.b32 [result], %r1;
    ret;
}
.func (.reg .b32 result) twice(.reg .b32 x) { add.u32 result, x, x; ret; }
.func (.reg .b32 result) thrice(.reg .b32 x) { mul.lo.u32 result, x, 3; ret; }
"""


def test_recursive_calls(run) -> None:
    out = np.zeros(64, np.uint32)
    run(
        """
        mov.u32 %r1, %tid.x;
        {
            .param .b32 a; .param .b32 b; .param .b32 q;
            st.param.b32 [a], 60;
            st.param.b32 [b], %r1;
            call (q), gcd, (a, b);
            ld.param.b32 %r9, [q];
        }"""
        + STORE,
        [out],
        "u64",
        block=64,
        declarations=FUNCTIONS,
    )
    np.testing.assert_array_equal(out, np.gcd(60, np.arange(64)))


def test_calls_by_address(run) -> None:
    out = np.zeros(32, np.uint32)
    run(
        """
        mov.u32 %r1, %tid.x;
        mov.u64 %rd4, twice;
        mov.u64 %rd5, thrice;
        setp.lt.u32 %p1, %r1, 7;
        selp.b64 %rd6, %rd4, %rd5, %p1;
        proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);
        call (%r9), %rd6, (%r1), proto;"""
        + STORE,
        [out],
        "u64",
        declarations=FUNCTIONS,
    )
    i = np.arange(32)
    np.testing.assert_array_equal(out, np.where(i < 7, 2 * i, 3 * i))


@each_case(
    ("first", "barrier", "options"),
    [
        (40, "barrier.sync 0", {}),
        (32, "bar.sync 0", {}),
        (40, "bar.sync 0", {"check": {"races"}}),
    ],
)
def test_threads_that_exit_early_are_not_waited_for(run, first, barrier, options) -> None:
    out = np.zeros(64, np.uint32)
    run(
        f"""
        mov.u32 %r1, %tid.x;
        setp.ge.u32 %p1, %r1, {first};
        @%p1 exit;
        {barrier};
        mov.u32 %r9, 5;"""
        + STORE,
        [out],
        "u64",
        block=64,
        **options,
    )
    np.testing.assert_array_equal(out, np.where(np.arange(64) < first, 5, 0))


def test_trap_names_the_thread(run) -> None:
    with pytest.raises(UserError) as caught:
        run(
            "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 7;\n@%p1 trap;\nret;",
            [],
            "",
        )
    assert "k.ptx" in str(caught.value)
    assert "trap: the kernel aborts itself" in str(caught.value)
    assert "thread (7, 0, 0) of block (0, 0, 0)" in caught.value.render()


def test_unknown_instructions_are_named(run) -> None:
    with pytest.raises(Unsupported) as caught:
        run("frobnicate.b32 %r1, %r2;\nret;", [], "")
    assert caught.value.feature == "instruction frobnicate.b32"


def test_unknown_modifiers_are_named(run) -> None:
    with pytest.raises(Unsupported, match=r"instruction add\.wrong\.u32 \(\.wrong\)"):
        run("add.wrong.u32 %r1, %r2, %r3;\nret;", [], "")


@each_case(
    ("instruction", "text"),
    [
        ("add.u32 %r1, %r2, %r3, %r4", "expected 3 operands, got 4"),
        ("ld.global.u32 %r1, [%rd1], 4", "expected 2 operands, got 3"),
        ("xor.f16 %rs1, %rs2, %rs3", "expected a type of bits or integers, got .f16"),
        ("brev.f64 %rd1, %rd2", "expected a type of bits or integers, got .f64"),
        ("bfi.pred %p1, %p2, %p3, 1, 1", "expected a type of bits or integers, got .pred"),
        ("mul.wide.pred %rd1, %r1, 4", "expected a type of bits or integers, got .pred"),
        ("dp2a.s32.s32 %r1, %r2, %r3, %r4", "expected .lo or .hi for dp2a"),
        ("add.f16 %rs1, %rs2, 100000.0", "expected a literal of type .f16"),
    ],
)
def test_malformed_instructions(run, instruction: str, text: str) -> None:
    with pytest.raises(UserError, match=re.escape(text)):
        run(f"{instruction}; ret;", [], "")


@each_case(
    "instruction",
    [
        "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2",
        "cvt.rn.bf16.e5m2x2 %rs1, %rs2",
        "cvt.rn.f32.f32x2 %f1, %rd1",
        "cvt.rp.tf32.f32 %r1, %f1",
        "cvt.satfinite.f64.f64 %fd1, %fd2",
        "cvta.local.u32 %r1, %r2",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r3]",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r2}",
        "vadd.s32.s32.s32 %r1, %r2, %r3",
        "multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, "
        "%r1, 0, %p1, 1, 1, 0, 0",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r2, %r3, %r4}], [%r5], {%rs1}",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r2, %r3, %r4, %r5, %r6}], [%r7]",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16, %rs1",
        "tcgen05.fence::before_thread_sync",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]",
    ],
)
def test_missing_instructions_are_named(run, instruction: str) -> None:
    with pytest.raises(Unsupported, match=re.escape(f"instruction {instruction.split()[0]}")):
        run(f"{instruction}; ret;", [], "")


def test_names_that_are_not_declared(run) -> None:
    with pytest.raises(UserError, match="'nothing' is not declared"):
        run("mov.u32 %r1, nothing;\nret;", [], "")


def test_registers_of_the_wrong_width(run) -> None:
    with pytest.raises(UserError, match="expected a register of 64 bits, got '%r1' with 32"):
        run("add.u64 %rd1, %r1, 1;\nret;", [], "")


def test_an_entry_launches_with_its_reqntid() -> None:
    text = HEADER + (
        ".entry k(.param .u64 p) .reqntid 64, 2, 1 { .reg .b64 %rd<2>; .reg .b32 %r<2>;"
        " ld.param.u64 %rd1, [p]; red.global.add.u32 [%rd1], 1; ret; }"
    )
    module = Module(text)
    count = np.zeros(1, np.uint32)
    module.launch("k", 3, 1, [count])
    assert count[0] == 3 * 128
    with pytest.raises(UserError, match=r"expected a block of \(64, 2, 1\) threads"):
        module.launch("k", 1, 32, [count])


def test_order_of_a_loop_whose_exit_is_numbered_first() -> None:
    # 0 -> 2, the loop is 2 <-> 3, and 1 is its exit.
    position = loop_order([[2], [], [3, 1], [2]])
    assert sorted(position) == [0, 1, 2, 3]
    assert position[0] < position[2] < position[3] < position[1]


def test_order_of_a_branch_inside_of_a_loop() -> None:
    # 0 -> 1; 1 -> 2 | 3; 2 -> 4; 3 -> 4; 4 -> 1 | 5.
    position = loop_order([[1], [2, 3], [4], [4], [1, 5], []])
    assert position[1] < min(position[2], position[3])
    assert max(position[2], position[3]) < position[4] < position[5]
