"""Folding of unrealized conversion casts that cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.builtin import UnrealizedConversionCastOp
from tilewright.ir.passes import Pass
from tilewright.ir.rules import Replacement, apply_rules, rule

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


@rule(UnrealizedConversionCastOp)
def cast_there_and_back(op: UnrealizedConversionCastOp, build: Rewriter) -> Replacement:
    """Casts from A to B to ... to A become nothing: no step changes what the values are."""
    wanted = [result.type for result in op.results]
    inputs: tuple[Value, ...] = op.operands
    while [value.type for value in inputs] != wanted:
        source = inputs[0].defined_by(UnrealizedConversionCastOp) if inputs else None
        if source is None or inputs != source.results:
            return None
        inputs = source.operands
    return inputs


class ReconcileUnrealizedCasts(Pass):
    """Delete casts from one type to another and back, and those without users."""

    name = "reconcile-unrealized-casts"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        if not any(isinstance(inner, UnrealizedConversionCastOp) for inner in op.walk()):
            return
        apply_rules(op, (cast_there_and_back,), sink=sink)
