"""Lowering of whole programs, which contain every operation of Tile IR."""

from __future__ import annotations

from pathlib import Path

import pytest
from integrity import check_integrity

from tilewright.conversion.cuda_tile_to_nv_tileaa import leftovers
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.driver.assembly import parse_any, parse_module, wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.ir.instruments import VerifyEach
from tilewright.text.printer import print_op

TESTS = Path(__file__).parents[3]
PROGRAMS = sorted(
    path
    for folder in ("programs", "run")
    for path in (TESTS / folder).rglob("*.mlir")
    if {"low", "errors", "nv_tileaa"}.isdisjoint(path.parts)
)


@pytest.mark.requirement("R0-002", "R0-025")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_program(path: Path, arch: str) -> None:
    root = wrap_in_module(parse_module(path.read_text(), path.name))
    parse_pipeline(passes_to("nv_tileaa", arch)).run(root, None, [VerifyEach()])
    check_integrity(root)
    assert list(leftovers(root)) == []
    text = print_op(root)
    assert print_op(parse_any(text, path.name)) == text


def test_every_operation_occurs() -> None:
    modules = [parse_module(path.read_text(), path.name) for path in PROGRAMS]
    names = {op.name for module in modules for op in module.walk()}
    assert {op.name for op in CUDA_TILE.ops.values()} <= names
