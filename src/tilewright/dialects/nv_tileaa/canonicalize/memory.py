"""Addresses, masks that are known, and the algebra of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import width_of, with_element
from tilewright.dialects.nv_tileaa.attributes import MemSemantic, Signedness
from tilewright.dialects.nv_tileaa.canonicalize.constants import constant, known
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
"""Accesses that order nothing besides what their tokens say."""


def fold_addptr(op: AddPtrOp, constants: Constants) -> Folded:
    """An address moved by nothing is itself."""
    return op.pointers if splat_of(constants[1]) == 0 else None


@rule(AddPtrOp)
def fuse_addptr_chain(op: AddPtrOp, build: Rewriter) -> Replacement:
    """`addptr (addptr p, x), y` becomes `addptr p, x + y`, both offsets in one unit and 64 bits.

    Narrower offsets might overflow where the addresses do not. Elements count as bytes if one of
    the two offsets does. Where a loop or branch starts from an address that was computed before,
    it is not computed again.
    """
    inner = op.pointers.defined_by(AddPtrOp)
    if inner is None or inner.parent is not op.parent:
        return None
    size = 0
    if op.in_bytes != inner.in_bytes and not (size := _element_size(op)):
        return None
    build.fuse(inner)
    first, second = (_offset(each, size, build) for each in (inner, op))
    total = build.create(AddIOp, lhs=first, rhs=second)
    in_bytes = op.in_bytes or inner.in_bytes
    return build.create(AddPtrOp, pointers=inner.pointers, offsets=total.result, in_bytes=in_bytes)


def _element_size(op: AddPtrOp) -> int:
    """How many bytes apart elements are; zero if they share one."""
    width = cast("IntegerType | FloatType", pointer(op.result).pointee).width
    return max(width // 8, 1) if width == 1 or width % 8 == 0 else 0


def _offset(op: AddPtrOp, size: int, build: Rewriter) -> Value:
    """An offset in 64 bits; in bytes, if elements have a size."""
    offsets = op.offsets
    type = with_element(offsets.type, I64)
    if width_of(offsets.type) < I64.width:
        wide = build.create(ExtIOp, source=offsets, signedness=Signedness.SIGNED, types=[type])
        offsets = wide.result
    if size in (0, 1) or op.in_bytes:
        return offsets
    return build.create(MulIOp, lhs=offsets, rhs=constant(size, type, build)).result


def _is_droppable(op: AccessOp) -> bool:
    """Whether an access that touches nothing has no other effect that somebody asked for."""
    return op.semantic in _UNORDERED and not op.volatile


def token_before(op: LoadOp | StoreOp, build: Rewriter) -> Value:
    """What an access waits for; if for nothing, then a token that depends on nothing."""
    return build.create(CreateMemTokenOp).result if op.token is None else op.token


@rule(LoadOp)
def canonicalize_masked_load(op: LoadOp, build: Rewriter) -> Replacement:
    """A load with a true mask needs none; with a false one it is `other`, and its token waits on.

    Without `other` the value is undefined.
    """
    wanted = None if op.mask is None else known(op.mask)
    if wanted is None:
        return None
    if wanted:
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
    """A store with a true mask needs none; with a false one it goes, and its token waits on."""
    wanted = None if op.mask is None else known(op.mask)
    if wanted is None:
        return None
    if wanted:
        token = () if op.token is None else (op.token,)
        build.set_operands(op, (op.pointers, op.value, *token), (1, 1, 0, len(token)))
        return op
    return token_before(op, build) if _is_droppable(op) else None


@rule(JoinMemTokenOp)
def simplify_join(op: JoinMemTokenOp, build: Rewriter) -> Replacement:
    """A join leaves out repeated tokens and fresh ones, takes in joins that only it uses.

    `join [join [a, b], c]` waits for `a`, `b` and `c`; a join of one is that one. The order stays.
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
