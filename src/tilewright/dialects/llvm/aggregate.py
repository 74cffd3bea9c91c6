"""Members of structs and arrays, and elements of vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import AGGREGATE, ANY, SCALAR_INTEGER, VECTOR
from tilewright.dialects.llvm.types import member_type
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ARRAY_ATTR, I64_ARRAY_ATTR
from tilewright.ir.attributes import DenseArrayAttr
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import VectorType
from tilewright.support.diagnostics import InternalError, fail

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.syntax import ParseState


def _member(state: ParseState) -> Type:
    """Return the type of the member at the parsed position."""
    container = state.operand_types["container"][0]
    position = state.attributes["position"]
    assert isinstance(position, DenseArrayAttr)
    member = member_type(container, position.values)
    if member is None:
        indices = list(position.values)
        fail(f"'{state.kind.name}' op '{container}' has no member {indices}", state.location)
    return member


class ExtractValueOp(LLVMOp):
    """Extract a member of a struct or an array."""

    name = "llvm.extractvalue"
    effects = Effects.PURE
    syntax = "$container `` $position attr-dict `:` type($container)"

    container = d.operand(AGGREGATE)
    position = d.attribute(I64_ARRAY_ATTR)
    res = d.result(ANY)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the result type from the type of the container."""
        state.result_types["res"] = [_member(state)]

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """Infer the type of the member; the caller must pass a valid position."""
        position = attributes["position"]
        assert isinstance(position, DenseArrayAttr)
        member = member_type(types["container"][0], position.values)
        if member is None:
            indices = list(position.values)
            raise InternalError(f"'{types['container'][0]}' has no member {indices}")
        return (member,)

    def verify(self) -> Iterator[str]:
        yield from _member_problems(self.container.type, self.position, self.res.type)


class InsertValueOp(LLVMOp):
    """Insert a value as a member of a struct or an array."""

    name = "llvm.insertvalue"
    effects = Effects.PURE
    traits = (SameType("container", "res"),)
    syntax = "$value `,` $container `` $position attr-dict `:` type($container)"

    container = d.operand(AGGREGATE)
    value = d.operand(ANY)
    position = d.attribute(I64_ARRAY_ATTR)
    res = d.result(AGGREGATE)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the type of the value from the type of the container."""
        state.operand_types["value"] = [_member(state)]

    def verify(self) -> Iterator[str]:
        yield from _member_problems(self.container.type, self.position, self.value.type)


def _member_problems(container: Type, position: tuple[int, ...], type: Type) -> Iterator[str]:
    expected = member_type(container, position)
    if expected is None or not position:
        yield f"'{container}' has no member {list(position)}"
    elif expected is not type:
        yield f"expected member {list(position)} of '{container}' to be '{expected}', got '{type}'"


class ExtractElementOp(LLVMOp, InferringOp):
    """Extract an element of a vector."""

    name = "llvm.extractelement"
    effects = Effects.PURE
    syntax = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"

    vector = d.operand(VECTOR)
    position = d.operand(SCALAR_INTEGER)
    res = d.result(ANY)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (element_of(types["vector"][0]),)


class InsertElementOp(LLVMOp):
    """Insert a value as an element of a vector."""

    name = "llvm.insertelement"
    effects = Effects.PURE
    traits = (SameType("vector", "res"),)
    syntax = "$value `,` $vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"

    vector = d.operand(VECTOR)
    value = d.operand(ANY)
    position = d.operand(SCALAR_INTEGER)
    res = d.result(VECTOR)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the type of the value from the type of the vector."""
        state.operand_types["value"] = [element_of(state.operand_types["vector"][0])]

    def verify(self) -> Iterator[str]:
        if self.value.type is not element_of(self.vector.type):
            yield f"expected an element of '{self.vector.type}', got '{self.value.type}'"


class ShuffleVectorOp(LLVMOp):
    """Select elements of two concatenated vectors by index; -1 is poison."""

    name = "llvm.shufflevector"
    effects = Effects.PURE
    traits = (SameType("v1", "v2"),)
    syntax = "$v1 `,` $v2 $mask attr-dict `:` type($v1)"

    v1 = d.operand(VECTOR)
    v2 = d.operand(VECTOR)
    mask = d.attribute(I32_ARRAY_ATTR)
    res = d.result(VECTOR)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the result type from the operand type and the mask."""
        mask = state.attributes["mask"]
        assert isinstance(mask, DenseArrayAttr)
        element = element_of(state.operand_types["v1"][0])
        if not mask.values:
            fail(f"'{cls.name}' op expected at least one element", state.location)
        state.result_types["res"] = [VectorType((len(mask.values),), element)]

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """Infer a vector of the length of the mask."""
        mask = attributes["mask"]
        assert isinstance(mask, DenseArrayAttr)
        return (VectorType((len(mask.values),), element_of(types["v1"][0])),)

    def verify(self) -> Iterator[str]:
        vector = self.v1.type
        assert isinstance(vector, VectorType)
        if self.res.type is not VectorType((len(self.mask) or 1,), vector.element):
            yield f"expected {len(self.mask)} elements of '{vector}', got '{self.res.type}'"
        last = 2 * vector.shape[0] - 1
        wrong = next((index for index in self.mask if not -1 <= index <= last), None)
        if wrong is not None:
            yield f"expected a mask of numbers from -1 to {last}, got {wrong}"
