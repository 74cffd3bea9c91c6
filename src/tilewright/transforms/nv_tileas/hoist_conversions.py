"""Hoisting of layout conversions over element-wise operations, to the loads of a loop.

A pipelined load is read from its stage in any layout at no extra cost. So where element-wise
operations lie between a load and a dot, it is the loaded tile that takes the layout of the dot, and
the operations follow in that layout: nothing passes through shared memory a second time. Where a
stage cannot be read in that layout, such as int8 that is contiguous along N for fragments along K,
each warp reads the rows that its fragments are of: then no data is exchanged between warps.

A tile of indices that such a load takes is small: each thread loads those that it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import instructions, is_elementwise, is_tile
from tilewright.analysis.targets import target_of
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.shape import (
    ConvertLayoutOp,
    MakeRangeOp,
    Rearrangement,
    SplatOp,
)
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.layout.linear import LANE, REGISTER, WARP
from tilewright.layout.transfer import Move, transfer
from tilewright.layout.warp_loads import warp_loads
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

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad

SOURCES: Final = (ConstantOp, SplatOp, MakeRangeOp)
"""Operations that are free to compute in any layout."""


class HoistConversions(KernelPass):
    """Convert the layout of loaded tiles instead of that of element-wise results."""

    name = "hoist-conversions"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        arch = target_of(function)
        for loop in [inner for inner in function.walk() if isinstance(inner, ForOp)]:
            loads = pipelined_loads(loop)
            bytes = sum(stored_bytes(load.results[0].type) for load in loads)
            if arch is not None and 0 < LEAST_STAGES * bytes <= arch.static_shared:
                _hoist_in(loop, loads, arch)


def _hoist_in(loop: ForOp, loads: list[TileLoad], arch: Arch) -> None:
    indices = _index_tiles(loop, loads)
    for op in list(loop.body.block):
        if isinstance(op, ConvertLayoutOp) and not in_shared_memory(op.result):
            _Hoist(loop, loads, indices, op, arch).run()


def _index_tiles(loop: ForOp, loads: list[TileLoad]) -> dict[Value, TiledLoadOp]:
    """The tiles of indices that other tiles are loaded with."""
    address_ops = {load: find_address_ops(load, loop) or [] for load in loads}
    indices = [each for load in loads for each in find_index_loads(load, address_ops[load])]
    return {each.tile: each for each in indices if isinstance(each, TiledLoadOp)}


class _Hoist:
    """One conversion, and what it would take to hoist it."""

    __slots__ = (
        "_arch",
        "_build",
        "_convert",
        "_counted",
        "_indices",
        "_loads",
        "_loop",
        "_made",
        "_reached",
        "_reached_index",
        "_work",
    )

    def __init__(
        self,
        loop: ForOp,
        loads: list[TileLoad],
        indices: dict[Value, TiledLoadOp],
        convert: ConvertLayoutOp,
        arch: Arch,
    ) -> None:
        self._loop, self._indices, self._arch = loop, indices, arch
        self._loads: dict[Value, TileLoad] = {
            load.results[0]: load for load in loads if load.results[0] not in indices
        }
        self._convert = convert
        self._build = Builder(InsertPoint.before(convert), convert.location)
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
        if source in self._loads or transfer(layout_of(source), layout).move < Move.SHARED:
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
            exchanged = transfer(layout_of(value), layout).move >= Move.SHARED
            bytes = stored_bytes(value.type) if exchanged else 0
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
        build = self._build
        if not value.is_inside(self._loop):
            build = Builder(InsertPoint.before(self._loop), self._convert.location)
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
