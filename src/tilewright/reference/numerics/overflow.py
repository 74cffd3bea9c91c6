"""Overflow of integer operations: whether the exact result is out of range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import IntegerType
from tilewright.reference.numerics.integer import read
from tilewright.reference.tile import Array


def _shift(a: Any, amount: Any) -> Any:
    return a << np.minimum(np.abs(amount), 64)


def _same(a: Any) -> Any:
    return a


EXACT: Final[dict[str, Callable[..., Any]]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "negi": np.negative,
    "shli": _shift,
    "trunci": _same,
}
"""By the mnemonic that all dialects share."""


def wraps(
    kind: type[Operation], operands: Sequence[Array], result: Type, *, is_signed: bool
) -> Array:
    """Whether an operation overflows, computed with Python's integers."""
    assert isinstance(result, IntegerType)
    numbers = [read(operand, is_signed).astype(object) for operand in operands]
    compute = EXACT[kind.name.rpartition(".")[2]]
    if compute is _shift:
        numbers[1] = read(operands[1], False).astype(object)
    exact = compute(*numbers)
    low, high = (
        (-(1 << result.width - 1), 1 << result.width - 1) if is_signed else (0, 1 << result.width)
    )
    return np.asarray((exact < low) | (exact >= high), np.bool_)
