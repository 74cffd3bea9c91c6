"""Functions and register pressure of PTX, and spills of SASS."""

from __future__ import annotations

import pytest
from explained import ROOT, explained, has_nvdisasm, kernel_of

from tilewright.explain.linked_text import sass_text
from tilewright.explain.positions import Positions
from tilewright.explain.pressure import pressure_of
from tilewright.explain.ptx_functions import Function, ptx_functions
from tilewright.explain.report import LevelText, Pressure, Spill
from tilewright.explain.spills import spills_of

SPILLING = ROOT / "tests" / "run" / "kernels" / "attention_rows.mlir"
PTX = """\
.version 9.0
.func (.param .b32 out) helper(
	.param .b32 in
);
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<2>;
	ld.param.b64 	%rd1, [kernel_param_0];
	mov.b32 	%r1, 0;
	mov.b32 	%r2, 1;
$L__BB0_1:
	{ .reg .b32 t;
	mov.b32 	%r3, %r2;
}
	add.s32 	%r1, %r1, %r3;
	setp.lt.s32 	%p1, %r1, 9;
	@%p1 bra 	$L__BB0_1;
	st.global.b32 	[%rd1], %r1;
	ret;
}
.visible .entry other()
{
	ret;
}
""".splitlines()


def test_functions_end_at_their_own_brace() -> None:
    kernel, other = ptx_functions(PTX)
    assert kernel == Function("kernel", 7, PTX.index("}", PTX.index("	ret;")))
    assert other.name == "other"


def test_live_registers_of_a_loop() -> None:
    """In the loop, an address of two registers, r1 and r2 are live, and r3 for a time."""
    links = [(number,) for number in range(len(PTX))]
    pressure = pressure_of(LevelText("ptx", PTX, links), "kernel")
    by_line = {PTX[each.position].strip(): each.registers for each in pressure}
    assert by_line["add.s32 	%r1, %r1, %r3;"] == 5
    assert by_line["mov.b32 	%r3, %r2;"] == 4
    assert by_line["st.global.b32 	[%rd1], %r1;"] == 3
    assert by_line["mov.b32 	%r1, 0;"] == 2
    assert pressure[0] == Pressure(5, PTX.index("	add.s32 	%r1, %r1, %r3;"))
    assert pressure_of(LevelText("ptx", PTX, links), "absent") == []


SASS = """\
	.section	.text.kernel,"ax",@progbits
	//## File "kernels/a.py", line 7
        /*0100*/                   STL [R1], R24 ;
        /*0110*/              @!P0 STL.64 [R1+0x8], R26 ;
	//## File "kernels/a.py", line 9
        /*0120*/                   LDL.LU R24, [R1] ;
        /*0130*/                   LDG.E R4, [R2.64] ;
	.section	.text.other,"ax",@progbits
        /*0000*/                   STL [R1], R2 ;
"""


def test_spills_by_source_line() -> None:
    positions = Positions({})
    seven, nine = positions.number("kernels/a.py", 7), positions.number("kernels/a.py", 9)
    assert spills_of(SASS, "kernel", positions) == [Spill(4 + 8, 0, seven), Spill(0, 4, nine)]
    assert spills_of(SASS, "other", positions) == [Spill(4, 0, -1)]
    marked = SASS.replace("R24 ;", 'R24 (*"SpillRefill"*);')
    assert spills_of(marked, "kernel", positions) == [Spill(4, 0, seven)]


@pytest.mark.skipif(not has_nvdisasm(), reason="nvdisasm is not installed")
def test_spills_of_a_kernel_are_those_that_ptxas_counts() -> None:
    kernel = kernel_of(explained(SPILLING, "sm_80"), "full")
    assert kernel.resources is not None
    assert kernel.resources.spill_stores > 0
    assert sum(each.stores for each in kernel.spills) == kernel.resources.spill_stores
    assert sum(each.loads for each in kernel.spills) == kernel.resources.spill_loads
    assert all(each.position >= 0 for each in kernel.spills)


INLINED = """\
	//## File "kernels/a.py", line 7 inlined at "kernels/a.py", line 9
	//## File "kernels/a.py", line 9
        /*0100*/                   FADD R1, R2, R3 ;
"""


def test_lines_of_sass_are_linked() -> None:
    positions = Positions({})
    seven, nine = positions.number("kernels/a.py", 7), positions.number("kernels/a.py", 9)
    text = sass_text(SASS, positions)
    assert [tuple(each) for each in text.links] == [
        (), (), (seven,), (seven,), (), (nine,), (nine,), (), (),
    ]  # fmt: skip
    assert sass_text(INLINED, positions).links[-1] == (seven, nine)


@pytest.mark.skipif(has_nvdisasm(), reason="nvdisasm is installed")
def test_without_nvdisasm_a_note_says_so() -> None:
    report = explained(ROOT / "tests" / "cli" / "remark_examples" / "register-spills.mlir")
    assert any("nvdisasm" in note for note in report.notes)
    assert kernel_of(report, "k").pressure[0].registers > 255
