"""What to change in a program, by the id of a remark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.explain.report import RemarkEntry

if TYPE_CHECKING:
    from tilewright.explain.positions import Positions
    from tilewright.support.remarks import Remark

REMEDIES: Final = {
    "RemarkMemoryLoadInstructionSelected": "state the alignment of the base and the divisibility "
    "of extents and strides by `assume`, and make the last dimension contiguous",
    "RemarkMemoryStoreInstructionSelected": "state the alignment of the base and the divisibility "
    "of extents and strides by `assume`, and make the last dimension contiguous",
    "RemarkTma": "give the view a base that is a multiple of 16 bytes, strides that are, and a "
    "contiguous last dimension",
    "RemarkTmaStore": "give the view a base that is a multiple of 16 bytes, strides that are, and "
    "a contiguous last dimension",
    "RemarkWarpSpecialization": "force it with `--schedule agents=1`, and measure",
    "RemarkMulticast": "set `num_ctas` so that CTAs of a cluster share the tile",
    "RemarkPipelineMemory": "force another number of stages with `--schedule stages=N`, or use "
    "smaller tiles",
    "RemarkRegisterSpills": "use smaller tiles or more warps, or lower the occupancy hint",
    "RemarkOccupancyRelaxed": "lower the occupancy hint, or use smaller tiles",
    "RemarkHint": "change the hint, or remove it",
    "RemarkTensorCoreMMA": "use operand types and shapes that tensor cores support",
    "RemarkCluster": "use `num_ctas = 1`, or make the grid and the tiles divisible",
}
"""For remarks on what was missed; others need none."""
MISSED: Final = ("missed", "failed")


def remark_entry(remark: Remark, positions: Positions) -> RemarkEntry:
    """A remark of the compiler as a row of the report."""
    scalar = "one element at a time" in remark.text
    wanted = remark.kind in MISSED or scalar
    return RemarkEntry(
        remark.name,
        remark.kind,
        remark.category,
        remark.text,
        remark.details,
        REMEDIES.get(remark.name, "") if wanted else "",
        remark.pass_name,
        remark.function,
        positions.first(remark.location),
    )
