"""Loads, stores and atomics of memref elements; dimensions and addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.arith.attributes import ATOMIC_KIND
from tilewright.dialects.elements import ANY_MEMREF, INDEX_TYPE, RANKED_MEMREF, memref
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.memref.allocation import alignment_problems
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR, I64_ATTR
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.ir.types import FloatType, MemRefType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.values import Value
    from tilewright.text.syntax import ParseState


def index_count_problems(type: Type, indices: Sequence[Value]) -> Iterator[str]:
    """Check the number of indices into a memref."""
    assert isinstance(type, MemRefType)
    rank = len(type.shape or ())
    if len(indices) != rank:
        yield f"expected {rank} indices, got {len(indices)}"


class LoadOp(InferringOp):
    """Load an element."""

    name = "memref.load"
    effects = Effects.READ
    syntax = "$memref `[` $indices `]` attr-dict `:` type($memref)"

    memref = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    nontemporal = d.attribute(BOOL_ATTR, default=False)
    alignment = d.optional_attribute(I64_ATTR)
    result = d.result(ANY_TYPE)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        (source,) = types["memref"]
        return (source.element if isinstance(source, MemRefType) else source,)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from index_count_problems(self.memref.type, self.indices)
        yield from alignment_problems(self.alignment)


class StoreOp(Operation):
    """Store an element."""

    name = "memref.store"
    effects = Effects.WRITE
    syntax = "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)"

    value = d.operand(ANY_TYPE)
    memref = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    nontemporal = d.attribute(BOOL_ATTR, default=False)
    alignment = d.optional_attribute(I64_ATTR)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the type of the value from the element type."""
        for type in state.operand_types.get("memref", ()):
            if isinstance(type, MemRefType):
                state.operand_types["value"] = [type.element]

    def verify(self) -> Iterator[str]:
        element = memref(self.memref).element
        if self.value.type is not element:
            yield f"expected a value of type '{element}', got '{self.value.type}'"
        yield from index_count_problems(self.memref.type, self.indices)
        yield from alignment_problems(self.alignment)


class AtomicRMWOp(Operation):
    """Atomically combine an element with a value; return the old value."""

    name = "memref.atomic_rmw"
    syntax = (
        "$kind $value `,` $memref `[` $indices `]` attr-dict "
        "`:` `(` type($value) `,` type($memref) `)` `->` type($result)"
    )

    kind = d.attribute(ATOMIC_KIND)
    value = d.operand(ANY_TYPE)
    memref = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    result = d.result(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        element = memref(self.memref).element
        for role, type in (("value", self.value.type), ("result", self.result.type)):
            if type is not element:
                yield f"expected a {role} of type '{element}', got '{type}'"
        is_float = isinstance(element, FloatType)
        keyword = self.kind.keyword
        if keyword != "assign" and keyword.endswith("f") != is_float:
            noun = "floats" if keyword.endswith("f") else "integers"
            yield f"expected elements that are {noun} for '{keyword}', got '{element}'"
        yield from index_count_problems(self.memref.type, self.indices)


class DimOp(Operation):
    """The extent of a memref along a dimension."""

    name = "memref.dim"
    effects = Effects.NONE
    syntax = "attr-dict $source `,` $index `:` type($source)"

    source = d.operand(ANY_MEMREF)
    index = d.operand(INDEX_TYPE)
    result = d.result(INDEX_TYPE)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "dim"),)


class ExtractAlignedPointerAsIndexOp(Operation):
    """The base address of a memref, without the offset."""

    name = "memref.extract_aligned_pointer_as_index"
    effects = Effects.PURE
    syntax = "$source `:` type($source) `->` type($result) attr-dict"

    source = d.operand(ANY_MEMREF)
    result = d.result(INDEX_TYPE)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "intptr"),)
