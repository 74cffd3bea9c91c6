"""Rule that splits the tiles of a kernel over the CTAs of a cluster, as the hint `num_ctas` asks.

A cluster runs one program. Bit by bit of the rank of a CTA, the tiles of the kernel are halved
along a dimension, and each CTA computes its half of what is stored; tiles that are not halved are
loaded and computed by all of them. The CTAs exchange nothing.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.dialects.nv_tileaa.splits import Split, SplitForm, ways_by_dim
from tilewright.ir.tiling import tiles_of
from tilewright.support.remark_catalogue import CLUSTER, CLUSTER_REFUSED
from tilewright.support.remarks import Remark
from tilewright.target.arch import PORTABLE_CLUSTER
from tilewright.target.tensor_cores import MMA_COLUMNS, WGMMA_ROWS
from tilewright.transforms.tile.closure import CannotCut, Cut, Scope
from tilewright.transforms.tile.one_part import check_accesses, check_order
from tilewright.transforms.tile.parts import WRITES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.plan_splits import Trial


HALVES: Final = 2
"""Parts that a bit of the rank selects from; tiles are halved as often as possible."""


def choose_cluster(trial: Trial, sink: Sink) -> None:
    """Share the tiles of a kernel over as many CTAs as possible, up to the hint."""
    kernel, split = trial.program, list[str]()
    asked, spec = kernel.asks(NUM_CTAS) or 1, kernel.kernel_spec
    if asked <= 1 or kernel.is_distributed:
        return
    failure: CannotCut | None = None
    assert spec is not None
    kernel.kernel_spec = KernelSpecAttr(None, spec.num_warps, spec.occupancy)
    try:
        problem = target_or_baseline(kernel).cluster_problem
        if problem is not None:
            raise CannotCut(kernel, problem)
        check_accesses(kernel)
        while HALVES << len(split) <= min(asked, PORTABLE_CLUSTER):
            seeds = choose_seeds(trial.kernel)
            for op, way in seeds.items():
                (dim,) = [dim for dim, other in ways_by_dim(op).items() if other == way]
                trial.split(op, Split(dim, HALVES, SplitForm.CTA, len(split)))
            split.append(_dimension(*next(iter(seeds.items()))))
    except CannotCut as error:
        failure = error
    ctas = 1 << len(split)
    if sink.wants_remarks and split:
        text = f"{ctas} CTAs of a cluster share tiles, split along {', then '.join(split)}"
        sink.remark(Remark(CLUSTER, text, "plan-splits", kernel.sym_name, kernel.location))
    if ctas < asked:
        missed = _missed(kernel, asked, ctas, failure)
        kernel.refuse(NUM_CTAS, missed.reason)
        if sink.wants_remarks:
            sink.remark(missed)


def _missed(kernel: FuncOp, asked: int, ctas: int, failure: CannotCut | None) -> Remark:
    """The remark on a hint that is not met, or not to its full extent."""
    reason, location = f"not a power of two up to {PORTABLE_CLUSTER}", kernel.location
    if failure is not None:
        reason, location = failure.reason, failure.op.location
    effect = f"is met by {ctas} CTAs only" if ctas > 1 else "is not used"
    text = f"num_ctas {asked} {effect}"
    return Remark(CLUSTER_REFUSED, text, "plan-splits", kernel.sym_name, location, reason)


def choose_seeds(kernel: FuncOp) -> dict[Operation, Way]:
    """What seeds the cut with the fewest bytes to load, and how; or raise `CannotCut`."""
    whole = Cut(Scope.of_function(kernel), HALVES)
    dots = [op for op in kernel.walk() if isinstance(op, DotOp)]
    writes = [op for op in kernel.walk() if isinstance(op, WRITES) and any(whole.ways_of(op))]
    # The largest tiles count most: other operations follow, or are not connected with them.
    dots.sort(key=lambda op: -prod(shape(op.c.type)))
    writes.sort(key=lambda op: -prod(_extents(op)))
    if not writes:
        raise CannotCut(kernel, "it writes no tile that can be split")
    first, *others = [*dots, *writes]
    choices: list[tuple[Cut, dict[Operation, Way]]] = []
    failures: list[CannotCut] = []
    for way in _ordered_ways(first, whole):
        try:
            cut = whole.with_op(first, way)
            seeds: dict[Operation, Way] = {first: way}
            for other in others:
                if other not in cut.ways:
                    cut = _extended(cut, other)
                    if other in cut.ways:
                        seeds[other] = cut.ways[other]
            check_order(kernel, cut)
        except CannotCut as failure:
            failures.append(failure)
        else:
            choices.append((cut, seeds))
    if not choices:
        raise failures[0] if failures else CannotCut(first)
    return min(choices, key=lambda choice: _cost(choice[0], dots, writes))[1]


def _extended(cut: Cut, op: Operation) -> Cut:
    """A cut with another operation halved; writes of small tiles may be left to the first CTA."""
    failure: CannotCut | None = None
    for way in _ordered_ways(op, cut):
        try:
            return cut.with_op(op, way)
        except CannotCut as error:
            failure = failure or error
    if isinstance(op, DotOp):
        raise failure or CannotCut(op)
    return cut


def _ordered_ways(op: Operation, cut: Cut) -> list[Way]:
    """The ways to halve an operation, the best first."""
    ways = list(cut.ways_of(op))
    if isinstance(op, DotOp):
        return sorted(ways, key=lambda way: _dot_cost(op, way))
    # Both tiles of a store have the same dimensions, except that pointers may be scalars.
    return sorted(ways, key=lambda way: -_extents(op)[_write_dim(op, way)])


def _extents(op: Operation) -> tuple[int, ...]:
    """The extents of the tile that an operation writes."""
    return shape(tiles_of(op)[0].type)


def _write_dim(op: Operation, way: Way) -> int:
    return way.axes[tiles_of(op)[0]]


def _dot_cost(op: DotOp, way: Way | None) -> tuple[bool, int]:
    """Whether an instruction has more rows or columns than the half, and what the half loads."""
    extents = list(shape(op.c.type))
    if way is not None:
        extents[way.axes[op.c]] //= HALVES
    *batch, rows, columns = extents
    is_small = rows < WGMMA_ROWS or columns < MMA_COLUMNS
    return is_small, prod(batch) * (rows + columns)


def _cost(cut: Cut, dots: Sequence[DotOp], writes: Sequence[Operation]) -> tuple[int, int, int]:
    """The cost of a cut; of equal ones the first is chosen."""
    costs = [_dot_cost(dot, cut.ways.get(dot)) for dot in dots]
    whole = [op for op in writes if op not in cut.ways]
    return sum(is_small for is_small, _ in costs), sum(cost for _, cost in costs), len(whole)


def _dimension(op: Operation, way: Way) -> str:
    """The name of the dimension along which an operation is halved."""
    if not isinstance(op, DotOp):
        return f"dimension {_write_dim(op, way)} of what is stored"
    from_end = len(shape(op.c.type)) - way.axes[op.c]
    return {2: "M", 1: "N"}.get(from_end, "a batch dimension")
