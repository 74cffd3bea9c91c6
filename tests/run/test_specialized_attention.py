"""Warp-specialized attention computes what numpy says, on the emulator with its checks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import numpy as np
import pytest
from attention_programs import Attention
from compiled_once import compile_anew
from repeats import keep_first
from scheduled_loops import lowered_as_far_as

import tilewright
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Operation
from tilewright.text.printer import print_op
from tilewright.transforms.nv_tileas import copy_groups

SEED: Final = 1
"""The order in which the emulator schedules warps and completes copies."""
TOLERANCE: Final = 1e-3
"""P is rounded to f16, and its weighted mean is of numbers of a normal distribution."""
CLUSTER: Final = "optimization_hints=<sm_90 = {num_cta_in_cga = 2}>"
"""Two CTAs have 64 rows each, and multicast K and V."""
REST: Final = "specialize-warps,materialize-schedule,slice-dots,allocate,synchronize"
"""The passes of nv_tileas after `schedule-loops`."""


def run(attention: Attention, ptx: str) -> None:
    """Run a kernel, and compare O."""
    module = read_runnable(attention.program, "attention.mlir")
    operands = attention.operands()
    grid = (attention.blocks, 1, 1)
    run_ptx(ptx, module, "k", grid, operands, check=True, seed=SEED)
    *inputs, out = operands
    np.testing.assert_allclose(out, attention.expected(*inputs), atol=TOLERANCE)


@pytest.mark.parametrize(("attention", "schedule", "copies"), keep_first([
    (Attention(length=192), "agents=1,stages=2,rotate=0", 4),
    (Attention(rotated=True, length=192), "agents=1,stages=2", 8),
    (Attention(rotated=True, length=512), "agents=1", 8),
    (Attention(rows=128, length=384), "agents=1,rotate=0", 4),
    (Attention(rows=128, length=384, rotated=True), "agents=1,stages=3", 8),
    (Attention(keys=32, dim=128, rotated=True), "agents=1", 8),
    (Attention(persistent=True), "agents=1,rotate=0", 4),
    (Attention(persistent=True, rotated=True), "agents=1,stages=2", 8),
    (Attention(rows=128, rotated=True, hints=CLUSTER), "agents=1,stages=2", 8),
    # K is not transposed in memory: K and V have tiles of one type, and share a pipeline.
    (Attention(k_major=False), "agents=1,stages=2,rotate=0", 4),
    (Attention(k_major=False, rotated=True), "agents=1,stages=3", 8),
    # What is chosen for one warpgroup: two blocks on an SM have memory for one pipeline each.
    (Attention(keys=128, dim=128, persistent=True), "", 8),
    # Threads read the bias from stages of its own: also before the loops.
    (Attention(rows=128, length=384, biased=True), "", 12),
    ], 2))  # fmt: skip
@pytest.mark.sampled(1)
def test_attention(attention: Attention, schedule: str, copies: int) -> None:
    """Both loops copy K and V; rotated ones also copy a tile of K before, and one of V after."""
    made = compile_anew(attention.program, schedule=schedule)
    text = made.nv_tileas
    assert text.count("agent_switch") == 2
    shares_pipeline = not attention.k_major or attention.keys == 128
    pipelines = (1 if shares_pipeline else 2) + attention.biased
    assert text.count("create_pipeline") == pipelines
    assert text.count("producer_copy") == copies
    assert (text.count("multicast =") == copies) == (attention.hints == CLUSTER)
    run(attention, made.ptx)


def overlapped(attention: Attention) -> str:
    """The PTX of a rotated kernel whose dots in loops are asynchronous.

    The first of an iteration is complete before its first use, while the second is in flight. P is
    in shared memory.
    """
    module = lowered_as_far_as("schedule-loops", attention.program, schedule="agents=1,stages=2")
    for loop in [op for op in module.walk() if isinstance(op, ForOp)]:
        scores, output = [op for op in loop.body.block if isinstance(op, DotOp)]
        build = Builder(InsertPoint.before(output), output.location)
        types = [scores.a.type]
        p = build.create(ConvertLayoutOp, source=output.a, types=types).result
        output.replace_operand(output.a, p)
        for dot, pending in ((scores, 1), (output, 0)):
            _wait_before_use(dot, pending)
    parse_pipeline(REST).run(module)
    return tilewright.compile(print_op(module), "sm_90", emit="ptx").ptx


def _wait_before_use(dot: DotOp, pending: int) -> None:
    dot.asynchronous = True
    users = set(dot.result.users)
    assert dot.parent is not None
    first = next(op for op in dot.parent if op in users)
    build = Builder(InsertPoint.before(first), dot.location)
    waited = build.create(DotWaitOp, accumulator=dot.result, pending=pending).result
    for user in users:
        user.replace_operand(dot.result, waited)


def test_dots_in_flight() -> None:
    attention = Attention(rotated=True, length=192)
    ptx = overlapped(attention)
    waits = [line for line in ptx.splitlines() if "wgmma.wait_group" in line]
    assert any(" 1;" in one and " 0;" in other for one, other in pairwise(waits))
    run(attention, ptx)


def test_a_stage_that_a_dot_in_flight_reads_is_not_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The emulator detects the copy to it."""

    def none(block: Block, users: Iterable[Operation]) -> list[DotWaitOp | None]:
        return []

    monkeypatch.setattr(copy_groups, "retiring_waits", none)
    attention = Attention(rotated=True, length=256)
    ptx = overlapped(attention)
    with pytest.raises(tilewright.UserError, match="race"):
        run(attention, ptx)


@pytest.mark.parametrize("kernel", keep_first(map(pytest.param, [
    Attention(128, 64, 256, length=128),
    Attention(128, 128, 128, length=256, persistent=True),
    ])))  # fmt: skip
def test_descriptors_that_a_loop_computes_anew(kernel: Attention) -> None:
    *operands, result = kernel.operands()
    tilewright.execute(kernel.program, "k", 1, [*operands, result], on="emulator", check=True)
    np.testing.assert_allclose(result, kernel.expected(*operands), rtol=0, atol=0.01)
