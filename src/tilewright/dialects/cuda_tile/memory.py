"""Loads and stores through pointers, and the tokens that order memory operations.

Program order does not order memory operations: two of them in a tile block are ordered only if a
path of tokens leads from one to the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import (
    ANY_TILE,
    BOOL_TILE,
    NUMBER_TILE,
    PTR_TILE,
    SCALAR_PTR,
    TOKEN_TYPE,
)
from tilewright.dialects.cuda_tile.enums import MemoryOrdering, MemoryScope
from tilewright.dialects.cuda_tile.kinds import MEMORY_ORDERING, MEMORY_SCOPE, OPTIMIZATION_HINTS
from tilewright.dialects.cuda_tile.operand_types import pointer
from tilewright.dialects.cuda_tile.traits import same_shape, tile
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import IntegerKind
from tilewright.ir.traits import Effects
from tilewright.ir.types import I64, FloatType, IntegerType
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.text.syntax import ParseState

SIZE: Final = IntegerKind(I64, minimum=0)

LOAD_ORDERINGS: Final = (
    MemoryOrdering.WEAK,
    MemoryOrdering.RELAXED,
    MemoryOrdering.ACQUIRE,
    MemoryOrdering.SEQ_CST,
)
STORE_ORDERINGS: Final = (
    MemoryOrdering.WEAK,
    MemoryOrdering.RELAXED,
    MemoryOrdering.RELEASE,
    MemoryOrdering.SEQ_CST,
)


def ordering_problems(
    ordering: MemoryOrdering, scope: MemoryScope | None, allowed: tuple[MemoryOrdering, ...]
) -> Iterator[str]:
    """Check the memory ordering and scope of a load or store."""
    if ordering not in allowed:
        expected = ", ".join(member.keyword for member in allowed if member.has_number)
        yield f"expected a memory ordering out of {expected}, got {ordering.keyword}"
    elif ordering is MemoryOrdering.WEAK and scope is not None:
        yield f"expected no memory scope, since the ordering is weak, got {scope.keyword}"
    elif ordering is not MemoryOrdering.WEAK and scope is None:
        yield f"expected a memory scope, since the ordering is {ordering.keyword}"


class MakeTokenOp(TileOp):
    """Create a token without dependences."""

    name = "cuda_tile.make_token"
    since = (13, 1)
    effects = Effects.PURE
    syntax = "attr-dict `:` type($result)"

    result = d.result(TOKEN_TYPE)


class JoinTokensOp(TileOp):
    """Join tokens: the result depends on all of them."""

    name = "cuda_tile.join_tokens"
    since = (13, 1)
    effects = Effects.PURE
    syntax = "custom<Tokens>($tokens) attr-dict `:` type($result)"

    tokens = d.operands(TOKEN_TYPE)
    result = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        if len(self.tokens) < 2:
            yield f"expected two or more tokens, got {len(self.tokens)}"


class LoadPtrTkoOp(TileOp):
    """Load one element through each pointer.

    Masked-off elements are not read; they are those of the padding, or undefined without it.
    """

    name = "cuda_tile.load_ptr_tko"
    since = (13, 1)
    traits = (same_shape("source", "mask", "padding", "result"),)
    syntax = (
        "custom<Ordering>($ordering, $scope) $source (`,` $mask^)? (`,` $padding^)? "
        "(`token` `` `=` `` $token^)? (`optimization_hints` `=` $hints^)? attr-dict "
        "`:` type($source) (`,` type($mask)^)? (`,` type($padding)^)? "
        "`->` type($result) `,` type($result_token)"
    )

    ordering = d.attribute(MEMORY_ORDERING, spelling="memory_ordering_semantics")
    scope = d.optional_attribute(MEMORY_SCOPE, spelling="memory_scope")
    hints = d.optional_attribute(OPTIMIZATION_HINTS, spelling="optimization_hints")
    source = d.operand(PTR_TILE)
    mask = d.optional_operand(BOOL_TILE)
    padding = d.optional_operand(NUMBER_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    result = d.result(ANY_TILE)
    result_token = d.result(TOKEN_TYPE)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Distinguish padding without a mask from a mask: their text positions are the same."""
        masks = state.operand_types.get("mask", [])
        if masks and not state.operands.get("padding") and not BOOL_TILE.accepts(masks[0]):
            state.operands["padding"] = state.operands.pop("mask")
            state.operand_types["padding"] = state.operand_types.pop("mask")

    def verify(self) -> Iterator[str]:
        yield from ordering_problems(self.ordering, self.scope, LOAD_ORDERINGS)
        pointee, element = pointer(self.source).pointee, tile(self.result).element
        if element is not pointee:
            yield f"expected a result of '{pointee}' as the pointers have, got '{element}'"
        if self.padding is not None and self.padding.type is not self.result.type:
            yield f"expected padding of type '{self.result.type}', got '{self.padding.type}'"

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        yield 0, "result"
        yield 1, "result_token"


class StorePtrTkoOp(TileOp):
    """Store one element through each pointer; masked-off elements are not written."""

    name = "cuda_tile.store_ptr_tko"
    since = (13, 1)
    traits = (same_shape("destination", "value", "mask"),)
    syntax = (
        "custom<Ordering>($ordering, $scope) $destination `,` $value (`,` $mask^)? "
        "(`token` `` `=` `` $token^)? (`optimization_hints` `=` $hints^)? attr-dict "
        "`:` type($destination) `,` type($value) (`,` type($mask)^)? `->` type($result_token)"
    )

    ordering = d.attribute(MEMORY_ORDERING, spelling="memory_ordering_semantics")
    scope = d.optional_attribute(MEMORY_SCOPE, spelling="memory_scope")
    hints = d.optional_attribute(OPTIMIZATION_HINTS, spelling="optimization_hints")
    destination = d.operand(PTR_TILE)
    value = d.operand(ANY_TILE)
    mask = d.optional_operand(BOOL_TILE)
    token = d.optional_operand(TOKEN_TYPE)
    result_token = d.result(TOKEN_TYPE)

    def verify(self) -> Iterator[str]:
        yield from ordering_problems(self.ordering, self.scope, STORE_ORDERINGS)
        pointee, element = pointer(self.destination).pointee, tile(self.value).element
        if element is not pointee:
            yield f"expected a value of '{pointee}' as the pointers have, got '{element}'"


class AllocaOp(TileOp):
    """Allocate memory for a number of elements, which lives as long as the tile block.

    Other tile blocks may access it only if it is `global`.
    """

    name = "cuda_tile.alloca"
    since = (13, 3)
    syntax = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment (`global` $is_global^)? "
        "attr-dict `:` type($result)"
    )

    num_elem = d.attribute(SIZE)
    alignment = d.attribute(SIZE)
    is_global = d.flag(spelling="global")
    result = d.result(SCALAR_PTR)

    def verify(self) -> Iterator[str]:
        pointee = pointer(self.result).pointee
        size = _natural_size(pointee)
        if not is_power_of_two(self.alignment):
            yield f"expected an alignment that is a power of two, got {self.alignment}"
        elif self.alignment < size:
            yield f"expected an alignment of at least {size} for '{pointee}', got {self.alignment}"


def _natural_size(element: Type) -> int:
    """The natural alignment of an element in bytes; zero for sub-byte elements but i1."""
    width = cast("IntegerType | FloatType", element).width
    return 1 if width == 1 else width // 8


class MemoryFenceAliasTkoOp(TileOp):
    """Order accesses to one location through different virtual addresses."""

    name = "cuda_tile.memory_fence_alias_tko"
    since = (13, 4)
    syntax = "$token attr-dict"

    token = d.operand(TOKEN_TYPE)
    result_token = d.result(TOKEN_TYPE)


class GridDependencyOp(TileOp):
    """Base of the grid dependency control operations."""

    since = (13, 4)
    syntax = "(`token` `=` $token^)? attr-dict `->` type($result_token)"

    token = d.optional_operand(TOKEN_TYPE)
    result_token = d.result(TOKEN_TYPE)


class GdcLaunchDependentsTkoOp(GridDependencyOp):
    """Allow dependent grids to launch; orders no memory."""

    name = "cuda_tile.gdc_launch_dependents_tko"


class GdcWaitTkoOp(GridDependencyOp):
    """Wait until prerequisite grids have completed and their writes are visible."""

    name = "cuda_tile.gdc_wait_tko"
