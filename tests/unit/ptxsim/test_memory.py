from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case

from tilewright.ptxsim import Module
from tilewright.support.diagnostics import UserError

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def test_a_load_past_the_end_of_a_buffer(run) -> None:
    with pytest.raises(UserError) as caught:
        run(
            """
            .loc 1 12 5
            ld.param.u64 %rd1, [p0];
            mov.u32 %r1, %tid.x;
            mad.wide.u32 %rd2, %r1, 4, %rd1;
            .loc 1 14 9
            ld.global.u32 %r2, [%rd2];
            ret;""",
            [np.zeros(20, np.uint32)],
            "u64",
            declarations='.file 1 "kernel.cu"\n',
        )
    text = caught.value.render()
    assert "ld.global.u32: load of 4 bytes outside of every allocation at address 0x7f" in text
    assert "thread (20, 0, 0) of block (0, 0, 0)" in text
    assert "kernel.cu:14:9: note: source line" in text
    assert "80 bytes into p0, which has 80" in text
    assert text.startswith("k.ptx:16:13: error: ")


def test_null_and_wild_pointers(run) -> None:
    for address in (0, 0x1234, 0x7F00_4000_0000, 2**63):
        with pytest.raises(UserError, match="outside of every allocation"):
            run("ld.param.u64 %rd1, [p0];\nld.u32 %r1, [%rd1];\nret;", [address], "u64")
        with pytest.raises(UserError, match="outside of every allocation"):
            run("ld.param.u64 %rd1, [p0];\nst.global.u8 [%rd1], 1;\nret;", [address], "u64")


def test_misaligned_accesses(run) -> None:
    body = "ld.param.u64 %rd1, [p0];\nld.global.v2.u32 {%r1, %r2}, [%rd1+4];\nret;"
    with pytest.raises(UserError, match="misaligned load of 8 bytes at address"):
        run(body, [np.zeros(4, np.uint32)], "u64")


def test_reads_of_uninitialized_memory(run) -> None:
    body = ".shared .align 4 .b8 s[8];\nst.shared.u16 [s], 1;\nld.shared.u32 %r1, [s];\nret;"
    with pytest.raises(UserError, match="load of 4 bytes that were never written"):
        run(body, [], "")
    run(body, [], "", check=False)
    run(body, [], "", check={"races"})


@each_case("size", [0, 4, 100])
def test_shared_memory_has_an_end(run, size: int) -> None:
    body = f"st.shared.u32 [{size}], 1;\nret;"
    if size < 100:
        run(body, [], "", shared=100)
        return
    with pytest.raises(UserError) as caught:
        run(body, [], "", shared=100)
    assert "store of 4 bytes outside of shared memory at address 0x64" in str(caught.value)
    assert "a CTA of this launch has 100 bytes" in caught.value.render()


def test_one_cta_does_not_reach_the_next_one(run) -> None:
    body = "st.shared.u32 [1024], 1;\nret;"
    with pytest.raises(UserError, match="outside of shared memory"):
        run(body, [], "", shared=1024, grid=2)


@each_case(
    ("type", "dtype"),
    [("u8", np.uint8), ("s8", np.int8), ("u16", np.uint16), ("s16", np.int16), ("s32", np.int32)],
)
def test_loads_extend(run, type: str, dtype: type[np.generic]) -> None:
    bits = 8 * np.dtype(dtype).itemsize
    data = np.array([0, 1, 1 << (bits - 1), (1 << bits) - 1], f"u{bits // 8}")
    out = np.zeros(4, np.int64)
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %tid.x;
        mad.wide.u32 %rd3, %r1, {bits // 8}, %rd1;
        mad.wide.u32 %rd4, %r1, 8, %rd2;
        ld.global.{type} %rd5, [%rd3];
        st.global.u64 [%rd4], %rd5;
        ret;""",
        [data, out],
        "u64 u64",
        block=4,
    )
    np.testing.assert_array_equal(out, data.view(dtype).astype(np.int64))


def test_vectors_of_every_width(run) -> None:
    data = np.arange(32 * 16, dtype=np.uint8)
    out = np.zeros(32 * 16, np.uint8)
    run(
        """
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 16;
        add.s64 %rd4, %rd1, %rd3;
        add.s64 %rd5, %rd2, %rd3;
        ld.global.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd4];
        ld.global.v2.b16 {%rs5, %rs6}, [%rd4+4];
        ld.global.v2.b32 {%r2, _}, [%rd4+8];
        ld.global.b128 %rq1, [%rd4];
        mov.b128 {%rd6, %rd7}, %rq1;
        st.global.v4.u8 [%rd5], {%rs1, %rs2, %rs3, %rs4};
        st.global.v2.b16 [%rd5+4], {%rs5, %rs6};
        st.global.b64 [%rd5+8], %rd7;
        st.global.b32 [%rd5+8], %r2;
        ret;""",
        [data, out],
        "u64 u64",
    )
    np.testing.assert_array_equal(out, data)


def test_generic_addresses_of_several_spaces_at_once(run) -> None:
    """Threads 0 to 9 use global memory, the next ones shared, the others local memory."""
    data, out = np.arange(100, 132, dtype=np.uint32), np.zeros(32, np.uint32)
    run(
        """
        .shared .align 4 .b8 s[128];
        .local .align 4 .b8 l[128];
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4;
        mov.u64 %rd4, s;
        cvta.shared.u64 %rd5, %rd4;
        mov.u64 %rd6, l;
        cvta.local.u64 %rd7, %rd6;
        setp.lt.u32 %p1, %r1, 10;
        setp.lt.u32 %p2, %r1, 20;
        selp.b64 %rd8, %rd5, %rd7, %p2;
        selp.b64 %rd9, %rd1, %rd8, %p1;
        add.s64 %rd10, %rd9, %rd3;
        add.u32 %r2, %r1, 7;
        st.u32 [%rd10], %r2;
        isspacep.shared %p3, %rd10;
        ld.u32 %r3, [%rd10];
        @%p3 add.u32 %r3, %r3, 1000;
        atom.add.u32 %r4, [%rd10], 1;
        add.s64 %rd11, %rd2, %rd3;
        st.global.u32 [%rd11], %r3;
        ret;""",
        [data, out],
        "u64 u64",
    )
    i = np.arange(32)
    np.testing.assert_array_equal(out, i + 7 + np.where((i >= 10) & (i < 20), 1000, 0))
    np.testing.assert_array_equal(data, np.where(i < 10, i + 8, i + 100))


def test_variables_live_as_long_as_the_module() -> None:
    module = Module(
        HEADER
        + """
        .global .u32 count = 5;
        .const .u32 step[2] = {3, 4};
        .global .u64 where = count;
        .entry k() {
            .reg .b32 %r<4>; .reg .b64 %rd<4>;
            ld.const.u32 %r1, [step+4];
            ld.global.u64 %rd1, [where];
            ld.global.u32 %r2, [%rd1];
            add.u32 %r2, %r2, %r1;
            st.global.u32 [count], %r2;
            ret;
        }"""
    )
    module.launch("k", 1, 1)
    module.launch("k", 1, 1)
    assert module.memory.download(module.variable("count"), 4).view(np.uint32)[0] == 5 + 2 * 4


def test_arguments_are_laid_out_as_the_parameters_say() -> None:
    module = Module(
        HEADER
        + """.entry k(.param .u8 a, .param .f64 b, .param .align 16 .b8 c[24], .param .u64 d) {
            .reg .b32 %r<9>; .reg .f64 %fd<3>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [d];
            ld.param.u8 %r1, [a];
            ld.param.f64 %fd1, [b];
            ld.param.u32 %r2, [c+20];
            mov.b64 %rd2, c;
            cvta.param.u64 %rd3, %rd2;
            ld.u32 %r3, [%rd3+4];
            st.global.u32 [%rd1], %r1;
            st.global.u32 [%rd1+4], %r2;
            st.global.f64 [%rd1+8], %fd1;
            st.global.u32 [%rd1+16], %r3;
            ret;
        }"""
    )
    out = module.alloc(24)
    structure = np.arange(6, dtype=np.uint32)
    module.launch("k", 1, 1, [200, 2.5, structure.tobytes(), out])
    assert out.download(np.uint32)[[0, 1, 4]].tolist() == [200, 5, 1]
    assert out.download(np.float64)[1] == 2.5
    with pytest.raises(UserError, match="expected 4 arguments of 'k', got 3"):
        module.launch("k", 1, 1, [1, 2.5, b""])
    with pytest.raises(UserError, match="expected 24 bytes for 'c', got 3"):
        module.launch("k", 1, 1, [1, 2.5, b"abc", out])


def test_parameters_have_short_pointers() -> None:
    module = Module(
        HEADER
        + """.entry k(.param .u64 a, .param .align 16 .b8 b[8]) {
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [a];
            mov.b32 %r1, b;
            ld.param.u32 %r2, [%r1];
            cvt.u64.u32 %rd2, %r1;
            cvta.param.u64 %rd3, %rd2;
            ld.u32 %r3, [%rd3+4];
            st.global.v2.u32 [%rd1], {%r2, %r3};
            ret;
        }"""
    )
    out = module.alloc(8)
    module.launch("k", 1, 1, [out, np.array([5, 7], np.uint32).tobytes()])
    assert out.download(np.uint32).tolist() == [5, 7]


@each_case("lanes", [1, 32, 100])
@each_case("words", [1, 7])
def test_atomics_are_serialized(run, lanes: int, words: int) -> None:
    """Every lane adds to one of a few words: the old values are those of a serial execution."""
    memory = np.zeros(words, np.uint32)
    old_values = np.zeros(lanes, np.uint32)
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %tid.x;
        rem.u32 %r2, %r1, {words};
        mad.wide.u32 %rd3, %r2, 4, %rd1;
        mad.wide.u32 %rd4, %r1, 4, %rd2;
        atom.global.add.u32 %r3, [%rd3], 2;
        st.global.u32 [%rd4], %r3;
        ret;""",
        [memory, old_values],
        "u64 u64",
        block=lanes,
    )
    i = np.arange(lanes)
    np.testing.assert_array_equal(memory, 2 * np.bincount(i % words, minlength=words))
    for word in range(words):
        mine = np.sort(old_values[i % words == word])
        np.testing.assert_array_equal(mine, 2 * np.arange(len(mine)))


@each_case(
    ("operation", "type", "start", "value", "expected"),
    [
        ("min", "s32", 5, -3, -3), ("max", "u32", 5, 9, 9), ("and", "b32", 0b1100, 0b0110, 0b0100),
        ("or", "b32", 0b1100, 0b0110, 0b1110), ("xor", "b32", 7, 2, 5), ("exch", "b32", 1, 8, 8),
        ("inc", "u32", 4, 4, 0), ("inc", "u32", 3, 4, 4), ("dec", "u32", 0, 4, 4),
        ("dec", "u32", 9, 4, 4), ("dec", "u32", 3, 4, 2),
    ],
)  # fmt: skip
def test_atomic_operations(
    run, operation: str, type: str, start: int, value: int, expected: int
) -> None:
    memory = np.array([start], np.int32)
    old_values = np.zeros(1, np.int32)
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        atom.global.{operation}.{type} %r1, [%rd1], {value};
        st.global.u32 [%rd2], %r1;
        ret;""",
        [memory, old_values],
        "u64 u64",
        block=1,
    )
    assert memory[0] == expected
    assert old_values[0] == start


def test_wide_compare_and_swap(run) -> None:
    memory = np.arange(4, dtype=np.uint64)
    run(
        """
        ld.param.u64 %rd1, [p0];
        mov.b128 %rq1, {0, 1};
        mov.b128 %rq2, {70, 80};
        atom.global.cas.b128 %rq3, [%rd1], %rq1, %rq2;
        atom.global.cas.b128 %rq4, [%rd1+16], %rq1, %rq2;
        ret;""",
        [memory],
        "u64",
        block=1,
    )
    assert memory.tolist() == [70, 80, 2, 3]


def test_runs_of_zeros(run) -> None:
    y = np.zeros(32, np.uint32)
    run(
        """
        .shared .align 16 .b8 s[256];
        ld.param.u64 %rd1, [p0];
        mov.u32 %r1, %tid.x;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra JOIN;
        mov.u32 %r2, 64;
        st.bulk.weak.shared::cta [s], %r2, 0;
        cvta.shared.u64 %rd2, s;
        st.bulk [%rd2+64], 64, 0;
JOIN:   bar.sync 0;
        shl.b32 %r2, %r1, 2;
        mov.u32 %r3, s;
        add.u32 %r3, %r3, %r2;
        ld.shared.u32 %r4, [%r3];
        cvt.u64.u32 %rd3, %r2;
        add.u64 %rd1, %rd1, %rd3;
        add.u32 %r4, %r4, %r1;
        st.global.u32 [%rd1], %r4;
        ret;""",
        [y],
        "u64",
        check=True,
    )
    assert y.tolist() == list(range(32))


@each_case(
    ("operands", "text"),
    [
        ("[s], 12, 0", "expected a size of up to 16777216 bytes that 8 divides, got 12"),
        ("[s], 512, 0", "store of 512 bytes outside of shared memory at address 0x0"),
        ("[s+4], 8, 0", "misaligned store at address 0x4"),
    ],
)
def test_runs_of_zeros_stay_within_shared_memory(run, operands: str, text: str) -> None:
    body = f".shared .align 16 .b8 s[256]; st.bulk.shared::cta {operands}; ret;"
    with pytest.raises(UserError, match=text):
        run(body, [], "")
