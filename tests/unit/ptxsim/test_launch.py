"""Launches: what is printed, what is missing, and what is not supported, by name."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from each_case import each_case

import tilewright.ptxsim
from tilewright.ptxsim import CHECKS, OPTIONAL_CHECKS, Module
from tilewright.support.diagnostics import Unsupported, UserError

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
PRINTING = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry k(.param .u64 p0)
{
    .reg .b64 %t; .reg .b64 %p;
    mov.u64 %t, text;
    cvta.global.u64 %t, %t;
    {
        .param .b64 f; .param .b64 a; .param .b32 r;
        st.param.b64 [f], %t;
        st.param.b64 [a], 0;
        call.uni (r), vprintf, (f, a);
    }
    ld.param.u64 %p, [p0];
    st.global.u32 [%p], 1;
    ret;
}
"""
)


def test_the_checks_are_those_that_can_be_named() -> None:
    assert set(tilewright.ptxsim.__all__) >= {"CHECKS", "OPTIONAL_CHECKS"}
    module, out = Module(PRINTING), np.zeros(1, np.uint32)
    module.launch("k", 1, 1, [out], check={*CHECKS, *OPTIONAL_CHECKS})
    assert out[0] == 1
    with pytest.raises(ValueError, match=r"expected checks among .*, got 'spelling'"):
        module.launch("k", 1, 1, [out], check={"spelling"})


def test_printed_text_is_passed_on_and_counted() -> None:
    printed: list[str] = []
    out = np.zeros(1, np.uint32)
    counters = Module(PRINTING).launch("k", 2, 2, [out], write=printed.append)
    assert counters.output == printed == ["hi\n"] * 4


def test_printed_text_of_a_kernel_that_fails_reaches_the_caller() -> None:
    printed: list[str] = []
    with pytest.raises(UserError, match="outside of every allocation"):
        Module(PRINTING).launch("k", 1, 1, [8], write=printed.append)
    assert printed == ["hi\n"]


def dynamic(names: str) -> str:
    declared = "".join(f".extern .shared .align 16 .b8 {name}[];\n" for name in names.split())
    uses = "".join(f"mov.u32 %a, {name}; st.shared.u32 [%a+60], 1;\n" for name in names.split())
    return f"{HEAD}{declared}.visible .entry k() {{ .reg .b32 %a;\n{uses} ret; }}\n"


@each_case(
    ("names", "size", "gist"),
    [
        (
            "tiles",
            0,
            "'tiles' is dynamic shared memory, of which the launch sets the size, here none",
        ),
        ("tiles", 32, "here 32: --shared BYTES, shared=BYTES"),
        ("a b", 0, "'a', 'b' are dynamic shared memory"),
    ],
)
def test_missing_dynamic_shared_memory_is_named(names: str, size: int, gist: str) -> None:
    module = Module(dynamic(names))
    with pytest.raises(UserError) as caught:
        module.launch("k", 1, 1, shared=size)
    text = caught.value.render()
    assert f"a CTA of this launch has {size} bytes" in text
    assert gist in text
    module.launch("k", 1, 1, shared=64)


def test_static_shared_memory_has_no_size_to_set() -> None:
    text = (
        f"{HEAD}.shared .align 4 .b8 s[4];\n.visible .entry k() {{ st.shared.u32 [s+4], 1; ret; }}"
    )
    with pytest.raises(UserError) as caught:
        Module(text).launch("k", 1, 1)
    assert "--shared" not in caught.value.render()


@each_case(
    ("register", "what"),
    [
        ("%envreg2", "'%envreg2', which a cooperative launch sets for barriers of the whole grid"),
        ("%pm3", "'%pm3', a counter of a performance monitor"),
        ("%reserved_smem_offset_begin", "shared memory that the system reserves"),
    ],
)
def test_registers_that_are_not_emulated_are_unsupported(register: str, what: str) -> None:
    text = f"{HEAD}.visible .entry k() {{ .reg .b32 %r; mov.u32 %r, {register}; ret; }}\n"
    with pytest.raises(Unsupported) as caught:
        Module(text, "k.ptx").launch("k", 1, 1)
    assert what in str(caught.value)
    assert str(caught.value.location).startswith("k.ptx:4:")


def test_names_that_are_not_of_ptx_are_not_declared() -> None:
    text = f"{HEAD}.visible .entry k() {{ .reg .b32 %r; mov.u32 %r, %envregs; ret; }}\n"
    with pytest.raises(UserError, match="'%envregs' is not declared"):
        Module(text).launch("k", 1, 1)


def test_barriers_of_the_grid_by_the_device_runtime_are_unsupported() -> None:
    text = (
        f"{HEAD}.extern .func (.param .b32 r) cudaCGSynchronize (.param .b64 h, .param .b32 f);\n"
        ".visible .entry k() {\n"
        "{ .param .b64 h; .param .b32 f; .param .b32 r;\n"
        "st.param.b64 [h], 0; st.param.b32 [f], 0; call.uni (r), cudaCGSynchronize, (h, f); }\n"
        "ret; }\n"
    )
    with pytest.raises(Unsupported, match="call of 'cudaCGSynchronize', of cooperative launches"):
        Module(text).launch("k", 1, 1)


LOOP = (
    HEAD
    + """
.visible .entry k(.param .u64 p0)
{
    .reg .pred %p; .reg .b32 %i; .reg .b64 %a;
    ld.param.u64 %a, [p0];
    mov.u32 %i, 0;
    HERE: add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 3;
    @%p bra HERE;
    st.global.u32 [%a], %i;
    ret;
}
"""
)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Disable the garbage collector during a test."""
    enabled = gc.isenabled()
    gc.disable()
    yield
    if enabled:
        gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_module_that_is_gone_leaves_no_garbage_of_its_kernels() -> None:
    module, out = Module(LOOP), np.zeros(1, np.uint32)
    module.launch("k", 1, 1, [out])
    assert out[0] == 3
    instructions = [weakref.ref(run) for each in module.program("k").segments for run in each.body]
    assert len(instructions) >= 5
    del module
    assert [each() for each in instructions if each() is not None] == []


def test_the_collector_rests_while_a_kernel_is_decoded() -> None:
    many = LOOP.replace("mov.u32 %i, 0;", "mov.u32 %i, 0;\n" * 2000)
    module, generations = Module(many), list[int]()

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        program = module.program("k")
    finally:
        gc.callbacks.remove(note)
    assert len(program.segments) == 3
    # What follows the decoding may start one; decoding 2000 instructions would start dozens.
    assert len(generations) <= 1
