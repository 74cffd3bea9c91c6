"""Every function of libdevice that conversions call, and the tool that tries the whole table."""

from __future__ import annotations

from pathlib import Path

import pytest
from emit_table import failures, library_kernels, library_names

from tilewright.emit.llvm.instructions import PROVEN_INTRINSICS
from tilewright.target.arch import ARCHES

SAMPLE = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")
"""One of each kind of GPU; `python tools/emit_table.py` tries all."""

PARTS = 4
"""LLVM and ptxas take ten seconds for the whole library."""

WRONG = """
  llvm.func @wrong() attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "frobnicate;", "" : () -> ()
    llvm.return
  }
"""

SIGNATURES = {
    "llvm.nvvm.d2f.rz": ("(f64) -> f32", "%y"),
    "llvm.nvvm.nanosleep": ("(i32) -> ()", "%i"),
    "llvm.nvvm.read.ptx.sreg.dynamic_smem_size": ("() -> i32", ""),
}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.sampled(1)
def test_functions_of_the_library(name: str, part: int, ptxas: Path) -> None:
    assert list(failures(library_kernels()[part::PARTS], ARCHES[name])) == []


def test_the_table_of_functions() -> None:
    names = library_names()
    assert names["__nv_sqrtf"] == ("f32", 1)
    assert names["__nv_pow"] == ("f64", 2)
    assert names["__nv_fast_sinf"] == ("f32", 1)
    assert len(library_kernels()) == len(names) + 2


def test_a_kernel_that_fails_is_found(ptxas: Path) -> None:
    first, second, *_ = library_kernels()
    (complaint,) = failures([first, second, WRONG], ARCHES["sm_90"])
    assert complaint.startswith("sm_90: error: ptxas rejects the generated code")
    assert complaint.endswith(WRONG.strip())


@pytest.mark.parametrize("name", ARCHES)
def test_intrinsics_by_name(name: str, ptxas: Path) -> None:
    assert set(SIGNATURES) == PROVEN_INTRINSICS
    lines = [
        f"    {'' if type.endswith('()') else f'%r{n} = '}"
        f'llvm.call_intrinsic "{intrinsic}"({values}) : {type}'
        for n, (intrinsic, (type, values)) in enumerate(SIGNATURES.items())
    ]
    body = "\n".join(lines)
    kernel = (
        "  llvm.func @k(%y: f64, %i: i32, %g: !llvm.ptr<1>) attributes {nvvm.kernel} {\n"
        f"{body}\n    llvm.store %r0, %g : f32, !llvm.ptr<1>\n"
        "    llvm.store %r2, %g : i32, !llvm.ptr<1>\n    llvm.return\n  }\n"
    )
    assert list(failures([kernel], ARCHES[name])) == []
