"""Construction of software pipelines: prologue, waits, copies past the end, dots in flight."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, TypeVar

import numpy as np
import pytest
from decode_programs import Decode
from scheduled_loops import copy_loop, lowered_as_far_as, materialized, matmul, scheduled

import tilewright
from tilewright.dialects.nv_tileaa.integer import AndIOp, CmpIOp
from tilewright.dialects.nv_tileas.attribute_names import SCHEDULE
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreatePipelineOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerCopyOp,
    ProducerWriteOp,
)
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.values import Value
from tilewright.ptxsim import Module
from tilewright.support.diagnostics import UserError

GEMM: Final = matmul(128, 128, 64)
TENSOR: Final = "tensor_view<80x128xf32, strides=[128,1]>"
VIEW: Final = f"partition_view<tile=(16x128), {TENSOR}>"
OFFSET_LOOP: Final = f"""
  cuda_tile.module @m {{
    entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %first: tile<i32>, %end: tile<i32>) {{
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %pt = make_tensor_view %p, shape = [80, 128], strides = [128, 1] : {TENSOR}
      %qt = make_tensor_view %q, shape = [80, 128], strides = [128, 1] : {TENSOR}
      %pv = make_partition_view %pt : {VIEW}
      %qv = make_partition_view %qt : {VIEW}
      for %i in (%first to %end, step %one) : tile<i32> {{
        %n = subi %i, %first : tile<i32>
        %a, %t1 = load_view_tko weak %pv[%n, %zero] : {VIEW}, tile<i32> -> tile<16x128xf32>, token
        %t2 = store_view_tko weak %a, %qv[%n, %zero] : tile<16x128xf32>, {VIEW}, tile<i32> -> token
        continue
      }}
      return
    }}
  }}"""
"""Copies tile after tile, whatever the first value of the counter is."""
T = TypeVar("T", bound=Operation)


def the_loop(module: Operation) -> ForOp:
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    return loop


def every(kind: type[T], inside: Operation) -> list[T]:
    return [op for op in inside.walk() if isinstance(op, kind)]


def one(kind: type[T], inside: Operation) -> T:
    (op,) = every(kind, inside)
    return op


def compared(condition: Value) -> Iterator[CmpIOp]:
    """The comparisons of which a condition is the conjunction."""
    op = condition.defining_op()
    if isinstance(op, AndIOp):
        yield from compared(op.lhs)
        yield from compared(op.rhs)
    else:
        assert isinstance(op, CmpIOp)
        yield op


@pytest.mark.parametrize(("distance", "lag"), [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1)])
def test_the_prologue_copies_as_many_iterations_as_the_distance(distance: int, lag: int) -> None:
    schedule = ScheduleAttr(distance + lag + 1, distance, lag)
    # One dot is in flight if the chosen schedule has a lag, which `replaced` leaves as it is.
    module = materialized(GEMM, schedule=f"stages=4,in-flight={lag}", replaced=schedule)
    loop = the_loop(module)
    copies = every(ProducerCopyOp, module)
    early = [op for op in copies if not loop.is_ancestor_of(op)]
    assert [op.number for op in early] == [0, 1] * distance
    assert [op.number for op in copies if op not in early] == [0, 1]
    assert pipeline(one(CreatePipelineOp, module).result).stages == schedule.stages


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_later_stages_may_be_pending_at_the_wait(distance: int) -> None:
    """The iterations after this one that were started before it: all of the distance but itself."""
    schedule = ScheduleAttr(distance + 1, distance)
    module = materialized(GEMM, schedule="stages=4,in-flight=0", replaced=schedule)
    assert one(ConsumerWaitOp, module).pending == distance - 1


def test_the_operands_of_a_dot_stay_in_the_stages() -> None:
    module = materialized(GEMM)
    dot = one(DotOp, module)
    for number, operand in enumerate((dot.a, dot.b)):
        read = operand.defining_op()
        assert isinstance(read, ConsumerReadOp)
        assert read.number == number
        assert in_shared_memory(operand)
    assert every(TiledLoadOp, module) == []


def test_a_dot_in_flight_is_awaited_an_iteration_later_and_after_the_loop() -> None:
    module = materialized(GEMM, schedule="in-flight=1")
    loop, dot = the_loop(module), one(DotOp, module)
    assert dot.asynchronous
    inside, after = every(DotWaitOp, module)
    assert loop.is_ancestor_of(inside)
    assert (inside.accumulator, inside.pending) == (dot.result, 1)
    assert after.parent is loop.parent
    assert (after.accumulator, after.pending) == (loop.results[0], 0)
    assert one(ConsumerReleaseOp, module).lag == 1


def test_copies_start_after_the_dot_in_flight() -> None:
    module = materialized(GEMM)
    acquire = next(op for op in every(ProducerAcquireOp, the_loop(module)))
    before = acquire.prev
    while before is not None and not isinstance(before, DotOp):
        before = before.prev
    assert before is one(DotOp, module)


def test_without_a_lag_a_dot_runs_beside_copies_and_ends_with_its_iteration() -> None:
    module = materialized(GEMM, schedule="in-flight=0")
    loop, dot, wait = the_loop(module), one(DotOp, module), one(DotWaitOp, module)
    assert dot.asynchronous
    assert (wait.accumulator, wait.pending) == (dot.result, 0)
    copy, release = one(ProducerCommitOp, loop), one(ConsumerReleaseOp, loop)
    order = [position(op, loop) for op in (dot, copy, wait, release)]
    assert order == sorted(order)
    assert release.lag == 0


def test_a_loop_with_dots_in_flight_is_skipped_without_iterations() -> None:
    """The other branch of the guard gives the initial values."""
    module = materialized(GEMM, schedule="in-flight=1")
    loop = the_loop(module)
    guard = loop.parent_op
    assert isinstance(guard, IfOp)
    (comparison,) = compared(guard.condition)
    assert (comparison.lhs, comparison.rhs) == (loop.lower_bound, loop.upper_bound)
    other = guard.regions[1].block.last
    assert isinstance(other, YieldOp)
    assert list(other.operands) == list(loop.init_args)[: len(guard.results)]


def test_a_loop_without_dots_in_flight_needs_no_guard() -> None:
    module = materialized(GEMM, schedule="in-flight=0")
    assert not isinstance(the_loop(module).parent_op, IfOp)


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_a_copy_of_the_prologue_is_conditional_on_all_iterations_up_to_its_own(
    distance: int,
) -> None:
    """The counter may wrap: a later iteration exists only if those before it do."""
    schedule = ScheduleAttr(distance + 1, distance)
    module = materialized(GEMM, schedule="stages=4,in-flight=0", replaced=schedule)
    loop = the_loop(module)
    guards = [copy.parent_op for copy in every(ProducerCopyOp, module) if copy.number == 0]
    counts = []
    for guard in guards[:-1]:
        assert isinstance(guard, IfOp)
        comparisons = list(compared(guard.condition))
        assert all(each.rhs is loop.upper_bound for each in comparisons)
        counts.append(len({each.lhs for each in comparisons}))
    assert counts == [*range(1, distance + 1)]


def test_a_copy_of_the_loop_takes_one_comparison() -> None:
    module = materialized(GEMM, schedule="stages=4,in-flight=0")
    loop = the_loop(module)
    (guard,) = (op for op in loop.body.block if isinstance(op, IfOp))
    (comparison,) = compared(guard.condition)
    assert comparison.lhs is loop.induction_variable
    assert not comparison.rhs.is_inside(loop)


@cache
def ptx_of(text: str) -> str:
    """The code of a kernel, for all runs of it."""
    return tilewright.compile(text, emit="ptx").ptx


@pytest.mark.parametrize("iterations", [0, 1, 2, 5])
@pytest.mark.parametrize("start", [-(2**31), -1, 2**31 - 6])
def test_bounds_near_the_ends_of_the_range(start: int, iterations: int) -> None:
    """The limit of the counter is the bound minus some iterations, which may not fit."""
    module = Module(ptx_of(OFFSET_LOOP), "k")
    source = np.arange(5 * 16 * 128, dtype=np.float32)
    target = module.upload(np.zeros_like(source), "q")
    arguments = [module.upload(source, "p"), target, start, start + iterations]
    module.launch("k", 1, 1, arguments, check=True)
    copied, result = 16 * 128 * iterations, target.download(np.float32)
    assert (result[:copied] == source[:copied]).all()
    assert not result[copied:].any()


def test_stages_are_committed_without_copies_too() -> None:
    """`pending` counts commits, so each iteration has one, whether or not it copies."""
    module = materialized(GEMM, schedule="in-flight=0")
    commits = every(ProducerCommitOp, module)
    assert len(commits) == len(every(ProducerAcquireOp, module))
    assert not any(isinstance(commit.parent_op, IfOp) for commit in commits)


@pytest.mark.parametrize("iterations", [0, 1, 3, 7])
def test_copies_past_the_end_are_skipped(iterations: int) -> None:
    """A loop with four stages copies 16 x 128 numbers per iteration, one at a time: no more."""
    module = Module(ptx_of(copy_loop(16)), "k")
    source = np.arange(16 * 128, dtype=np.float32)
    arrays = [module.upload(source, "p"), module.upload(np.zeros_like(source), "q")]
    counters = module.launch("k", 1, 1, [*arrays, iterations], check=True)
    copies = {name: count for name, count in counters.by_opcode.items() if "cp.async.c" in name}
    assert sum(count for name, count in copies.items() if "commit" not in name) == (
        iterations * 16 * 128
    )


def test_all_stages_of_a_private_pipeline_may_be_pending() -> None:
    """Without a barrier, a thread copies into a stage as soon as it has read it itself."""
    module = materialized(copy_loop(16))
    create = one(CreatePipelineOp, module)
    assert create.private
    assert one(ConsumerWaitOp, module).pending == pipeline(create.result).stages - 1


def test_too_few_stages_are_an_error() -> None:
    """One is copied to, one is read, and a dot in flight still reads the one before."""
    schedule = ScheduleAttr(2, distance=1, lag=1)
    with pytest.raises(UserError, match="expected at least 3 stages, got 2"):
        materialized(GEMM, replaced=schedule)


def test_a_schedule_without_loads_is_an_error() -> None:
    module = scheduled(copy_loop(8))  # the tile is too small to be copied early
    the_loop(module).attributes[SCHEDULE] = ScheduleAttr(2, distance=1)
    with pytest.raises(UserError, match="expected loads that can be copied early"):
        parse_pipeline("materialize-schedule").run(module)


UNALIGNED: Final = matmul(64, 64, 32, divisor=1)
MIXED: Final = matmul(64, 64, 32, paddings=("nan", "zero"))
"""A passes through registers; B is copied."""


def position(op: Operation, block_of: Operation) -> int:
    """The position of an operation, or of what holds it, among those of a loop's body."""
    assert isinstance(block_of, ForOp)
    inside = list(block_of.body.block)
    (index,) = (at for at, each in enumerate(inside) if each is op or each.is_ancestor_of(op))
    return index


@pytest.mark.parametrize(("text", "writes", "copies"), [
    (UNALIGNED, [0, 1], []),
    (MIXED, [0], [1]),
    (matmul(64, 64, 32, paddings=("zero", "nan")), [1], [0]),
], ids=["both", "a", "b"])  # fmt: skip
@pytest.mark.parametrize("distance", [1, 2])
def test_tiles_pass_through_registers(
    text: str, writes: list[int], copies: list[int], distance: int
) -> None:
    """Each is loaded and stored once for each iteration of the prologue, and once in the loop."""
    options = f"stages={distance + 1},in-flight=0"
    module = materialized(text, schedule=options)
    loop = the_loop(module)
    for kind, numbers in ((ProducerWriteOp, writes), (ProducerCopyOp, copies)):
        ops = every(kind, module)
        early = [op.number for op in ops if not loop.is_ancestor_of(op)]
        inside = [op.number for op in ops if loop.is_ancestor_of(op)]
        assert (early, inside) == (numbers * distance, numbers)
    assert len(every(TiledLoadOp, module)) == len(writes) * (distance + 1)
    assert not any("nv_tileas.engine" in op.attributes for op in every(TiledLoadOp, module))


@pytest.mark.parametrize("lag", [0, 1])
def test_tiles_are_loaded_where_copies_start_and_stored_at_the_end(lag: int) -> None:
    """After the dot, which is in flight, and stored after both."""
    loop = the_loop(materialized(MIXED, schedule=f"stages=4,in-flight={lag}"))
    load, write = one(TiledLoadOp, loop), one(ProducerWriteOp, loop)
    copy, dot, commit = (one(kind, loop) for kind in (ProducerCopyOp, DotOp, ProducerCommitOp))
    assert position(load, loop) == position(copy, loop)
    assert position(dot, loop) < position(load, loop)
    assert position(load, loop) < position(write, loop) < position(commit, loop)
    assert position(commit, loop) < position(one(ConsumerReleaseOp, loop), loop)


def test_what_is_stored_is_what_was_loaded_for_the_same_iteration() -> None:
    loop = the_loop(materialized(MIXED, schedule="stages=4,in-flight=0"))
    write = one(ProducerWriteOp, loop)
    start, end = one(TiledLoadOp, loop).parent_op, write.parent_op
    assert isinstance(start, IfOp)
    assert isinstance(end, IfOp)
    assert start.condition is end.condition
    assert list(write.values) == list(start.results)
    then = start.regions[0].block.last
    assert isinstance(then, YieldOp)
    assert list(then.operands) == [one(TiledLoadOp, loop).tile]
    acquired = one(ProducerAcquireOp, loop).token
    assert [write.token, one(ProducerCommitOp, loop).token] == [acquired, acquired]


def test_a_dot_reads_them_from_the_stage() -> None:
    module = materialized(UNALIGNED)
    dot = one(DotOp, module)
    reads = [operand.defining_op() for operand in (dot.a, dot.b)]
    assert [read.number for read in reads if isinstance(read, ConsumerReadOp)] == [0, 1]
    assert dot.asynchronous


def test_copies_between_dots_of_threads_are_masked_off() -> None:
    """A branch would keep ptxas from interleaving copies with the chain of dots."""
    module = lowered_as_far_as("materialize-schedule", Decode().program)
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    body = list(loop.body.walk())
    copies = [op for op in body if isinstance(op, ProducerCopyOp)]
    assert [op.number for op in copies] == [0, 1]
    assert copies[0].mask is copies[1].mask is not None
    assert not any(isinstance(op, IfOp) for op in body)
    # The copy of K starts after the dot that reads K, and that of V after the dot that reads V.
    kinds = [type(op) for op in body if isinstance(op, DotOp | ProducerCopyOp | ProducerCommitOp)]
    copied = [ProducerCopyOp, ProducerCommitOp]
    assert kinds == [DotOp, *copied, DotOp, *copied]
    # The copies that are masked off still write zeros to a stage when the loop ends.
    after = loop.next
    assert isinstance(after, ConsumerWaitOp)
    assert after.pending == 0


def test_tiles_are_waited_for_where_they_are_used() -> None:
    """V is not needed before warps exchange P: their barrier shows that its copies are complete."""
    module = lowered_as_far_as("materialize-schedule", Decode().program)
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    body = list(loop.body.block)
    first, second = (op for op in body if isinstance(op, ConsumerWaitOp))
    k, v = sorted((op for op in body if isinstance(op, ConsumerReadOp)), key=body.index)
    assert (k.token, v.token) == (first.token, second.token)
    assert (first.own_copies, second.own_copies) == (False, True)
    exchange = second.next
    assert isinstance(exchange, ConvertLayoutOp)
    assert body.index(second) < body.index(exchange) < body.index(v)
    # Copies of two tiles of two later iterations follow, but for the tile itself.
    stages = pipeline(first.pipeline).stages
    assert first.pending == second.pending == 2 * (stages - 1) - 1


def test_copies_after_dots_by_wgmma_are_in_a_branch() -> None:
    decode = Decode(rows=64, tile=(64, 32), keys=64, heads=1)
    module = lowered_as_far_as("materialize-schedule", decode.program, schedule="agents=0,rotate=0")
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    copies = [op for op in loop.body.walk() if isinstance(op, ProducerCopyOp)]
    assert copies
    assert all(isinstance(op.parent_op, IfOp) and op.mask is None for op in copies)
