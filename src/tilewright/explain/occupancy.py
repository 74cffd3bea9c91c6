"""Occupancy: resident CTAs per SM, and the resources that limit them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tilewright.explain.report import Bound, Occupancy
from tilewright.target.arch import WARP_SIZE, occupancy_bounds

if TYPE_CHECKING:
    from tilewright.explain.report import Resources
    from tilewright.target.arch import Arch


def occupancy_of(resources: Resources, arch: Arch) -> Occupancy | None:
    """The occupancy of a kernel; None if the number of its threads is unknown."""
    if not resources.threads:
        return None
    threads = prod(resources.threads)
    allowed = occupancy_bounds(
        arch, threads=threads, registers=resources.registers, shared=resources.shared
    )
    ctas = min(allowed.values())
    warps = -(-threads // WARP_SIZE)
    return Occupancy(
        ctas,
        ctas * warps,
        arch.limits.warps,
        [Bound(name, bound) for name, bound in allowed.items()],
        " and ".join(name for name, bound in allowed.items() if bound == ctas),
    )
