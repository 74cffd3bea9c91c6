"""Assumptions, and printing from kernels."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import ANY_TILE, TOKEN_TYPE
from tilewright.dialects.cuda_tile.kinds import ASSUME_PREDICATE
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import STRING_ATTR
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import SameType


class AssumeOp(TileOp):
    """Return the value, asserting a predicate; behavior is undefined if it does not hold."""

    name = "cuda_tile.assume"
    since = (13, 1)
    traits = (SameType("value", "result"),)
    syntax = "custom<AssumePredicate>($predicate) `,` $value attr-dict `:` type($value)"

    value = d.operand(ANY_TYPE)
    predicate = d.attribute(ASSUME_PREDICATE)
    result = d.result(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        problem = self.predicate.value_problem(self.value.type)
        if problem is not None:
            yield problem

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        producer = self.value.defining_op()
        if producer is None or not _names_results(producer):
            yield 0, "assume"
            return
        hints = dict(producer.result_names(style))
        yield 0, f"assume_{hints.get(self.value.index, '')}"


def _names_results(op: Operation) -> bool:
    """Whether the class of an operation overrides `result_names`."""
    return bool(op.regions) or type(op).result_names is not Operation.result_names


class PrintTkoOp(TileOp):
    """Print tiles from the device, one conversion specifier of `format` for each."""

    name = "cuda_tile.print_tko"
    other_names = {"tileiras": "cuda_tile.print"}  # noqa: RUF012
    since = (13, 1)
    syntax = (
        "$format (`,` $args^)? (`token` `` `=` `` $token^)? attr-dict (`:` type($args)^)? "
        "(`->` type($result_token)^)?"
    )

    format = d.attribute(STRING_ATTR, spelling="str")
    args = d.operands(ANY_TILE)
    token = d.optional_operand(TOKEN_TYPE, since=(13, 2))
    result_token = d.result(TOKEN_TYPE, since=(13, 2))

    def verify(self) -> Iterator[str]:
        # Most programs print nothing.
        from tilewright.dialects.print_format import format_problem  # noqa: PLC0415

        problem = format_problem(self.format, len(self.args))
        if problem is not None:
            yield problem
