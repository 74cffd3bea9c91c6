"""Peak rates of GPUs, from NVIDIA's data sheets: dense operations, f32 accumulation.

An architecture is sold on several boards: each row names the one that its numbers are of.
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


def _tensor_rates(f16: float, f32: float, *, f8: float = 0.0) -> dict[str, float]:
    """Rates by type: tf32 has half the rate of f16, int8 that of fp8, or twice that of f16."""
    eight = f8 or 2 * f16
    rates = {"f16": f16, "bf16": f16, "tf32": f16 / 2, "s8": eight, "u8": eight, F32: f32}
    return {**rates, "e4m3": f8, "e5m2": f8} if f8 else rates


PEAKS: Final[Mapping[str, Peak]] = {
    "sm_80": Peak("A100 80GB SXM", 2039, {**_tensor_rates(312, 19.5), "f64": 19.5}),
    "sm_89": Peak("L40S", 864, _tensor_rates(362, 91.6, f8=733)),
    "sm_90": Peak("H100 SXM", 3350, {**_tensor_rates(989, 67, f8=1979), "f64": 67}),
    "sm_100": Peak("B200", 8000, {**_tensor_rates(2250, 75, f8=4500), "f64": 37}),
}
"""By the name of the architecture; those of other GPUs are unknown."""


def peak_operations(peak: Peak, type: str) -> float:
    """The rate of dots of a type; that of f32 without tensor cores for types without one."""
    return peak.operations.get(type) or peak.operations[F32]
