"""nvgpu's mbarriers to NVVM, in the shared address space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import offset_address
from tilewright.conversion.nvgpu_to_nvvm.numbers import resized
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.llvm.types import ArrayType
from tilewright.dialects.nvgpu import mbarrier
from tilewright.dialects.nvgpu.types import MBarrierGroupType
from tilewright.dialects.nvvm import mbarrier as nvvm
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32, I64

if TYPE_CHECKING:
    from tilewright.ir.values import Value

ALIGNMENT: Final = 8
STORAGE: Final = "mbar_storage"


def barrier_address(barriers: Value, number: Value, build: ConversionBuilder) -> Value:
    """Compute the address of one barrier of a group."""
    return offset_address(barriers, number, I64, build)


@converts(mbarrier.MBarrierCreateOp)
def create(
    op: mbarrier.MBarrierCreateOp, new: mbarrier.MBarrierCreateOp, build: ConversionBuilder
) -> Result:
    """Allocate a group of barriers as a shared global."""
    group = op.barriers.type
    assert isinstance(group, MBarrierGroupType)
    storage = ArrayType(group.num_barriers, I64)
    return Symbols(op, build).shared(STORAGE, storage, ALIGNMENT)


@converts(mbarrier.MBarrierInitOp)
def init(
    op: mbarrier.MBarrierInitOp, new: mbarrier.MBarrierInitOp, build: ConversionBuilder
) -> Result:
    """Lower to `mbarrier.init` with the expected arrival count."""
    return build.create(
        nvvm.MBarrierInitSharedOp,
        addr=barrier_address(new.barriers, new.mbar_id, build),
        count=resized(build, new.count, I32),
        predicate=new.predicate,
    )


@converts(mbarrier.MBarrierArriveOp)
def arrive(
    op: mbarrier.MBarrierArriveOp, new: mbarrier.MBarrierArriveOp, build: ConversionBuilder
) -> Result:
    """Lower to `mbarrier.arrive`."""
    address = barrier_address(new.barriers, new.mbar_id, build)
    return build.create(nvvm.MBarrierArriveSharedOp, addr=address)


@converts(mbarrier.MBarrierArriveNoCompleteOp)
def arrive_no_complete(
    op: mbarrier.MBarrierArriveNoCompleteOp,
    new: mbarrier.MBarrierArriveNoCompleteOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to `mbarrier.arrive.noComplete`."""
    return build.create(
        nvvm.MBarrierArriveNocompleteSharedOp,
        addr=barrier_address(new.barriers, new.mbar_id, build),
        count=resized(build, new.count, I32),
    )


@converts(mbarrier.MBarrierArriveExpectTxOp)
def arrive_expect_tx(
    op: mbarrier.MBarrierArriveExpectTxOp,
    new: mbarrier.MBarrierArriveExpectTxOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to `mbarrier.arrive.expect_tx`."""
    return build.create(
        nvvm.MBarrierArriveExpectTxSharedOp,
        addr=barrier_address(new.barriers, new.mbar_id, build),
        txcount=resized(build, new.txcount, I32),
        predicate=new.predicate,
    )


@converts(mbarrier.MBarrierTestWaitOp)
def test_wait(
    op: mbarrier.MBarrierTestWaitOp, new: mbarrier.MBarrierTestWaitOp, build: ConversionBuilder
) -> Result:
    """Lower to `mbarrier.test_wait`."""
    return build.create(
        nvvm.MBarrierTestWaitSharedOp,
        addr=barrier_address(new.barriers, new.mbar_id, build),
        state=new.token,
    )


@converts(mbarrier.MBarrierTryWaitParityOp)
def try_wait_parity(
    op: mbarrier.MBarrierTryWaitParityOp,
    new: mbarrier.MBarrierTryWaitParityOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to `mbarrier.try_wait.parity`; without a result to a loop until it succeeds."""
    return build.create(
        nvvm.MBarrierTryWaitParitySharedOp,
        addr=barrier_address(new.barriers, new.mbar_id, build),
        phase=new.phase_parity,
        ticks=resized(build, new.ticks, I32),
        types=[result.type for result in op.results],
    )


PATTERNS: Final[Patterns] = (
    create,
    init,
    arrive,
    arrive_no_complete,
    arrive_expect_tx,
    test_wait,
    try_wait_parity,
)
