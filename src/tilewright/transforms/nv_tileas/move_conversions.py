"""Layout conversions, where they exchange least: before stores, and at the loads of a loop.

A coalesced store spreads the rows of a tile over all warps; a warp of a dot holds some rows of
the accumulators. If each warp stores its own rows, the conversion between both layouts exchanges
data within warps alone: it needs no barrier, and warpgroups that do not wait for each other store
while others multiply. The conversion is the last operation before the store, where elements are
narrow already. Between warps, a large tile is exchanged in pieces that some warps hold alone: all
registers of the source stay live beside those of the result. Within warps, both shrink and grow
piece by piece. An atomic operation on a tile of a view returns no tile: it is a store of single
elements.

A pipelined load is read from its stage in any layout at no extra cost. So where element-wise
operations lie between a load and a dot, it is the loaded tile that takes the layout of the dot, and
the operations follow in that layout: nothing passes through shared memory a second time. Where a
stage cannot be read in that layout, such as int8 that is contiguous along N for fragments along K,
each warp reads the rows that its fragments are of: then no data is exchanged between warps.
A tile of indices that such a load takes is small: each thread loads those that it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import instructions, is_elementwise, is_tile
from tilewright.analysis.targets import target_of
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.memory import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tilewright.dialects.nv_tileas.shape import (
    ConvertLayoutOp,
    ExpandDimsOp,
    MakeRangeOp,
    PermuteOp,
    Rearrangement,
    SplatOp,
    ViewOp,
)
from tilewright.dialects.nv_tileas.types import register_bytes, stored_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.layout.linear import LANE, REGISTER, WARP
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.warp_loads import warp_loads
from tilewright.layout.warp_stores import warp_stores
from tilewright.schedule.limits import (
    ASSUMED_TRIPS,
    HOISTED_GAIN,
    HOISTED_WORK,
    INDEX_SHARE,
    LEAST_STAGES,
)
from tilewright.transforms.generic.dce import erase_with_sources
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.address_ops import find_address_ops, find_index_loads
from tilewright.transforms.nv_tileas.pipelined_loads import can_read_as, pipelined_loads
from tilewright.transforms.nv_tileas.stage_reads import led_on

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad

SOURCES: Final = (ConstantOp, SplatOp, MakeRangeOp)
"""Operations that are free to compute in any layout."""


class MoveConversions(KernelPass):
    """Convert layouts before stores, within warps, and of loaded tiles, not of what follows.

    Each warp stores the elements that it holds, where it holds whole lines of memory. In loops, it
    is loaded tiles that are converted instead of element-wise results, unless accesses have to stay
    with what checks them.
    """

    name = "move-conversions"
    change = Change.IMPROVE

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for convert in [inner for inner in function.walk() if isinstance(inner, ConvertLayoutOp)]:
            _localize_store(convert)
        arch = target_of(function)
        if arch is None or not function.allows(Change.REORDER):
            return
        for loop in [inner for inner in function.walk() if isinstance(inner, ForOp)]:
            loads = pipelined_loads(loop)
            bytes = sum(stored_bytes(load.results[0].type) for load in loads)
            if 0 < LEAST_STAGES * bytes <= arch.static_shared:
                _hoist_in(loop, loads, arch)


def _localize_store(convert: ConvertLayoutOp) -> None:
    """Let each warp store the elements that it holds, if a conversion leads to a store alone."""
    stored = None if in_shared_memory(convert.result) else _stored_tile(convert)
    if stored is None or _exchange(convert.source, layout_of(convert.result)) is not Move.SHARED:
        return
    layout = _local_layout(stored)
    if layout is not None or stored.is_narrowed:
        _convert_last(stored, layout or layout_of(stored.store.tile))


def _exchange(tile: Value, layout: Layout) -> Move:
    """How threads exchange data to convert a tile to a layout."""
    return transfer(layout_of(tile), layout).move


class StoredTile(NamedTuple):
    """A converted tile that is only stored, after operations that take any layout."""

    convert: ConvertLayoutOp
    ops: Sequence[Rearrangement | ConversionOp]
    store: TiledStoreOp | TiledAtomicRmwOp

    @property
    def is_narrowed(self) -> bool:
        """Whether its elements are narrower when it is stored."""
        converted, stored = self.convert.result.type, self.store.tile.type
        return register_bytes(element_of(stored)) < register_bytes(element_of(converted))


def _stored_tile(convert: ConvertLayoutOp) -> StoredTile | None:
    """The store of a converted tile, if it has no other use."""
    ops: list[Rearrangement | ConversionOp] = []
    tile = convert.result
    while tile.has_one_use:
        user = next(iter(tile.users))
        if isinstance(user, TiledStoreOp | TiledAtomicRmwOp):
            return StoredTile(convert, ops, user)
        if not isinstance(user, ViewOp | ExpandDimsOp | PermuteOp | ConversionOp):
            return None
        ops.append(user)
        tile = user.results[0]
    return None


def _local_layout(stored: StoredTile) -> Layout | None:
    """The layout of the store in which no element leaves its warp; None if there is none."""
    layout, store = layout_of(stored.convert.source), stored.store
    for op in stored.ops:
        layout = led_on(op, layout) if isinstance(op, Rearrangement) else layout
    bytes = register_bytes(element_of(store.tile.type))
    vector = store.vector if isinstance(store, TiledStoreOp) else 1
    return warp_stores(layout, layout_of(store.tile), vector, bytes)


def _convert_last(stored: StoredTile, layout: Layout) -> None:
    """Convert a tile to the layout of its store right before it."""
    tile = stored.convert.source
    for op in stored.ops:
        own = layout_of(tile)
        own = led_on(op, own) if isinstance(op, Rearrangement) else own
        made = op.like([tile], [laid_out(element_of(op.results[0].type), own)])
        made.insert_before(op)
        tile = made.results[0]
    type = laid_out(element_of(tile.type), layout)
    last = stored.convert.like([tile], [type])
    last.insert_before(stored.store)
    stored.store.replace_operand(stored.store.tile, last.results[0])
    for op in reversed((stored.convert, *stored.ops)):
        op.erase()


def _hoist_in(loop: ForOp, loads: Sequence[TileLoad], arch: Arch) -> None:
    """Hoist the conversions in a loop to its loads."""
    indices = _index_tiles(loop, loads)
    others = [load for load in loads if load.results[0] not in indices]
    tiles: dict[Value, TileLoad] = {load.results[0]: load for load in others}
    for op in list(loop.body.block):
        if isinstance(op, ConvertLayoutOp) and not in_shared_memory(op.result):
            _Hoist(loop, tiles, indices, op, arch).run()


def _index_tiles(loop: ForOp, loads: Sequence[TileLoad]) -> dict[Value, TiledLoadOp]:
    """The tiles of indices that other tiles are loaded with."""
    address_ops = {load: find_address_ops(load, loop) or [] for load in loads}
    indices = [each for load in loads for each in find_index_loads(load, address_ops[load])]
    return {each.tile: each for each in indices if isinstance(each, TiledLoadOp)}


class _Hoist:
    """One conversion, and what it would take to hoist it."""

    def __init__(
        self,
        loop: ForOp,
        loads: Mapping[Value, TileLoad],
        indices: Mapping[Value, TiledLoadOp],
        convert: ConvertLayoutOp,
        arch: Arch,
    ) -> None:
        self._loop, self._loads, self._indices, self._arch = loop, loads, indices, arch
        self._convert = convert
        self._counted: set[tuple[Value, Layout]] = set()
        self._made: dict[tuple[Value, Layout], Value] = {}
        self._reached = self._reached_index = False
        self._work = 0
        """The instructions for an element, of all operations that follow the conversion."""

    def run(self) -> None:
        """Hoist the conversion if it reaches a load, and far fewer bytes are exchanged then.

        Indices are loaded by every thread that needs them, so that no barrier delays the copies.
        """
        convert = self._convert
        source, layout = convert.source, layout_of(convert.result)
        if source in self._loads or _exchange(source, layout) < Move.SHARED:
            return
        if not self._is_gain(layout):
            within = warp_loads(layout, layout_of(source), pointee_bytes(element_of(source.type)))
            if within is None or not self._is_gain(within) or not self._reached:
                return
            # Each warp reads what it needs from the stage, and exchanges it without a barrier.
            convert.set_operand(0, self._in_layout(source, within))
            before = source.defining_op()
            if before is not None and not source.is_used:
                erase_with_sources(before)
            return
        # Several threads have an element in the new layout, and all of them compute it.
        registers = layout.extent(REGISTER) * layout.extent(LANE) * layout.extent(WARP)
        if self._reached and self._work * (registers // layout.size - 1) > HOISTED_WORK:
            return
        convert.result.replace_all_uses_with(self._in_layout(source, layout))
        erase_with_sources(convert, also=(TiledLoadOp,))

    def _is_gain(self, layout: Layout) -> bool:
        """Whether the conversion to a layout reaches a load, and saves most of the exchange."""
        self._reached, self._reached_index, self._work = False, False, 0
        self._counted.clear()
        source = self._convert.source
        bytes = self._exchanged_bytes(source, layout)
        is_reached = self._reached or self._reached_index
        return is_reached and HOISTED_GAIN * bytes <= stored_bytes(source.type)

    def _follows(self, value: Value) -> bool:
        """Whether a tile is recomputed in another layout, without being computed twice.

        Before the loop, shape operations are: they cost nothing, but convert fewer bytes.
        """
        op = value.defining_op()
        if op is None or len(op.results) != 1:
            return False
        if not value.is_inside(self._loop):
            return isinstance(op, Rearrangement)
        if op.parent is not self._loop.body.block:
            return False
        if isinstance(op, Rearrangement):
            return True
        return is_elementwise(op) and len(list(value.users)) == 1

    def _exchanged_bytes(self, value: Value, layout: Layout) -> int:
        """The bytes that are exchanged between threads so that a value has a layout.

        A value with several uses counts once: it is converted once.
        """
        op = value.defining_op()
        if not is_tile(value) or isinstance(op, SOURCES) or (value, layout) in self._counted:
            return 0
        self._counted.add((value, layout))
        load = self._loads.get(value)
        if load is not None and can_read_as(load, layout):
            self._reached = True
            return 0
        if value in self._indices and layout.extent(REGISTER) <= INDEX_SHARE:
            self._reached_index = True
            return 0
        if isinstance(op, ConvertLayoutOp) and layout_of(op.source) == layout:
            return 0
        if op is None or not self._follows(value):
            is_exchanged = _exchange(value, layout) >= Move.SHARED
            bytes = stored_bytes(value.type) if is_exchanged else 0
            return bytes if value.is_inside(self._loop) else bytes // ASSUMED_TRIPS
        if isinstance(op, Rearrangement):
            return self._exchanged_bytes(op.source, op.led_back(layout))
        self._work += instructions(op, self._arch)
        return sum(self._exchanged_bytes(operand, layout) for operand in op.operands)

    def _in_layout(self, value: Value, layout: Layout) -> Value:
        """A value in a layout: computed in it as far as operations follow, else converted."""
        if not is_tile(value) or layout_of(value) == layout:
            return value
        made = self._made.get((value, layout))
        if made is None:
            made = self._made[value, layout] = self._make(value, layout)
        return made

    def _make(self, value: Value, layout: Layout) -> Value:
        op, type = value.defining_op(), laid_out(element_of(value.type), layout)
        user = self._convert if value.is_inside(self._loop) else self._loop
        build = Builder(InsertPoint.before(user), self._convert.location)
        if isinstance(op, ConstantOp) and isinstance(op.value, DenseElementsAttr):
            dense = DenseElementsAttr(op.value.data, type)
            return build.create(ConstantOp, value=dense, types=[type]).result
        if value in self._indices and layout.extent(REGISTER) <= INDEX_SHARE:
            return build.insert(_loaded_as(self._indices[value], type)).tile
        if isinstance(op, ConvertLayoutOp) and layout_of(op.source) == layout:
            return op.source
        if op is None or not (isinstance(op, SOURCES) or self._follows(value)):
            return build.create(ConvertLayoutOp, source=value, types=[type]).result
        if isinstance(op, Rearrangement):
            operands = [self._in_layout(op.source, op.led_back(layout).distinct_registers())]
        else:
            operands = [self._in_layout(operand, layout) for operand in op.operands]
        return build.insert(op.like(operands, [type])).results[0]


def _loaded_as(load: TiledLoadOp, type: Type) -> TiledLoadOp:
    """A load of the same tile in another layout."""
    other = load.like(load.operands, [type, load.result_token.type])
    other.vector, other.partial = 1, False
    return other
