"""The GEMMs for Hopper can be said in these dialects, and nothing but these."""

from __future__ import annotations

import pytest
from dialect_text import read
from hopper_gemm import hopper_gemm

from tilewright.text.printer import print_op

VARIANTS = [
    {"layout": "nt"},
    {"layout": "nn"},
    {"layout": "nt", "cluster": 2},
    {"layout": "nt", "plain": True},
    {"layout": "nn", "plain": True, "persistent": False},
]

ALLOWED = {
    "arith", "builtin", "cute_nvgpu", "gpu", "memref", "nvgpu", "scf", "vector",
}  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_kernel(variant: dict[str, object]) -> None:
    module = read(hopper_gemm(**variant))  # type: ignore[arg-type]
    assert {op.dialect for op in module.walk()} <= ALLOWED
    text = print_op(module)
    assert print_op(read(text)) == text
    assert print_op(read(print_op(module, generic=True))) == text


def test_accumulators_pass_through_every_step() -> None:
    names = [op.name for op in read(hopper_gemm()).walk()]
    steps = [name for name in names if ".wgmma." in name and "descriptor" not in name]
    assert [name.rpartition(".")[2] for name in steps] == [
        "fence", "issue", "commit", "wait", "wait",
    ]  # fmt: skip
