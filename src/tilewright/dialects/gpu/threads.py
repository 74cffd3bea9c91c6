"""Barriers, shuffles, reductions, printf and dynamic shared memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tilewright.dialects.elements import I1_TYPE, I32_TYPE, element_of, listed, types_of
from tilewright.dialects.gpu.attributes import REDUCTION, SHUFFLE_MODE, is_shared
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.print_format import NUMBERS, format_problem
from tilewright.dialects.type_syntax import FUNCTION_TYPE
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, I32_ATTR, STRING_ATTR
from tilewright.ir.constraints import ANY_TYPE, TypeConstraint
from tilewright.ir.operation import Operation
from tilewright.ir.traits import ISOLATED, Effects, SameType
from tilewright.ir.types import (
    DYNAMIC,
    I1,
    I8,
    INDEX,
    FloatType,
    IntegerType,
    MemRefType,
    VectorType,
)
from tilewright.support.bits import is_power_of_two
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.dialects.gpu.attributes import AllReduceOperation
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


class BarrierOp(Operation):
    """Synchronize the threads of a block, and order their memory accesses.

    With address spaces, only accesses to these are ordered.
    """

    name = "gpu.barrier"
    syntax = "(`memfence` $address_spaces^)? attr-dict"

    address_spaces = d.optional_attribute(ARRAY_ATTR)


def _is_shuffled(type: Type) -> bool:
    if isinstance(type, VectorType):
        return len(type.shape) == 1 and _is_shuffled(type.element)
    return isinstance(type, IntegerType | FloatType)


SHUFFLED = TypeConstraint("integer or float or a rank 1 vector of them", _is_shuffled)


class ShuffleOp(InferringOp):
    """Read a value of another lane of the warp; return also whether that lane is active."""

    name = "gpu.shuffle"
    # Convergent: it must not be moved into divergent control flow.
    effects = Effects.NONE
    traits = (SameType("value", "shuffle_result"),)
    syntax = "$mode $value `,` $offset `,` $width attr-dict `:` type($value)"

    value = d.operand(SHUFFLED)
    offset = d.operand(I32_TYPE)
    width = d.operand(I32_TYPE)
    mode = d.attribute(SHUFFLE_MODE)
    shuffle_result = d.result(SHUFFLED)
    valid = d.result(I1_TYPE)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (*types["value"], I1)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return enumerate(("shuffleResult", "valid"))


def _parse_reduction(parser: Parser, state: ParseState, op: str) -> None:
    """Parse a kind such as `add`; absent if a region combines the values."""
    kind = REDUCTION.enum.from_keyword(parser.peek())
    if kind is not None:
        parser.next()
        state.attributes[op] = kind


def _print_reduction(printer: Printer, op: Any, field: str) -> None:
    if op.op is not None:
        printer.emit(op.op.keyword)


REDUCTION_DIRECTIVES: Mapping[str, Directive] = {
    "FunctionType": FUNCTION_TYPE,
    "Reduction": Directive(_parse_reduction, _print_reduction),
}


def _combination_problems(op: AllReduceOperation, type: Type) -> Iterator[str]:
    is_float = isinstance(element_of(type), FloatType)
    if not (op.takes_floats if is_float else op.takes_integers):
        yield f"cannot reduce '{type}' by '{op.keyword}'"


class SubgroupReduceOp(Operation):
    """Reduce over the lanes of the warp; every lane gets the result.

    With a cluster size, reduce over groups of that many lanes with a stride.
    """

    name = "gpu.subgroup_reduce"
    effects = Effects.NONE
    traits = (SameType("value", "result"),)
    directives: ClassVar[Mapping[str, Directive]] = REDUCTION_DIRECTIVES
    syntax = (
        "custom<Reduction>($op) $value (`uniform` $uniform^)? "
        "(`cluster` `(` `size` `=` $cluster_size^ (`,` `stride` `=` $cluster_stride^)? `)`)? "
        "attr-dict `:` custom<FunctionType>(type($value), type($result))"
    )

    value = d.operand(ANY_TYPE)
    op = d.attribute(REDUCTION)
    uniform = d.flag()
    cluster_size = d.optional_attribute(I32_ATTR)
    cluster_stride = d.attribute(I32_ATTR, default=1)
    result = d.result(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        yield from _combination_problems(self.op, self.value.type)
        size, stride = self.cluster_size, self.cluster_stride
        if size is None and stride != 1:
            yield f"expected a cluster size for the stride {stride}"
        for parameter, number in (("size", size), ("stride", stride)):
            if number is not None and not is_power_of_two(number):
                yield f"expected a cluster {parameter} that is a power of two, got {number}"


class AllReduceOp(Operation):
    """Reduce over the threads of the block; every thread gets the result."""

    name = "gpu.all_reduce"
    traits = (SameType("value", "result"), ISOLATED)
    directives: ClassVar[Mapping[str, Directive]] = REDUCTION_DIRECTIVES
    syntax = (
        "custom<Reduction>($op) $value (`uniform` $uniform^)? $body attr-dict "
        "`:` custom<FunctionType>(type($value), type($result))"
    )

    value = d.operand(ANY_TYPE)
    op = d.optional_attribute(REDUCTION)
    uniform = d.flag()
    result = d.result(ANY_TYPE)
    body = d.region(min_blocks=0, max_blocks=None)

    def verify(self) -> Iterator[str]:
        if self.op is not None:
            yield from _combination_problems(self.op, self.value.type)

    def verify_context(self) -> Iterator[str]:
        if (self.op is None) != bool(self.body.blocks):
            yield "expected either an operation or a body to combine values"
            return
        expected = (self.value.type,) * 2
        for block in self.body.blocks[:1]:
            if types_of(block.args) != expected:
                actual = listed(types_of(block.args))
                yield f"expected block arguments of types {listed(expected)}, got {actual}"
        for block in self.body.blocks:
            last = block.last
            if last is not None and last.name == "gpu.yield":
                yielded = types_of(last.operands)
                if yielded != expected[:1]:
                    types = f"{listed(expected[:1])}, got {listed(yielded)}"
                    yield f"expected the body to yield {types}"


def _is_printable(type: Type) -> bool:
    return type is INDEX or isinstance(type, IntegerType | FloatType)


class PrintfOp(Operation):
    """Print text on the host, in the format of C's `printf`."""

    name = "gpu.printf"
    effects = Effects.WRITE
    syntax = "$format attr-dict (`,` $args^ `:` type($args))?"

    format = d.attribute(STRING_ATTR)
    args = d.operands(TypeConstraint("integer or index or floating-point", _is_printable))

    def verify(self) -> Iterator[str]:
        # An i64 may be the address of a string.
        problem = format_problem(self.format, len(self.args), f"{NUMBERS}s")
        if problem is not None:
            yield problem


def _is_byte_buffer(type: Type) -> bool:
    if not isinstance(type, MemRefType) or type.element is not I8:
        return False
    return type.shape == (DYNAMIC,) and type.layout is None and is_shared(type.space)


class DynamicSharedMemoryOp(Operation):
    """The dynamic shared memory of the launch."""

    name = "gpu.dynamic_shared_memory"
    effects = Effects.PURE
    syntax = "attr-dict `:` type($result)"

    result = d.result(
        TypeConstraint("memref of bytes of unknown number in workgroup memory", _is_byte_buffer)
    )
