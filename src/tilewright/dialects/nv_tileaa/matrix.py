"""Matrix multiplication and convolution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import FAST_MATH, NO_FAST_MATH
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import (
    ACTIVATION_LAYOUT,
    CONV_PARAMS,
    SIGNEDNESS,
    ActivationLayout,
)
from tilewright.dialects.nv_tileaa.constraints import (
    ANY_TENSOR,
    element_problems,
    shape,
    shape_problems,
)
from tilewright.dialects.nv_tileaa.splits import SPLIT_SEED
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import STRING_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.tiling import Join, Way
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import F4E2M1FN, F16, F32, F64, I32, FloatType, IntegerType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

PRECISIONS: Final = ("ieee", "tf32")
"""Precision of f32 operands: full, or truncated to tf32. Other types are used as they are."""


class DotOp(Operation):
    """Matrix multiply-accumulate `a @ b + c`, optionally batched.

    A scale applies to a block of elements along K. `fast_acc` allows an fp8 dot to accumulate
    with less precision than the type of `c`.
    """

    name = "nv_tileaa.dot"
    effects = Effects.PURE
    needs_whole = "a dot needs all of the tile"
    traits = (SameType("c", "result"), SPLIT_SEED)
    syntax = (
        "$a `,` $b `,` $c (`scaled` `by` $a_scale^ `,` $b_scale)? attr-dict "
        "`:` type($a) `,` type($b) `,` type($c) (`by` type($a_scale)^ `,` type($b_scale))?"
    )

    a = d.operand(ANY_TENSOR)
    b = d.operand(ANY_TENSOR)
    c = d.operand(ANY_TENSOR)
    a_scale = d.optional_operand(ANY_TENSOR)
    b_scale = d.optional_operand(ANY_TENSOR)
    signedness_a = d.optional_attribute(SIGNEDNESS)
    signedness_b = d.optional_attribute(SIGNEDNESS)
    fast_acc = d.flag()
    input_precision = d.optional_attribute(STRING_ATTR)
    fastmath = d.attribute(FAST_MATH, default=NO_FAST_MATH)
    result = d.result(ANY_TENSOR)

    @property
    def is_float(self) -> bool:
        """Whether the operands are floats."""
        return isinstance(element_of(self.a.type), FloatType)

    def verify(self) -> Iterator[str]:
        yield from self._element_problems()
        yield from self._shape_problems()
        if (self.a_scale is None) != (self.b_scale is None):
            yield "expected scales of both a and b, or none"
        elif self.a_scale is not None and self.b_scale is not None:
            yield from self._scale_problems(shape(self.a_scale.type), shape(self.b_scale.type))
        if self.input_precision not in (None, *PRECISIONS):
            expected = " or ".join(PRECISIONS)
            yield f"expected the input precision {expected}, got '{self.input_precision}'"

    def ways(self) -> Iterator[Way]:
        """Along M, along N, along each batch dimension, and along K.

        Parts of K are accumulated in order, so that the result has the same bits.
        """
        left = [self.a] if self.a_scale is None else [self.a, self.a_scale]
        right = [self.b] if self.b_scale is None else [self.b, self.b_scale]
        last = len(shape(self.c.type)) - 1
        if not set(right) & {*left, self.c}:
            yield Way(dict.fromkeys([*left, self.c, self.result], last - 1))
        if not set(left) & {*right, self.c}:
            yield Way(dict.fromkeys([*right, self.c, self.result], last))
        for dim in range(last - 1):
            yield Way(dict.fromkeys([*left, *right, self.c, self.result], dim))
        if not set(left) & set(right) and self.c not in {*left, *right}:
            along_k = dict.fromkeys(left, last) | dict.fromkeys(right, last - 1)
            yield Way(along_k, Join.CHAIN)

    def _element_problems(self) -> Iterator[str]:
        a, b, c = (element_of(value.type) for value in (self.a, self.b, self.c))
        kinds = {type(element) for element in (a, b, c)}
        if kinds not in ({IntegerType}, {FloatType}):
            yield f"expected all integers or all floats, got '{a}', '{b}' and '{c}'"
            return
        yield from element_problems("b", a, self.b.type)
        signs = self.signedness_a, self.signedness_b
        if kinds == {FloatType}:
            yield from _accumulator_problems(a, c)
        elif None in signs:
            yield "expected the signedness of a and b, since they are integers"
        elif c is not I32:
            yield f"expected c of i32 for integers, got '{c}'"

    def _shape_problems(self) -> Iterator[str]:
        a, b, c = (shape(value.type) for value in (self.a, self.b, self.c))
        if not len(a) == len(b) == len(c) or len(a) not in (2, 3):
            ranks = f"{len(a)}, {len(b)}, {len(c)}"
            yield f"expected a, b and c of rank 2, or all of rank 3, got ranks {ranks}"
            return
        *batch, m, k = a
        yield from shape_problems("b", (*batch, k, b[-1]), self.b.type)
        yield from shape_problems("c", (*batch, m, b[-1]), self.c.type)

    def _scale_problems(self, a: tuple[int, ...], b: tuple[int, ...]) -> Iterator[str]:
        left, right = shape(self.a.type), shape(self.b.type)
        if len(a) != len(left) or len(b) != len(right):
            yield f"expected scales of rank {len(left)}, got {len(a)} and {len(b)}"
            return
        if a[:-1] != left[:-1] or left[-1] % a[-1]:
            yield f"expected one scale of a for each block of a row, got '{self.operands[3].type}'"
        if (*b[:-2], b[-1]) != (*right[:-2], right[-1]) or b[-2] != a[-1]:
            yield (
                f"expected one scale of b for each block of a column, got '{self.operands[4].type}'"
            )


def _accumulator_problems(operand: Type, accumulator: Type) -> Iterator[str]:
    """Check the accumulator type of a float dot."""
    assert isinstance(operand, FloatType)
    allowed: tuple[Type, ...] = (F32,)
    if operand is F64:
        allowed = (F64,)
    elif operand is F16 or operand.width == 8 or operand is F4E2M1FN:
        allowed = (F16, F32)
    if accumulator not in allowed:
        expected = " or ".join(map(str, allowed))
        yield f"expected c of {expected} for operands of {operand}, got {accumulator}"


class ConvDotOp(Operation):
    """Convolve a tile of activations with a tile of filters, accumulating into `c`."""

    name = "nv_tileaa.conv_dot"
    effects = Effects.PURE
    needs_whole = "a convolution reads neighbours of each element"
    traits = (SameType("c", "result"),)
    syntax = "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)"

    a = d.operand(ANY_TENSOR)
    b = d.operand(ANY_TENSOR)
    c = d.operand(ANY_TENSOR)
    params = d.attribute(CONV_PARAMS, spelling="conv_params")
    layout = d.attribute(
        ACTIVATION_LAYOUT, default=ActivationLayout.NHWC, spelling="activation_layout"
    )
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        rank = len(self.params.strides) + 2
        for name, value in (("a", self.a), ("b", self.b), ("c", self.c)):
            actual = len(shape(value.type))
            if actual != rank:
                yield f"expected {name} of rank {rank}, got {actual}"
        yield from element_problems("b", element_of(self.a.type), self.b.type)
