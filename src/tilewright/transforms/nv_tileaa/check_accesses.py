"""Run-time checks of every access to global memory: against its view, or its pointers.

Elements that are masked or out of bounds are not accessed, and so not checked.

An address is never null, it is aligned to its element, and it stays in the memory that its pointer
was derived from where the size of that is known: an allocation of the block, a global array, or a
pointer that is also the base of a view.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final, TypeAlias

from tilewright.analysis.alias import TileAccess
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.elements import pointee_bytes, with_element
from tilewright.dialects.nv_tileaa import shape
from tilewright.dialects.nv_tileaa.atomics import AtomicCasOp, AtomicRmwOp
from tilewright.dialects.nv_tileaa.constraints import count, pointer
from tilewright.dialects.nv_tileaa.conversion import BitcastOp, PtrToIntOp
from tilewright.dialects.nv_tileaa.memory import AddPtrOp, AllocaOp, LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.structure import FuncOp, GetGlobalOp, GlobalOp
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    ConvTileOp,
    GetDimSizeOp,
    MakeMemrefOp,
    memref,
    tiled_view,
)
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.dominance import Dominance
from tilewright.ir.passes import Pass
from tilewright.ir.symbol_table import resolve
from tilewright.ir.types import DYNAMIC, F4E2M1FN, I1, I64, TensorType
from tilewright.transforms.nv_tileaa.check_builder import Checks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

PointerAccess: TypeAlias = LoadOp | StoreOp | AtomicRmwOp | AtomicCasOp
"""The operations that access memory through pointers."""

FIRST: Final = 4096
"""The first address that may be memory: what is below it is null and an offset."""


class CheckAccesses(Pass):
    """Insert run-time checks that report and stop at the first wrong access."""

    name = "check-accesses"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            pointers = _Pointers(function)
            for inner in list(function.walk()):
                if isinstance(inner, TileAccess):
                    _check_tile(inner)
                elif isinstance(inner, PointerAccess):
                    pointers.check(inner)


def _check_tile(op: TileAccess) -> None:
    """Check the indices of a tile, and the assumption that it is in bounds.

    A tile must start in its tensor, unless it is a slice of another one that does; gathered rows
    may be out of bounds.
    """
    if op.view.defined_by(ConvTileOp) is not None:
        return
    checks = Checks(op)
    is_dense = tiled_view(op.view).sparse is None
    for dim, index in enumerate(op.indices):
        if is_dense and not op.sliced:
            tiles = _size(checks, op.view, dim)
            begins = checks.below(checks.wide(index), tiles)
            gist = f"expected index {dim} below %u, got %d"
            checks.require(begins, "outside of its view", gist, [tiles, index])
        if op.in_bounds and op.in_bounds[dim]:
            _check_in_bounds(checks, op, dim, index)
    if not (is_dense and op.sliced):
        _check_base(checks, op)


def _check_base(checks: Checks, op: TileAccess) -> None:
    """The base address is valid for the element type, if an element is accessed.

    The first of a tile is; of gathered rows, perhaps none.
    """
    cut = op.view.defined_by(BlockTileOp)
    tensor = None if cut is None else cut.source.defined_by(MakeMemrefOp)
    view = tiled_view(op.view)
    if tensor is None:
        return
    address = checks.build.create(PtrToIntOp, source=tensor.base, types=[I64]).result
    valid = _is_element_address(checks, address, view.source.element)
    if view.sparse is not None:
        nothing = checks.negation(_begins_inside(checks, op, tensor.result))
        valid = checks.disjunction(checks.spread(valid, nothing.type), nothing)
    checks.require(valid, "of a view at a null or misaligned address", "got %p", [tensor.base])


def _begins_inside(checks: Checks, op: TileAccess, tensor: Value) -> Value:
    """Which of the gathered rows start in the tensor."""
    inside: list[Value] = []
    for dim, index in zip(tiled_view(op.view).dims, op.indices, strict=True):
        start = checks.wide(index)
        size = checks.spread(_size(checks, tensor, dim), start.type)
        inside.append(checks.below(start, size))
    rows = next(each.type for each in inside if isinstance(each.type, TensorType))
    return reduce(checks.conjunction, [checks.spread(each, rows) for each in inside])


def _size(checks: Checks, source: Value, dim: int) -> Value:
    return checks.build.create(GetDimSizeOp, source=source, dim=dim, types=[I64]).result


def _check_in_bounds(checks: Checks, op: TileAccess, dim: int, index: Value) -> None:
    """A tile that is assumed in bounds starts and ends in the tensor; a gathered row is in it."""
    cut = op.view.defined_by(BlockTileOp)
    if cut is None:
        return
    view, what = tiled_view(op.view), "outside of its view, which it promised not to be"
    size = _size(checks, cut.source, view.dims[dim])
    if dim == view.sparse:
        rows = checks.wide(index)
        checks.require(checks.below(rows, checks.spread(size, rows.type)), what)
        return
    start = checks.multiply(checks.wide(index), checks.constant(view.counted[dim]))
    end = checks.add(start, checks.constant(view.tile[dim]))
    # The end of a tile before the tensor may wrap around to an index in it.
    ends = checks.compare(CmpIPredicate.ULE, end, size)
    inside = checks.conjunction(checks.below(start, size), ends)
    gist = f"expected dimension {dim} up to %u, got elements from %u to %u"
    checks.require(inside, what, gist, [size, start, end])


class _Pointers:
    """Checks accesses through pointers, by the views of a function and their bases."""

    __slots__ = ("_dominance", "_views")

    def __init__(self, function: FuncOp) -> None:
        self._dominance = Dominance()
        self._views: dict[Value, list[MakeMemrefOp]] = {}
        for op in function.walk():
            if isinstance(op, MakeMemrefOp):
                self._views.setdefault(_without_assumptions(op.base), []).append(op)

    def check(self, op: PointerAccess) -> None:
        """Check the addresses that an operation accesses: those where its mask is true."""
        element = pointer(op.pointers).pointee
        if _is_part_of_byte(element):
            return
        checks = Checks(op)
        type = with_element(op.pointers.type, I64)
        address = checks.build.create(PtrToIntOp, source=op.pointers, types=[type]).result
        valid = _is_element_address(checks, address, element)
        demands = [(valid, "at a null or misaligned address")]
        inside = self._inside(checks, op, address)
        if inside is not None:
            demands.append((inside, "outside of the memory of its pointer"))
        if not isinstance(op, LoadOp) and any(map(_is_constant, _origins(op.pointers))):
            never = checks.constant(0, with_element(op.pointers.type, I1))
            demands.append((never, "to memory that must not change"))
        for condition, what in demands:
            if op.mask is not None:
                condition = checks.disjunction(condition, checks.negation(op.mask))
            checks.require(condition, what, "got %p", [op.pointers])

    def _inside(self, checks: Checks, op: PointerAccess, address: Value) -> Value | None:
        """Whether addresses are in the memory of their pointer; None if its size is unknown."""
        for root in _origins(op.pointers):
            extents = [*self._extents(checks, op, root)]
            if extents:
                break
        else:
            return None
        last_byte = pointee_bytes(pointer(op.pointers).pointee) - 1
        start = checks.build.create(PtrToIntOp, source=root, types=[I64]).result
        offset = checks.subtract(address, checks.spread(start, address.type))
        offset = checks.add(offset, checks.constant(last_byte, address.type))
        inside = [checks.below(offset, checks.spread(end, address.type)) for end in extents]
        return reduce(checks.disjunction, inside)

    def _extents(self, checks: Checks, op: PointerAccess, root: Value) -> Iterator[Value]:
        """The bytes of memory from a pointer on, by each declaration of their number."""
        maker = root.defining_op()
        element = pointer(root).pointee
        if _is_part_of_byte(element):
            return
        if isinstance(maker, AllocaOp):
            yield checks.constant(maker.count * pointee_bytes(element))
        elif isinstance(maker, GetGlobalOp):
            yield checks.constant(count(_array(maker).value.type) * pointee_bytes(element))
        for view in self._views.get(root, ()):
            if self._dominance.dominates(view.result, op):
                yield _view_bytes(checks, view)


def _is_element_address(checks: Checks, address: Value, element: Type) -> Value:
    """Whether addresses are not null, and aligned to the element."""
    there = checks.compare(CmpIPredicate.UGE, address, checks.constant(FIRST, address.type))
    low = checks.conjunction(address, checks.constant(pointee_bytes(element) - 1, address.type))
    return checks.conjunction(there, checks.is_zero(low))


def _is_part_of_byte(element: Type) -> bool:
    """Whether several elements share a byte, so that an address is ambiguous."""
    return element is F4E2M1FN


def _is_constant(root: Value) -> bool:
    """Whether a pointer leads to a global array that is never written."""
    global_op = root.defined_by(GetGlobalOp)
    return global_op is not None and _array(global_op).constant


def _array(op: GetGlobalOp) -> GlobalOp:
    array = resolve(SymbolRefAttr(op.symbol), op)
    assert isinstance(array, GlobalOp)
    return array


def _without_assumptions(value: Value) -> Value:
    """The value under all `assume` operations."""
    while (assumed := value.defined_by(AssumeOp)) is not None:
        value = assumed.value
    return value


def _origins(pointers: Value) -> Iterator[Value]:
    """The pointers that others are derived from, one from the next."""
    value: Value | None = pointers
    while value is not None:
        value = _without_assumptions(value)
        if not isinstance(value.type, TensorType):
            yield value
        match value.defining_op():
            case AddPtrOp(pointers=source):
                value = source
            case (
                BitcastOp(source=source)
                | shape.SplatOp(source=source)
                | shape.Rearrangement(source=source)
                | shape.ExtractOp(source=source)
            ):
                value = source
            case _:
                value = None


def _view_bytes(checks: Checks, view: MakeMemrefOp) -> Value:
    """The bytes from the base of a view to its end; 0 if it is empty."""
    type, given = memref(view.result), iter(view.strides)
    elements, filled = checks.constant(1), None
    for dim, stride in enumerate(type.strides):
        step = checks.wide(next(given)) if stride == DYNAMIC else checks.constant(stride)
        size = checks.build.create(GetDimSizeOp, source=view.result, dim=dim, types=[I64]).result
        steps = checks.subtract(size, checks.constant(1))
        elements = checks.add(elements, checks.multiply(steps, step))
        some = checks.compare(CmpIPredicate.NE, size, checks.constant(0))
        filled = some if filled is None else checks.conjunction(filled, some)
    bytes = checks.multiply(elements, checks.constant(pointee_bytes(type.element)))
    return bytes if filled is None else checks.chosen(filled, bytes, checks.constant(0))
