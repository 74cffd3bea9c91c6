"""Queries on side effects: of an operation and of all operations nested in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.traits import Effects

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

_SPECULATABLE = (Effects.PURE,)
_EFFECT_FREE = (Effects.PURE, Effects.NONE)
_READING = (Effects.PURE, Effects.NONE, Effects.READ)


def is_pure(op: Operation) -> bool:
    """Whether `op` can be speculated: executed more often, less often, or elsewhere."""
    return _has_only(op, _SPECULATABLE)


def is_effect_free(op: Operation) -> bool:
    """Whether `op` is free of side effects, so that an equal operation can replace it."""
    return _has_only(op, _EFFECT_FREE)


def may_write(op: Operation) -> bool:
    """Whether `op` may write memory."""
    return not _has_only(op, _READING)


def is_dead(op: Operation) -> bool:
    """Whether `op` is trivially dead: no uses, no writes, no control flow out of it."""
    if op.effects is Effects.UNKNOWN or op.is_terminator:
        return False
    for result in op.results:
        if result.users:
            return False
    return _has_only(op, _READING)


def _has_only(op: Operation, allowed: tuple[Effects, ...]) -> bool:
    effects = op.effects
    if effects is not Effects.RECURSIVE:
        return effects in allowed and not op.jumps_to
    return all(
        (inner.effects is Effects.RECURSIVE or inner.effects in allowed)
        and not (inner.jumps_to and _leaves(inner, op))
        for inner in op.walk()
    )


def _leaves(terminator: Operation, op: Operation) -> bool:
    """Whether control goes from `terminator`, which is inside `op`, to somewhere outside it."""
    for outer in terminator.ancestors():
        if outer.name in terminator.jumps_to:
            return False
        if outer is op:
            return True
    return True
