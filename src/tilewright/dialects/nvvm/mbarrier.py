"""Barriers in shared memory, which threads and copies arrive at and others wait for.

The operations named `.shared` take a pointer into shared memory; the others take an address that
must turn out to be one.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.llvm.constraints import BOOL, INT32, INT64, pointer
from tilewright.dialects.nvvm.attributes import MEM_SCOPE, MemScope
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d

GENERIC = pointer(0)
SHARED = pointer(3)
CLUSTER = pointer(7)

_PREDICATE = "(`,` `predicate` `=` $predicate^)?"
_PREDICATE_TYPE = "(`,` type($predicate)^)?"


class Init(NvvmOp):
    """Base of the first use of a barrier, which says how many arrivals end a phase."""

    syntax = (
        f"$addr `,` $count {_PREDICATE} attr-dict `:` type($addr) `,` type($count) "
        f"{_PREDICATE_TYPE}"
    )


class MBarrierInitOp(Init):
    """Makes a barrier at an address."""

    name = "nvvm.mbarrier.init"

    addr = d.operand(GENERIC)
    count = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierInitSharedOp(Init):
    """Makes a barrier in shared memory."""

    name = "nvvm.mbarrier.init.shared"

    addr = d.operand(SHARED)
    count = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierInvalOp(NvvmOp):
    """Ends a barrier at an address, whose memory is free then."""

    name = "nvvm.mbarrier.inval"
    syntax = "$addr attr-dict `:` type($addr)"

    addr = d.operand(GENERIC)


class MBarrierInvalSharedOp(NvvmOp):
    """Ends a barrier in shared memory, which is free then."""

    name = "nvvm.mbarrier.inval.shared"
    syntax = "$addr attr-dict `:` type($addr)"

    addr = d.operand(SHARED)


class Arrive(NvvmOp):
    """Base of the arrivals; the result tells which phase it was."""

    syntax = "$addr attr-dict `:` type($addr) `->` type($res)"


class MBarrierArriveOp(Arrive):
    """Arrives at a barrier at an address."""

    name = "nvvm.mbarrier.arrive"

    addr = d.operand(GENERIC)
    res = d.result(INT64)


class MBarrierArriveSharedOp(Arrive):
    """Arrives at a barrier in shared memory."""

    name = "nvvm.mbarrier.arrive.shared"

    addr = d.operand(SHARED)
    res = d.result(INT64)


class ArriveNocomplete(NvvmOp):
    """Base of several arrivals at once that do not end the phase."""

    syntax = "$addr `,` $count attr-dict `:` type($addr) `,` type($count) `->` type($res)"


class MBarrierArriveNocompleteOp(ArriveNocomplete):
    """Arrives several times at a barrier at an address."""

    name = "nvvm.mbarrier.arrive.nocomplete"

    addr = d.operand(GENERIC)
    count = d.operand(INT32)
    res = d.result(INT64)


class MBarrierArriveNocompleteSharedOp(ArriveNocomplete):
    """Arrives several times at a barrier in shared memory."""

    name = "nvvm.mbarrier.arrive.nocomplete.shared"

    addr = d.operand(SHARED)
    count = d.operand(INT32)
    res = d.result(INT64)


class ArriveExpectTx(NvvmOp):
    """Base of arrivals that announce how many bytes copies will bring in this phase."""

    syntax = (
        f"$addr `,` $txcount {_PREDICATE} attr-dict `:` type($addr) `,` type($txcount) "
        f"{_PREDICATE_TYPE}"
    )


class MBarrierArriveExpectTxOp(ArriveExpectTx):
    """Arrives at a barrier at an address, and announces bytes."""

    name = "nvvm.mbarrier.arrive.expect_tx"

    addr = d.operand(GENERIC)
    txcount = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierArriveExpectTxSharedOp(ArriveExpectTx):
    """Arrives at a barrier in shared memory, and announces bytes."""

    name = "nvvm.mbarrier.arrive.expect_tx.shared"

    addr = d.operand(SHARED)
    txcount = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierExpectTxOp(NvvmOp):
    """Announces bytes without arriving."""

    name = "nvvm.mbarrier.expect_tx"
    syntax = "$addr `,` $txcount attr-dict `:` type($addr) `,` type($txcount)"

    addr = d.operand(SHARED)
    txcount = d.operand(INT32)


class MBarrierCompleteTxOp(NvvmOp):
    """Counts bytes as brought, as a copy does."""

    name = "nvvm.mbarrier.complete_tx"
    syntax = "$addr `,` $txcount attr-dict `:` type($addr) `,` type($txcount)"

    addr = d.operand(SHARED)
    txcount = d.operand(INT32)


class MBarrierArriveClusterOp(NvvmOp):
    """Arrives at a barrier of another CTA of the cluster.

    The scope `cluster` orders accesses before it, and costs a fence of the whole GPU; `cta` is
    enough to say that a buffer may be filled again.
    """

    name = "nvvm.mbarrier.arrive.shared.cluster"
    syntax = "custom<Bracketed>($scope) $addr `,` $count attr-dict `:` type($addr) `,` type($count)"

    scope = d.attribute(MEM_SCOPE)
    addr = d.operand(CLUSTER)
    count = d.operand(INT32)

    def verify(self) -> Iterator[str]:
        if self.scope not in (MemScope.CTA, MemScope.CLUSTER):
            yield f"expected the scope 'cta' or 'cluster', got '{self.scope.keyword}'"


class TestWait(NvvmOp):
    """Base of the question whether the phase of an arrival is over."""

    syntax = "$addr `,` $state attr-dict `:` type($addr) `,` type($state) `->` type($res)"


class MBarrierTestWaitOp(TestWait):
    """Asks a barrier at an address."""

    name = "nvvm.mbarrier.test.wait"

    addr = d.operand(GENERIC)
    state = d.operand(INT64)
    res = d.result(BOOL)


class MBarrierTestWaitSharedOp(TestWait):
    """Asks a barrier in shared memory."""

    name = "nvvm.mbarrier.test.wait.shared"

    addr = d.operand(SHARED)
    state = d.operand(INT64)
    res = d.result(BOOL)


class TryWaitParity(NvvmOp):
    """Base of the wait for the end of a phase, by whether its number is odd.

    With a result it waits at most about `ticks` nanoseconds and tells whether the phase is over.
    Without one it waits until it is.
    """

    syntax = (
        "$addr `,` $phase `,` $ticks attr-dict "
        "`:` type($addr) `,` type($phase) `,` type($ticks) (`->` type($res)^)?"
    )

    def verify(self) -> Iterator[str]:
        if len(self.results) > 1:
            yield f"expected at most one result, got {len(self.results)}"


class MBarrierTryWaitParityOp(TryWaitParity):
    """Waits for a barrier at an address."""

    name = "nvvm.mbarrier.try_wait.parity"

    addr = d.operand(GENERIC)
    phase = d.operand(BOOL | INT32)
    ticks = d.operand(INT32)
    res = d.results(BOOL)


class MBarrierTryWaitParitySharedOp(TryWaitParity):
    """Waits for a barrier in shared memory."""

    name = "nvvm.mbarrier.try_wait.parity.shared"

    addr = d.operand(SHARED)
    phase = d.operand(BOOL | INT32)
    ticks = d.operand(INT32)
    res = d.results(BOOL)
