"""Remarks as rows of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.explain.report import RemarkRow

if TYPE_CHECKING:
    from tilewright.explain.positions import Positions
    from tilewright.support.remarks import Remark


def remark_row(remark: Remark, positions: Positions) -> RemarkRow:
    """A remark of the compiler as a row of the report."""
    return RemarkRow(
        remark.id,
        remark.kind,
        remark.category,
        remark.message,
        remark.details,
        remark.remedy,
        remark.pass_name,
        remark.function,
        positions.first(remark.location),
    )
