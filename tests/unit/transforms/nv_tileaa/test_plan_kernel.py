"""plan-kernel: which hints are met, how far the others are lowered, and the remark on it."""

from __future__ import annotations

import pytest
from repeats import keep_first
from scheduled_loops import lowered_as_far_as, matmul

import tilewright
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Sink
from tilewright.transforms.nv_tileaa.plan_kernel import PlanKernel


def kernel_of(module: Operation) -> FuncOp:
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return kernel


def occupancy(text: str) -> int | None:
    spec = kernel_of(lowered_as_far_as("plan-kernel", text)).kernel_spec
    assert spec is not None
    return spec.occupancy


@pytest.mark.parametrize(
    ("tile", "asked", "expected"),
    [
        ((64, 64, 64), 4, 4),  # 32 accumulators and 32 other registers of 128
        ((128, 128, 64), 2, 2),  # 64 and 32 of 128
        ((128, 128, 64), 4, 2),  # 64 and 32 do not fit into 64, nor into 80 for three
        ((128, 256, 64), 2, 1),
        ((128, 256, 64), 8, 1),
        ((128, 256, 64), 1, 1),
        ((128, 256, 64), 0, None),
    ],
)
def test_it_is_lowered_until_accumulators_fit(
    tile: tuple[int, int, int], asked: int, expected: int | None
) -> None:
    assert occupancy(matmul(*tile, occupancy=asked)) == expected


def test_the_remark_says_what_was_asked_for() -> None:
    module = lowered_as_far_as("expand-dots", matmul(128, 128, 64, occupancy=4))
    sink = Sink(remarks=True)
    PlanKernel().run(module, sink)
    (remark,) = sink.remarks
    assert remark.kind == "missed"
    assert remark.message == "Occupancy 4 relaxed to 2: a thread needs 96 registers"
    assert remark.function == "k"


def test_a_hint_that_is_met_has_no_remark() -> None:
    module = lowered_as_far_as("expand-dots", matmul(64, 64, 64, occupancy=2))
    sink = Sink(remarks=True)
    PlanKernel().run(module, sink)
    assert not sink.remarks


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("asked", keep_first([8, 2, 4, 32]))
@pytest.mark.parametrize("opt_level", keep_first([3, 0]))
def test_ptxas_accepts_kernels_with_any_hint(asked: int, opt_level: int) -> None:
    text = matmul(128, 256, 64, occupancy=asked)
    made = tilewright.compile(text, arch="sm_90", opt_level=opt_level).entries["k"]
    assert opt_level == 0 or made.resources.spill_stores == 0
