"""How an operation is halved: the dimension along which each of its tiles is.

A CTA computes its half of the results from its half of some operands, and from others whole.
Nothing is exchanged: K of a dot and the axis of a reduction are never halved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa import aggregate, atomics, misc, shape, view
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.plans.slicing import Slicing, slicings, tiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

SLICES: Final = 2
"""Of a tile that is halved."""
REASONS: Final[dict[type[Operation], str]] = {
    aggregate.ReduceOp: "a reduction along the dimension needs all of it",
    aggregate.ScanOp: "a scan along the dimension needs all of it",
    ConstantOp: "the elements of a constant differ",
    DotOp: "a dot needs all of the tile",
}
"""Why an operation cannot be halved, where its name alone does not say it."""


class CannotHalve(Exception):
    """An operation of which a half cannot be computed alone, and the reason."""

    def __init__(self, op: Operation, reason: str | None = None) -> None:
        super().__init__()
        self.op = op
        self.reason = reason or REASONS.get(type(op)) or f"'{op.name}' needs whole tiles"


def half_slicings(op: Operation) -> Iterator[Slicing]:
    """The ways to halve an operation; tiles that are not in one are needed whole."""
    for slicing in _slicings(op):
        if all(extents(value.type)[dim] >= SLICES for value, dim in slicing.items()):
            yield slicing


def half_slicing(op: Operation, value: Value, dim: int) -> Slicing:
    """The way with one of the tiles halved along a dimension, or raise `CannotHalve`."""
    for slicing in half_slicings(op):
        if slicing.get(value) == dim:
            return slicing
    raise CannotHalve(op)


def _slicings(op: Operation) -> Iterator[Slicing]:
    match op:
        case DotOp():
            return dot_slicings(op)
        case aggregate.ScanOp():
            return _alike(tiles(op), [op.axis])
        case aggregate.ReduceOp():
            return (each for each in slicings(op, SLICES) if op.results[0] in each)
        case atomics.AtomicOp():
            return _alike(tiles(op))
        case view.TiledAtomicRmwOp():
            return _atomic_of_view(op)
        case shape.CatOp():
            return _alike(tiles(op), [op.axis])
        case shape.ExtractSliceOp():
            return _alike(tiles(op), _shorter(op.result, op.source))
        case shape.InsertSliceOp():
            return _alike(tiles(op), _shorter(op.source, op.destination))
        case misc.OptimizationBarrierOp():
            return _pairs(op)
        case _:
            return slicings(op, SLICES)


def dot_slicings(op: DotOp) -> Iterator[Slicing]:
    """Along M, along N, and along each batch dimension; never along K."""
    rank = len(extents(op.c.type))
    rows, columns = rank - 2, rank - 1
    left = [op.a] if op.a_scale is None else [op.a, op.a_scale]
    right = [op.b] if op.b_scale is None else [op.b, op.b_scale]
    if not set(right) & {*left, op.c}:
        yield dict.fromkeys([*left, op.c, op.result], rows)
    if not set(left) & {*right, op.c}:
        yield dict.fromkeys([*right, op.c, op.result], columns)
    for dim in range(rows):
        yield dict.fromkeys([*left, *right, op.c, op.result], dim)


def _alike(halved: Sequence[Value], except_dims: Sequence[int] = ()) -> Iterator[Slicing]:
    """All tiles along the same dimension."""
    for dim in range(len(extents(halved[0].type)) if halved else 0):
        if dim not in except_dims:
            yield dict.fromkeys(halved, dim)


def _shorter(part: Value, whole: Value) -> list[int]:
    """The dimensions along which a slice is shorter than the tile."""
    pairs = zip(extents(part.type), extents(whole.type), strict=True)
    return [dim for dim, (one, other) in enumerate(pairs) if one != other]


def _atomic_of_view(op: view.TiledAtomicRmwOp) -> Iterator[Slicing]:
    if op.view.defined_by(view.BlockTileOp) is not None:
        for dim in range(view.tiled_view(op.view).rank):
            yield {op.tile: dim}


def _pairs(op: misc.OptimizationBarrierOp) -> Iterator[Slicing]:
    """Each value is passed on for itself, so that all of them are halved alike or not at all."""
    return _alike(tiles(op)) if len(op.values) == 1 else iter(())
