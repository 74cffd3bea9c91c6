"""Slices: what is computed from values, and what values are computed from.

A slice goes through the operations that the caller accepts, such as element-wise ones, and ends at
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

    Through = Callable[[Operation], bool]


def forward_slice(
    values: Iterable[Value], through: Through, most: int | None = None
) -> Iterator[tuple[Value, Operation]]:
    """The uses of values, and of what the operations that it goes through compute from them.

    `most` bounds the values that are followed.
    """

    def results(value: Value) -> Iterator[Value]:
        for user in value.users:
            if through(user):
                yield from user.results

    for value in closure(values, results, most):
        for user in value.users:
            yield value, user


def backward_slice(
    values: Iterable[Value], through: Through, most: int | None = None
) -> Iterator[Value]:
    """Some values, and those that the operations that it goes through compute them from.

    `most` bounds the values that are followed.
    """

    def operands(value: Value) -> Iterable[Value]:
        op = value.defining_op()
        return op.operands if op is not None and through(op) else ()

    return closure(values, operands, most)


def closure(
    values: Iterable[Value], step: Callable[[Value], Iterable[Value]], most: int | None = None
) -> Iterator[Value]:
    """Some values, and all that steps from them lead to, each once; up to a number of values."""
    pending = list(values)
    seen = set(pending)
    while pending:
        value = pending.pop()
        yield value
        for each in step(value):
            if each not in seen and (most is None or len(seen) < most):
                seen.add(each)
                pending.append(each)
