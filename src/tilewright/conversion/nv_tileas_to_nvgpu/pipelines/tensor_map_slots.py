"""Slots in global memory for the tensor maps of a block.

There are more slots than blocks that run at the same time on most GPUs. The SM number is a hint for
one that is likely to be free; the search continues from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.context import TensorMapSlot
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import add, as_value, constant
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import as_index, index_constant
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_elected_lane, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    broadcast_first_lane,
    enclosing_function,
    is_first_thread,
)
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.integer import AndIOp, RemUIOp, XOrIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.cute_nvgpu.tensormap import SlotAcquireOp, SlotReleaseOp
from tilewright.dialects.cute_nvgpu.threads import NanosleepOp, SmIdOp, WarpSyncOp
from tilewright.dialects.memref.allocation import GetGlobalOp, GlobalOp
from tilewright.dialects.scf import ConditionOp, IfOp, WhileOp, YieldOp
from tilewright.ir.attributes import DenseElementsAttr, IntegerAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.types import I1, I32, I64, MemRefType, TensorType
from tilewright.plans.allocations import TENSOR_MAP_BYTES
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp, ReleaseTensorMapsOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

GLOBAL_SPACE: Final = IntegerAttr(1, I64)
SLOTS: Final = 256
"""Slots of a kernel."""
MAP_WORDS: Final = TENSOR_MAP_BYTES // REGISTER_BYTES
"""Words of a map; the lock of a slot takes as many."""
SEARCH_NANOSECONDS: Final = 32
"""For how long a warp sleeps between attempts to acquire a slot."""


class SlotSearch:
    """A warp that acquires a slot for the maps of an operation.

    The first attempt is made at once, and its result is needed only by `slot`: meanwhile the warp
    encodes the maps.
    """

    __slots__ = ("_acquired", "_build", "_hint", "_is_first", "_lock", "_slots")

    def __init__(self, op: CreateTensorMapsOp, build: ConversionBuilder) -> None:
        self._build = build
        self._is_first = is_first_thread(op, build)
        self._slots = _slots(op, build)
        self._lock = lock_index(build, len(op.maps))
        sm = build.create(SmIdOp).result
        self._hint = build.create(RemUIOp, lhs=sm, rhs=constant(build, SLOTS)).result
        self._acquired = self._first_attempt()

    def slot(self) -> TensorMapSlot:
        """The slot that was acquired."""
        number = self._search()
        self._build.create(WarpSyncOp)
        own = broadcast_first_lane(self._build, number)
        return TensorMapSlot(self._slots, as_index(self._build, own))

    def _acquire(self, slot: Value) -> Value:
        indices = [as_index(self._build, slot), self._lock]
        return self._build.create(SlotAcquireOp, locks=self._slots, indices=indices, users=1).result

    def _first_attempt(self) -> Value:
        """Try to acquire the slot of the hint; true in the other lanes."""
        build, then, other = self._build, Block(), Block()
        attempt = build.create(
            IfOp, condition=self._is_first, then_region=then, else_region=other, types=[I1]
        )
        with build.at(InsertPoint.at_end(then)):
            build.create(YieldOp, values=[self._acquire(self._hint)])
        with build.at(InsertPoint.at_end(other)):
            build.create(YieldOp, values=[constant(build, 1, I1)])
        return attempt.results[0]

    def _search(self) -> Value:
        """The slot of the first lane: that of the hint, or the next one that it can acquire."""
        build, then, other = self._build, Block(), Block()
        missed = _negated(build, self._acquired)
        searches = build.create(AndIOp, lhs=self._is_first, rhs=missed).result
        search = build.create(
            IfOp, condition=searches, then_region=then, else_region=other, types=[I32]
        )
        with build.at(InsertPoint.at_end(then)):
            before, after = Block([I32]), Block([I32])
            init = [self._hint]
            loop = build.create(WhileOp, init_args=init, before=before, after=after, types=[I32])
            build.create(YieldOp, values=[loop.results[0]])
        with build.at(InsertPoint.at_end(before)):
            slot = _next(build, before.args[0])
            again = _negated(build, self._acquire(slot))
            with predicated(build, again):
                build.create(NanosleepOp, duration=constant(build, SEARCH_NANOSECONDS))
            build.create(ConditionOp, condition=again, values=[slot])
        with build.at(InsertPoint.at_end(after)):
            build.create(YieldOp, values=[after.args[0]])
        with build.at(InsertPoint.at_end(other)):
            build.create(YieldOp, values=[self._hint])
        return search.results[0]


def release_slot(op: ReleaseTensorMapsOp, build: ConversionBuilder, slot: TensorMapSlot) -> None:
    """Let other blocks acquire the slot."""
    # The lane that releases it acts for all: the others, too, have waited for the copies.
    build.create(WarpSyncOp)
    with predicated(build, is_elected_lane(op, build)):
        lock = lock_index(build, len(op.maps))
        build.create(SlotReleaseOp, locks=slot.slots, indices=[slot.number, lock])


def lock_index(build: ConversionBuilder, maps: int) -> Value:
    """The index of the lock in a slot."""
    return index_constant(build, maps * MAP_WORDS)


def _slots(op: CreateTensorMapsOp, build: ConversionBuilder) -> Value:
    """A global variable: each slot has the words of all maps, and after them those of its lock.

    Every creation has slots of its own: a block that waits for one has none that another block
    waits for.
    """
    type = MemRefType((SLOTS, (len(op.maps) + 1) * MAP_WORDS), I32, None, GLOBAL_SPACE)
    zeros = literal([0], TensorType(type.shape or (), I32))
    assert isinstance(zeros, DenseElementsAttr)
    symbols = Symbols(op, build)
    name = symbols.free_name(f"{enclosing_function(op).sym_name}_tensor_maps")
    with build.at(symbols.start):
        build.create(
            GlobalOp,
            sym_name=name,
            sym_visibility="private",
            type=type,
            initial_value=zeros,
            alignment=TENSOR_MAP_BYTES,
        )
    return build.create(GetGlobalOp, symbol=name, types=[type]).result


def _next(build: ConversionBuilder, slot: Value) -> Value:
    """The slot after another one; after the last, the first."""
    following, end = as_value(build, add(build, slot, 1)), constant(build, SLOTS)
    wraps = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=following, rhs=end).result
    first = constant(build, 0)
    return build.create(SelectOp, condition=wraps, true_value=first, false_value=following).result


def _negated(build: ConversionBuilder, condition: Value) -> Value:
    return build.create(XOrIOp, lhs=condition, rhs=constant(build, 1, I1)).result
