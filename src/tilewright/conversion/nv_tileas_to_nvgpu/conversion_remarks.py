"""Remarks on the layout conversions that are left when tiles are lowered to threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.layout.transfer import Move, transfer
from tilewright.plans.scratch import scratch_bytes, stays_in_warps
from tilewright.support.remark_catalogue import (
    LAYOUT_CONVERSION_SHARED,
    LAYOUT_CONVERSION_SHUFFLES,
    OPERAND_STORED,
)
from tilewright.support.remarks import Remark

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


def report_conversions(root: Operation, sink: Sink, pass_name: str) -> None:
    """Report each conversion by which threads exchange elements of a tile."""
    if not sink.wants_remarks:
        return
    for function in root.walk():
        if isinstance(function, FuncOp):
            for op in function.walk():
                if isinstance(op, ConvertLayoutOp):
                    remark = _remark(op, function.sym_name, pass_name)
                    if remark is not None:
                        sink.remark(remark)


def _remark(op: ConvertLayoutOp, function: str, pass_name: str) -> Remark | None:
    """The remark on a conversion; None if every thread has what it needs."""
    bytes, scratch = stored_bytes(op.source.type), scratch_bytes(op)
    if in_shared_memory(op.result):
        entry, text = OPERAND_STORED, f"{bytes} bytes of an operand stored to shared memory"
    elif scratch and stays_in_warps(op):
        entry = LAYOUT_CONVERSION_SHARED
        text = f"{bytes} bytes pass through shared memory within warps"
    elif scratch:
        entry = LAYOUT_CONVERSION_SHARED
        text = f"{bytes} bytes pass through shared memory, with barriers"
    elif transfer(layout_of(op.source), layout_of(op.result)).move > Move.REGISTERS:
        entry, text = LAYOUT_CONVERSION_SHUFFLES, f"{bytes} bytes exchanged by shuffles"
    else:
        return None
    details = (("Bytes", str(bytes)), ("ScratchBytes", str(scratch)))
    return Remark(entry, text, pass_name, function, op.location, _reason(op), details)


def _reason(op: ConvertLayoutOp) -> str:
    """Between which operations the layout changes."""
    users = list(dict.fromkeys(_name(user) for user in op.result.users))
    return f"{_source(op.source)} has another layout than {' and '.join(users) or 'its use'}"


def _source(value: Value) -> str:
    op = value.defining_op()
    return "a loop-carried tile" if op is None else _name(op)


def _name(op: Operation) -> str:
    """The name of an operation without its dialect, as in cuda_tile."""
    return f"`{op.name.partition('.')[2]}`"
