"""print and assert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    add,
    as_value,
    constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.numerics.float_conversions import convert_float
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner, is_thread, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.shape.slices import owner_of, select_group
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize, thread_basis
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    elements,
    select_registers,
    splat_constant,
)
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith import casts
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp, OrIOp, XOrIOp
from tilewright.dialects.cf import AssertOp as CfAssertOp
from tilewright.dialects.elements import element_of, width_of, with_element
from tilewright.dialects.gpu.threads import PrintfOp
from tilewright.dialects.llvm.conversion import PtrToIntOp
from tilewright.dialects.llvm.intrinsics.floats import FPToSISatOp
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.types import PtrType
from tilewright.dialects.nv_tileas.attributes import layout_of, maybe_layout_of
from tilewright.dialects.nv_tileas.sync import AssertOp, PrintOp
from tilewright.dialects.print_format import Conversion, parse_format
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import F64, I1, I32, I64, FloatType, VectorType
from tilewright.layout.linear import REGISTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

MOST_ARGUMENTS: Final = 32
"""The limit of one call of `printf`."""
_FLOATS: Final = "eEfFgGaA"
_UNSIGNED: Final = "uoxXp"


class PrintedLine:
    """A format string that the first thread prints, in as few calls as arguments allow."""

    __slots__ = ("_arguments", "_build", "_op", "_text")

    def __init__(self, op: PrintOp, build: ConversionBuilder) -> None:
        self._op = op
        self._build = build
        self._text = ""
        self._arguments: list[Value] = []

    def add(self, text: str, argument: Value | None = None) -> None:
        """Append text, and the argument of its conversion."""
        if argument is not None:
            if len(self._arguments) == MOST_ARGUMENTS:
                self.print()
            self._arguments.append(argument)
        self._text += text

    def print(self) -> None:
        """Emit a call for the text so far."""
        if self._text:
            with predicated(self._build, is_thread(self._op, 0, self._build)):
                self._build.create(PrintfOp, format=self._text, args=self._arguments)
        self._text = ""
        self._arguments = []


@converts(PrintOp)
def print_tiles(op: PrintOp, new: PrintOp, build: ConversionBuilder) -> Result:
    """Each conversion takes a whole tile: `[[0, 1], [2, 3]]`."""
    line = PrintedLine(op, build)
    arguments = iter(zip(op.arguments, new.arguments, strict=True))
    for piece in parse_format(op.format):
        if not isinstance(piece, Conversion):
            line.add(piece.replace("%", "%%"))
            continue
        tile, vector = next(arguments)
        spelling, value = _printable(op, build, piece, vector, element_of(tile.type))
        _add_tile(op, build, line, tile, spelling, value)
    line.print()
    return [()]


def _printable(
    op: PrintOp, build: ConversionBuilder, conversion: Conversion, value: Value, element: Type
) -> tuple[str, Value]:
    """The conversion specifier, and the registers promoted to the type that it takes."""
    flags, kind = conversion
    wide = with_element(value.type, F64 if kind in _FLOATS else I64)
    if isinstance(element, FloatType):
        value = convert_float(op, build, value, element, F64, RoundingMode.NEAREST_EVEN)
        if kind not in _FLOATS:
            value = build.create(FPToSISatOp, operand=value, types=[wide]).res
    elif kind in _FLOATS:
        cast = casts.UIToFPOp if element is I1 else casts.SIToFPOp
        value = build.create(cast, source=value, types=[wide]).result
    elif width_of(value.type) < I64.width:
        cast = casts.ExtUIOp if element is I1 or kind in _UNSIGNED else casts.ExtSIOp
        value = build.create(cast, source=value, types=[wide]).result
    if kind in _FLOATS:
        return f"%{flags}{kind}", value
    if kind == "c":
        byte = splat_constant(build, 0xFF, value.type)
        return f"%{flags}c", build.create(AndIOp, lhs=value, rhs=byte).result
    if kind == "p":
        return "0x%llx", value
    return f"%{flags}ll{'u' if isinstance(element, PtrType) and kind in 'di' else kind}", value


def _add_tile(
    op: PrintOp,
    build: ConversionBuilder,
    line: PrintedLine,
    tile: Value,
    spelling: str,
    value: Value,
) -> None:
    layout = maybe_layout_of(tile)
    if layout is None:
        line.add(spelling, value)
        return
    shape = extents(tile.type)
    line.add("[" * len(shape))
    if any(thread_basis(layout)):
        line.print()
        synchronize(op, build)
        _print_by_owners(op, build, tile, spelling, value)
        return
    scalars = elements(build, value)
    order = {layout.packed(register=r): r for r in range(layout.extent(REGISTER))}
    for index in range(layout.size):
        line.add(
            spelling + separator(_completed_dimensions(index, shape), len(shape)),
            scalars[order[index]],
        )


def _completed_dimensions(index: int, shape: Sequence[int]) -> int:
    """How many of the innermost dimensions an element is the last of."""
    count, size = 0, 1
    for extent in reversed(shape):
        size *= extent
        count += (index + 1) % size == 0
    return count


def separator(complete: int, rank: int) -> str:
    """The text after an element that completes this many of the innermost dimensions."""
    if complete == rank:
        return "]" * rank
    return "]" * complete + ", " + "[" * complete


def _print_by_owners(
    op: PrintOp, build: ConversionBuilder, tile: Value, spelling: str, vector: Value
) -> None:
    """Print one element after the other, each by its owner, with a barrier between."""
    shape = extents(tile.type)
    stride = 2 * len(shape) + 4
    texts = [separator(number, len(shape)).ljust(stride, "\0") for number in range(len(shape) + 1)]
    symbol = Symbols(op, build).text("printf_ends", "".join(texts))
    table = build.create(PtrToIntOp, arg=symbol, types=[I64]).res
    body = Block([I32], [op.location])
    bounds = [constant(build, number) for number in (0, layout_of(tile).size, 1)]
    lower, upper, step = bounds
    build.create(ForOp, lower_bound=lower, upper_bound=upper, step=step, body=body, types=[])
    with build.at(InsertPoint.at_end(body)):
        index = body.args[0]
        owner, register = owner_of(tile, index, build)
        (element,) = elements(build, select_group(build, vector, register, 1))
        completed = _completed_dimensions_value(build, index, shape)
        text = add(build, table, multiply(build, completed, stride, I64), I64)
        with predicated(build, is_thread(op, owner, build)):
            arguments = [element, as_value(build, text, I64)]
            build.create(PrintfOp, format=spelling + "%s", args=arguments)
        synchronize(op, build)
        build.create(YieldOp)


def _completed_dimensions_value(
    build: ConversionBuilder, index: Value, shape: Sequence[int]
) -> Value:
    """How many of the innermost dimensions an element is the last of, at run time, as an i64."""
    following = as_value(build, add(build, index, 1))
    count, size = constant(build, 0, I64), 1
    for extent in reversed(shape):
        size *= extent
        rest = build.create(AndIOp, lhs=following, rhs=constant(build, size - 1)).result
        zero = constant(build, 0)
        ends = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=rest, rhs=zero).result
        one = build.create(casts.ExtUIOp, source=ends, types=[I64]).result
        count = as_value(build, add(build, count, one, I64), I64)
    return count


@converts(AssertOp)
def assertion(op: AssertOp, new: AssertOp, build: ConversionBuilder) -> Result:
    """The owner of each element asserts it."""
    holds = _all(build, new.condition)
    owns = is_owner(op, build, op.condition)
    if owns is not None:
        true = constant(build, 1, I1)
        is_replica = build.create(XOrIOp, lhs=owns, rhs=true).result
        holds = build.create(OrIOp, lhs=holds, rhs=is_replica).result
    build.create(CfAssertOp, condition=holds, message=op.message)
    return []


def _all(build: ConversionBuilder, condition: Value) -> Value:
    """The AND of all registers, as a balanced tree."""
    while isinstance(condition.type, VectorType) and condition.type.shape[0] > 1:
        count = condition.type.shape[0] // 2
        parts = [
            select_registers(build, condition, list(range(at, at + count))) for at in (0, count)
        ]
        condition = build.create(AndIOp, lhs=parts[0], rhs=parts[1]).result
    return elements(build, condition)[0]


PATTERNS: Final[Patterns] = (
    print_tiles,
    assertion,
)
