"""What a kernel's configuration leaves to its threads and blocks."""

from __future__ import annotations

from each_case import each_case
from scheduled_loops import lowered_as_far_as, matmul
from specialized_programs import Gemm

from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation
from tilewright.schedule.resources import (
    block_limit,
    kernel_registers,
    register_limit,
    shares_sm,
)

KIB = 1024


def function_of(module: Operation) -> FuncOp:
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return function


@each_case(("columns", "occupancy", "limit"), [
    (128, None, 113 * KIB),  # 64 accumulators of each of 256 threads: two blocks
    (256, None, 227 * KIB),  # 128
    (128, 1, 227 * KIB),
    (128, 3, 75 * KIB),
])  # fmt: skip
def test_the_memory_of_a_block_with_dots(columns: int, occupancy: int | None, limit: int) -> None:
    function = function_of(lowered_as_far_as("keep-tiles", matmul(128, columns, 64)))
    spec = function.kernel_spec
    assert spec is not None
    function.attributes["kernel_spec"] = KernelSpecAttr(None, spec.num_warps, occupancy)
    assert block_limit(function) == limit
    assert shares_sm(function) == (occupancy == 3)


@each_case(("warps", "occupancy", "registers"), [
    (None, 2, None),
    (8, None, 255),
    (8, 2, 128),
    (16, 1, 128),
])  # fmt: skip
def test_registers_at_the_launch(
    warps: int | None, occupancy: int | None, registers: int | None
) -> None:
    function = function_of(lowered_as_far_as("keep-tiles", matmul(128, 128, 64)))
    function.attributes["kernel_spec"] = KernelSpecAttr(None, warps, occupancy)
    loop = next(op for op in function.walk() if isinstance(op, ForOp))
    assert kernel_registers(function) == registers
    assert register_limit(loop) == registers, "no agent has its own"


def test_agents_have_registers_of_their_own() -> None:
    """Twelve warps start with 168; the producer keeps 40, and each consumer gets 232."""
    function = function_of(
        lowered_as_far_as("specialize-warps", Gemm(tile=(128, 256, 64)).persistent())
    )
    limits = {register_limit(op) for op in function.walk() if isinstance(op, ForOp)}
    assert kernel_registers(function) == 168
    assert limits == {40, 232}
