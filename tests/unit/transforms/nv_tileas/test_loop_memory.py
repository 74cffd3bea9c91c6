"""The memory of pipelines in loops of several dots, and where tiles are read from their stages."""

from __future__ import annotations

from typing import Final

from linear_programs import LinearAttention
from scheduled_loops import lowered_as_far_as, materialized, matmul, schedule_of, scheduled

from tilewright.dialects.nv_tileas.attributes import Atom, ScheduleAttr, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.plans.scratch import scratch_bytes
from tilewright.support.diagnostics import Sink

SMALL: Final = LinearAttention()
WIDE: Final = LinearAttention(128, 128, 128)
"""A stage has 96 KiB; the state and V of later chunks have 32 KiB each, at different times."""


def body(module: Operation) -> list[Operation]:
    """The operations of the only loop."""
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    return list(loop.body.block)


def dots(module: Operation) -> list[DotOp]:
    return [op for op in module.walk() if isinstance(op, DotOp)]


def memory_remarks(program: str, options: str = "") -> list[str]:
    module = lowered_as_far_as("keep-tiles", program)
    sink = Sink(remarks=True)
    parse_pipeline(f"record-requests{options},schedule-loops").run(module, sink)
    return [each.message for each in sink.remarks if each.name == "RemarkPipelineMemory"]


def test_a_from_a_reshaped_load_stays_in_registers() -> None:
    """The halved Q; Q of the first dot is in shared memory, and so is K of the last one."""
    selected = dots(lowered_as_far_as("convert-tileaa-to-tileas", WIDE.program))
    assert [dot.atom for dot in selected] == [Atom.WGMMA] * 4
    assert [in_shared_memory(dot.a) for dot in selected] == [True, False, False, True]


def test_fragments_are_read_from_the_stage_of_another_dot() -> None:
    """Q is an operand in its stage and, halved, fragments: neither is exchanged by threads."""
    ops = body(materialized(WIDE.program))
    converted = [op for op in ops if isinstance(op, ConvertLayoutOp) and scratch_bytes(op)]
    assert len(converted) == 1, "only the result is, for its store"
    reads = [op for op in ops if isinstance(op, ConsumerReadOp) and op.number == 0]
    assert [in_shared_memory(op.values[0]) for op in reads] == [True, False]


def test_tiles_are_read_after_the_dots_that_do_not_need_them() -> None:
    """Through reshapes: halved Q after the first dot, and halved V after the third."""
    ops = body(materialized(WIDE.program))
    before = [
        sum(isinstance(other, DotOp) for other in ops[: ops.index(op)])
        for op in ops
        if isinstance(op, ConsumerReadOp) and not in_shared_memory(op.values[0])
    ]
    assert before == [1, 3]


def test_tiles_that_are_never_live_together_share_memory() -> None:
    """Two stages have 192 of 227 KiB: the state and V have the other 32 one after the other."""
    assert schedule_of(scheduled(WIDE.program)) == ScheduleAttr(2, distance=1)
    assert memory_remarks(WIDE.program) == [
        "Pipeline of 2 stages: tiles that are never live together share the rest of the memory"
    ]


def test_a_second_block_has_its_memory_where_threads_wait_for_dots() -> None:
    """A stage has 24 KiB, the rest 16: four stages fit into 113 KiB, and eight into 227."""
    chosen = schedule_of(scheduled(SMALL.program, schedule="agents=0"))
    assert chosen == ScheduleAttr(4, distance=3)


def test_forced_stages_take_the_memory_of_a_second_block() -> None:
    assert schedule_of(scheduled(SMALL.program, schedule="stages=6,agents=0")) == ScheduleAttr(
        6, distance=5
    )
    assert memory_remarks(SMALL.program, "{stages=6 agents=0}") == []


def test_one_dot_in_flight_needs_no_second_block() -> None:
    assert memory_remarks(matmul(64, 64, 64)) == []
