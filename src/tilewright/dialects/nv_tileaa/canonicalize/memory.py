"""Folds of pointer arithmetic, constant masks, and joins of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import width_of, with_element
from tilewright.dialects.nv_tileaa.attributes import MemSemantic, Signedness
from tilewright.dialects.nv_tileaa.canonicalize.constants import constant, splat_value
from tilewright.dialects.nv_tileaa.constraints import pointer
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.integer import AddIOp, MulIOp
from tilewright.dialects.nv_tileaa.memory import (
    AccessOp,
    AddPtrOp,
    CreateMemTokenOp,
    JoinMemTokenOp,
    LoadOp,
    StoreOp,
)
from tilewright.dialects.ub import PoisonOp
from tilewright.ir.rules import rule
from tilewright.ir.types import I64, FloatType, IntegerType

if TYPE_CHECKING:
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Constants, Folded, Folds, Replacement, Rules
    from tilewright.ir.values import Value

_UNORDERED: Final = (MemSemantic.WEAK, MemSemantic.RELAXED)
"""Memory orderings without acquire or release semantics."""


def fold_addptr(op: AddPtrOp, constants: Constants) -> Folded:
    """`addptr p, 0` is `p`."""
    return op.pointers if splat_of(constants[1]) == 0 else None


@rule(AddPtrOp)
def fuse_addptr_chain(op: AddPtrOp, build: Rewriter) -> Replacement:
    """`addptr (addptr p, x), y` becomes `addptr p, x + y` with 64-bit offsets.

    Narrower offsets could overflow although the addresses do not. If one of the offsets is in
    bytes, the other is converted. Both must be in one block: an address computed before a loop
    or branch is not recomputed in it.
    """
    inner = op.pointers.defined_by(AddPtrOp)
    if inner is None or inner.parent is not op.parent:
        return None
    size = 0
    if op.in_bytes != inner.in_bytes and not (size := _element_size(op)):
        return None
    build.fuse(inner)
    first, second = (_offset(each, size, build) for each in (inner, op))
    offset = build.create(AddIOp, lhs=first, rhs=second)
    in_bytes = op.in_bytes or inner.in_bytes
    return build.create(AddPtrOp, pointers=inner.pointers, offsets=offset.result, in_bytes=in_bytes)


def _element_size(op: AddPtrOp) -> int:
    """The element stride in bytes; zero for sub-byte elements."""
    width = cast("IntegerType | FloatType", pointer(op.result).pointee).width
    return max(width // 8, 1) if width == 1 or width % 8 == 0 else 0


def _offset(op: AddPtrOp, size: int, build: Rewriter) -> Value:
    """The offset as i64; scaled to bytes if `size` is not zero."""
    offsets = op.offsets
    type = with_element(offsets.type, I64)
    if width_of(offsets.type) < I64.width:
        wide = build.create(ExtIOp, source=offsets, signedness=Signedness.SIGNED, types=[type])
        offsets = wide.result
    if size in (0, 1) or op.in_bytes:
        return offsets
    return build.create(MulIOp, lhs=offsets, rhs=constant(size, type, build)).result


def _is_droppable(op: AccessOp) -> bool:
    """Whether an access that is masked off has no other effect."""
    return op.semantic in _UNORDERED and not op.volatile


def token_before(op: LoadOp | StoreOp, build: Rewriter) -> Value:
    """The token operand of an access, or a new token without dependences."""
    return build.create(CreateMemTokenOp).result if op.token is None else op.token


@rule(LoadOp)
def canonicalize_masked_load(op: LoadOp, build: Rewriter) -> Replacement:
    """Drop a mask that is true; a load with a false mask is `other`, or poison without it.

    Its token is replaced by its token operand.
    """
    mask = None if op.mask is None else splat_value(op.mask)
    if mask is None:
        return None
    if mask:
        token = () if op.token is None else (op.token,)
        build.set_operands(op, (op.pointers, *token), (1, 0, 0, len(token)))
        return op
    if not _is_droppable(op):
        return None
    other = op.other
    if other is None:
        other = build.create(PoisonOp, types=[op.result.type]).result
    if other.type is not op.result.type:
        return None
    return other, token_before(op, build)


@rule(StoreOp)
def canonicalize_masked_store(op: StoreOp, build: Rewriter) -> Replacement:
    """Drop a mask that is true; drop a store with a false mask, forwarding its token operand."""
    mask = None if op.mask is None else splat_value(op.mask)
    if mask is None:
        return None
    if mask:
        token = () if op.token is None else (op.token,)
        build.set_operands(op, (op.pointers, op.value, *token), (1, 1, 0, len(token)))
        return op
    return token_before(op, build) if _is_droppable(op) else None


@rule(JoinMemTokenOp)
def simplify_join(op: JoinMemTokenOp, build: Rewriter) -> Replacement:
    """Drop duplicate and new tokens of a join, and inline joins that have no other use.

    `join [join [a, b], c]` becomes `join [a, b, c]`; `join [a]` is `a`. The order is kept.
    """
    distinct: dict[Value, None] = {}
    for token in op.tokens:
        inner = token.defined_by(JoinMemTokenOp)
        is_absorbed = inner is not None and len(token.users) == 1
        distinct.update(dict.fromkeys(inner.tokens if inner and is_absorbed else (token,)))
    kept = [token for token in distinct if token.defined_by(CreateMemTokenOp) is None]
    kept = kept or list(distinct)[:1]
    if len(kept) == 1:
        return kept[0]
    if tuple(kept) == tuple(op.tokens):
        return None
    build.set_operands(op, kept)
    return op


FOLDS: Final[Folds] = {AddPtrOp: fold_addptr}
RULES: Final[Rules] = (
    fuse_addptr_chain,
    canonicalize_masked_load,
    canonicalize_masked_store,
    simplify_join,
)
