"""Rewrite of a kernel of which one part runs, in place of the whole.

Each CTA of a cluster computes the part that a bit of its rank selects. Where no other part than the
first one is needed, one CTA computes that alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import atomics, integer, misc, program, view
from tilewright.dialects.nv_tileaa.attribute_names import CLUSTER_SHARED
from tilewright.dialects.nv_tileaa.attributes import MemScope, Signedness
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import I1, I32
from tilewright.transforms.generic.dce import erase_dead_code
from tilewright.transforms.nv_tileaa.cluster_accesses import LOADS, OBSERVABLE
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.tile.closure import CannotCut
from tilewright.transforms.tile.parts import (
    PartAccess,
    RematerializedParts,
    ViewAccess,
    cut_type,
    is_rest_out_of_bounds,
)

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut


def split_over_ctas(function: FuncOp, cut: Cut, bit: int) -> None:
    """Let CTAs whose ranks differ from a bit on compute a part each."""
    build = Builder(InsertPoint.at_start(function.body.block), function.location)
    number = _bits_of_rank(build, bit, cut.parts - 1)
    zero = constant(build, 0, I32)
    is_first = build.create(
        integer.CmpIOp, predicate=CmpIPredicate.EQ, lhs=number, rhs=zero, types=[I1]
    )
    for op in [each for each in function.walk() if isinstance(each, (*LOADS, *OBSERVABLE))]:
        if op in cut.ways:
            continue
        if isinstance(op, OBSERVABLE):
            _guard(op, is_first.result)
        elif is_tile(op.results[0]):
            _mark_shared(op, (cut.parts - 1) << bit)
    _OnePart(cut, number, is_first).build()
    _widen_scopes(function)
    # Whole tiles that are left would count for the number of warps.
    erase_dead_code(function.body)


def keep_first_part(function: FuncOp, cut: Cut) -> None:
    """Compute the first part alone, where nothing needs the others."""
    build = Builder(InsertPoint.at_start(function.body.block), function.location)
    zero = build.create(ConstantOp, value=IntegerAttr(0, I32), types=[I32])
    _OnePart(cut, zero.result, zero).build()
    erase_dead_code(function.body)


def check_unobserved(cut: Cut) -> None:
    """Raise `CannotCut` if another part than the first one has an effect."""
    for op, way in cut.ways.items():
        if not isinstance(op, OBSERVABLE):
            continue
        if not isinstance(op, view.TileStoreOp) or not is_rest_out_of_bounds(
            op, way.axes[op.tile], cut.parts
        ):
            raise CannotCut(op, "other parts than the first one are observed")


def _bits_of_rank(build: Builder, bit: int, mask: int) -> Value:
    """Consecutive bits of the rank of this CTA, from one on, as an i32."""
    rank = build.create(program.GetCtaRankOp).result
    shifted = build.create(
        integer.ShRIOp, lhs=rank, rhs=constant(build, bit, I32), signedness=Signedness.UNSIGNED
    ).result
    return build.create(integer.AndIOp, lhs=shifted, rhs=constant(build, mask, I32)).result


def _mark_shared(load: Operation, bits: int) -> None:
    """Record that the tile of a load does not depend on some bits of the rank."""
    known = load.attributes.get(CLUSTER_SHARED)
    mask = known.value if isinstance(known, IntegerAttr) else 0
    load.attributes[CLUSTER_SHARED] = IntegerAttr(mask | bits, I32)


def _guard(op: Operation, condition: Value) -> None:
    """Let an operation run on a condition only."""
    build = Builder(InsertPoint.before(op), op.location)
    tokens = [result for result in op.results if result.type is MEM_TOKEN and result.is_used]
    then, other = Block(), Block()
    branches = [Region([then]), Region([other] if tokens else [])]
    guard = IfOp([condition], [MEM_TOKEN] * len(tokens), {}, branches, op.location)
    build.insert(guard)
    for token, result in zip(tokens, guard.results, strict=True):
        token.replace_all_uses_with(result)
    before = [value for value in op.operands if value.type is MEM_TOKEN]
    then.append(op.detach())
    Builder(InsertPoint.at_end(then), op.location).create(YieldOp, values=tokens)
    if tokens:
        build = Builder(InsertPoint.at_end(other), op.location)
        unordered = before or [build.create(CreateMemTokenOp).result]
        build.create(YieldOp, values=unordered)


def _widen_scopes(function: FuncOp) -> None:
    """Let atomics of one program be atomic for all CTAs that run it."""
    for op in function.walk():
        is_atomic = isinstance(op, atomics.AtomicOp | view.TiledAtomicRmwOp)
        if is_atomic and op.scope is MemScope.TL_BLK:
            op.scope = MemScope.CLUSTER


class _OnePart:
    """Changes operations on whole tiles to operations on one part of each."""

    __slots__ = ("_cut", "_indices", "_last", "_number", "_remade", "_views")

    def __init__(self, cut: Cut, number: Value, last: Operation) -> None:
        self._cut, self._number = cut, number
        self._last = last
        """The last operation at the start of the kernel."""
        self._remade = RematerializedParts(cut, number, _after, {})
        self._views: dict[tuple[Value, int], Value] = {}
        self._indices: dict[tuple[Value, view.TiledViewType, int], Value] = {}

    def build(self) -> None:
        """Cut the tiles."""
        cut = self._cut
        for op, way in cut.ways.items():
            self._cut_operands(op, way)
        for transfer in cut.scope.transfers:
            dim = cut.dims.get(transfer.targets[0])
            if dim is not None:
                for op, number in transfer.uses:
                    op.set_operand(number, self._part_of(op.operands[number], dim))
        for value, dim in cut.dims.items():
            value.type = cut_type(value.type, dim, cut.parts)
        for op in cut.ways:
            if isinstance(op, misc.AssumeOp) and not op.predicate.is_elementwise:
                # It holds for groups of elements, by their index in the whole tile.
                op.result.replace_all_uses_with(op.value)
                op.erase()

    def _part_of(self, value: Value, dim: int) -> Value:
        return self._remade.part_of(value, dim) if self._cut.is_remade(value) else value

    def _cut_operands(self, op: Operation, way: Way) -> None:
        """Replace rematerialized operands, and views by views with smaller tiles."""
        axes = way.axes
        operands = [
            self._part_of(value, axes[value]) if value in axes else value for value in op.operands
        ]
        if isinstance(op, ViewAccess):
            dim, at = axes[op.tile], op.operands.index(op.view)
            access = PartAccess(op, dim, self._cut.parts)
            operands[at] = self._view(op, access, dim)
            if access.is_indexed:
                index = operands[at + 1 + dim]
                operands[at + 1 + dim] = self._index(index, access, dim)
            # A part of a tile at the edge may have nothing in bounds.
            op.sliced = True
        op.set_operands(operands)

    def _view(self, op: ViewAccess, access: PartAccess, dim: int) -> Value:
        """The view with smaller tiles, made once for each view."""
        key = op.view, dim
        if key not in self._views:
            maker = op.view.defining_op()
            assert maker is not None
            self._views[key] = access.view(_after(maker))
        return self._views[key]

    def _index(self, index: Value, access: PartAccess, dim: int) -> Value:
        """The index of a part, computed where that of the tile is known."""
        key = index, access.type, dim
        if key not in self._indices:
            maker, block = index.defining_op(), index.parent_block
            assert block is not None
            if maker is None and block is not self._last.parent:
                build = Builder(InsertPoint.at_start(block), index.location)
            else:
                build = _after(maker or self._last)
            self._indices[key] = access.index(index, self._number, build)
        return self._indices[key]


def _after(op: Operation) -> Builder:
    return Builder(InsertPoint.after(op), op.location)
