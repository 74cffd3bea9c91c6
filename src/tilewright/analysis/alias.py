"""Which accesses to memory may overlap: where pointers come from, and how far they reach.

A pointer leads to bytes `low` to `high` from one of several roots: arguments of the function,
globals, memory of the block. Without roots it may lead anywhere; without bounds, to any byte of a
root. The join has the roots of both, and all offsets between theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias

from tilewright.analysis.ranges import Ranges
from tilewright.analysis.solver import Analysis, Rule
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import atomics, conversion, memory, misc, shape, structure, view
from tilewright.dialects.nv_tileaa.constraints import pointer
from tilewright.dialects.nv_tileaa.multimem import AnyMultimemOp
from tilewright.dialects.nv_tileaa.types import MemrefType, PtrType, TiledViewType
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.ir.types import DYNAMIC
from tilewright.ir.values import BlockArgument

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

TileAccess: TypeAlias = view.TileLoadOp | view.TileStoreOp | view.TiledAtomicRmwOp | AnyMultimemOp
"""The operations that access one tile of a view."""

GENERIC: Final = 0
"""The address space of pointers to any other."""

Span = tuple[int, int]
"""The first byte and the last."""


class Root(NamedTuple):
    """Memory that pointers are derived from: a global's name, an argument or an allocation."""

    kind: str
    of: object


class Origin(NamedTuple):
    """The memory that a pointer may point to."""

    roots: frozenset[Root] | None
    span: Span | None


ANYWHERE: Final = Origin(None, None)


class Footprint(NamedTuple):
    """The memory that an access may touch."""

    origin: Origin
    space: int
    scope: str | None


class Aliases(Analysis[Origin]):
    """The origins of all pointers of a function, and the accesses that may overlap."""

    __slots__ = ("_entry", "_ranges")

    rules: ClassVar[dict[type[Operation], Rule | None]] = {}

    def __init__(self, function: Operation, ranges: Ranges | None = None) -> None:
        self._entry = function.regions[0].blocks[0] if function.regions[0].blocks else None
        self._ranges = Ranges(function) if ranges is None else ranges
        super().__init__(function)

    def top(self, value: Value) -> Origin:
        if isinstance(value, BlockArgument) and value.owner is self._entry:
            return Origin(frozenset((Root("argument", value),)), (0, 0))
        return ANYWHERE

    def join(self, a: Origin, b: Origin) -> Origin:
        roots = None if a.roots is None or b.roots is None else a.roots | b.roots
        if a.span is None or b.span is None:
            return Origin(roots, None)
        return Origin(roots, (min(a.span[0], b.span[0]), max(a.span[1], b.span[1])))

    def widen(self, value: Value, a: Origin, b: Origin) -> Origin:
        return Origin(self.join(a, b).roots, None)

    def tracks(self, value: Value) -> bool:
        return isinstance(element_of(value.type), PtrType | MemrefType | TiledViewType)

    def may_overlap(self, a: Operation, b: Operation) -> bool:
        """Whether two accesses may touch a byte in common, in whichever of their executions."""
        first, second = self.footprint(a), self.footprint(b)
        if first is None or second is None:
            return True
        if first.scope is not None and second.scope is not None and first.scope != second.scope:
            return False
        if first.space != second.space and GENERIC not in (first.space, second.space):
            return False
        return _may_meet(first.origin, second.origin)

    def footprint(self, op: Operation) -> Footprint | None:
        """The memory that an operation may access; unknown for other operations than accesses."""
        match op:
            case memory.LoadOp() | memory.StoreOp() | atomics.AtomicOp():
                type = pointer(op.pointers)
                last = pointee_bytes(type.pointee) - 1
                return Footprint(_reaching(self.of(op.pointers), (0, last)), type.space, None)
            case view.TileLoadOp() | view.TileStoreOp() | view.TiledAtomicRmwOp():
                return self._tile_footprint(op)
            case _:
                return self._tile_footprint(op) if isinstance(op, AnyMultimemOp) else None

    def _tile_footprint(self, op: TileAccess) -> Footprint:
        type = tiled_view(op.view).source
        origin = _reaching(self.of(op.view), self._tile_span(op))
        return Footprint(origin, type.space, type.alias_scope)

    def _tile_span(self, op: TileAccess) -> Span | None:
        """From the first element of a tile to its last; what lies outside is not touched."""
        type = tiled_view(op.view)
        size = pointee_bytes(type.source.element)
        low = high = 0
        for number, index in enumerate(op.indices):
            dim = type.dims[number]
            extent, stride = type.source.shape[dim], type.source.strides[dim]
            if extent == 1:
                continue
            if stride == DYNAMIC:
                return None
            bounds = self._ranges.of(index)
            step, length = type.counted[number], type.tile[number]
            length = 1 if number == type.sparse else length
            first, last = bounds.low * step, bounds.high * step + length - 1
            if extent != DYNAMIC:
                last = min(last, extent - 1)
            low += max(first, 0) * stride
            high += max(last, 0) * stride
        return low * size, high * size + size - 1

    def offsets(self, op: memory.AddPtrOp) -> Span:
        """By how many bytes pointers are moved."""
        bounds = self._ranges.of(op.offsets)
        size = 1 if op.in_bytes else pointee_bytes(pointer(op.pointers).pointee)
        return bounds.low * size, bounds.high * size


def _reaching(origin: Origin, span: Span | None) -> Origin:
    if origin.span is None or span is None:
        return Origin(origin.roots, None)
    return Origin(origin.roots, (origin.span[0] + span[0], origin.span[1] + span[1]))


def _may_meet(a: Origin, b: Origin) -> bool:
    if a.roots is None or b.roots is None:
        return True
    apart = a.span is not None and b.span is not None and not _meet(a.span, b.span)
    return any(
        not apart if first == second else _may_be_same(first, second)
        for first in a.roots
        for second in b.roots
    )


def _meet(a: Span, b: Span) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def _may_be_same(a: Root, b: Root) -> bool:
    """Two arguments may be the same memory, and a global may be handed in.

    Memory of the block is made when the block runs: no other value points to it.
    """
    return "argument" in (a.kind, b.kind) and "alloca" not in (a.kind, b.kind)


def _same(at: Aliases, op: Operation) -> Origin | None:
    """The same pointers, rearranged or with assumptions about them."""
    return at.of(op.operands[0]) if at.tracks(op.results[0]) else None


def _either(at: Aliases, op: Operation) -> Origin | None:
    """Pointers of one operand or of another."""
    if not at.tracks(op.results[0]):
        return None
    first, second = op.operands[-2:] if isinstance(op, shape.SelectOp) else op.operands[:2]
    return at.join(at.of(first), at.of(second))


def _addptr(at: Aliases, op: memory.AddPtrOp) -> Origin:
    """The same roots, farther along."""
    return _reaching(at.of(op.pointers), at.offsets(op))


def _alloca(at: Aliases, op: memory.AllocaOp) -> Origin:
    """Memory of its own."""
    return Origin(frozenset((Root("alloca", op),)), (0, 0))


def _get_global(at: Aliases, op: structure.GetGlobalOp) -> Origin:
    """The memory of that name."""
    return Origin(frozenset((Root("global", op.symbol),)), (0, 0))


Aliases.rules.update(
    {
        shape.SplatOp: _same,
        shape.ViewOp: _same,
        shape.ExpandDimsOp: _same,
        shape.BroadcastOp: _same,
        shape.PermuteOp: _same,
        shape.ExtractOp: _same,
        shape.ExtractSliceOp: _same,
        shape.InsertSliceOp: _either,
        shape.CatOp: _either,
        shape.SelectOp: _either,
        conversion.BitcastOp: _same,
        misc.AssumeOp: _same,
        view.MakeMemrefOp: _same,
        view.BlockTileOp: _same,
        memory.AddPtrOp: _addptr,
        memory.AllocaOp: _alloca,
        structure.GetGlobalOp: _get_global,
    }
)
