"""Barriers in shared memory that count arrivals and bytes."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.elements import I1_TYPE, INDEX_TYPE
from tilewright.dialects.nvgpu.constraints import BARRIER_TOKEN, BARRIERS
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation


class MBarrierCreateOp(Operation):
    """A group of barriers in shared memory, one group for all threads of the block."""

    name = "nvgpu.mbarrier.create"
    syntax = "attr-dict `->` type($barriers)"

    barriers = d.result(BARRIERS)


class MBarrierInitOp(Operation):
    """Makes a barrier wait for `count` arrivals in each phase."""

    name = "nvgpu.mbarrier.init"
    syntax = (
        "$barriers `[` $mbar_id `]` `,` $count (`,` `predicate` `=` $predicate^)? attr-dict "
        "`:` type($barriers)"
    )

    barriers = d.operand(BARRIERS)
    count = d.operand(INDEX_TYPE)
    mbar_id = d.operand(INDEX_TYPE)
    predicate = d.optional_operand(I1_TYPE)


class MBarrierArriveOp(Operation):
    """One arrival; gives the phase that it belongs to."""

    name = "nvgpu.mbarrier.arrive"
    syntax = "$barriers `[` $mbar_id `]` attr-dict `:` type($barriers) `->` type($token)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    token = d.result(BARRIER_TOKEN)


class MBarrierArriveNoCompleteOp(Operation):
    """Several arrivals that do not complete the phase; gives the phase that they belong to."""

    name = "nvgpu.mbarrier.arrive.nocomplete"
    syntax = "$barriers `[` $mbar_id `]` `,` $count attr-dict `:` type($barriers) `->` type($token)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    count = d.operand(INDEX_TYPE)
    token = d.result(BARRIER_TOKEN)


class MBarrierArriveExpectTxOp(Operation):
    """One arrival; the phase waits for so many more bytes of asynchronous copies."""

    name = "nvgpu.mbarrier.arrive.expect_tx"
    syntax = (
        "$barriers `[` $mbar_id `]` `,` $txcount (`,` `predicate` `=` $predicate^)? attr-dict "
        "`:` type($barriers)"
    )

    barriers = d.operand(BARRIERS)
    txcount = d.operand(INDEX_TYPE)
    mbar_id = d.operand(INDEX_TYPE)
    predicate = d.optional_operand(I1_TYPE)


class MBarrierTestWaitOp(Operation):
    """Whether the phase of a token is over; does not wait."""

    name = "nvgpu.mbarrier.test.wait"
    syntax = "$barriers `[` $mbar_id `]` `,` $token attr-dict `:` type($barriers) `,` type($token)"

    barriers = d.operand(BARRIERS)
    token = d.operand(BARRIER_TOKEN)
    mbar_id = d.operand(INDEX_TYPE)
    wait_complete = d.result(I1_TYPE)


class MBarrierTryWaitParityOp(Operation):
    """Waits for the phase of this parity to be over.

    Without a result it waits as long as it takes, trying for `ticks` at a time; with one it tries
    once, and says whether the phase is over.
    """

    name = "nvgpu.mbarrier.try_wait.parity"
    syntax = (
        "$barriers `[` $mbar_id `]` `,` $phase_parity `,` $ticks attr-dict `:` type($barriers) "
        "(`->` type($wait_complete)^)?"
    )

    barriers = d.operand(BARRIERS)
    phase_parity = d.operand(I1_TYPE)
    ticks = d.operand(INDEX_TYPE)
    mbar_id = d.operand(INDEX_TYPE)
    wait_complete = d.results(I1_TYPE)

    def verify(self) -> Iterator[str]:
        if len(self.results) > 1:
            yield f"expected at most one result, got {len(self.results)}"
