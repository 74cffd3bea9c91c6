"""The emulator decodes the PTX that our back end generates for every NVVM operation."""

from __future__ import annotations

import nvvm_cases as cases
import pytest

from tilewright.driver.registry import context
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.ptx import compile_ptx
from tilewright.ptxsim import Module
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import ARCHES
from tilewright.text.parser import parse_text

# Parts of instructions that the emulator does not implement.
MISSING = {
    "sm_80": (),
    "sm_90": ("im2col",),
    "sm_100": (
        "im2col", "tile::scatter4", "tile::gather4", "cp_mask", "cvt.rs.", "ldmatrix", "stmatrix",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.sampled(1)
def test_every_operation_decodes(name: str) -> None:
    arch = ARCHES[name]
    indices = [i for i, case in enumerate(cases.CASES) if cases.HAVING[case.since](arch.number)]
    text = "".join([cases.CASES[index].function(f"k{index}") for index in indices])
    ptx = compile_ptx(emit_llvm(parse_text(f"module {{\n{text}}}\n", context()), arch), opt_level=1)
    module = Module(ptx, "nvvm.ptx")
    refused: list[str] = []
    for index in indices:
        try:
            module.program(f"k{index}")
        except Unsupported as error:
            refused.append(error.feature)
    assert len(indices) > 300
    surprises = [each for each in refused if not any(part in each for part in MISSING[name])]
    assert surprises == []
