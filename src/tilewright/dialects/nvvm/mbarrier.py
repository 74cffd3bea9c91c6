"""mbarriers: barriers in shared memory for threads and asynchronous copies.

The operations named `.shared` take a pointer to shared memory; the others take a generic pointer
to it.
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
    """Base of the initialization of a barrier with its arrival count."""

    syntax = (
        f"$addr `,` $count {_PREDICATE} attr-dict `:` type($addr) `,` type($count) "
        f"{_PREDICATE_TYPE}"
    )


class MBarrierInitOp(Init):
    """Initialize a barrier at a generic address."""

    name = "nvvm.mbarrier.init"

    addr = d.operand(GENERIC)
    count = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierInitSharedOp(Init):
    """Initialize a barrier in shared memory."""

    name = "nvvm.mbarrier.init.shared"

    addr = d.operand(SHARED)
    count = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierInvalOp(NvvmOp):
    """Invalidate a barrier at a generic address."""

    name = "nvvm.mbarrier.inval"
    syntax = "$addr attr-dict `:` type($addr)"

    addr = d.operand(GENERIC)


class MBarrierInvalSharedOp(NvvmOp):
    """Invalidate a barrier in shared memory."""

    name = "nvvm.mbarrier.inval.shared"
    syntax = "$addr attr-dict `:` type($addr)"

    addr = d.operand(SHARED)


class Arrive(NvvmOp):
    """Base of the arrivals; the result is a token of the phase."""

    syntax = "$addr attr-dict `:` type($addr) `->` type($res)"


class MBarrierArriveOp(Arrive):
    """Arrive at a barrier at a generic address."""

    name = "nvvm.mbarrier.arrive"

    addr = d.operand(GENERIC)
    res = d.result(INT64)


class MBarrierArriveSharedOp(Arrive):
    """Arrive at a barrier in shared memory."""

    name = "nvvm.mbarrier.arrive.shared"

    addr = d.operand(SHARED)
    res = d.result(INT64)


class ArriveNocomplete(NvvmOp):
    """Base of multiple arrivals that do not complete the phase."""

    syntax = "$addr `,` $count attr-dict `:` type($addr) `,` type($count) `->` type($res)"


class MBarrierArriveNocompleteOp(ArriveNocomplete):
    """Arrive `count` times at a barrier at a generic address."""

    name = "nvvm.mbarrier.arrive.nocomplete"

    addr = d.operand(GENERIC)
    count = d.operand(INT32)
    res = d.result(INT64)


class MBarrierArriveNocompleteSharedOp(ArriveNocomplete):
    """Arrive `count` times at a barrier in shared memory."""

    name = "nvvm.mbarrier.arrive.nocomplete.shared"

    addr = d.operand(SHARED)
    count = d.operand(INT32)
    res = d.result(INT64)


class ArriveExpectTx(NvvmOp):
    """Base of arrivals that add to the expected transaction bytes of the phase."""

    syntax = (
        f"$addr `,` $txcount {_PREDICATE} attr-dict `:` type($addr) `,` type($txcount) "
        f"{_PREDICATE_TYPE}"
    )


class MBarrierArriveExpectTxOp(ArriveExpectTx):
    """Arrive at a barrier at a generic address, and expect bytes."""

    name = "nvvm.mbarrier.arrive.expect_tx"

    addr = d.operand(GENERIC)
    txcount = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierArriveExpectTxSharedOp(ArriveExpectTx):
    """Arrive at a barrier in shared memory, and expect bytes."""

    name = "nvvm.mbarrier.arrive.expect_tx.shared"

    addr = d.operand(SHARED)
    txcount = d.operand(INT32)
    predicate = d.optional_operand(BOOL)


class MBarrierExpectTxOp(NvvmOp):
    """Expect bytes without arriving."""

    name = "nvvm.mbarrier.expect_tx"
    syntax = "$addr `,` $txcount attr-dict `:` type($addr) `,` type($txcount)"

    addr = d.operand(SHARED)
    txcount = d.operand(INT32)


class MBarrierCompleteTxOp(NvvmOp):
    """Complete bytes of the phase, as a copy does."""

    name = "nvvm.mbarrier.complete_tx"
    syntax = "$addr `,` $txcount attr-dict `:` type($addr) `,` type($txcount)"

    addr = d.operand(SHARED)
    txcount = d.operand(INT32)


class MBarrierArriveClusterOp(NvvmOp):
    """Arrive at a barrier of another CTA of the cluster.

    The scope `cluster` orders earlier accesses, at the cost of a GPU-wide fence; `cta` suffices
    to signal that a buffer can be refilled.
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
    """Base of the tests whether the phase of a token has completed."""

    syntax = "$addr `,` $state attr-dict `:` type($addr) `,` type($state) `->` type($res)"


class MBarrierTestWaitOp(TestWait):
    """Test a barrier at a generic address."""

    name = "nvvm.mbarrier.test.wait"

    addr = d.operand(GENERIC)
    state = d.operand(INT64)
    res = d.result(BOOL)


class MBarrierTestWaitSharedOp(TestWait):
    """Test a barrier in shared memory."""

    name = "nvvm.mbarrier.test.wait.shared"

    addr = d.operand(SHARED)
    state = d.operand(INT64)
    res = d.result(BOOL)


class TryWaitParity(NvvmOp):
    """Base of the waits for the phase of a parity.

    With a result it waits at most about `ticks` nanoseconds and returns whether the phase has
    completed. Without one it waits until it has.
    """

    syntax = (
        "$addr `,` $phase `,` $ticks attr-dict "
        "`:` type($addr) `,` type($phase) `,` type($ticks) (`->` type($res)^)?"
    )

    def verify(self) -> Iterator[str]:
        if len(self.results) > 1:
            yield f"expected at most one result, got {len(self.results)}"


class MBarrierTryWaitParityOp(TryWaitParity):
    """Wait for a barrier at a generic address."""

    name = "nvvm.mbarrier.try_wait.parity"

    addr = d.operand(GENERIC)
    phase = d.operand(BOOL | INT32)
    ticks = d.operand(INT32)
    res = d.results(BOOL)


class MBarrierTryWaitParitySharedOp(TryWaitParity):
    """Wait for a barrier in shared memory."""

    name = "nvvm.mbarrier.try_wait.parity.shared"

    addr = d.operand(SHARED)
    phase = d.operand(BOOL | INT32)
    ticks = d.operand(INT32)
    res = d.results(BOOL)
