"""Products of matrices by a warpgroup that go on while it does something else.

The protocol: `fence`, any number of `issue`, `commit` closes a group, and `wait` waits until at
most so many groups are under way. Accumulators go through all of them as values, so that nothing
reads or moves them while the hardware works on them: what `wait` gives is done.

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
from tilewright.dialects.nvgpu.warpgroup import accumulates, depth_of, is_width
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, I64_ATTR, TYPE_ATTR
from tilewright.ir.constraints import TypeConstraint
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import BF16, F16, I64, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.syntax import ParseState

MAX_PENDING: Final = 7
"""The most groups that a wait may leave under way."""


class WgmmaDescriptorOp(Operation):
    """Where a matrix in shared memory lies, as wgmma wants it.

    The matrix starts at the indexed element. Its rows (columns, if transposed) come in groups of
    eight; the stride leads from one group to the next, the leading offset from one 16-byte column
    of groups to the next (without meaning where a row lies within the swizzle span), all in bytes.
    The descriptor is a number: one more starts 16 bytes later, as long as the matrix stays within
    shared memory.
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
    """Base of the steps of the protocol that accumulators pass through unchanged."""

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """What comes out has the types of what goes in."""
        state.result_types["outputs"] = list(state.operand_types.get("accumulators", ()))

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """What comes out has the types of what goes in."""
        return types["accumulators"]

    def verify(self) -> Iterator[str]:
        before, after = types_of(self.operands), types_of(self.results)
        if before != after:
            yield f"expected results of types {listed(before)}, got {listed(after)}"


class WgmmaFenceOp(TiedOp):
    """Lets products that follow see what was written to their registers and to shared memory."""

    name = "cute_nvgpu.wgmma.fence"
    syntax = "(`apart` $apart^)? (`(` $accumulators^ `:` type($accumulators) `)`)? attr-dict"

    apart = d.flag()
    """Whether accumulators go on in other registers than those that something else reads: see
    `analysis/accumulators.py`. No product may be under way."""
    accumulators = d.operands(ANY_VECTOR)
    outputs = d.results(ANY_VECTOR)


class WgmmaCommitOp(Operation):
    """Closes a group of all products issued since the last one."""

    name = "cute_nvgpu.wgmma.commit"
    syntax = "attr-dict"


class WgmmaWaitOp(TiedOp):
    """Waits until at most so many groups are under way; older accumulators are then done."""

    name = "cute_nvgpu.wgmma.wait"
    syntax = "$pending (`,` $accumulators^ `:` type($accumulators))? attr-dict"

    pending = d.attribute(I32_ATTR)
    accumulators = d.operands(ANY_VECTOR)
    outputs = d.results(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        if not 0 <= self.pending <= MAX_PENDING:
            yield f"expected 0 to {MAX_PENDING} groups, got {self.pending}"


def _is_factor(type: Type) -> bool:
    return type is I64 or (isinstance(type, VectorType) and len(type.shape) == 1)


FACTOR: Final = TypeConstraint("descriptor or rank 1 vector of registers", _is_factor)


class WgmmaIssueOp(Operation):
    """Starts to add the product of two matrices to an accumulator.

    A is 64 rows, in shared memory or in registers, B as many columns as the accumulator has. Along
    the common dimension there are `steps` instructions; the descriptors advance from one to the
    next by the given numbers. If `accumulate` is there and false, the first instruction does not
    add to what the accumulator holds but replaces it. Matrices of 16-bit elements may be stored
    with rows and columns exchanged, and both may count as negative.
    """

    name = "cute_nvgpu.wgmma.issue"
    traits = (SameType("accumulator", "result"),)
    syntax = (
        "$a `,` $b `,` $accumulator (`accumulate` $accumulate^)? "
        "(`steps` $steps^ `by` $a_step `,` $b_step)? attr-dict "
        "`:` $a_type `,` $b_type `,` type($a) `,` type($accumulator)"
    )

    a = d.operand(FACTOR)
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
        """How many columns B and the accumulator have."""
        return 2 * vector(self.accumulator).shape[0]

    def verify(self) -> Iterator[str]:
        accumulator = vector(self.accumulator)
        a, b, sums = self.a_type, self.b_type, accumulator.element
        if not accumulates(sums, a, b):
            yield f"cannot add products of '{a}' and '{b}' to '{sums}'"
            return
        if len(accumulator.shape) != 1 or not is_width(self.columns, a):
            yield f"expected an accumulator that wgmma has for '{a}', got '{accumulator}'"
        if min(self.steps, self.a_step + 1, self.b_step + 1) < 1:
            yield "expected a positive number of steps that lead forward"
            return
        if self.steps == 1 and (self.a_step or self.b_step):
            yield "expected no way from one step to the next where there is one"
        yield from self._register_problems()
        for name, flag, type in (("a", self.transpose_a, a), ("b", self.transpose_b, b)):
            if flag and type not in (F16, BF16):
                yield f"expected elements of 16 bits for 'transpose_{name}', got '{type}'"

    def _register_problems(self) -> Iterator[str]:
        """A in registers: half as many elements a thread as the product is deep."""
        found = self.a.type
        if found is I64:
            return
        count = self.steps * depth_of(self.a_type) // 2
        expected = VectorType((count,), self.a_type)
        if found is not expected:
            bits = bits_of(self.a_type)
            yield f"expected '{expected}', {count} elements of {bits} bits, got '{found}'"
        if self.transpose_a or self.a_step:
            yield "expected neither 'transpose_a' nor a step for a matrix in registers"
