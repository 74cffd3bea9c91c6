"""Remarks on hints that the compiler does not use as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.hints import unmet_hints
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.support.remarks import COMPILER, Remark

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


def report_unmet_hints(root: Operation, arch: str, sink: Sink) -> None:
    """Report every hint that is out of range, or that no kernel of ours can meet."""
    for entry in [op for op in root.walk() if isinstance(op, EntryOp)]:
        for op in (entry, *entry.body.walk()):
            for name, reason in unmet_hints(op, arch):
                sink.remark(_remark(entry, op, f"Hint {name} {reason}"))


def _remark(entry: EntryOp, op: Operation, text: str) -> Remark:
    name, by = "RemarkHint", "convert-cuda-tile-to-tileaa"
    return Remark("missed", COMPILER, name, text, by, entry.sym_name, op.location)
