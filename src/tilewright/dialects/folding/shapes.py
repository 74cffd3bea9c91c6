"""Folds and rules of shape operations, shared by cuda_tile and nv_tileaa."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.dialects import row_major
from tilewright.dialects.arith.literals import LIMIT, count_of, expanded, literal, splat_of
from tilewright.dialects.elements import extents_of, width_of
from tilewright.dialects.row_major import offsets, strides
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.operation import Operation
from tilewright.ir.rules import rule

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rule
    from tilewright.ir.values import Value


class ShapeOps(NamedTuple):
    """The shape operations of a dialect, and its names of their attributes."""

    reshapes: tuple[type[Operation], ...]
    broadcast: type[Operation]
    permute: type[Operation]
    order: str
    cat: type[Operation]
    axis: str
    extract: type[Operation]
    insert: type[Operation]
    pack: type[Operation]
    unpack: type[Operation]


def shape_folds(ops: ShapeOps) -> Folds:
    """The folds of the shape operations of a dialect."""
    return {
        **dict.fromkeys(ops.reshapes, _reshape(ops.reshapes)),
        ops.broadcast: fold_broadcast,
        ops.permute: _permute(ops.order),
        ops.cat: _cat(ops.axis),
        ops.extract: fold_extract,
        ops.insert: fold_insert,
        **dict.fromkeys((ops.pack, ops.unpack), _packing(ops.pack, ops.unpack)),
    }


def _foldable(constant: Attribute | None) -> DenseElementsAttr | None:
    """The elements of a constant tile that is a splat or has at most `LIMIT` elements."""
    if not isinstance(constant, DenseElementsAttr):
        return None
    return constant if constant.is_splat or count_of(constant.type) <= LIMIT else None


def _gathered(
    constant: Attribute | None, type: Type, steps: Sequence[int], start: int | None = 0
) -> Folded:
    """Gather the elements of a constant at the given strides."""
    elements = _foldable(constant)
    if elements is None:
        return None
    if elements.is_splat:
        return DenseElementsAttr(elements.data, type)
    if start is None or count_of(type) > LIMIT:
        return None
    patterns = elements.elements()
    return literal([patterns[at] for at in offsets(extents_of(type), steps, start)], type)


def _reshape(reshapes: tuple[type[Operation], ...]) -> Callable[[Any, Constants], Folded]:
    def fold(op: Any, constants: Constants) -> Folded:
        """Reshape constants; an identity reshape, or one that undoes another, is its operand."""
        source: Value = op.source
        type: Type = op.result.type
        if source.type is type:
            return source
        inner = source.defining_op()
        if isinstance(inner, reshapes) and inner.operands[0].type is type:
            return inner.operands[0]
        constant = constants[0]
        is_tile = isinstance(constant, DenseElementsAttr)
        return DenseElementsAttr(constant.data, type) if is_tile else None

    return fold


def fold_broadcast(op: Any, constants: Constants) -> Folded:
    """Broadcast constants; an identity broadcast is its operand."""
    source: Value = op.source
    if source.type is op.result.type:
        return source
    return _gathered(
        constants[0], op.result.type, row_major.broadcast_strides(extents_of(source.type))
    )


def _permute(order: str) -> Callable[[Any, Constants], Folded]:
    def fold(op: Any, constants: Constants) -> Folded:
        """Permute constants; an identity permutation is its operand."""
        source: Value = op.source
        dims: Sequence[int] = getattr(op, order)
        if list(dims) == list(range(len(dims))):
            return source
        steps = strides(extents_of(source.type))
        return _gathered(constants[0], op.result.type, [steps[dim] for dim in dims])

    return fold


def _cat(axis: str) -> Callable[[Any, Constants], Folded]:
    def fold(op: Any, constants: Constants) -> Folded:
        """Concatenate constants."""
        lhs, rhs = _foldable(constants[0]), _foldable(constants[1])
        if lhs is None or rhs is None:
            return None
        type: Type = op.result.type
        dim: int = getattr(op, axis)
        if lhs.is_splat and lhs.data == rhs.data:
            return DenseElementsAttr(lhs.data, type)
        if count_of(type) > LIMIT:
            return None
        # In row-major order, contiguous runs of the two operands alternate.
        extents = [extents_of(side.type) for side in (lhs, rhs)]
        runs = [strides(each)[dim] * each[dim] for each in extents]
        left, right = (expanded(side, count_of(side.type)) for side in (lhs, rhs))
        return literal(row_major.concatenate(left, right, *runs), type)

    return fold


def _start(whole: Type, part: Type, indices: Constants) -> int | None:
    """The linear offset of a slice in a tile; `None` if unknown or out of bounds."""
    constants = [splat_of(index) for index in indices]
    return row_major.slice_start(extents_of(whole), extents_of(part), constants)


def fold_extract(op: Any, constants: Constants) -> Folded:
    """Slice constants; a slice of the full shape is the source."""
    source: Value = op.source
    whole, part = source.type, op.result.type
    if whole is part:
        return source
    start = _start(whole, part, constants[1:])
    return _gathered(constants[0], part, strides(extents_of(whole)), start)


def fold_insert(op: Any, constants: Constants) -> Folded:
    """Insert a constant into a constant; a slice of the full shape is the source."""
    source_value: Value = op.source
    destination_value: Value = op.destination
    part, whole = source_value.type, destination_value.type
    if part is whole:
        return source_value
    source, destination = _foldable(constants[0]), _foldable(constants[1])
    if source is None or destination is None:
        return None
    if source.is_splat and source.data == destination.data:
        return destination_value
    start = _start(whole, part, constants[2:])
    if start is None or count_of(whole) > LIMIT:
        return None
    indices = offsets(extents_of(part), strides(extents_of(whole)), start)
    inner, outer = expanded(source, count_of(part)), expanded(destination, count_of(whole))
    return literal(row_major.replaced(outer, inner, indices), whole)


def _packing(pack: type[Operation], unpack: type[Operation]) -> Callable[[Any, Constants], Folded]:
    def fold(op: Any, constants: Constants) -> Folded:
        """Reinterpret the bytes of constants; `pack` and `unpack` undo each other."""
        source: Value = op.source
        type: Type = op.result.type
        inner, packs = source.defining_op(), isinstance(op, pack)
        if isinstance(inner, unpack if packs else pack) and inner.operands[0].type is type:
            return inner.operands[0]
        constant, size = constants[0], count_of(source.type)
        # Only these widths are stored without padding, in the order of `pack`.
        wide = width_of(source.type if packs else type)
        if not isinstance(constant, DenseElementsAttr) or wide not in (8, 16, 32, 64):
            return None
        if size > LIMIT:
            return None
        return DenseElementsAttr(constant.data * (size if constant.is_splat else 1), type)

    return fold


def merge_broadcasts(kind: type[Operation]) -> Rule:
    """The rule that merges two consecutive broadcasts."""

    @rule(kind)
    def broadcast_of_broadcast(op: Operation, build: Rewriter) -> Replacement:
        """`broadcast (broadcast x)` becomes one `broadcast`."""
        if (inner := op.operands[0].defined_by(kind)) is None:
            return None
        build.set_operands(op, inner.operands)
        return op

    return broadcast_of_broadcast


def merge_permutes(kind: type[Operation], order: str) -> Rule:
    """The rule that merges two consecutive permutations."""

    @rule(kind)
    def permute_of_permute(op: Operation, build: Rewriter) -> Replacement:
        """`permute (permute x)` becomes one `permute`, by the composition of both orders."""
        inner = op.operands[0].defined_by(kind)
        if inner is None:
            return None
        build.fuse(inner)
        first: Sequence[int] = getattr(inner, order)
        second: Sequence[int] = getattr(op, order)
        composed = tuple([first[dim] for dim in second])
        fields: dict[str, Any] = {"source": inner.operands[0], order: composed}
        return build.create(kind, types=[op.results[0].type], **fields)

    return permute_of_permute
