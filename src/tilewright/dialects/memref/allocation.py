"""Allocation of local memory, and globals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tilewright.dialects.elements import INDEX_TYPE, RANKED_MEMREF, memref
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import (
    I64_ATTR,
    STRING_ATTR,
    SYMBOL_ATTR,
    TYPE_ATTR,
    AttributeKind,
)
from tilewright.ir.attributes import (
    UNIT,
    Attribute,
    DenseElementsAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from tilewright.ir.operation import Operation
from tilewright.ir.symbol_table import resolve
from tilewright.ir.traits import SYMBOL, Effects
from tilewright.ir.types import DYNAMIC, MemRefType, TensorType
from tilewright.support.bits import is_power_of_two
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


def alignment_problems(alignment: int | None) -> Iterator[str]:
    """Check an alignment in bytes."""
    if alignment is not None and not is_power_of_two(alignment):
        yield f"expected an alignment that is a power of two, got {alignment}"


class AllocaOp(Operation):
    """Allocate local memory until the function returns; the operands are the dynamic extents."""

    name = "memref.alloca"
    syntax = "`(` $dynamic_sizes `)` (`` `[` $symbol_operands^ `]`)? attr-dict `:` type($result)"

    dynamic_sizes = d.operands(INDEX_TYPE)
    symbol_operands = d.operands(INDEX_TYPE)
    alignment = d.optional_attribute(I64_ATTR)
    result = d.result(RANKED_MEMREF)

    def verify(self) -> Iterator[str]:
        count = (memref(self.result).shape or ()).count(DYNAMIC)
        if count != len(self.dynamic_sizes):
            yield f"expected {count} sizes, got {len(self.dynamic_sizes)}"
        yield from alignment_problems(self.alignment)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "alloca"),)


class InitialValueKind(AttributeKind["DenseElementsAttr | UnitAttr"]):
    """The initial value of a global, or a unit attribute if it is uninitialized."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, DenseElementsAttr | UnitAttr)

    def unwrap(self, attribute: Attribute) -> DenseElementsAttr | UnitAttr:
        assert isinstance(attribute, DenseElementsAttr | UnitAttr)
        return attribute

    def wrap(self, value: DenseElementsAttr | UnitAttr) -> Attribute:
        return value


def _parse_value(parser: Parser, state: ParseState, type_field: str, value: str) -> None:
    """Parse `memref<2xf32>`, optionally with `= dense<0.0>` or `= uninitialized`."""
    at = parser.at
    type = parser.type()
    if not isinstance(type, MemRefType) or type.shape is None:
        parser.error(f"expected a ranked memref, got '{type}'", at)
    state.attributes[type_field] = TypeAttr(type)
    if not parser.accept("="):
        return
    if parser.accept("uninitialized"):
        state.attributes[value] = UNIT
    else:
        state.attributes[value] = parser.attribute(TensorType(type.shape, type.element))


def _print_value(printer: Printer, op: Any, type_field: str, value: str) -> None:
    printer.emit(printer.type(op.type))
    initial = op.initial_value
    if isinstance(initial, UnitAttr):
        printer.emit(" = uninitialized")
    elif initial is not None:
        printer.emit(f" = dense<{printer.dense(initial)}>")


class GlobalOp(Operation):
    """A global variable; without a value an external declaration."""

    name = "memref.global"
    traits = (SYMBOL,)
    directives: ClassVar[Mapping[str, Directive]] = {"Value": Directive(_parse_value, _print_value)}
    syntax = (
        "($sym_visibility^)? (`constant` $constant^)? $sym_name `:` "
        "custom<Value>($type, $initial_value) attr-dict"
    )

    sym_name = d.attribute(STRING_ATTR)
    sym_visibility = d.optional_attribute(STRING_ATTR)
    type = d.attribute(TYPE_ATTR)
    initial_value = d.optional_attribute(InitialValueKind("dense elements or unit"))
    constant = d.flag()
    alignment = d.optional_attribute(I64_ATTR)

    def verify(self) -> Iterator[str]:
        type, initial = self.type, self.initial_value
        if not isinstance(type, MemRefType) or DYNAMIC in (type.shape or (DYNAMIC,)):
            yield f"expected a memref of known shape, got '{type}'"
            return
        if isinstance(initial, DenseElementsAttr):
            expected = TensorType(type.shape, type.element)
            if initial.type is not expected:
                yield f"expected a value of type '{expected}', got '{initial.type}'"
        yield from alignment_problems(self.alignment)


class GetGlobalOp(Operation):
    """The memref of a global."""

    name = "memref.get_global"
    effects = Effects.PURE
    syntax = "$symbol `:` type($result) attr-dict"

    symbol = d.attribute(SYMBOL_ATTR, spelling="name")
    result = d.result(RANKED_MEMREF)

    def verify_context(self) -> Iterator[str]:
        target = resolve(SymbolRefAttr(self.symbol), self)
        if not isinstance(target, GlobalOp):
            yield f"expected '@{self.symbol}' to name a global"
        elif target.type is not self.result.type:
            expected, actual = target.type, self.result.type
            yield f"expected the type '{expected}' of '@{self.symbol}', got '{actual}'"
