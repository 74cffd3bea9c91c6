"""Rates of GPUs."""

from __future__ import annotations

from each_case import each_case

from tilewright.target.arch import ARCHES, occupancy, occupancy_bounds
from tilewright.target.rates import peak_operations


@each_case(
    ("arch", "type", "rate"),
    [
        # Data sheets of A100, H100 and L40S: dense, with f32 accumulators.
        ("sm_80", "f16", 312), ("sm_80", "tf32", 156), ("sm_80", "s8", 624),
        ("sm_90", "bf16", 989), ("sm_90", "e4m3", 1979), ("sm_90", "f64", 67),
        ("sm_89", "e5m2", 733),
        # The tensor cores of A100 have no fp8: the rate is that of f32.
        ("sm_80", "e4m3", 19.5), ("sm_80", "f32", 19.5),
    ],
)  # fmt: skip
def test_rates(arch: str, type: str, rate: float) -> None:
    peak = ARCHES[arch].peak
    assert peak is not None
    assert peak_operations(peak, type) == rate


def test_occupancy_is_the_least_bound() -> None:
    arch = ARCHES["sm_90"]
    bounds = occupancy_bounds(arch, threads=256, registers=128, shared=50 * 1024)
    # 64 warps and 64 Ki registers an SM; 51 KiB with what the system reserves, of 228.
    assert bounds == {"CTAs": 32, "warps": 8, "registers": 2, "shared memory": 4}
    assert occupancy(arch, threads=256, registers=128, shared=50 * 1024) == 2
    assert occupancy_bounds(arch, threads=2048, registers=1, shared=0) == {"threads": 0}
