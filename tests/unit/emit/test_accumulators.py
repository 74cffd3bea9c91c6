"""Accumulators as vectors: LLVM sees registers, not vectors of all of them."""

from __future__ import annotations

import re

from each_case import each_case

from tilewright.emit.ptx import compile_ptx

COLUMNS = 64
COUNT = COLUMNS // 2


def program(element: str, word: str, picked: str) -> str:
    """A wgmma whose accumulators are stored in parts of eight; `picked` are the parts' elements."""
    acc, part = f"vector<{COUNT}x{element}>", f"vector<8x{element}>"
    types = f"D[<{word}>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]"
    return f"""
llvm.func @k(%out: !llvm.ptr<1>, %a: i64, %b: i64)
    attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}} {{
  %zero = llvm.mlir.zero : {acc}
  %s = nvvm.wgmma.steps fence A(%a) B(%b), %zero, <m = 64, n = {COLUMNS}, k = 16>, {types} commit : {acc}
  %d = nvvm.wgmma.steps A(%a) B(%b), %s, <m = 64, n = {COLUMNS}, k = 16>, {types} commit : {acc}
  %p = llvm.shufflevector %d, %d [{picked}] : {acc}
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %q = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {part}
  llvm.store %p, %q : {part}, !llvm.ptr<1>
  llvm.return
}}
"""  # noqa: E501


EIGHT = "8, 9, 10, 11, 12, 13, 14, 15"


def test_parts_are_made_of_registers(emit) -> None:
    text = emit(program("f32", "f32", EIGHT)).text
    assert "shufflevector" not in text
    assert f"insertelement <{COUNT} x float>" not in text
    assert text.count("insertelement <8 x float>") == 8


def test_a_struct_of_many_registers_is_spelled_once(emit) -> None:
    text = emit(program("f32", "f32", EIGHT)).text
    assert len(re.findall(r"float(, float){31}", text)) == 1
    assert re.search(r"^%struct\.0 = type \{ float, ", text, re.MULTILINE)


@each_case(
    ("element", "word", "picked"),
    [
        # Registers hold two f16 each, so that nothing is known of single ones.
        ("f16", "f16", EIGHT),
        # Elements of the second vector, or of none.
        ("f32", "f32", "32, 33, 34, 35, 36, 37, 38, 39"),
        ("f32", "f32", "0, 1, 2, 3, 4, 5, 6, -1"),
    ],
)
def test_other_parts_are_picked_by_llvm(element: str, word: str, picked: str, emit) -> None:
    module = emit(program(element, word, picked))
    assert "shufflevector" in module.text
    assert "st.global" in compile_ptx(module)
