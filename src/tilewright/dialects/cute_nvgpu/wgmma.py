"""Asynchronous wgmma.

The protocol: `fence`, any number of `issue`, `commit` to close a group, and `wait` until at most n
groups are pending. Accumulators are threaded through as SSA values, so that no other code reads or
copies their registers while wgmmas are in flight: the results of `wait` are complete.

An accumulator is a vector of the elements that a thread holds, in the order in which the
instruction lists its registers: for a tile of 64 by N, thread `t` of warp `w` holds the elements
`4 * j + 2 * h + i` at row `16 * w + 8 * h + t / 4` and column `8 * j + 2 * (t % 4) + i`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import (
    ANY_VECTOR,
    I1_TYPE,
    I64_TYPE,
    INDEX_TYPE,
    RANKED_MEMREF,
    listed,
    memref,
    types_of,
    vector,
)
from tilewright.dialects.gpu.attributes import in_shared_memory
from tilewright.dialects.memref.access import index_count_problems
from tilewright.dialects.nvgpu.attributes import SWIZZLE
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.dialects.nvgpu.warpgroup import has_wgmma, is_either_major, is_wgmma_n, wgmma_k
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, I64_ATTR, TYPE_ATTR
from tilewright.ir.constraints import TypeConstraint
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I64, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.syntax import ParseState

MAX_PENDING: Final = 7
"""The maximum number of groups that a wait may leave pending."""


class WgmmaDescriptorOp(Operation):
    """Create the wgmma descriptor of a matrix in shared memory.

    The matrix starts at the indexed element. Its rows (columns, if transposed) are in groups of
    eight (core matrices); the stride is the offset between groups, the leading offset that between
    16-byte columns of groups (ignored if a row is within the swizzle span), both in bytes. The
    descriptor is an integer: adding one advances the address by 16 bytes.
    """

    name = "cute_nvgpu.wgmma.descriptor"
    effects = Effects.PURE
    syntax = (
        "$tensor `[` $indices `]` $swizzle `leading` $leading_byte_offset `stride` "
        "$stride_byte_offset attr-dict `:` type($tensor)"
    )

    tensor = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    swizzle = d.attribute(SWIZZLE)
    leading_byte_offset = d.attribute(I64_ATTR)
    stride_byte_offset = d.attribute(I64_ATTR)
    base_offset = d.attribute(I64_ATTR, default=0)
    result = d.result(I64_TYPE)

    def verify(self) -> Iterator[str]:
        tensor = memref(self.tensor)
        yield from index_count_problems(tensor, self.indices)
        if not in_shared_memory(tensor):
            yield f"expected a matrix in shared memory, got '{tensor}'"
        for name, value in (
            ("leading", self.leading_byte_offset),
            ("stride", self.stride_byte_offset),
        ):
            if value % 16 or not 0 <= value < 1 << 18:
                yield f"expected a {name} offset that is a multiple of 16, got {value}"
        if not 0 <= self.base_offset < 8:
            yield f"expected a base offset in 0 to 7, got {self.base_offset}"


class TiedOp(Operation):
    """Base of the operations that take accumulators and return them unchanged."""

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the result types from the operand types."""
        state.result_types["outputs"] = list(state.operand_types.get("accumulators", ()))

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """Infer the result types from the operand types."""
        return types["accumulators"]

    def verify(self) -> Iterator[str]:
        before, after = types_of(self.operands), types_of(self.results)
        if before != after:
            yield f"expected results of types {listed(before)}, got {listed(after)}"


class WgmmaFenceOp(TiedOp):
    """Order earlier writes to registers and shared memory before later wgmmas."""

    name = "cute_nvgpu.wgmma.fence"
    syntax = "(`apart` $apart^)? (`(` $accumulators^ `:` type($accumulators) `)`)? attr-dict"

    apart = d.flag()
    """Whether the accumulators need registers of their own, because other code reads the operands:
    see `plans/mma.py`. No wgmma may be in flight."""
    accumulators = d.operands(ANY_VECTOR)
    outputs = d.results(ANY_VECTOR)


class WgmmaCommitOp(Operation):
    """Commit all wgmmas issued since the last group as a group."""

    name = "cute_nvgpu.wgmma.commit"
    syntax = "attr-dict"


class WgmmaWaitOp(TiedOp):
    """Wait until at most `pending` groups are pending; accumulators of older ones are complete."""

    name = "cute_nvgpu.wgmma.wait"
    syntax = "$pending (`,` $accumulators^ `:` type($accumulators))? attr-dict"

    pending = d.attribute(I32_ATTR)
    accumulators = d.operands(ANY_VECTOR)
    outputs = d.results(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        if not 0 <= self.pending <= MAX_PENDING:
            yield f"expected 0 to {MAX_PENDING} groups, got {self.pending}"


def _is_a_operand(type: Type) -> bool:
    return type is I64 or (isinstance(type, VectorType) and len(type.shape) == 1)


A_OPERAND: Final = TypeConstraint("descriptor or rank 1 vector of registers", _is_a_operand)


class WgmmaIssueOp(Operation):
    """Issue wgmmas that accumulate A times B.

    A has 64 rows, in shared memory or in registers; B has the columns of the accumulator. There
    are `steps` instructions along K, between which the descriptors advance by `a_step` and
    `b_step`. If `accumulate` is present and false, the first instruction overwrites the
    accumulator. Matrices of 16-bit elements may be transposed in shared memory, and A and B may
    be negated.
    """

    name = "cute_nvgpu.wgmma.issue"
    traits = (SameType("accumulator", "result"),)
    syntax = (
        "$a `,` $b `,` $accumulator (`accumulate` $accumulate^)? "
        "(`steps` $steps^ `by` $a_step `,` $b_step)? attr-dict "
        "`:` $a_type `,` $b_type `,` type($a) `,` type($accumulator)"
    )

    a = d.operand(A_OPERAND)
    b = d.operand(I64_TYPE)
    accumulator = d.operand(ANY_VECTOR)
    accumulate = d.optional_operand(I1_TYPE)
    a_type = d.attribute(TYPE_ATTR)
    b_type = d.attribute(TYPE_ATTR)
    steps = d.attribute(I32_ATTR, default=1)
    a_step = d.attribute(I32_ATTR, default=0)
    b_step = d.attribute(I32_ATTR, default=0)
    transpose_a = d.flag()
    transpose_b = d.flag()
    negate_a = d.flag()
    negate_b = d.flag()
    result = d.result(ANY_VECTOR)

    @property
    def columns(self) -> int:
        """The number of columns of B and the accumulator."""
        return 2 * vector(self.accumulator).shape[0]

    def verify(self) -> Iterator[str]:
        accumulator = vector(self.accumulator)
        a, b, c = self.a_type, self.b_type, accumulator.element
        if not has_wgmma(c, a, b):
            yield f"cannot accumulate mma of '{a}' and '{b}' in '{c}'"
            return
        if len(accumulator.shape) != 1 or not is_wgmma_n(self.columns, a):
            yield f"expected an accumulator that wgmma has for '{a}', got '{accumulator}'"
        if min(self.steps, self.a_step + 1, self.b_step + 1) < 1:
            yield "expected a positive number of steps, and no negative advance"
            return
        if self.steps == 1 and (self.a_step or self.b_step):
            yield "expected no advance of descriptors for a single step"
        yield from self._register_problems()
        for name, flag, type in (("a", self.transpose_a, a), ("b", self.transpose_b, b)):
            if flag and not is_either_major(type):
                yield f"expected elements of 16 bits for 'transpose_{name}', got '{type}'"

    def _register_problems(self) -> Iterator[str]:
        """Check A in registers: K / 2 elements per thread."""
        actual = self.a.type
        if actual is I64:
            return
        count = self.steps * wgmma_k(self.a_type) // 2
        expected = VectorType((count,), self.a_type)
        if actual is not expected:
            bits = bits_of(self.a_type)
            yield f"expected '{expected}', {count} elements of {bits} bits, got '{actual}'"
        if self.transpose_a or self.a_step:
            yield "expected neither 'transpose_a' nor a step for a matrix in registers"
