"""Extraction, insertion and reduction of vector elements; fma."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects.arith.attributes import FAST_MATH, FAST_MATH_SYNTAX, NO_FAST_MATH
from tilewright.dialects.elements import (
    ANY_VECTOR,
    INDEX_TYPE,
    element_of,
    listed,
    types_of,
    vector,
)
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.type_syntax import INDICES, index_problems
from tilewright.dialects.vector.attributes import COMBINING_KIND
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ARRAY_ATTR
from tilewright.ir.attributes import DenseArrayAttr
from tilewright.ir.constraints import ANY_TYPE, TypeConstraint
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import DYNAMIC, FloatType, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.syntax import Directive, ParseState


def subvector_type(type: VectorType, count: int) -> Type:
    """Return the type after `count` leading indices: a vector, or the element type."""
    if count >= len(type.shape):
        return type.element
    return VectorType(type.shape[count:], type.element, type.scalable[count:])


def _position_problems(type: VectorType, position: Sequence[int]) -> Iterator[str]:
    if len(position) > len(type.shape):
        yield f"expected at most {len(type.shape)} indices into '{type}', got {len(position)}"
        return
    for index, extent in zip(position, type.shape, strict=False):
        # The index -1 makes the result poison.
        if index != DYNAMIC and not -1 <= index < extent:
            yield f"expected indices in 0 to {extent - 1}, got {index}"


class ExtractOp(InferringOp):
    """Extract an element or a subvector."""

    name = "vector.extract"
    effects = Effects.PURE
    directives: ClassVar[Mapping[str, Directive]] = {"Indices": INDICES}
    syntax = (
        "$source `` custom<Indices>($dynamic_position, $static_position) attr-dict "
        "`:` type($result) `from` type($source)"
    )

    source = d.operand(ANY_VECTOR)
    dynamic_position = d.operands(INDEX_TYPE)
    static_position = d.attribute(I64_ARRAY_ATTR)
    result = d.result(ANY_TYPE)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        (source,) = types["source"]
        position = attributes["static_position"]
        assert isinstance(source, VectorType)
        assert isinstance(position, DenseArrayAttr)
        return (subvector_type(source, len(position.values)),)

    def verify(self) -> Iterator[str]:
        yield from index_problems("indices", self.static_position, self.dynamic_position)
        yield from _position_problems(vector(self.source), self.static_position)
        yield from super().verify()


class InsertOp(Operation):
    """Insert an element or a subvector."""

    name = "vector.insert"
    effects = Effects.PURE
    traits = (SameType("dest", "result"),)
    directives: ClassVar[Mapping[str, Directive]] = {"Indices": INDICES}
    syntax = (
        "$value `,` $dest `` custom<Indices>($dynamic_position, $static_position) attr-dict "
        "`:` type($value) `into` type($dest)"
    )

    value = d.operand(ANY_TYPE)
    dest = d.operand(ANY_VECTOR)
    dynamic_position = d.operands(INDEX_TYPE)
    static_position = d.attribute(I64_ARRAY_ATTR)
    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from index_problems("indices", self.static_position, self.dynamic_position)
        yield from _position_problems(vector(self.dest), self.static_position)
        expected = subvector_type(vector(self.dest), len(self.static_position))
        if self.value.type is not expected:
            yield f"expected a value of type '{expected}', got '{self.value.type}'"


class FromElementsOp(Operation):
    """Build a vector from elements in row-major order."""

    name = "vector.from_elements"
    effects = Effects.PURE
    syntax = "$elements attr-dict `:` type($result)"

    elements = d.operands(ANY_TYPE)
    result = d.result(ANY_VECTOR)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the operand types from the element type."""
        for type in state.result_types.get("result", ()):
            count = len(state.operands.get("elements", ()))
            state.operand_types["elements"] = [element_of(type)] * count

    def verify(self) -> Iterator[str]:
        result = vector(self.result)
        expected = (result.element,) * prod(result.shape)
        actual = types_of(self.elements)
        if actual != expected:
            count = f"{len(expected)} elements of type '{result.element}'"
            yield f"expected {count}, got {len(actual)} of {listed(dict.fromkeys(actual))}"


class ToElementsOp(Operation):
    """Return the elements of a vector in row-major order."""

    name = "vector.to_elements"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source)"

    source = d.operand(ANY_VECTOR)
    elements = d.results(ANY_TYPE)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer one result per element."""
        for type in state.operand_types.get("source", ()):
            if isinstance(type, VectorType):
                state.result_types["elements"] = [type.element] * prod(type.shape)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """Infer one result per element."""
        (source,) = types["source"]
        assert isinstance(source, VectorType)
        return (source.element,) * prod(source.shape)

    def verify(self) -> Iterator[str]:
        source = vector(self.source)
        expected = (source.element,) * prod(source.shape)
        if types_of(self.elements) != expected:
            count = f"{len(expected)} results of type '{source.element}'"
            yield f"expected {count}, got {len(self.elements)}"


def _is_float_vector(type: Type) -> bool:
    return isinstance(type, VectorType) and isinstance(type.element, FloatType)


FLOAT_VECTOR = TypeConstraint("vector of floating-point values", _is_float_vector)


class FmaOp(Operation):
    """Fused multiply-add `lhs * rhs + acc`."""

    name = "vector.fma"
    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "acc", "result"),)
    syntax = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)"

    lhs = d.operand(FLOAT_VECTOR)
    rhs = d.operand(FLOAT_VECTOR)
    acc = d.operand(FLOAT_VECTOR)
    result = d.result(FLOAT_VECTOR)


class ReductionOp(Operation):
    """Reduce a vector of rank one, optionally with an accumulator.

    Floats are combined in order, unless the flags allow reassociation.
    """

    name = "vector.reduction"
    effects = Effects.PURE
    traits = (SameType("acc", "result"),)
    syntax = (
        f"` ` `<` $kind `>` `,` $source (`,` $acc^)? {FAST_MATH_SYNTAX} attr-dict "
        "`:` type($source) `into` type($result)"
    )

    kind = d.attribute(COMBINING_KIND)
    source = d.operand(ANY_VECTOR)
    acc = d.optional_operand(ANY_TYPE)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        source = vector(self.source)
        if len(source.shape) != 1:
            yield f"expected a vector of rank 1, got '{source}'"
        if source.element is not self.result.type:
            yield f"expected a result of type '{source.element}', got '{self.result.type}'"
        is_float = isinstance(source.element, FloatType)
        if not (self.kind.takes_floats if is_float else self.kind.takes_integers):
            yield f"cannot reduce '{source.element}' by '{self.kind.keyword}'"
