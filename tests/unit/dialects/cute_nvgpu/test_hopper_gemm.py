"""The Hopper GEMMs use only these dialects."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialect_text import read
from each_case import each_case

from tilewright.ir.passes import Pipeline
from tilewright.ir.traits import Effects
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op
from tilewright.transforms.generic.canonicalize import Canonicalize
from tilewright.transforms.generic.cse import Cse
from tilewright.transforms.generic.dce import Dce
from tilewright.transforms.generic.licm import Licm

PROGRAMS = sorted((Path(__file__).parents[3] / "run" / "low" / "hopper_gemm").glob("*.mlir"))

ALLOWED = {
    "arith", "builtin", "cute_nvgpu", "gpu", "memref", "nvgpu", "scf", "vector",
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_kernel(program: Path) -> None:
    module = read(program.read_text())
    assert {op.dialect for op in module.walk()} <= ALLOWED
    text = print_op(module)
    assert print_op(read(text)) == text
    assert print_op(read(print_op(module, generic=True))) == text


@each_case("program", PROGRAMS, ids=lambda path: path.stem)
def test_transforms_keep_side_effects(program: Path) -> None:
    module = read(program.read_text())
    acting = [op.name for op in module.walk() if op.effects is Effects.UNKNOWN]
    before = sum(1 for _ in module.walk())
    Pipeline(Canonicalize(), Cse(), Licm(), Dce()).run(module)
    verify(module)
    assert [op.name for op in module.walk() if op.effects is Effects.UNKNOWN] == acting
    assert sum(1 for _ in module.walk()) < before


@each_case("program", PROGRAMS, ids=lambda path: path.stem)
def test_accumulators_are_threaded_through_every_step(program: Path) -> None:
    names = [op.name for op in read(program.read_text()).walk()]
    steps = [name for name in names if ".wgmma." in name and "descriptor" not in name]
    assert [name.rpartition(".")[2] for name in steps] == [
        "fence", "issue", "commit", "wait", "wait",
    ]  # fmt: skip
