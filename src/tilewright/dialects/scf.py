"""scf: structured control flow."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Self

from tilewright.dialects.elements import I1_TYPE, INTEGER_OR_INDEX, listed, types_of
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ARRAY_ATTR
from tilewright.ir.attributes import UNIT, Attribute
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation, Region
from tilewright.ir.traits import TERMINATOR, Effects, HasParent, SameType
from tilewright.ir.types import I1, INDEX

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import BlockArgument, Value
    from tilewright.support.location import Location
    from tilewright.text.parser import Argument, Parser
    from tilewright.text.printer import Printer


class IfOp(Operation):
    """Conditional; the branch taken yields the results."""

    name = "scf.if"
    effects = Effects.RECURSIVE

    condition = d.operand(I1_TYPE)
    outputs = d.results(ANY_TYPE)
    then_region = d.region(terminator="scf.yield")
    else_region = d.region(min_blocks=0, terminator="scf.yield")
    branch_weights = d.optional_attribute(I32_ARRAY_ATTR)
    """How often each branch is taken, relative to the other."""

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `%c -> (f32) { ... } else { ... }`."""
        condition = parser.resolve(parser.operand(), I1)
        types = parser.listed(parser.type, "(", ")") if parser.accept("->") else []
        branch = cls.then_region
        then = parser.region(owner=cls, field=branch)
        other = parser.region(owner=cls, field=branch) if parser.accept("else") else Region()
        attributes = parser.optional_attr_dict()
        return cls([condition], types, attributes, [then, other], location)

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        printer.emit(f" {printer.value(self.condition)}")
        if self.results:
            types = ", ".join([printer.type(result.type) for result in self.results])
            printer.emit(f" -> ({types})")
        printer.emit(" ")
        printer.region(self.then_region, print_terminators=bool(self.results))
        if self.else_region.blocks:
            printer.emit(" else ")
            printer.region(self.else_region, print_terminators=bool(self.results))
        printer.emit(printer.attr_dict(self))

    def verify(self) -> Iterator[str]:
        weights = self.branch_weights
        if weights is not None and len(weights) != 2:
            yield f"expected 2 branch weights, got {len(weights)}"

    def verify_context(self) -> Iterator[str]:
        if self.results and not self.else_region.blocks:
            yield "expected an else branch, since there are results"
        expected = types_of(self.results)
        for which, region in (("then", self.then_region), ("else", self.else_region)):
            for block in region.blocks:
                if block.args:
                    yield f"expected the {which} branch to have no arguments"
                yield from _yield_problems(f"the {which} branch", region, expected)


class ForOp(Operation):
    """Counted loop from the lower bound to the upper bound (exclusive) by a positive step.

    The yielded values are the loop-carried values of the next iteration, those of the last
    iteration the results.
    """

    name = "scf.for"
    effects = Effects.RECURSIVE
    traits = (SameType("lower_bound", "upper_bound", "step"),)
    loop_body = "body"

    lower_bound = d.operand(INTEGER_OR_INDEX)
    upper_bound = d.operand(INTEGER_OR_INDEX)
    step = d.operand(INTEGER_OR_INDEX)
    init_args = d.operands(ANY_TYPE)
    unsigned_cmp = d.flag(spelling="unsignedCmp")
    outputs = d.results(ANY_TYPE)
    body = d.region(terminator="scf.yield")

    @property
    def induction_variable(self) -> BlockArgument:
        """The induction variable."""
        return self.body.block.args[0]

    @property
    def carried(self) -> tuple[BlockArgument, ...]:
        """The block arguments of the loop-carried values."""
        return self.body.block.args[1:]

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `%i = %a to %b step %c iter_args(%x = %y) -> (f32) : i32 { ... }`."""
        attributes: dict[str, Attribute] = {}
        if parser.accept("unsigned"):
            attributes["unsignedCmp"] = UNIT
        counter = parser.operand()
        parser.expect("=")
        bounds = [parser.operand()]
        for word in ("to", "step"):
            parser.expect(word)
            bounds.append(parser.operand())
        inner: list[int] = []
        outer: list[int] = []
        carried: list[Type] = []
        if parser.accept("iter_args"):
            inner, outer = read_assignments(parser)
            parser.expect("->")
            carried = _carried_types(parser, len(inner))
        type = parser.type() if parser.accept(":") else INDEX
        types = [*[type] * 3, *carried]
        values = [parser.resolve(*pair) for pair in zip([*bounds, *outer], types, strict=True)]
        arguments = named(parser, [counter, *inner], [type, *carried])
        body = parser.region(arguments, owner=cls, field=cls.body)
        attributes |= parser.optional_attr_dict()
        return cls(values, carried, attributes, [body], location)

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        lower, upper, step = map(printer.value, self.operands[:3])
        unsigned = " unsigned" if self.unsigned_cmp else ""
        counter = self.induction_variable
        printer.emit(f"{unsigned} {printer.value(counter)} = {lower} to {upper} step {step}")
        if self.init_args:
            types = ", ".join([printer.type(value.type) for value in self.init_args])
            pairs = assignments_text(printer, self.carried, self.init_args)
            printer.emit(f" iter_args({pairs}) -> ({types})")
        printer.emit(f"{'' if counter.type is INDEX else f' : {printer.type(counter.type)}'} ")
        printer.region(self.body, print_entry_args=False, print_terminators=bool(self.init_args))
        printer.emit(printer.attr_dict(self, ("unsignedCmp",)))

    def verify(self) -> Iterator[str]:
        initial, final = types_of(self.init_args), types_of(self.results)
        if initial != final:
            yield f"expected results of types {listed(initial)}, got {listed(final)}"

    def verify_context(self) -> Iterator[str]:
        actual = types_of(self.body.block.args)
        expected = (self.lower_bound.type, *types_of(self.init_args))
        if actual != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(actual)}"
        yield from _yield_problems("the body", self.body, types_of(self.results))


class WhileOp(Operation):
    """Loop while the condition of the `before` region holds.

    The operands of `scf.condition` are passed to the `after` region, which yields the values of
    the next iteration, or become the results when the loop ends.
    """

    name = "scf.while"
    effects = Effects.RECURSIVE
    loop_body = "before"

    init_args = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)
    before = d.region()
    after = d.region(terminator="scf.yield")

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `(%x = %y) : (i32) -> f32 { ... } do { ^bb0(%z: f32): ... }`."""
        at = parser.at
        inner, outer = read_assignments(parser) if parser.peek() == "(" else ([], [])
        parser.expect(":")
        inputs = parser.listed(parser.type, "(", ")")
        parser.expect("->")
        one = parser.peek() != "("
        results = [parser.type()] if one else parser.listed(parser.type, "(", ")")
        if len(inputs) != len(inner):
            parser.error(f"expected {len(inner)} types of initial values, got {len(inputs)}", at)
        values = [parser.resolve(*pair) for pair in zip(outer, inputs, strict=True)]
        before = parser.region(named(parser, inner, inputs), owner=cls, field=cls.before)
        parser.expect("do")
        after = parser.region(owner=cls, field=cls.after)
        attributes = parser.attr_dict() if parser.accept("attributes") else {}
        return cls(values, results, attributes, [before, after], location)

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        if self.init_args:
            arguments = self.before.block.args
            printer.emit(f" ({assignments_text(printer, arguments, self.init_args)})")
        types = printer.signature(types_of(self.init_args), types_of(self.results))
        printer.emit(f" : {types} ")
        printer.region(self.before, print_entry_args=False)
        printer.emit(" do ")
        printer.region(self.after)
        printer.emit(printer.attr_dict(self, keyword=True))

    def verify_context(self) -> Iterator[str]:
        initial, final = types_of(self.init_args), types_of(self.results)
        for which, region, expected in (
            ("before", self.before, initial),
            ("after", self.after, final),
        ):
            actual = types_of(region.block.args)
            if actual != expected:
                problem = f"of types {listed(expected)}, got {listed(actual)}"
                yield f"expected arguments of the '{which}' region {problem}"
        if not isinstance(self.before.block.last, ConditionOp):
            yield "expected the 'before' region to end in 'scf.condition'"
        yield from _yield_problems("the 'after' region", self.after, initial)


class YieldOp(Operation):
    """Terminate a branch or an iteration, yielding its values."""

    name = "scf.yield"
    effects = Effects.PURE
    traits = (TERMINATOR, HasParent("scf.if", "scf.for", "scf.while"))
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)


class ConditionOp(Operation):
    """Continue or end a `while` loop, passing values."""

    name = "scf.condition"
    # Not pure: a loop that may not terminate must not be speculated.
    effects = Effects.NONE
    traits = (TERMINATOR, HasParent("scf.while"))
    syntax = "`(` $condition `)` attr-dict ($values^ `:` type($values))?"

    condition = d.operand(I1_TYPE)
    values = d.operands(ANY_TYPE)

    def verify_context(self) -> Iterator[str]:
        loop = self.parent_op
        if not isinstance(loop, WhileOp):
            return
        if self.parent_region is not loop.before:
            yield "expected to stand in the 'before' region"
        expected, actual = types_of(loop.results), types_of(self.values)
        if actual != expected:
            yield f"expected values of types {listed(expected)}, got {listed(actual)}"


def _yield_problems(region_name: str, region: Region, expected: tuple[Type, ...]) -> Iterator[str]:
    """Check the `yield` of a region."""
    last = region.block.last if len(region.blocks) == 1 else None
    if not isinstance(last, YieldOp):
        yield f"expected {region_name} to end in 'scf.yield'"
        return
    actual = types_of(last.values)
    if actual != expected:
        yield f"expected {region_name} to yield {listed(expected)}, got {listed(actual)}"


def read_assignments(parser: Parser) -> tuple[list[int], list[int]]:
    """Parse `(%inner = %outer, ...)`: block arguments and initial values."""
    inner: list[int] = []
    outer: list[int] = []

    def assignment() -> None:
        inner.append(parser.operand())
        parser.expect("=")
        outer.append(parser.operand())

    parser.listed(assignment, "(", ")")
    return inner, outer


def assignments_text(
    printer: Printer, inner: tuple[BlockArgument, ...], outer: tuple[Value, ...]
) -> str:
    """Print the assignments that `read_assignments` parses, without parentheses."""
    pairs = zip(inner, outer, strict=True)
    return ", ".join([f"{printer.value(a)} = {printer.value(b)}" for a, b in pairs])


def _carried_types(parser: Parser, count: int) -> list[Type]:
    at = parser.at
    types = parser.listed(parser.type, "(", ")")
    if len(types) != count:
        parser.error(f"expected {count} types of carried values, got {len(types)}", at)
    return types


def named(parser: Parser, names: list[int], types: list[Type]) -> list[Argument]:
    """Pair the names of block arguments with their types."""
    return [parser.named_argument(*pair) for pair in zip(names, types, strict=True)]


SCF: Final = Dialect("scf", sys.modules[__name__], simplifier="tilewright.dialects.scf_rules")
