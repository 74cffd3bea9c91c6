"""Rates of GPUs: of a board, from NVIDIA's data sheets, and of an SM, where they are known.

An architecture is sold on several boards: each peak names the one that its numbers are of, dense
operations with f32 accumulation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

F32: Final = "f32"
"""The type of operations without tensor cores."""


class Peak(NamedTuple):
    """The rates of one board."""

    gpu: str
    bandwidth: float
    """Of its memory, in units of 10^9 bytes per second."""
    operations: Mapping[str, float]
    """By the type of A as PTX spells it, in units of 10^12 per second; f32 is without mma."""


def tensor_rates(f16: float, f32: float, *, f8: float = 0.0) -> dict[str, float]:
    """Rates by type: tf32 has half the rate of f16, int8 that of fp8, or twice that of f16."""
    eight = f8 or 2 * f16
    rates = {"f16": f16, "bf16": f16, "tf32": f16 / 2, "s8": eight, "u8": eight, F32: f32}
    return {**rates, "e4m3": f8, "e5m2": f8} if f8 else rates


def peak_operations(peak: Peak, type: str) -> float:
    """The rate of dots of a type; that of f32 without tensor cores for types without one."""
    return peak.operations.get(type) or peak.operations[F32]


class Rates(NamedTuple):
    """What an SM does in a clock. Each GPU says where its numbers are from."""

    dots: Mapping[str, int]
    """Operations of the fastest atom, by the type of A as PTX spells it."""
    shared_bytes: int
    """Bytes of shared memory: of reads and of what engines write, together."""
    fill_bytes: int
    """Bytes from L2 to shared memory."""
    lanes: int
    """Lanes of f32 add, mul, fma and max."""
    special_functions: int
    """Lanes of exp2, reciprocal and reciprocal square root."""


class Board(NamedTuple):
    """A GPU as it is sold, as far as the time of a launch depends on it."""

    gpu: str
    sms: int
    clock: float
    """The highest frequency of SMs, in GHz."""
    bandwidth: float
    """Of its memory, in units of 10^9 bytes per second."""
