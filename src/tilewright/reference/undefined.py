"""Undefined elements of tiles, and what is computed from them.

A load without a padding value leaves elements out of bounds undefined. Most kernels never use
them: what is computed from them is out of bounds, too, and not stored. But a reduction or a dot
that combines them with defined elements has an undefined result, which is an error where it is
stored. Control flow binds the same arrays to other values, so that arrays identify contents.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tilewright.dialects.cuda_tile import aggregate, bitwise, conversion, core, floating, mma
from tilewright.dialects.cuda_tile import integer as integers
from tilewright.reference.evaluators import EVALUATORS
from tilewright.reference.tile import Array, is_array, per_block

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.reference.batch import Batch

ELEMENTWISE: Final = (
    conversion.ConversionOp,
    floating.Atan2Op,
    floating.BinaryFloat,
    floating.CmpFOp,
    floating.FPowFOp,
    floating.FPowIOp,
    floating.RoundedFloat,
    floating.UnaryFloat,
    integers.BinaryInteger,
    integers.CmpIOp,
    integers.MulhiIOp,
    integers.UnaryInteger,
)
REARRANGING: Final = (core.Rearrangement, core.CatOp, core.InsertOp)
_DATA: Final = ("source", "lhs", "rhs", "destination")
"""The operands of rearranging operations whose elements are those of the result."""


class Undefined(NamedTuple):
    """Which elements of a tile are undefined, and why."""

    elements: Array
    combined: Array
    """Those that a reduction or a dot has computed from defined elements, too."""
    load: Operation
    reduction: Operation | None = None
    """The reduction or dot."""


class UndefinedElements:
    """The undefined elements of all tiles that have any, by the array of the tile."""

    __slots__ = ("_tiles",)

    def __init__(self) -> None:
        self._tiles: dict[int, tuple[weakref.ref[Any], Undefined]] = {}

    def __bool__(self) -> bool:
        return bool(self._tiles)

    def get(self, tile: Any) -> Undefined | None:
        """The undefined elements of a tile; None if all are defined."""
        entry = self._tiles.get(id(tile))
        return None if entry is None else entry[1]

    def put(self, tile: Array, undefined: Undefined) -> None:
        """Record the undefined elements of a tile."""
        key = id(tile)
        if undefined.elements.any():
            self._tiles[key] = weakref.ref(tile, lambda _: self._tiles.pop(key, None)), undefined

    def pick(self, tile: Array, chosen: Array, lanes: Array | None) -> None:
        """Record the undefined elements of tiles that were selected from those of more blocks."""
        undefined = self.get(tile)
        if undefined is not None:
            elements, combined = (
                mask if len(mask) == 1 else mask[lanes]
                for mask in (undefined.elements, undefined.combined)
            )
            self.put(chosen, undefined._replace(elements=elements, combined=combined))

    def join(
        self, tiles: Sequence[Array], counts: Sequence[int], order: Array, joined: Array
    ) -> None:
        """Record the undefined elements of the tiles of blocks that reconverge."""
        reasons = [each for each in map(self.get, tiles) if each is not None]
        if not reasons:
            return
        known = [(each.elements, each.combined) if each else None for each in map(self.get, tiles)]
        elements, combined = (
            np.concatenate(
                [
                    per_block(_nothing(tile) if masks is None else masks[part], count)
                    for tile, masks, count in zip(tiles, known, counts, strict=True)
                ]
            )[order]
            for part in (0, 1)
        )
        reason = _explanation(reasons)
        self.put(joined, reason._replace(elements=elements, combined=combined))

    def propagate(self, op: Operation, at: Batch) -> None:
        """Record the undefined elements of the results of an operation that has run."""
        operands = [self.get(at.values.get(value)) for value in op.operands]
        known = [each for each in operands if each is not None]
        if not known:
            return
        undefined = self._result(op, at, known)
        if undefined is None:
            return
        for result in op.results:
            if is_array(at[result]):
                self.put(at[result], undefined)

    def _result(self, op: Operation, at: Batch, known: list[Undefined]) -> Undefined | None:
        match op:
            case aggregate.ReduceOp():
                return self._reduced(op, at, op.dim + 1)
            case aggregate.ScanOp():
                return self._scanned(op, at, op.dim + 1)
            case mma.MmaFOp() | mma.MmaIOp():
                return self._multiplied(op, at)
            case core.SelectOp():
                return self._selected(op, at)
            case bitwise.AndIOp() | bitwise.OrIOp() | integers.MulIOp():
                return self._absorbed(op, at)
            case _ if isinstance(op, REARRANGING):
                return self._rearranged(op, at, _explanation(known))
            case _ if isinstance(op, ELEMENTWISE):
                return _union(known, at[op.results[0]].shape)
            case _:
                return None

    def _masks(self, value: Value, at: Batch) -> tuple[Array, Array]:
        """The undefined and the combined elements of a tile."""
        undefined = self.get(at[value])
        if undefined is None:
            nothing = _nothing(at[value])
            return nothing, nothing
        return undefined.elements, undefined.combined

    def _reason(self, values: Iterable[Value], at: Batch, op: Operation) -> Undefined:
        """The operand that makes a reduction undefined, which is `op` unless an earlier one is."""
        reason = self._first(values, at)
        return reason if reason.combined.any() else reason._replace(reduction=op)

    def _reduced(self, op: aggregate.ReduceOp, at: Batch, axis: int) -> Undefined:
        masks = [self._masks(source, at) for source in op.sources]
        elements = _any_of([each for each, _ in masks])
        combined = _any_of([each for _, each in masks])
        any_undefined, all_undefined = elements.any(axis=axis), elements.all(axis=axis)
        mixed: Array = (any_undefined & ~all_undefined) | combined.any(axis=axis)
        reason = self._reason(op.sources, at, op)
        return reason._replace(elements=any_undefined, combined=mixed)

    def _scanned(self, op: aggregate.ScanOp, at: Batch, axis: int) -> Undefined:
        masks = [self._masks(source, at) for source in op.sources]
        elements = _any_of([each for each, _ in masks])
        combined = _any_of([each for _, each in masks])

        def so_far(mask: Array) -> Array:
            mask = np.flip(mask, axis) if op.reverse else mask
            mask = np.logical_or.accumulate(mask, axis=axis)
            return np.flip(mask, axis) if op.reverse else mask

        undefined = so_far(elements)
        mixed = (undefined & so_far(~elements)) | so_far(combined)
        reason = self._reason(op.sources, at, op)
        return reason._replace(elements=undefined, combined=mixed)

    def _multiplied(self, op: mma.MmaFOp | mma.MmaIOp, at: Batch) -> Undefined:
        (lhs, lhs_combined), (rhs, rhs_combined) = self._masks(op.lhs, at), self._masks(op.rhs, at)
        acc, acc_combined = self._masks(op.acc, at)
        terms = lhs.any(axis=-1, keepdims=True) | rhs.any(axis=-2, keepdims=True)
        defined_terms: Array = np.matmul((~lhs).astype(np.float32), (~rhs).astype(np.float32)) > 0
        earlier = lhs_combined.any(axis=-1, keepdims=True) | acc_combined
        earlier = earlier | rhs_combined.any(axis=-2, keepdims=True)
        reason = self._reason((op.lhs, op.rhs, op.acc), at, op)
        return reason._replace(elements=terms | acc, combined=(terms & defined_terms) | earlier)

    def _selected(self, op: core.SelectOp, at: Batch) -> Undefined | None:
        """An element that is not selected does not count."""
        condition = self._masks(op.cond, at)
        taken, other = self._masks(op.val_if_true, at), self._masks(op.val_if_false, at)
        elements, combined = (
            np.where(at[op.cond], one, two) | asked
            for one, two, asked in zip(taken, other, condition, strict=True)
        )
        reason = self._first((op.cond, op.val_if_true, op.val_if_false), at)
        return reason._replace(elements=elements, combined=combined)

    def _absorbed(
        self, op: bitwise.AndIOp | bitwise.OrIOp | integers.MulIOp, at: Batch
    ) -> Undefined:
        """A defined zero decides `and` and `mul`, defined ones decide `or`."""
        lhs, rhs = at[op.lhs], at[op.rhs]
        (left, left_combined), (right, right_combined) = (
            self._masks(op.lhs, at),
            self._masks(op.rhs, at),
        )
        decides = np.bool_(True) if lhs.dtype == np.bool_ else lhs.dtype.type(-1)
        decides = decides if isinstance(op, bitwise.OrIOp) else lhs.dtype.type(0)
        by_left: Array = (lhs == decides) & ~left
        by_right: Array = (rhs == decides) & ~right
        reason = self._first((op.lhs, op.rhs), at)
        return reason._replace(
            elements=(left & ~by_right) | (right & ~by_left),
            combined=(left_combined & ~by_right) | (right_combined & ~by_left),
        )

    def _first(self, values: Iterable[Value], at: Batch) -> Undefined:
        """The first undefined operand that a reduction has made so, or else the first."""
        return _explanation([each for each in (self.get(at[v]) for v in values) if each])

    def _rearranged(self, op: Operation, at: Batch, reason: Undefined) -> Undefined:
        """Rearrange the masks as the operation rearranges elements."""
        sources: list[Value] = [getattr(op, name) for name in _DATA if hasattr(op, name)]

        def rearrange(part: int) -> Array:
            inner = at.narrow(np.arange(at.count))
            inner.bind(sources, [self._masks(source, at)[part] for source in sources])
            return EVALUATORS[type(op)](op, inner)

        return reason._replace(elements=rearrange(0), combined=rearrange(1))


def _any_of(masks: Sequence[Array]) -> Any:
    """The elements where one of the masks holds; their numbers of blocks may differ."""
    return np.logical_or.reduce(np.broadcast_arrays(*masks))


def _nothing(tile: Array) -> Array:
    return np.zeros(tile.shape, np.bool_)


def _union(known: list[Undefined], shape: tuple[int, ...]) -> Undefined:
    """An element is undefined if one of an operand is from which it is computed."""
    elements, combined = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for each in known:
        elements |= each.elements
        combined |= each.combined
    return _explanation(known)._replace(elements=elements, combined=combined)


def _explanation(known: list[Undefined]) -> Undefined:
    return next((each for each in known if each.combined.any()), known[0])
