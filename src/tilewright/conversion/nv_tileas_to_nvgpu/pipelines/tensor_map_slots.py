"""Slots in global memory for the tensor maps of a block.

There are more slots than blocks that run at the same time on most GPUs. The SM number is a hint for
one that is likely to be free; the search continues from there. A slot keeps its maps, and their
key, when it is released.

The lock orders all of it. What a block writes to its slot, by any lane, precedes the release by one
lane, since the warp synchronizes in between; the next user acquires the lock, and then reads the
key by plain loads of the lane that acquired it. Other lanes may use the maps after another
synchronization of the warp, each after a fence of the tensormap proxy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.context import TensorMapSlot
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    add,
    as_index,
    as_value,
    constant,
    index_constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.tensor_map_keys import (
    VECTOR_WORDS,
    TensorMapKey,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import elected_after_all, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.threads import (
    broadcast_first_lane,
    enclosing_function,
    is_first_thread,
)
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.integer import RemUIOp, XOrIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.cute_nvgpu.tensormap import SlotAcquireOp, SlotReleaseOp
from tilewright.dialects.cute_nvgpu.threads import NanosleepOp, SmIdOp, WarpSyncOp
from tilewright.dialects.memref.allocation import GetGlobalOp, GlobalOp
from tilewright.dialects.scf import ConditionOp, IfOp, WhileOp, YieldOp
from tilewright.ir.attributes import DenseElementsAttr, IntegerAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.types import I1, I32, I64, MemRefType, TensorType
from tilewright.plans.allocations import aligned
from tilewright.support.tensor_map_parameters import MAP_BYTES
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileas.tensor_map import CreateTensorMapsOp, ReleaseTensorMapsOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

GLOBAL_SPACE: Final = IntegerAttr(1, I64)
SLOTS: Final = 1024
"""Slots of a kernel: more than it has resident blocks, so that none waits for another to end."""
SLOTS_OF_SM: Final = 4
"""Slots from the hint of an SM to that of the next."""
MAP_WORDS: Final = MAP_BYTES // REGISTER_BYTES
"""Words of a map; a slot starts at a multiple of them."""
LOCK_WORDS: Final = VECTOR_WORDS
"""Words of the lock, of which the first is used: the key after it is aligned."""
SEARCH_NANOSECONDS: Final = 32
"""For how long a warp sleeps between attempts to acquire a slot."""


class AcquiredSlot(NamedTuple):
    """A slot that a warp has acquired."""

    slot: TensorMapSlot
    is_current: Value
    """Whether the maps in the slot are those of the key."""


def acquire_slot(
    op: CreateTensorMapsOp, build: ConversionBuilder, key: TensorMapKey
) -> AcquiredSlot:
    """Let a warp acquire a slot for the maps of an operation."""
    slots, then, other = _slots(op, build, len(key)), Block(), Block()
    attempt = build.create(
        IfOp,
        condition=is_first_thread(op, build),
        then_region=then,
        else_region=other,
        types=[I32, I1],
    )
    with build.at(InsertPoint.at_end(then)):
        number = _search(build, slots, lock_index(build, len(op.maps)))
        slot = TensorMapSlot(slots, as_index(build, number))
        matches = key.matches(slot, _key_start(len(op.maps)))
        build.create(YieldOp, values=[number, matches])
    with build.at(InsertPoint.at_end(other)):
        build.create(YieldOp, values=[constant(build, 0), constant(build, 0, I1)])
    build.create(WarpSyncOp)
    number, matches = (broadcast_first_lane(build, result) for result in attempt.results)
    return AcquiredSlot(TensorMapSlot(slots, as_index(build, number)), matches)


def _search(build: ConversionBuilder, slots: Value, lock: Value) -> Value:
    """Acquire the slot of the hint, or the next one that is free; returns its number."""
    sm = build.create(SmIdOp).result
    own = as_value(build, multiply(build, sm, SLOTS_OF_SM))
    hint = build.create(RemUIOp, lhs=own, rhs=constant(build, SLOTS)).result
    before, after = Block([I32]), Block([I32])
    loop = build.create(WhileOp, init_args=[hint], before=before, after=after, types=[I32])
    with build.at(InsertPoint.at_end(before)):
        indices = [as_index(build, before.args[0]), lock]
        acquired = build.create(SlotAcquireOp, locks=slots, indices=indices, users=1).result
        missed = build.create(XOrIOp, lhs=acquired, rhs=constant(build, 1, I1)).result
        build.create(ConditionOp, condition=missed, values=[before.args[0]])
    with build.at(InsertPoint.at_end(after)):
        build.create(NanosleepOp, duration=constant(build, SEARCH_NANOSECONDS))
        build.create(YieldOp, values=[_next(build, after.args[0])])
    return loop.results[0]


def store_key(
    op: CreateTensorMapsOp, build: ConversionBuilder, slot: TensorMapSlot, key: TensorMapKey
) -> None:
    """Let a slot keep the key of its maps; one lane does."""
    with predicated(build, is_first_thread(op, build)):
        key.store(slot, _key_start(len(op.maps)))


def release_slot(op: ReleaseTensorMapsOp, build: ConversionBuilder, slot: TensorMapSlot) -> None:
    """Let other blocks acquire the slot."""
    # The lane that releases it acts for all: the others, too, have waited for the copies, and the
    # one that stored the key has done so.
    with elected_after_all(op, build):
        lock = lock_index(build, len(op.maps))
        build.create(SlotReleaseOp, locks=slot.slots, indices=[slot.number, lock])


def lock_index(build: ConversionBuilder, maps: int) -> Value:
    """The index of the lock in a slot."""
    return index_constant(build, maps * MAP_WORDS)


def _key_start(maps: int) -> int:
    """The index of the first word of the key in a slot."""
    return maps * MAP_WORDS + LOCK_WORDS


def _slots(op: CreateTensorMapsOp, build: ConversionBuilder, key_words: int) -> Value:
    """A global variable: each slot has the words of all maps, then its lock, then its key.

    Every creation has slots of its own: a block that waits for one has none that another block
    waits for.
    """
    words = aligned(_key_start(len(op.maps)) + key_words, MAP_WORDS)
    type = MemRefType((SLOTS, words), I32, None, GLOBAL_SPACE)
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
            alignment=MAP_BYTES,
        )
    return build.create(GetGlobalOp, symbol=name, types=[type]).result


def _next(build: ConversionBuilder, slot: Value) -> Value:
    """The slot after another one; after the last, the first."""
    following, end = as_value(build, add(build, slot, 1)), constant(build, SLOTS)
    wraps = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=following, rhs=end).result
    first = constant(build, 0)
    return build.create(SelectOp, condition=wraps, true_value=first, false_value=following).result
