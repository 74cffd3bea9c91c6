"""cf: branches between blocks, and assertions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Self

from tilewright.dialects.elements import I1_TYPE, SIGNLESS
from tilewright.dialects.successors import (
    count_problems,
    print_conditional,
    read_conditional,
    read_target,
    target_problems,
    target_text,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ELEMENTS_ATTR, I32_ARRAY_ATTR, STRING_ATTR
from tilewright.ir.attributes import (
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    Type,
    element_bytes,
)
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation
from tilewright.ir.traits import TERMINATOR, Effects
from tilewright.ir.types import I32, IntegerType, VectorType
from tilewright.support.bits import mask, to_signed

if TYPE_CHECKING:
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer


class BranchOp(Operation):
    """Branch to a block, passing values for its arguments."""

    name = "cf.br"
    effects = Effects.PURE
    traits = (TERMINATOR,)

    arguments = d.operands(ANY_TYPE)

    @property
    def target(self) -> Block:
        """The target block."""
        return self.successors[0]

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `^bb1(%a : i32)`."""
        target, values = read_target(parser)
        return cls(values, (), parser.optional_attr_dict(), (), location, [target])

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        target = target_text(printer, self.target, self.arguments)
        printer.emit(f" {target}{printer.attr_dict(self)}")

    def verify_context(self) -> Iterator[str]:
        yield from count_problems(1, self.successors)
        for target in self.successors[:1]:
            yield from target_problems(target, self.arguments)


class CondBranchOp(Operation):
    """Branch to one of two blocks by a condition."""

    name = "cf.cond_br"
    effects = Effects.PURE
    traits = (TERMINATOR,)

    condition = d.operand(I1_TYPE)
    true_arguments = d.operands(ANY_TYPE)
    false_arguments = d.operands(ANY_TYPE)
    branch_weights = d.optional_attribute(I32_ARRAY_ATTR)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `%c weights([9, 1]), ^bb1(%a : i32), ^bb2`."""
        return read_conditional(cls, parser, location)

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        passed = (self.true_arguments, self.false_arguments)
        print_conditional(self, self.branch_weights, passed, printer)

    def verify(self) -> Iterator[str]:
        weights = self.branch_weights
        if weights is not None and len(weights) != 2:
            yield f"expected 2 branch weights, got {len(weights)}"

    def verify_context(self) -> Iterator[str]:
        yield from count_problems(2, self.successors)
        passed = (self.true_arguments, self.false_arguments)
        for target, values in zip(self.successors, passed, strict=False):
            yield from target_problems(target, values)


class SwitchOp(Operation):
    """Branch to the block of a case value, or to the default block."""

    name = "cf.switch"
    effects = Effects.PURE
    traits = (TERMINATOR,)

    flag = d.operand(SIGNLESS)
    default_arguments = d.operands(ANY_TYPE)
    case_arguments = d.operands(ANY_TYPE)
    case_values = d.optional_attribute(ELEMENTS_ATTR)
    case_operand_segments = d.attribute(I32_ARRAY_ATTR, default=())

    @property
    def values(self) -> list[int]:
        """The case values, in order."""
        if self.case_values is None:
            return []
        count = len(self.case_operand_segments)
        elements = self.case_values.elements()
        width = self.flag.type.width if isinstance(self.flag.type, IntegerType) else 64
        numbers = elements * count if self.case_values.is_splat else elements
        return [to_signed(number, width) for number in numbers]

    @property
    def cases(self) -> list[tuple[Value, ...]]:
        """The operands that each case passes, in order."""
        ends = [sum(self.case_operand_segments[:n]) for n in range(len(self.successors))]
        pairs = zip(ends, self.case_operand_segments, strict=False)
        return [self.case_arguments[start : start + size] for start, size in pairs]

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `%flag : i32, [default: ^bb1, 42: ^bb2(%a : i32)]`."""
        reference = parser.operand()
        parser.expect(":")
        at = parser.at
        type = parser.type()
        if not isinstance(type, IntegerType):
            parser.error(f"expected an integer, got '{type}'", at)
        flag = parser.resolve(reference, type)
        parser.expect(",")
        parser.expect("[")
        parser.expect("default")
        parser.expect(":")
        default, default_values = read_target(parser)
        cases: list[tuple[int, Block, list[Value]]] = []
        while parser.accept(","):
            number = parser.integer()
            parser.expect(":")
            cases.append((number, *read_target(parser)))
        parser.expect("]")
        passed = [value for _, _, values in cases for value in values]
        attributes = _case_attributes(cases, type) | parser.optional_attr_dict()
        return cls(
            [flag, *default_values, *passed],
            (),
            attributes,
            (),
            location,
            [default, *[block for _, block, _ in cases]],
            (1, len(default_values), len(passed)),
        )

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts, one case a line."""
        flag = f"{printer.value(self.flag)} : {printer.type(self.flag.type)}"
        printer.emit(f" {flag}, [")
        default, *others = self.successors
        targets = [("default", target_text(printer, default, self.default_arguments))]
        for number, block, values in zip(self.values, others, self.cases, strict=True):
            targets.append((str(number), target_text(printer, block, values)))
        for index, (label, target) in enumerate(targets):
            printer.newline(2)
            printer.emit(f"{label}: {target}{',' if index + 1 < len(targets) else ''}")
        printer.newline()
        printer.emit(f"]{printer.attr_dict(self, ('case_values', 'case_operand_segments'))}")

    def verify(self) -> Iterator[str]:
        count = len(self.case_operand_segments)
        values = self.case_values
        if values is not None:
            type = values.type
            if not isinstance(type, VectorType) or type.element is not self.flag.type:
                yield f"expected values that are a vector of '{self.flag.type}', got '{type}'"
            elif type.shape != (count,):
                yield f"expected {count} case values, got {type.shape}"
            elif len(set(self.values)) != count:
                yield "expected a value for each case that no other has"
        elif count:
            yield f"expected {count} case values, got none"
        if sum(self.case_operand_segments) != len(self.case_arguments):
            actual = sum(self.case_operand_segments)
            yield f"expected segments that add up to {len(self.case_arguments)}, got {actual}"

    def verify_context(self) -> Iterator[str]:
        count = len(self.case_operand_segments)
        yield from count_problems(1 + count, self.successors)
        if len(self.successors) != 1 + count:
            return
        default, *others = self.successors
        yield from target_problems(default, self.default_arguments)
        for block, values in zip(others, self.cases, strict=True):
            yield from target_problems(block, values)


def _case_attributes(
    cases: list[tuple[int, Block, list[Value]]], type: IntegerType
) -> dict[str, Attribute]:
    sizes = tuple([len(values) for _, _, values in cases])
    attributes: dict[str, Attribute] = {"case_operand_segments": DenseArrayAttr(I32, sizes)}
    if cases:
        numbers = [number & mask(type.width) for number, _, _ in cases]
        attributes["case_values"] = _dense(numbers, type)
    return attributes


def _dense(numbers: list[int], element: Type) -> DenseElementsAttr:
    size = element_bytes(element)
    data = b"".join([number.to_bytes(size, "little") for number in numbers])
    return DenseElementsAttr(data, VectorType((len(numbers),), element))


class AssertOp(Operation):
    """Abort with a message unless the condition holds."""

    name = "cf.assert"
    syntax = "$condition `,` $message attr-dict"

    condition = d.operand(I1_TYPE)
    message = d.attribute(STRING_ATTR, spelling="msg")


CF: Final = Dialect("cf", sys.modules[__name__])
