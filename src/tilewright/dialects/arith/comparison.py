"""Comparisons and `select`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tilewright.dialects.arith.attributes import (
    CMPF_PREDICATE,
    CMPI_PREDICATE,
    FAST_MATH,
    FAST_MATH_SYNTAX,
    NO_FAST_MATH,
)
from tilewright.dialects.elements import (
    BOOL_LIKE,
    FLOAT_LIKE,
    INTEGER_LIKE,
    shape_of,
    with_element,
)
from tilewright.dialects.inference import InferringOp
from tilewright.ir import declare as d
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import ELEMENTWISE, Effects, SameType
from tilewright.ir.types import I1
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


class ComparisonOp(InferringOp):
    """Base of the elementwise comparisons."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs"), ELEMENTWISE)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (with_element(types["lhs"][0], I1),)


class CmpIOp(ComparisonOp):
    """Compare integers."""

    name = "arith.cmpi"
    syntax = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"

    predicate = d.attribute(CMPI_PREDICATE)
    lhs = d.operand(INTEGER_LIKE)
    rhs = d.operand(INTEGER_LIKE)
    result = d.result(BOOL_LIKE)


class CmpFOp(ComparisonOp):
    """Compare floats."""

    name = "arith.cmpf"
    syntax = f"$predicate `,` $lhs `,` $rhs {FAST_MATH_SYNTAX} attr-dict `:` type($lhs)"

    predicate = d.attribute(CMPF_PREDICATE)
    lhs = d.operand(FLOAT_LIKE)
    rhs = d.operand(FLOAT_LIKE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(BOOL_LIKE)


def _parse_types(parser: Parser, state: ParseState, condition: str, result: str) -> None:
    """Parse `i32`, or `vector<4xi1>, vector<4xi32>` for an elementwise condition."""
    first = parser.type()
    state.operand_types[condition] = [first if parser.peek() == "," else I1]
    state.result_types[result] = [parser.type() if parser.accept(",") else first]


def _print_types(printer: Printer, op: Any, condition: str, result: str) -> None:
    type = printer.type(op.result.type)
    condition_type = op.condition.type
    printer.emit(type if condition_type is I1 else f"{printer.type(condition_type)}, {type}")


class SelectOp(Operation):
    """Select `true_value` or `false_value`, by a scalar or an elementwise condition."""

    name = "arith.select"
    effects = Effects.PURE
    traits = (SameType("true_value", "false_value", "result"), ELEMENTWISE)
    directives: ClassVar[Mapping[str, Directive]] = {"Types": Directive(_parse_types, _print_types)}
    syntax = (
        "$condition `,` $true_value `,` $false_value attr-dict `:` "
        "custom<Types>(type($condition), type($result))"
    )

    condition = d.operand(BOOL_LIKE)
    true_value = d.operand(ANY_TYPE)
    false_value = d.operand(ANY_TYPE)
    result = d.result(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        condition, result = self.condition.type, self.result.type
        if condition is not I1 and shape_of(condition) != shape_of(result):
            yield f"expected a condition of i1 or of the shape of '{result}', got '{condition}'"
