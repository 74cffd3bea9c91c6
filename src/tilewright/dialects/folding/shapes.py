"""Folds and rules of operations that move elements of tiles, for every dialect that has such."""

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
    """The operations of a dialect, by what they do, and what it calls some of their attributes."""

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
    """How the operations fold."""
    return {
        **dict.fromkeys(ops.reshapes, _reshape(ops.reshapes)),
        ops.broadcast: fold_broadcast,
        ops.permute: _permute(ops.order),
        ops.cat: _cat(ops.axis),
        ops.extract: fold_extract,
        ops.insert: fold_insert,
        **dict.fromkeys((ops.pack, ops.unpack), _packing(ops.pack, ops.unpack)),
    }


def _known(constant: Attribute | None) -> DenseElementsAttr | None:
    """The elements of a constant tile, if it is one and they are not too many."""
    if not isinstance(constant, DenseElementsAttr):
        return None
    return constant if constant.is_splat or count_of(constant.type) <= LIMIT else None


def _gathered(
    constant: Attribute | None, type: Type, steps: Sequence[int], start: int | None = 0
) -> Folded:
    """The elements of a constant that a walk in other steps meets."""
    elements = _known(constant)
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
        """Give constants another shape; where it stays or comes back, so does the value."""
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
    """Repeat the elements of constants; where the shape stays, so does the value."""
    source: Value = op.source
    if source.type is op.result.type:
        return source
    return _gathered(constants[0], op.result.type, row_major.repeated(extents_of(source.type)))


def _permute(order: str) -> Callable[[Any, Constants], Folded]:
    def fold(op: Any, constants: Constants) -> Folded:
        """Exchange the dimensions of constants; nothing happens if each stays where it is."""
        source: Value = op.source
        dims: Sequence[int] = getattr(op, order)
        if list(dims) == list(range(len(dims))):
            return source
        steps = strides(extents_of(source.type))
        return _gathered(constants[0], op.result.type, [steps[dim] for dim in dims])

    return fold


def _cat(axis: str) -> Callable[[Any, Constants], Folded]:
    def fold(op: Any, constants: Constants) -> Folded:
        """Put constants one after the other."""
        lhs, rhs = _known(constants[0]), _known(constants[1])
        if lhs is None or rhs is None:
            return None
        type: Type = op.result.type
        dim: int = getattr(op, axis)
        if lhs.is_splat and lhs.data == rhs.data:
            return DenseElementsAttr(lhs.data, type)
        if count_of(type) > LIMIT:
            return None
        # Everything inside the dimension comes in runs, one of each side by turns.
        extents = [extents_of(side.type) for side in (lhs, rhs)]
        runs = [strides(each)[dim] * each[dim] for each in extents]
        left, right = (expanded(side, count_of(side.type)) for side in (lhs, rhs))
        return literal(row_major.alternated(left, right, *runs), type)

    return fold


def _start(whole: Type, part: Type, indices: Constants) -> int | None:
    """Where a part begins in a tile; none if that is not known, or outside."""
    places = [splat_of(index) for index in indices]
    return row_major.part_start(extents_of(whole), extents_of(part), places)


def fold_extract(op: Any, constants: Constants) -> Folded:
    """Cut a part out of a constant; the only part there is, is the whole."""
    source: Value = op.source
    whole, part = source.type, op.result.type
    if whole is part:
        return source
    start = _start(whole, part, constants[1:])
    return _gathered(constants[0], part, strides(extents_of(whole)), start)


def fold_insert(op: Any, constants: Constants) -> Folded:
    """Put a constant into another; a part as large as the whole takes its place."""
    source_value: Value = op.source
    destination_value: Value = op.destination
    part, whole = source_value.type, destination_value.type
    if part is whole:
        return source_value
    source, destination = _known(constants[0]), _known(constants[1])
    if source is None or destination is None:
        return None
    if source.is_splat and source.data == destination.data:
        return destination_value
    start = _start(whole, part, constants[2:])
    if start is None or count_of(whole) > LIMIT:
        return None
    places = offsets(extents_of(part), strides(extents_of(whole)), start)
    inner, outer = expanded(source, count_of(part)), expanded(destination, count_of(whole))
    return literal(row_major.replaced(outer, inner, places), whole)


def _packing(pack: type[Operation], unpack: type[Operation]) -> Callable[[Any, Constants], Folded]:
    def fold(op: Any, constants: Constants) -> Folded:
        """Read the bytes of constants; packing and unpacking undo each other."""
        source: Value = op.source
        type: Type = op.result.type
        inner, packs = source.defining_op(), isinstance(op, pack)
        if isinstance(inner, unpack if packs else pack) and inner.operands[0].type is type:
            return inner.operands[0]
        constant, size = constants[0], count_of(source.type)
        # Constants hold whole bytes in the same order, if elements are some bytes, and a power
        # of two.
        wide = width_of(source.type if packs else type)
        if not isinstance(constant, DenseElementsAttr) or wide not in (8, 16, 32, 64):
            return None
        if size > LIMIT:
            return None
        return DenseElementsAttr(constant.data * (size if constant.is_splat else 1), type)

    return fold


def one_broadcast(kind: type[Operation]) -> Rule:
    """The rule for two broadcasts in a row."""

    @rule(kind)
    def broadcast_of_broadcast(op: Operation, build: Rewriter) -> Replacement:
        """`broadcast (broadcast x)` becomes one `broadcast`: both repeat what has extent one."""
        if (inner := op.operands[0].defined_by(kind)) is None:
            return None
        build.set_operands(op, inner.operands)
        return op

    return broadcast_of_broadcast


def one_permute(kind: type[Operation], order: str) -> Rule:
    """The rule for two permutations in a row."""

    @rule(kind)
    def permute_of_permute(op: Operation, build: Rewriter) -> Replacement:
        """`permute (permute x)` becomes one `permute`, of the two exchanges in a row."""
        inner = op.operands[0].defined_by(kind)
        if inner is None:
            return None
        build.fuse(inner)
        first: Sequence[int] = getattr(inner, order)
        second: Sequence[int] = getattr(op, order)
        chained = tuple([first[dim] for dim in second])
        fields: dict[str, Any] = {"source": inner.operands[0], order: chained}
        return build.create(kind, types=[op.results[0].type], **fields)

    return permute_of_permute
