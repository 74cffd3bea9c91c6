"""Bitwise logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile import bitwise as d
from tilewright.ir.operation import Operation
from tilewright.reference.evaluators import Run, binary, decoder
from tilewright.reference.tile import Array

LOGIC: Final[dict[type[Operation], Callable[[Array, Array], Array]]] = {
    d.AndIOp: np.bitwise_and,
    d.OrIOp: np.bitwise_or,
    d.XOrIOp: np.bitwise_xor,
}


@decoder(*LOGIC)
def logic(op: d.BitwiseOp) -> Run:
    """Bitwise and, or, xor."""
    return binary(op.lhs, op.rhs, LOGIC[type(op)])
