"""Loads and stores through pointers, and the tokens that order memory operations.

Program order does not order memory operations: two of them in a block are ordered only if a path
of tokens leads from one to the other. So every memory operation returns a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final, cast

from tilewright.dialects.elements import SameShape, with_element
from tilewright.dialects.nv_tileaa.attributes import (
    CACHE_MODIFIER,
    EVICTION_POLICY,
    MEM_SCOPE,
    MEM_SEMANTIC,
    MemScope,
    MemSemantic,
)
from tilewright.dialects.nv_tileaa.constraints import (
    ANY_TILE,
    BOOL_TILE,
    INT_TILE,
    PTR_TILE,
    SCALAR_PTR,
    TOKEN,
    element_problems,
    pointer,
)
from tilewright.dialects.nv_tileaa.directives import ORDERING
from tilewright.dialects.nv_tileaa.splits import SPLIT_SEED
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR, STRING_ATTR, IntegerKind
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.tiling import Way, alike
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I1, I32, I64, FloatType, IntegerType
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.text.syntax import Directive, ParseState

LOAD_SEMANTICS: Final = (
    MemSemantic.WEAK,
    MemSemantic.RELAXED,
    MemSemantic.ACQUIRE,
    MemSemantic.SEQ_CST,
)
STORE_SEMANTICS: Final = (
    MemSemantic.WEAK,
    MemSemantic.RELAXED,
    MemSemantic.RELEASE,
    MemSemantic.SEQ_CST,
)
PRODUCERS: Final = IntegerKind(I32, minimum=1)
SIZE: Final = IntegerKind(I64, minimum=0)


def semantic_problems(
    semantic: MemSemantic, scope: MemScope | None, allowed: tuple[MemSemantic, ...]
) -> Iterator[str]:
    """Check the memory ordering and scope of a load or store."""
    if semantic not in allowed:
        expected = ", ".join(member.keyword for member in allowed)
        yield f"expected a memory ordering out of {expected}, got {semantic.keyword}"
    elif semantic is MemSemantic.WEAK and scope is not None:
        yield f"expected no memory scope, since the ordering is weak, got {scope.keyword}"
    elif semantic is not MemSemantic.WEAK and scope is None:
        yield f"expected a memory scope, since the ordering is {semantic.keyword}"


class CreateMemTokenOp(Operation):
    """Create a token without dependences; `sources` optionally names the memory it covers."""

    name = "nv_tileaa.create_mem_token"
    needs_whole = "a token covers the memory of whole tiles"
    effects = Effects.PURE
    syntax = "(`(` $sources^ `:` type($sources) `)`)? attr-dict `:` type($result)"

    sources = d.operands(ANY_TYPE)
    producers = d.attribute(PRODUCERS, default=1)
    alias_scope = d.optional_attribute(STRING_ATTR)
    result = d.result(TOKEN)


class JoinMemTokenOp(Operation):
    """Join tokens: the result depends on all of them."""

    name = "nv_tileaa.join_mem_token"
    effects = Effects.PURE
    syntax = "` ` `[` $tokens `]` attr-dict `:` type($result)"

    tokens = d.operands(TOKEN)
    result = d.result(TOKEN)

    def verify(self) -> Iterator[str]:
        if len(self.tokens) < 2:
            yield f"expected two or more tokens, got {len(self.tokens)}"


class AddPtrOp(Operation):
    """Offset pointers by a signed number of elements, or of bytes: `&pointers[i][offsets[i]]`."""

    name = "nv_tileaa.addptr"
    effects = Effects.PURE
    traits = (SameType("pointers", "result"), SameShape("pointers", "offsets"))
    syntax = (
        "$pointers `,` $offsets (`bytes` $in_bytes^)? attr-dict "
        "`:` type($pointers) `,` type($offsets)"
    )

    pointers = d.operand(PTR_TILE)
    offsets = d.operand(INT_TILE)
    in_bytes = d.flag()
    result = d.result(PTR_TILE)

    def ways(self) -> Iterator[Way]:
        return alike(self)


class AccessOp(Operation):
    """Base of the operations that read or write memory.

    `latency` is a cost hint of the front end, from 1 to 10.
    """

    needs_whole = "an access that is not weak happens once"
    directives: ClassVar[Mapping[str, Directive]] = {"Ordering": ORDERING}

    semantic = d.attribute(MEM_SEMANTIC, spelling="mem_semantic", default=MemSemantic.WEAK)
    scope = d.optional_attribute(MEM_SCOPE, spelling="mem_scope")
    volatile = d.flag()
    cache = d.optional_attribute(CACHE_MODIFIER, spelling="cache_modifier")
    eviction = d.optional_attribute(EVICTION_POLICY, spelling="eviction_policy")
    latency = d.optional_attribute(I64_ATTR)

    @property
    def is_plain(self) -> bool:
        """Whether the access may be cut, repeated or moved, as far as tokens allow it."""
        return self.semantic is MemSemantic.WEAK and not self.volatile


class LoadOp(AccessOp):
    """Load one element through each pointer.

    Masked-off elements are not read; they are those of `other`, or undefined without it.
    """

    name = "nv_tileaa.load"
    traits = (SameShape("pointers", "mask", "other", "result"),)
    syntax = (
        "custom<Ordering>($semantic, $scope) $pointers (`mask` `=` $mask^)? (`other` `=` $other^)? "
        "(`token` `=` $token^)? attr-dict `:` type($pointers) `->` type($result)"
    )

    pointers = d.operand(PTR_TILE)
    mask = d.optional_operand(BOOL_TILE)
    other = d.optional_operand(ANY_TILE)
    token = d.optional_operand(TOKEN)
    result = d.result(ANY_TILE)
    result_token = d.result(TOKEN)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the types of `mask` and `other` from those of pointers and result."""
        state.operand_types["mask"] = masks(state, "pointers", "mask")
        state.operand_types["other"] = [*state.result_types["result"]][: _count(state, "other")]

    def verify(self) -> Iterator[str]:
        yield from semantic_problems(self.semantic, self.scope, LOAD_SEMANTICS)
        yield from element_problems("result", pointer(self.pointers).pointee, self.result.type)
        if self.other is not None and self.other.type is not self.result.type:
            yield f"expected other of type '{self.result.type}', got '{self.other.type}'"

    def ways(self) -> Iterator[Way]:
        return alike(self) if self.is_plain else iter(())


class StoreOp(AccessOp):
    """Store one element through each pointer; masked-off elements are not written."""

    name = "nv_tileaa.store"
    traits = (SameShape("pointers", "value", "mask"), SPLIT_SEED)
    syntax = (
        "custom<Ordering>($semantic, $scope) $pointers `,` $value (`mask` `=` $mask^)? "
        "(`token` `=` $token^)? attr-dict `:` type($pointers) `,` type($value)"
    )

    pointers = d.operand(PTR_TILE)
    value = d.operand(ANY_TILE)
    mask = d.optional_operand(BOOL_TILE)
    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the type of the mask from that of the pointers."""
        state.operand_types["mask"] = masks(state, "pointers", "mask")

    def verify(self) -> Iterator[str]:
        yield from semantic_problems(self.semantic, self.scope, STORE_SEMANTICS)
        yield from element_problems("value", pointer(self.pointers).pointee, self.value.type)

    def ways(self) -> Iterator[Way]:
        return alike(self) if self.is_plain else iter(())


def _count(state: ParseState, field: str) -> int:
    return len(state.operands.get(field, ()))


def masks(state: ParseState, pointers: str, mask: str) -> list[Type]:
    """The type of a mask, as a list that is empty if the text has none."""
    return [with_element(state.operand_types[pointers][0], I1)] * _count(state, mask)


class AllocaOp(Operation):
    """Allocate memory for `count` elements, which lives as long as the block.

    Other blocks may access it only if it is `shared_by_grid`.
    """

    name = "nv_tileaa.alloca"
    syntax = "$count `align` $alignment attr-dict `:` type($result)"

    count = d.attribute(SIZE)
    alignment = d.attribute(SIZE)
    shared_by_grid = d.flag()
    result = d.result(SCALAR_PTR)

    def verify(self) -> Iterator[str]:
        pointee = pointer(self.result).pointee
        size = max(cast("IntegerType | FloatType", pointee).width // 8, 1)
        if not is_power_of_two(self.alignment):
            yield f"expected an alignment that is a power of two, got {self.alignment}"
        elif self.alignment < size:
            yield f"expected an alignment of at least {size} for '{pointee}', got {self.alignment}"


class TokenOp(Operation):
    """Base of the operations that take and return a token but access no memory."""

    syntax = "(`token` `=` $token^)? attr-dict `:` type($result_token)"

    token = d.optional_operand(TOKEN)
    result_token = d.result(TOKEN)


class FenceAliasOp(TokenOp):
    """Order accesses to one location through different virtual addresses."""

    name = "nv_tileaa.fence_alias"


class LaunchDependentsOp(TokenOp):
    """Allow dependent grids to launch (`griddepcontrol.launch_dependents`); orders no memory."""

    name = "nv_tileaa.launch_dependents"


class WaitOnDependenciesOp(TokenOp):
    """Wait until prerequisite grids have completed and their writes are visible."""

    name = "nv_tileaa.wait_on_dependencies"
