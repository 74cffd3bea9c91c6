"""Atomic operations that leave memory unchanged become loads; orders of nothing are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of, width_of
from tilewright.dialects.nv_tileaa.atomics import AtomicCasOp, AtomicOp, AtomicRmwOp
from tilewright.dialects.nv_tileaa.attributes import MemSemantic, RmwMode
from tilewright.dialects.nv_tileaa.canonicalize.constants import constant, splat_value
from tilewright.dialects.nv_tileaa.memory import LOAD_SEMANTICS, CreateMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.view import TiledAtomicRmwOp
from tilewright.ir.rules import constant_of, rule
from tilewright.ir.types import IntegerType
from tilewright.support.bits import mask, sign_bit

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value


def _zero(bits: int) -> int:
    return 0


_IDENTITIES: Final[dict[RmwMode, Callable[[int], int]]] = {
    **dict.fromkeys((RmwMode.ADD, RmwMode.OR, RmwMode.XOR, RmwMode.UMAX), _zero),
    **dict.fromkeys((RmwMode.AND, RmwMode.UMIN), mask),
    RmwMode.MAX: sign_bit,
    RmwMode.MIN: lambda bits: mask(bits) >> 1,
}
"""Identity elements, of integers only: adding 0.0 changes the sign of -0.0."""


def _is_identity(mode: RmwMode, value: Value) -> bool:
    """Whether a value is the identity element of a read-modify-write."""
    identity = _IDENTITIES.get(mode)
    if identity is None or not isinstance(element_of(value.type), IntegerType):
        return False
    return splat_value(value) == identity(width_of(value.type))


def _load(op: AtomicOp, mask: Value | None, other: Value | None, build: Rewriter) -> Replacement:
    """Create a load for an atomic operation, with its ordering, scope, volatility and hints."""
    load = build.create(
        LoadOp,
        pointers=op.operands[0],
        mask=mask,
        other=None if mask is None else other,
        token=_token(op),
        types=[result.type for result in op.results],
    )
    attributes = {name: value for name, value in op.attributes.items() if name != "rmw_mode"}
    load.attributes.update(attributes)
    return load


def _token(op: AtomicOp) -> Value | None:
    return op.token if isinstance(op, AtomicCasOp | AtomicRmwOp) else None


@rule(AtomicCasOp)
def fold_atomic_cas(op: AtomicCasOp, build: Rewriter) -> Replacement:
    """`atomic_cas p, c, c` with a constant `c` is a load: it never changes memory.

    Loads cannot release: not folded with such an ordering.
    """
    compare, value = constant_of(op.compare), constant_of(op.value)
    if compare is None or compare is not value or op.semantic not in LOAD_SEMANTICS:
        return None
    return _load(op, op.mask, op.compare, build)


@rule(AtomicRmwOp)
def fold_atomic_rmw(op: AtomicRmwOp, build: Rewriter) -> Replacement:
    """`atomic_rmw add p, 0` is a load, as is any mode with its identity element.

    Loads cannot release: not folded with such an ordering. Masked-off elements are zero.
    """
    if not _is_identity(op.mode, op.value) or op.semantic not in LOAD_SEMANTICS:
        return None
    other = None if op.mask is None else constant(0, op.result.type, build)
    return _load(op, op.mask, other, build)


@rule(TiledAtomicRmwOp)
def drop_identity(op: TiledAtomicRmwOp, build: Rewriter) -> Replacement:
    """A `tiled_atomic_rmw` with the identity element is its token, unless volatile."""
    if op.volatile or not _is_identity(op.mode, op.tile):
        return None
    return build.create(CreateMemTokenOp).result if op.token is None else op.token


_SEMANTICS: Final = {
    (True, True): MemSemantic.ACQ_REL,
    (True, False): MemSemantic.ACQUIRE,
    (False, True): MemSemantic.RELEASE,
    (False, False): MemSemantic.RELAXED,
}
"""By whether an access acquires, and whether it releases."""


@rule(AtomicCasOp, AtomicRmwOp)
def relax_ordering(op: AtomicCasOp | AtomicRmwOp, build: Rewriter) -> Replacement:
    """An atomic whose token is unused acquires nothing, and one without a token releases nothing.

    Only tokens order the accesses of a block: no access is after the one, or before the other.
    """
    if op.semantic is MemSemantic.SEQ_CST:
        return None
    follows = op.token is not None and op.token.defined_by(CreateMemTokenOp) is None
    acquires = op.semantic.acquires and op.result_token.is_used
    semantic = _SEMANTICS[acquires, op.semantic.releases and follows]
    if semantic is op.semantic:
        return None
    op.semantic = semantic
    build.touch(op)
    return op


RULES: Final[Rules] = (fold_atomic_cas, fold_atomic_rmw, drop_identity, relax_ordering)
