"""Every operation of a level that can run has a meaning, or is known not to run."""

from __future__ import annotations

from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects import scf
from tilewright.dialects.nv_tileaa.dialect import NV_TILEAA
from tilewright.reference import executor
from tilewright.reference.evaluators import EVALUATORS

ELSEWHERE = {
    "nv_tileaa.call_elementwise_intrinsic",
    "nv_tileaa.elementwise_inline_asm",
    "nv_tileaa.execute",
    "nv_tileaa.extern_elementwise",
    "nv_tileaa.inject_ir",
}
"""What runs code that is no part of the program."""
OPEN = {"nv_tileaa.conv_dot", "nv_tileaa.conv_tile", "nv_tileaa.launch_func"}
"""What only a later level gives a meaning to."""
AROUND = {"nv_tileaa.func", "nv_tileaa.plugin"}
"""What holds code or describes it."""


def meanings(dialect: str) -> set[str]:
    assert executor is not None
    return {kind.name for kind in EVALUATORS if kind.name.startswith(f"{dialect}.")}


def test_all_of_tile_ir_runs() -> None:
    assert meanings("cuda_tile") == set(OPCODES)


def test_all_of_nv_tileaa_runs_that_can() -> None:
    declared = set(NV_TILEAA.ops)
    assert meanings("nv_tileaa") == declared - ELSEWHERE - OPEN - AROUND


def test_all_control_flow_runs() -> None:
    assert meanings("scf") == set(scf.SCF.ops)
