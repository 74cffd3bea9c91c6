"""Terminators: branches, switches and returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from tilewright.dialects.elements import listed, types_of
from tilewright.dialects.llvm.attributes import LOOP_ANNOTATION
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import ANY, BOOL, SCALAR_INTEGER
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.dialects.successors import (
    count_problems,
    print_conditional,
    read_conditional,
    read_target,
    target_problems,
    target_text,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ELEMENTS_ATTR, I32_ARRAY_ATTR
from tilewright.ir.attributes import DenseArrayAttr, DenseElementsAttr
from tilewright.ir.traits import TERMINATOR
from tilewright.ir.types import I32, IntegerType, VectorType
from tilewright.support.bits import to_signed

if TYPE_CHECKING:
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer


class Branch(LLVMOp):
    """Base of the branches."""

    def edges(self) -> Iterable[tuple[Block, Sequence[Value]]]:
        """Return each successor with its block arguments."""
        raise NotImplementedError

    def verify_context(self) -> Iterator[str]:
        for block, values in self.edges():
            yield from target_problems(block, values)


class BrOp(Branch):
    """Branch unconditionally."""

    name = "llvm.br"
    traits = (TERMINATOR,)

    arguments = d.operands(ANY)
    loop_annotation = d.optional_attribute(LOOP_ANNOTATION)

    def edges(self) -> Iterable[tuple[Block, Sequence[Value]]]:
        return ((self.successors[0], self.operands),)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `^label(%a : i32) {...}`."""
        block, values = read_target(parser)
        attributes = parser.optional_attr_dict()
        return cls(values, (), attributes, (), location, [block])

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.emit(f" {target_text(printer, self.successors[0], self.operands)}")
        printer.emit(printer.attr_dict(self))

    def verify(self) -> Iterator[str]:
        yield from count_problems(1, self.successors)


class CondBrOp(Branch):
    """Branch to the first successor if the condition is true, else to the second."""

    name = "llvm.cond_br"
    traits = (TERMINATOR,)

    condition = d.operand(BOOL)
    true_operands = d.operands(ANY)
    false_operands = d.operands(ANY)
    branch_weights = d.optional_attribute(I32_ARRAY_ATTR)
    """The branch weights of the successors."""
    loop_annotation = d.optional_attribute(LOOP_ANNOTATION)

    def edges(self) -> Iterable[tuple[Block, Sequence[Value]]]:
        return zip(self.successors, (self.true_operands, self.false_operands), strict=True)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `%c weights([1, 2]), ^a(%x : i32), ^b {...}`."""
        return read_conditional(cls, parser, location)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        passed = (self.true_operands, self.false_operands)
        print_conditional(self, self.branch_weights, passed, printer)

    def verify(self) -> Iterator[str]:
        yield from count_problems(2, self.successors)
        if self.branch_weights is not None and len(self.branch_weights) != 2:
            yield f"expected 2 weights, got {len(self.branch_weights)}"


class SwitchOp(Branch):
    """Branch to the successor of the case that equals the value, or to the default."""

    name = "llvm.switch"
    traits = (TERMINATOR,)

    value = d.operand(SCALAR_INTEGER)
    default_operands = d.operands(ANY)
    case_operands = d.operands(ANY)
    case_values = d.optional_attribute(ELEMENTS_ATTR)
    case_segments = d.attribute(I32_ARRAY_ATTR, default=(), spelling="case_operand_segments")
    """The number of operands of each case."""
    branch_weights = d.optional_attribute(I32_ARRAY_ATTR)

    @property
    def cases(self) -> list[int]:
        """The case values as signed integers, in the order of the successors after the default."""
        if self.case_values is None:
            return []
        type = self.value.type
        assert isinstance(type, IntegerType)
        elements = self.case_values.elements()
        if self.case_values.is_splat:
            elements *= len(self.successors) - 1
        return [to_signed(element, type.width) for element in elements]

    def edges(self) -> Iterable[tuple[Block, Sequence[Value]]]:
        yield self.successors[0], self.default_operands
        start = 0
        operands = self.case_operands
        for block, size in zip(self.successors[1:], self.case_segments, strict=True):
            yield block, operands[start : start + size]
            start += size

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `%v : i32, ^default [1: ^a(%x : i32), 2: ^b] {...}`."""
        reference = parser.operand()
        parser.expect(":")
        at = parser.at
        type = parser.type()
        if not isinstance(type, IntegerType):
            parser.error(f"expected an integer type, got '{type}'", at)
        parser.expect(",")
        value = parser.resolve(reference, type)
        default, default_values = read_target(parser)
        cases: list[tuple[int, Block, list[Value]]] = []

        def case() -> None:
            number = parser.integer()
            parser.expect(":")
            cases.append((number, *read_target(parser)))

        parser.listed(case, "[", "]")
        attributes = parser.optional_attr_dict()
        operands = [operand for _, _, values in cases for operand in values]
        sizes = tuple([len(values) for _, _, values in cases])
        attributes["case_operand_segments"] = DenseArrayAttr(I32, sizes)
        if cases:
            attributes["case_values"] = _numbers([number for number, _, _ in cases], type)
        return cls(
            [value, *default_values, *operands],
            (),
            attributes,
            (),
            location,
            [default, *[block for _, block, _ in cases]],
            (1, len(default_values), len(operands)),
        )

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        default, *cases = [target_text(printer, *edge) for edge in self.edges()]
        printer.emit(f" {printer.value(self.value)} : {printer.type(self.value.type)}, {default} [")
        texts = [f"{n}: {text}" for n, text in zip(self.cases, cases, strict=True)]
        for index, text in enumerate(texts):
            printer.newline(2)
            printer.emit(f"{text}," if index + 1 < len(texts) else text)
        printer.newline()
        printer.emit("]")
        printer.emit(printer.attr_dict(self, ("case_values", "case_operand_segments")))

    def verify(self) -> Iterator[str]:
        count = len(self.successors) - 1
        if count < 0:
            yield "expected a default successor"
        elif len(self.case_segments) != count or len(self.cases) != count:
            yield f"expected {count} cases, got {len(self.cases)}"
        elif sum(self.case_segments) != len(self.case_operands):
            expected = sum(self.case_segments)
            yield f"expected {expected} case operands, got {len(self.case_operands)}"
        elif len(set(self.cases)) != count:
            yield "expected distinct case values"


def _numbers(numbers: list[int], type: IntegerType) -> DenseElementsAttr:
    size = (type.width + 7) // 8
    data = b"".join([(n % (1 << type.width)).to_bytes(size, "little") for n in numbers])
    return DenseElementsAttr(data, VectorType((len(numbers),), type))


class ReturnOp(LLVMOp):
    """Return from the function, with its result if it has one."""

    name = "llvm.return"
    traits = (TERMINATOR,)
    syntax = "attr-dict ($arg^ `:` type($arg))?"

    arg = d.optional_operand(ANY)

    def verify_context(self) -> Iterator[str]:
        parent = self.parent_op
        if not isinstance(parent, FuncOp):
            return
        expected, actual = parent.function_type.results, types_of(self.operands)
        if actual != expected:
            yield f"expected to return {listed(expected)}, got {listed(actual)}"


class UnreachableOp(LLVMOp):
    """Mark unreachable code."""

    name = "llvm.unreachable"
    traits = (TERMINATOR,)
    syntax = "attr-dict"
