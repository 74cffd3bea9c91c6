"""Which stores TMA can execute: of tiles of a view, of which each warp holds whole boxes.

An atomic access to a view that returns nothing is a store here: TMA reduces into memory, too.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tilewright.analysis.alias import Aliases
from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.tensor_divisors import TensorDivisors
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.memory import AccessOp, FenceAliasOp, LoadOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, tiled_view
from tilewright.dialects.nv_tileas.async_store import REDUCTIONS, store_map_type, stored_boxes
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, STORE_STAGES
from tilewright.dialects.nv_tileas.attributes import CopyEngine, Residency, layout_of
from tilewright.dialects.nv_tileas.memory import TiledAtomicRmwOp, TiledStoreOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.tensor_map import MAX_MAPS, boxes_of, tile_order
from tilewright.dialects.nv_tileas.types import SLOT_BYTES, BufferType
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.effects import is_effect_free
from tilewright.ir.types import DYNAMIC, I32
from tilewright.layout.linear import WARP
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.plans.tensor_maps import limit_problem
from tilewright.support.tensor_map_parameters import MAP_BYTES
from tilewright.target.engines import TMA
from tilewright.transforms.nv_tileas.global_accesses import depends_on
from tilewright.transforms.nv_tileas.tma_loads import view_ops

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileas.types import TensorMapType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class StoreBoxes(NamedTuple):
    """How TMA stores a tile."""

    tile: Value
    """The tile in the layout in which warps hold boxes, not converted to that of a store."""
    map: TensorMapType
    per_warp: int
    """Boxes of each warp."""

    def buffer(self, stages: int) -> BufferType:
        """The shared memory of some stages for each warp, at most one for each of its boxes."""
        extents, element = boxes_of(self.map).extents, element_of(self.tile.type)
        stages = layout_of(self.tile).extent(WARP) * min(stages, self.per_warp)
        return BufferType(Residency.SHARED, stages, extents, element)


Store: TypeAlias = TiledStoreOp | TiledAtomicRmwOp
"""A store, or a reduction into a view."""


def store_boxes(store: Store) -> StoreBoxes:
    """The boxes of a store; `NoBoxes` says why there are none."""
    convert, view = converted_tile(store), tiled_view(store.view)
    tile = store.tile if convert is None else convert.source
    layout = layout_of(tile)
    return StoreBoxes(tile, store_map_type(layout, view), stored_boxes(layout, view).per_warp)


def converted_tile(store: Store) -> ConvertLayoutOp | None:
    """The layout conversion that precedes a store, which TMA does not need."""
    return store.tile.defined_by(ConvertLayoutOp)


class TmaStores:
    """The stores of a function that TMA can execute, and why it cannot execute the others."""

    def __init__(self, function: FuncOp, *, all_stores: bool = True) -> None:
        self._function = function
        self._accesses = [op for op in function.walk() if isinstance(op, AccessOp)]
        self.boxes: dict[Store, StoreBoxes] = {}
        self.problems: dict[Store, str] = {}
        self.stages = 1
        """The boxes that each warp stages at a time, if it has as many."""
        for op in self._accesses:
            if isinstance(op, TiledStoreOp | TiledAtomicRmwOp) and (all_stores or _pays(op)):
                self._check(op)
        self._drop_late_stores()
        if len(self._maps()) > MAX_MAPS:
            self.refuse(f"there are more than {MAX_MAPS} tensor maps")

    # Few functions have a store that TMA could execute otherwise.
    @cached_property
    def _facts(self) -> AxisFacts:
        return AxisFacts(self._function)

    @cached_property
    def _aliases(self) -> Aliases:
        return Aliases(self._function)

    def _maps(self) -> set[tuple[Value, TensorMapType]]:
        return {(store.view, boxes.map) for store, boxes in self.boxes.items()}

    def bytes(self, stages: int) -> int:
        """The shared memory of all stores, with some stages for each warp, and of their maps.

        Stores of equal tiles share it.
        """
        buffers = {boxes.map.tile: boxes.buffer(stages) for boxes in self.boxes.values()}
        maps = len(self._maps()) * (MAP_BYTES + SLOT_BYTES)
        return sum(each.stages * each.stage_bytes for each in buffers.values()) + maps

    def conversions(self) -> set[Operation]:
        """The layout conversions that only these stores use."""
        converts = [op for store in self.boxes if (op := converted_tile(store)) is not None]
        return {op for op in converts if all(user in self.boxes for user in op.result.users)}

    def refuse(self, problem: str) -> None:
        """Leave all stores to threads."""
        self.problems.update(dict.fromkeys(self.boxes, problem))
        self.boxes.clear()

    def record(self) -> None:
        """Write the decision into the program."""
        for store, boxes in self.boxes.items():
            store.attributes[ENGINE] = CopyEngine.TMA
            store.attributes[STORE_STAGES] = IntegerAttr(min(self.stages, boxes.per_warp), I32)

    def _check(self, store: Store) -> None:
        problem = self._access_problem(store)
        try:
            problem = problem or self._alignment_problem(store)
            if problem is None:
                self.boxes[store] = store_boxes(store)
        except NoBoxes as reason:
            problem = str(reason)
        if problem is not None:
            self.problems[store] = problem

    def _access_problem(self, store: Store) -> str | None:
        if store.allow_tma is False:
            return "the program forbids it"
        if store.cache is not None:
            return "it has a cache hint"
        if isinstance(store, TiledAtomicRmwOp):
            if store.mode not in REDUCTIONS.get(element_of(store.tile.type), ()):
                return f"TMA has no reduction '{store.mode.keyword}' of its elements"
        elif store.semantic is not MemSemantic.WEAK or store.volatile:
            return "it is not weak"
        if any(isinstance(op, FenceAliasOp) for op in self._function.walk()):
            return "its memory has other addresses"
        ops = view_ops(store.view)
        if ops is None or not all(is_effect_free(op) for op in ops):
            return "its view is of memory that a loop, a branch or an access computes"
        return None

    def _alignment_problem(self, store: Store) -> str | None:
        type = tiled_view(store.view)
        memory, bytes = TensorDivisors(store.view, self._facts), pointee_bytes(type.source.element)
        dynamic = [n for n, stride in enumerate(type.source.strides) if stride == DYNAMIC]
        strides = [memory.strides[n] * bytes for n in dynamic if type.source.shape[n] != 1]
        if min([memory.alignment, *strides]) < TMA.alignment:
            return f"its address and strides are not known to be multiples of {TMA.alignment} bytes"
        inner = tile_order(type)[-1]
        if type.counted[inner] * bytes % TMA.alignment:
            return f"its tiles do not start at multiples of {TMA.alignment} bytes"
        # TMA writes whole chunks, also beyond the last element of a row.
        is_inside = store.in_bounds is not None and store.in_bounds[inner]
        if not is_inside and memory.sizes[type.dims[inner]] * bytes < TMA.alignment:
            return f"its rows are not known to be multiples of {TMA.alignment} bytes"
        return limit_problem(store.view, store.indices, self._facts.ranges, is_store=True)

    def _drop_late_stores(self) -> None:
        """Drop stores that would need a fence, since tokens order them after other accesses.

        Those write the memory by threads, or acquire what other blocks may have written there.
        """
        while True:
            others = [op for op in self._accesses if op not in self.boxes]
            acquires = [op for op in others if op.semantic.acquires]
            writes = [op for op in others if not isinstance(op, LoadOp | TileLoadOp)]
            late = []
            for store in self.boxes:
                overlapping = [op for op in writes if self._aliases.may_overlap(op, store)]
                if depends_on(store, [*acquires, *overlapping]):
                    late.append(store)
            if not late:
                return
            for store in late:
                del self.boxes[store]
                self.problems[store] = "a token orders it after writes of threads"


def _pays(store: Store) -> bool:
    """Whether TMA is to reduce a matrix in a loop, so that its map is encoded once.

    Threads take an atomic operation for each element. They store as fast as TMA, or faster: on an
    H200, persistent GEMMs of 8192**3 and 12288x4096x2560 that store f32 are as fast by TMA, that of
    1024**3 is 5 % slower, those that store f16 1 to 3 %, and those of 8 bits 7 to 16 %.
    """
    is_matrix = sum(extent > 1 for extent in shape(store.tile.type)) > 1
    in_loop = any(isinstance(outer, ForOp) for outer in store.ancestors())
    return isinstance(store, TiledAtomicRmwOp) and is_matrix and in_loop


def stores_by_tma(function: FuncOp) -> list[Store]:
    """The stores of a function for which `schedule-loops` has chosen TMA."""
    stores = [op for op in function.walk() if isinstance(op, TiledStoreOp | TiledAtomicRmwOp)]
    return [op for op in stores if op.attributes.get(ENGINE) is CopyEngine.TMA]
