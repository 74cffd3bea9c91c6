"""Remarks on hints that the compiler does not use as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.hints import unmet_hints
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.support.remark_catalogue import HINT_IGNORED, HINT_RELAXED
from tilewright.support.remarks import Remark

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.hints import UnmetHint
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


def report_unmet_hints(root: Operation, arch: str, sink: Sink) -> None:
    """Report every hint that is out of range, or that no kernel of ours can meet."""
    for entry in [op for op in root.walk() if isinstance(op, EntryOp)]:
        for op in (entry, *entry.body.walk()):
            for unmet in unmet_hints(op, arch):
                sink.remark(_remark(entry, op, unmet))


def _remark(entry: EntryOp, op: Operation, unmet: UnmetHint) -> Remark:
    by, name = "convert-cuda-tile-to-tileaa", entry.sym_name
    if unmet.accepted is None:
        text = f"Hint {unmet.name} ignored"
        return Remark(HINT_IGNORED, text, by, name, op.location, unmet.reason)
    text = f"Hint {unmet.name} {unmet.asked} relaxed to {unmet.accepted}"
    return Remark(HINT_RELAXED, text, by, name, op.location, unmet.reason)
