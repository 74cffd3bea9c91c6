"""Bitwise logic on integer tiles."""

from __future__ import annotations

from tilewright.dialects.cuda_tile.integer import BinaryInteger
from tilewright.ir.traits import COMMUTATIVE, SameType


class BitwiseOp(BinaryInteger):
    """Base of the bitwise operations."""

    traits = (SameType("lhs", "rhs", "result"), COMMUTATIVE)


class AndIOp(BitwiseOp):
    """Bitwise and: `result[i] = lhs[i] & rhs[i]`."""

    name = "cuda_tile.andi"


class OrIOp(BitwiseOp):
    """Bitwise or: `result[i] = lhs[i] | rhs[i]`."""

    name = "cuda_tile.ori"


class XOrIOp(BitwiseOp):
    """Bitwise exclusive or: `result[i] = lhs[i] ^ rhs[i]`."""

    name = "cuda_tile.xori"
