"""Bitwise logic on integer tiles."""

from __future__ import annotations

from tilewright.dialects.cuda_tile.integer import BinaryInteger
from tilewright.ir.traits import COMMUTATIVE, SameType


class BitwiseOp(BinaryInteger):
    """Base of the operations that treat each bit for itself."""

    traits = (SameType("lhs", "rhs", "result"), COMMUTATIVE)


class AndIOp(BitwiseOp):
    """Bits that are set in both: `result[i] = lhs[i] & rhs[i]`."""

    name = "cuda_tile.andi"


class OrIOp(BitwiseOp):
    """Bits that are set in at least one: `result[i] = lhs[i] | rhs[i]`."""

    name = "cuda_tile.ori"


class XOrIOp(BitwiseOp):
    """Bits that are set in exactly one: `result[i] = lhs[i] ^ rhs[i]`."""

    name = "cuda_tile.xori"
