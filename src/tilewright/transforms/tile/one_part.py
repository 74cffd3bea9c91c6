"""Rewrite of a kernel of which one part runs, in place of the whole, and whether it may be.

Each CTA of a cluster computes the part that a bit of its rank selects. Where no other part than the
first one is needed, one CTA computes that alone.

Tokens order the accesses of one CTA, not those of two. So of two accesses that tokens order, one of
them a write, every element must be accessed by the same CTA, or by the first one both times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.slices import closure
from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa import atomics, memory, misc, multimem, program, view
from tilewright.dialects.nv_tileaa.attribute_names import CLUSTER_SHARED
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr, MemScope, MemSemantic
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.scf import ForOp, IfOp, WhileOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_effect_free
from tilewright.ir.operation import Block, Region
from tilewright.ir.traits import Effects
from tilewright.ir.types import I32
from tilewright.target.arch import PORTABLE_CLUSTER
from tilewright.transforms.generic.dce import erase_dead_code
from tilewright.transforms.nv_tileaa.scalars import Arithmetic, constant
from tilewright.transforms.tile.closure import (
    CONTROL_FLOW,
    CannotCut,
    Scope,
    control_flow_transfers,
    cut_of,
)
from tilewright.transforms.tile.parts import (
    LOADS,
    WRITES,
    PartAccess,
    Parts,
    ViewAccess,
    cut_type,
    is_of_groups,
    is_rest_out_of_bounds,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tilewright.dialects.nv_tileaa.splits import Split
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut

OBSERVABLE: Final = (*WRITES, misc.PrintOp, misc.AssertOp)
"""Operations with an effect that must not happen twice."""
REPEATABLE: Final = (memory.TokenOp, misc.AssumeOp, misc.MessageOp, misc.OptimizationBarrierOp)
"""Operations that every CTA may do, although they are not free of effects."""


def over_ctas(function: FuncOp, seeds: Mapping[Operation, Split]) -> None:
    """Share tiles over the CTAs of a cluster, each bit of the rank of which selects a half."""
    (op, split), *_ = seeds.items()
    spec = function.kernel_spec
    if spec is None:
        raise CannotCut(op, "CTAs share the tiles of kernels only")
    before = function.cluster_size if function.is_distributed else 1
    ctas, problem = before * split.parts, target_or_baseline(function).cluster_problem
    if 1 << split.bit != before:
        raise CannotCut(op, f"bit {split.bit} of the rank is not the next one of {before} CTAs")
    if problem is not None or ctas > PORTABLE_CLUSTER:
        raise CannotCut(op, problem or f"a cluster has at most {PORTABLE_CLUSTER} CTAs")
    check_accesses(function)
    cut = cut_of(Scope.of_function(function), seeds)
    check_order(function, cut)
    split_over_ctas(function, cut, split.bit)
    function.kernel_spec = KernelSpecAttr(ctas, spec.num_warps, spec.occupancy)


def split_over_ctas(function: FuncOp, cut: Cut, bit: int) -> None:
    """Let CTAs whose ranks differ from a bit on compute a part each."""
    build = Builder(InsertPoint.at_start(function.body.block), function.location)
    number = _bits_of_rank(build, bit, cut.parts - 1)
    is_first = Arithmetic(build).is_zero(number)
    for op in [each for each in function.walk() if isinstance(each, (*LOADS, *OBSERVABLE))]:
        if op in cut.ways:
            continue
        if isinstance(op, OBSERVABLE):
            _guard(op, is_first)
        elif is_tile(op.results[0]):
            _mark_shared(op, (cut.parts - 1) << bit)
    _OnePart(cut, number, is_first).build()
    for op in function.walk():
        is_atomic = isinstance(op, atomics.AtomicOp | view.TiledAtomicRmwOp)
        if is_atomic and op.scope is MemScope.TL_BLK:
            # All CTAs run one program.
            op.scope = MemScope.CLUSTER
    # Whole tiles that are left would count for the number of warps.
    erase_dead_code(function.body)


def keep_first_part(function: FuncOp, seeds: Mapping[Operation, Split]) -> None:
    """Compute the first part alone, where nothing needs the others."""
    cut = first_part_cut(function, seeds)
    build = Builder(InsertPoint.at_start(function.body.block), function.location)
    zero = constant(build, 0, I32)
    _OnePart(cut, zero, zero).build()
    erase_dead_code(function.body)


def first_part_cut(function: FuncOp, seeds: Mapping[Operation, Split]) -> Cut:
    """What is cut so that the first part replaces the whole; raises `CannotCut`."""
    cut = cut_of(Scope.of_function(function), seeds)
    check_unobserved(cut)
    return cut


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
    rank, math = build.create(program.GetCtaRankOp).result, Arithmetic(build)
    shifted = math.shift_right(rank, math.constant(bit, I32))
    return math.conjunction(shifted, math.constant(mask, I32))


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
        unordered = before or [build.create(memory.CreateMemTokenOp).result]
        build.create(YieldOp, values=unordered)


class _OnePart(Parts):
    """Changes operations on whole tiles to operations on one part of each."""

    __slots__ = ("_indices", "_last", "_views")

    def __init__(self, cut: Cut, number: Value, last: Value) -> None:
        super().__init__(cut, number)
        maker = last.defining_op()
        assert maker is not None
        self._last = maker
        """The last operation at the start of the kernel."""
        self._views: dict[tuple[Value, int], Value] = {}
        self._indices: dict[tuple[Value, view.TiledViewType, int], Value] = {}

    def build(self) -> None:
        """Cut the tiles."""
        cut = self._cut
        for op, way in cut.ways.items():
            op.set_operands(self.operands(op, way.axes))
            if isinstance(op, ViewAccess):
                # A part of a tile at the edge may have nothing in bounds.
                op.sliced = True
        for transfer in cut.scope.transfers:
            dim = cut.dims.get(transfer.targets[0])
            if dim is not None:
                for op, number in transfer.uses:
                    op.set_operand(number, self.operand(op.operands[number], dim))
        for value, dim in cut.dims.items():
            value.type = cut_type(value.type, dim, cut.parts)
        for op in filter(is_of_groups, cut.ways):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()

    def _builder_for(self, op: Operation) -> Builder:
        return Builder(InsertPoint.after(op), op.location)

    def _view(self, whole: Value, access: PartAccess) -> Value:
        """The view with smaller tiles, made once for each view."""
        key = whole, access.dim
        if key not in self._views:
            self._views[key] = super()._view(whole, access)
        return self._views[key]

    def _index(self, op: ViewAccess, access: PartAccess, index: Value, number: Value) -> Value:
        """It is computed once, where that of the tile is known."""
        key = index, access.type, access.dim
        if key not in self._indices:
            maker, block = index.defining_op(), index.parent_block
            assert block is not None
            if maker is None and block is not self._last.parent:
                build = Builder(InsertPoint.at_start(block), index.location)
            else:
                build = self._builder_for(maker or self._last)
            self._indices[key] = access.index(index, number, build)
        return self._indices[key]


def check_accesses(function: FuncOp) -> None:
    """Raise `CannotCut` if an operation of the kernel cannot be done by several CTAs.

    They read what one another writes in no known order, and must take the same branches.
    """
    for op in function.walk():
        if op is not function and not op.is_terminator and (reason := _problem(op)) is not None:
            raise CannotCut(op, reason)


def _problem(op: Operation) -> str | None:
    match op:
        case atomics.AtomicOp() if op.result.is_used:
            return "the result of an atomic would differ between CTAs"
        case atomics.AtomicOp() | view.TiledAtomicRmwOp():
            return None if op.semantic is MemSemantic.RELAXED else "an atomic orders accesses"
        case multimem.MultimemOp():
            return "an access is of the memory of several GPUs"
        case memory.AccessOp():
            return None if op.is_plain else "an access is not weak"
        case misc.PrintOp() | misc.AssertOp() | ForOp() | IfOp() | WhileOp():
            return None
        case _:
            is_free = is_effect_free(op) or op.effects is Effects.RECURSIVE
            is_known = is_free or isinstance(op, REPEATABLE)
            return None if is_known else f"'{op.name}' would run in every CTA"


def check_order(function: FuncOp, cut: Cut) -> None:
    """Raise `CannotCut` if tokens order two accesses of one element by different CTAs."""
    sources = _token_sources(function)
    for op in [each for each in function.walk() if isinstance(each, memory.AccessOp)]:
        # In a loop an access may come before itself.
        for token in closure(_tokens(op.operands), lambda each: sources.get(each, ())):
            other = token.defining_op()
            if not isinstance(other, memory.AccessOp):
                continue
            writes = isinstance(op, WRITES) or isinstance(other, WRITES)
            if writes and not _same_cta(op, other, cut):
                raise CannotCut(op, "it is ordered after an access of another CTA")


def _token_sources(function: FuncOp) -> dict[Value, list[Value]]:
    """The tokens that each token follows."""
    sources: dict[Value, list[Value]] = {}
    for op in function.walk():
        if not isinstance(op, CONTROL_FLOW):
            for token in _tokens(op.results):
                sources[token] = _tokens(op.operands)
    for transfer in control_flow_transfers(function.walk()):
        for token in _tokens(transfer.targets):
            sources[token] = transfer.sources
    return sources


def _tokens(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if value.type is MEM_TOKEN]


def _same_cta(one: memory.AccessOp, other: memory.AccessOp, cut: Cut) -> bool:
    """Whether each element that two accesses have in common is accessed by the same CTA."""
    if one not in cut.ways and other not in cut.ways:
        # The first CTA writes what is not split; all of them read it.
        return isinstance(one, WRITES) and isinstance(other, WRITES)
    if one not in cut.ways or other not in cut.ways:
        return False
    owner = _owner(one, cut)
    return owner is not None and owner == _owner(other, cut)


def _owner(op: memory.AccessOp, cut: Cut) -> tuple[object, ...] | None:
    """What decides which CTA accesses an element; None if more than the element does."""
    axes = cut.ways[op].axes
    if isinstance(op, memory.LoadOp | memory.StoreOp | atomics.AtomicOp):
        loops = [outer for outer in op.ancestors() if isinstance(outer, ForOp | WhileOp)]
        varies = any(op.pointers.is_inside(loop) for loop in loops)
        return None if varies else (op.pointers, axes[op.pointers])
    assert isinstance(op, ViewAccess)
    type, dim = view.tiled_view(op.view), axes[op.tile]
    cutter = op.view.defined_by(view.BlockTileOp)
    if cutter is None or type.sparse is not None or type.counted[dim] != type.tile[dim]:
        return None
    return (cutter.source, type.dims[dim], type.tile[dim])
