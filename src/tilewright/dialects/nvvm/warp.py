"""Warp-level operations: shuffles, votes, matches, reductions, elections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.constraints import BOOL, FLOAT32, INT32, INT64, STRUCT
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvvm.attributes import (
    MATCH_KIND,
    REDUX_KIND,
    SHFL_KIND,
    VOTE_KIND,
    MatchSyncKind,
    ReduxKind,
    VoteSyncKind,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR
from tilewright.ir.traits import SameType
from tilewright.ir.types import F32, I1, I32

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type

WORD = INT32 | FLOAT32


class ShflOp(NvvmOp, InferringOp):
    """Read a value of another lane; the clamp bounds the source lane and selects the segment."""

    name = "nvvm.shfl.sync"
    syntax = (
        "$kind $thread_mask `,` $val `,` $offset `,` $mask_and_clamp attr-dict "
        "`:` type($val) `->` type($res)"
    )

    thread_mask = d.operand(INT32)
    val = d.operand(WORD)
    offset = d.operand(INT32)
    mask_and_clamp = d.operand(INT32)
    kind = d.attribute(SHFL_KIND)
    with_validity = d.flag(spelling="return_value_and_is_valid")
    """Whether the result is a struct of the value and whether the source lane is in range."""
    res = d.result(WORD | STRUCT)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        type = types["val"][0]
        return (StructType((type, I1)) if "return_value_and_is_valid" in attributes else type,)


class VoteSyncOp(NvvmOp, InferringOp):
    """Vote on a predicate among the lanes of the mask."""

    name = "nvvm.vote.sync"
    syntax = "$kind $mask `,` $pred attr-dict `->` type($res)"

    mask = d.operand(INT32)
    pred = d.operand(BOOL)
    kind = d.attribute(VOTE_KIND)
    res = d.result(INT32 | BOOL)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (I32 if attributes["kind"] is VoteSyncKind.BALLOT else I1,)


class MatchSyncOp(NvvmOp, InferringOp):
    """Return the lanes with an equal value; `all` also returns whether all lanes are equal."""

    name = "nvvm.match.sync"
    syntax = "$kind $thread_mask `,` $val attr-dict `:` type($val) `->` type($res)"

    thread_mask = d.operand(INT32)
    val = d.operand(INT32 | INT64)
    kind = d.attribute(MATCH_KIND)
    res = d.result(INT32 | STRUCT)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (StructType((I32, I1)) if attributes["kind"] is MatchSyncKind.ALL else I32,)


_FLOAT_KINDS = (ReduxKind.FMIN, ReduxKind.FMAX)


class ReduxOp(NvvmOp):
    """Reduce the values of the lanes of the mask."""

    name = "nvvm.redux.sync"
    traits = (SameType("val", "res"),)
    syntax = "$kind $val `,` $mask_and_clamp attr-dict `:` type($val) `->` type($res)"

    val = d.operand(WORD)
    mask_and_clamp = d.operand(INT32)
    kind = d.attribute(REDUX_KIND)
    abs = d.attribute(BOOL_ATTR, default=False)
    """Whether to compare absolute values."""
    nan = d.attribute(BOOL_ATTR, default=False)
    """Whether NaN propagates."""
    res = d.result(WORD)

    def verify(self) -> Iterator[str]:
        type = F32 if self.kind in _FLOAT_KINDS else I32
        if self.val.type is not type:
            yield f"'{self.kind.keyword}' expects a value of type '{type}', got '{self.val.type}'"
        elif (self.abs or self.nan) and type is not F32:
            yield "expected 'abs' and 'nan' only for floats"


class ElectSyncOp(NvvmOp):
    """Return true for one of the lanes of the mask; without a mask, of all lanes."""

    name = "nvvm.elect.sync"
    syntax = "($membermask^)? attr-dict `->` type($pred)"

    membermask = d.optional_operand(INT32)
    pred = d.result(BOOL)
