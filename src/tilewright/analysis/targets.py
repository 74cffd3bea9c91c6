"""The GPU that a program is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attributes import TARGET_SPEC_NAME, TargetSpecAttr
from tilewright.target.arch import ARCHES, BASELINE, find_arch

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.target.arch import Arch


def target_of(op: Operation) -> Arch | None:
    """The GPU that the module around an operation names, if it names one that we know."""
    for outer in op.ancestors():
        spec = outer.attributes.get(TARGET_SPEC_NAME)
        if isinstance(spec, TargetSpecAttr):
            return find_arch(f"sm_{spec.compute_capability}")
    return None


def target_or_baseline(op: Operation) -> Arch:
    """The GPU that the module around an operation names; the baseline if it names none.

    Ask the result for atoms, engines and capacities: `target_or_baseline(op).tile_engine`.
    """
    return target_of(op) or ARCHES[BASELINE]
