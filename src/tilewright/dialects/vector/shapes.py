"""Broadcasts, shape casts, shuffles and slices of vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from tilewright.dialects.elements import ANY_VECTOR, element_of, vector, width_of
from tilewright.dialects.inference import InferringOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, I64_ARRAY_ATTR
from tilewright.ir.attributes import ArrayAttr, DenseArrayAttr, IntegerAttr
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import INDEX, FloatType, IntegerType, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.syntax import ParseState


class BroadcastOp(Operation):
    """Broadcast a scalar or a vector along new dimensions and unit dimensions."""

    name = "vector.broadcast"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `to` type($result)"

    source = d.operand(ANY_TYPE)
    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        source, result = self.source.type, vector(self.result)
        if element_of(source) is not result.element:
            yield f"expected elements of type '{result.element}', got '{source}'"
            return
        shape = source.shape if isinstance(source, VectorType) else ()
        tail = result.shape[len(result.shape) - len(shape) :]
        if len(shape) > len(result.shape) or any(
            before not in (1, after) for before, after in zip(shape, tail, strict=True)
        ):
            yield f"cannot broadcast '{source}' to '{result}'"


class SplatOp(Operation):
    """A splat of a scalar."""

    name = "vector.splat"
    effects = Effects.PURE
    syntax = "$input attr-dict `:` type($result)"

    input = d.operand(ANY_TYPE)
    result = d.result(ANY_VECTOR)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the type of the input from the element type."""
        for type in state.result_types.get("result", ()):
            state.operand_types["input"] = [element_of(type)]

    def verify(self) -> Iterator[str]:
        element = vector(self.result).element
        if self.input.type is not element:
            yield f"expected an input of type '{element}', got '{self.input.type}'"


class StepOp(Operation):
    """The vector 0, 1, 2, ..."""

    name = "vector.step"
    effects = Effects.PURE
    syntax = "attr-dict `:` type($result)"

    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        result = vector(self.result)
        if len(result.shape) != 1 or result.element is not INDEX:
            yield f"expected a vector of rank 1 of indices, got '{result}'"


class ShapeCastOp(Operation):
    """Reshape a vector in row-major order."""

    name = "vector.shape_cast"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `to` type($result)"

    source = d.operand(ANY_VECTOR)
    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        source, result = vector(self.source), vector(self.result)
        if source.element is not result.element or prod(source.shape) != prod(result.shape):
            yield f"expected as many elements of the type of '{source}', got '{result}'"


class BitcastOp(Operation):
    """Reinterpret the bits as another element type; the last dimension changes accordingly."""

    name = "vector.bitcast"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `to` type($result)"

    source = d.operand(ANY_VECTOR)
    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        source, result = vector(self.source), vector(self.result)
        for type in (source, result):
            if not isinstance(type.element, IntegerType | FloatType):
                yield f"expected elements that are integers or floats, got '{type}'"
                return
        before = source.shape[-1:] or (1,)
        after = result.shape[-1:] or (1,)
        same_bits = before[0] * width_of(source) == after[0] * width_of(result)
        if source.shape[:-1] != result.shape[:-1] or not same_bits:
            yield f"expected the bits of '{source}' in the last dimension, got '{result}'"


class ShuffleOp(InferringOp):
    """Select rows of two concatenated vectors by a mask."""

    name = "vector.shuffle"
    effects = Effects.PURE
    syntax = "$v1 `,` $v2 $mask attr-dict `:` type($v1) `,` type($v2)"

    v1 = d.operand(ANY_VECTOR)
    v2 = d.operand(ANY_VECTOR)
    mask = d.attribute(I64_ARRAY_ATTR)
    result = d.result(ANY_VECTOR)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        (source,) = types["v1"]
        mask = attributes["mask"]
        assert isinstance(source, VectorType)
        assert isinstance(mask, DenseArrayAttr)
        return (VectorType((len(mask.values), *source.shape[1:]), source.element),)

    def verify(self) -> Iterator[str]:
        first, second = vector(self.v1), vector(self.v2)
        same_rows = first.element is second.element and first.shape[1:] == second.shape[1:]
        if not same_rows or len(first.shape) != len(second.shape):
            types = f"'{first}' and '{second}'"
            yield f"expected vectors that differ only in their first extent, got {types}"
            return
        rows = sum([(type.shape or (1,))[0] for type in (first, second)])
        # The index -1 is a poison row.
        if not self.mask or not all(-1 <= row < rows for row in self.mask):
            yield f"expected a mask of numbers in -1 to {rows - 1}, got {list(self.mask)}"
        yield from super().verify()


def integers(attribute: Attribute) -> tuple[int, ...]:
    """Return the values of an array of integer attributes."""
    assert isinstance(attribute, ArrayAttr)
    return tuple([each.value for each in attribute.elements if isinstance(each, IntegerAttr)])


def _list_problems(**lists: Sequence[Attribute]) -> Iterator[str]:
    for name, elements in lists.items():
        if not all(isinstance(each, IntegerAttr) for each in elements):
            yield f"expected integers in '{name}'"


class ExtractStridedSliceOp(InferringOp):
    """Extract a slice along the leading dimensions."""

    name = "vector.extract_strided_slice"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `to` type($result)"

    source = d.operand(ANY_VECTOR)
    offsets = d.attribute(ARRAY_ATTR)
    sizes = d.attribute(ARRAY_ATTR)
    strides = d.attribute(ARRAY_ATTR)
    result = d.result(ANY_VECTOR)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        (source,) = types["source"]
        assert isinstance(source, VectorType)
        sizes = integers(attributes["sizes"])
        return (VectorType((*sizes, *source.shape[len(sizes) :]), source.element),)

    def verify(self) -> Iterator[str]:
        problems = list(
            _list_problems(offsets=self.offsets, sizes=self.sizes, strides=self.strides)
        )
        yield from problems
        if problems:
            return
        shape = vector(self.source).shape
        parts = [integers(ArrayAttr(part)) for part in (self.offsets, self.sizes, self.strides)]
        if len({len(part) for part in parts}) != 1 or len(parts[0]) > len(shape):
            yield f"expected as many offsets as sizes and strides, and at most {len(shape)}"
            return
        for offset, size, stride, extent in zip(*parts, shape, strict=False):
            if offset < 0 or size < 1 or offset + size > extent or stride != 1:
                yield f"expected a slice of '{self.source.type}' with strides of one"
                return
        yield from super().verify()


class InsertStridedSliceOp(Operation):
    """Insert a vector as a slice."""

    name = "vector.insert_strided_slice"
    effects = Effects.PURE
    traits = (SameType("dest", "result"),)
    syntax = "$value `,` $dest attr-dict `:` type($value) `into` type($dest)"

    value = d.operand(ANY_VECTOR)
    dest = d.operand(ANY_VECTOR)
    offsets = d.attribute(ARRAY_ATTR)
    strides = d.attribute(ARRAY_ATTR)
    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from _list_problems(offsets=self.offsets, strides=self.strides)
        value, dest = vector(self.value), vector(self.dest)
        offsets, strides = (integers(ArrayAttr(part)) for part in (self.offsets, self.strides))
        if len(offsets) != len(dest.shape) or len(strides) != len(value.shape):
            ranks = f"{len(dest.shape)} offsets and {len(value.shape)} strides"
            yield f"expected {ranks}, got {len(offsets)} and {len(strides)}"
            return
        inner = (1,) * (len(dest.shape) - len(value.shape)) + value.shape
        fits = len(inner) == len(dest.shape) and all(
            offset >= 0 and offset + size <= extent
            for offset, size, extent in zip(offsets, inner, dest.shape, strict=True)
        )
        if not fits or value.element is not dest.element or any(step != 1 for step in strides):
            yield f"expected a slice of '{dest}' with strides of one, got '{value}'"
