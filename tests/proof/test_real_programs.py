"""Whole kernels: identity conversion, and fixed points of the generic passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from integrity import check_integrity

import tilewright
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.conversion import convert, mirror
from tilewright.ir.equivalence import equivalent
from tilewright.ir.instruments import VerifyEach
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.verifier import verify

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    [*(ROOT / "tests" / "programs").glob("*.mlir"), *(ROOT / "examples").glob("*.mlir")]
)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_converting_each_operation_to_itself_changes_nothing(path: Path) -> None:
    module = tilewright.read(path)
    before = module.clone()
    old = set(module.walk())
    kinds = {type(op) for op in old}
    target = ConversionTarget(dynamic=dict.fromkeys(kinds, lambda op: op not in old))
    assert convert(module, target, mirror({kind: kind for kind in kinds}))
    check_integrity(module)
    verify(module)
    assert equivalent(module, before, locations=True)
    assert not any(op in old for op in module.walk() if op is not module)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_generic_passes_reach_a_fixed_point(path: Path) -> None:
    module = tilewright.read(path)
    pipeline = parse_pipeline("canonicalize,cse,licm,dce,canonicalize,cse")
    pipeline.run(module, instruments=[VerifyEach()])
    check_integrity(module)
    once = module.clone()
    pipeline.run(module, instruments=[VerifyEach()])
    assert equivalent(module, once)
