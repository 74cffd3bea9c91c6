"""Barriers in shared memory (mbarriers), with an arrival count and a transaction count."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.elements import I1_TYPE, INDEX_TYPE
from tilewright.dialects.nvgpu.constraints import BARRIER_TOKEN, BARRIERS
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation


class MBarrierCreateOp(Operation):
    """Allocate a group of barriers in shared memory, one group per block."""

    name = "nvgpu.mbarrier.create"
    syntax = "attr-dict `->` type($barriers)"

    barriers = d.result(BARRIERS)


class MBarrierInitOp(Operation):
    """Initialize a barrier with the arrival count of each phase."""

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
    """Arrive at a barrier; return a token of the current phase."""

    name = "nvgpu.mbarrier.arrive"
    syntax = "$barriers `[` $mbar_id `]` attr-dict `:` type($barriers) `->` type($token)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    token = d.result(BARRIER_TOKEN)


class MBarrierArriveNoCompleteOp(Operation):
    """Arrive `count` times without completing the phase; return a token of the phase."""

    name = "nvgpu.mbarrier.arrive.nocomplete"
    syntax = "$barriers `[` $mbar_id `]` `,` $count attr-dict `:` type($barriers) `->` type($token)"

    barriers = d.operand(BARRIERS)
    mbar_id = d.operand(INDEX_TYPE)
    count = d.operand(INDEX_TYPE)
    token = d.result(BARRIER_TOKEN)


class MBarrierArriveExpectTxOp(Operation):
    """Arrive at a barrier, and expect `txcount` more bytes of asynchronous copies in the phase."""

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
    """Test whether the phase of a token has completed, without waiting."""

    name = "nvgpu.mbarrier.test.wait"
    syntax = "$barriers `[` $mbar_id `]` `,` $token attr-dict `:` type($barriers) `,` type($token)"

    barriers = d.operand(BARRIERS)
    token = d.operand(BARRIER_TOKEN)
    mbar_id = d.operand(INDEX_TYPE)
    wait_complete = d.result(I1_TYPE)


class MBarrierTryWaitParityOp(Operation):
    """Wait until the phase of this parity has completed.

    Without a result it waits in a loop, with a time limit of `ticks` per try; with a result it
    tries once, and returns whether the phase has completed.
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
