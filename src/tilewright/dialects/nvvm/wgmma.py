"""Asynchronous wgmma.

Accumulators are structs of registers, or vectors of the elements of these registers in order. The
operations take the accumulators and return them, so that no other code reads them in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import types_of
from tilewright.dialects.llvm.constraints import ANY, BOOL, INT64, STRUCT, VECTOR
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvvm.attributes import (
    MMA_INT_OVERFLOW,
    MMA_LAYOUT,
    MMA_SHAPE,
    WGMMA_SCALE_IN,
    WGMMA_SCALE_OUT,
    WGMMA_TYPE,
    MMALayout,
    WGMMAType,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import IntegerKind
from tilewright.ir.traits import SameType
from tilewright.ir.types import F16, F32, I32, I64, VectorType
from tilewright.target.arch import WARP_SIZE
from tilewright.target.tensor_cores import ALL_WGMMA, K_MAJOR_ONLY, WARPGROUP, find_mma

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.text.syntax import ParseState

GROUPS: Final = IntegerKind(I64, 0)
THREADS: Final = WARPGROUP * WARP_SIZE
A_REGISTERS: Final = 4
"""The number of registers of A per lane and step, for every element type."""

_REGISTER: Final = {
    WGMMAType.F32: (F32,),
    WGMMAType.S32: (I32,),
    WGMMAType.F16: (VectorType((2,), F16), I32),
}
"""The register types of D; two f16 share a register."""
_ELEMENT: Final = {WGMMAType.F32: F32, WGMMAType.S32: I32, WGMMAType.F16: F16}
ACCUMULATOR: Final = STRUCT | VECTOR


class TiedOp(NvvmOp):
    """Base of the operations that take accumulators and return them: a barrier to code motion."""

    accumulators = d.operands(ACCUMULATOR)
    outputs = d.results(ACCUMULATOR)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the result types from the operand types."""
        state.result_types["outputs"] = state.operand_types.get("accumulators", [])

    def verify(self) -> Iterator[str]:
        if types_of(self.outputs) != types_of(self.accumulators):
            yield "expected results of the types of the accumulators"


class WgmmaFenceAlignedOp(TiedOp):
    """Order earlier accesses to registers and shared memory before later wgmmas."""

    name = "nvvm.wgmma.fence.aligned"
    syntax = "(`apart` $apart^)? (`(` $accumulators^ `:` type($accumulators) `)`)? attr-dict"

    apart = d.flag()
    """Whether the accumulators need registers of their own; no wgmma may be in flight."""


class WgmmaGroupSyncAlignedOp(NvvmOp):
    """Commit the wgmmas since the last group as a group."""

    name = "nvvm.wgmma.commit.group.sync.aligned"
    syntax = "attr-dict"


class WgmmaWaitGroupSyncOp(TiedOp):
    """Wait until at most `group` groups are pending; return the completed accumulators."""

    name = "nvvm.wgmma.wait.group.sync.aligned"
    syntax = "$group (`,` $accumulators^ `:` type($accumulators))? attr-dict"

    group = d.attribute(GROUPS)


class WgmmaMmaAsyncOp(NvvmOp):
    """Issue one wgmma of matrices in shared memory, given by descriptors."""

    name = "nvvm.wgmma.mma_async"
    traits = (SameType("inouts", "res"),)
    syntax = (
        "$descriptor_a `,` $descriptor_b `,` $inouts `,` $shape `,` "
        "`D` `[` custom<Bracketed>($type_d) `,` custom<Bracketed>($scale_d) "
        "(`,` custom<Bracketed>($satfinite)^)? `]` `,` "
        "`A` `[` custom<Bracketed>($type_a) `,` custom<Bracketed>($scale_a) `,` "
        "custom<Bracketed>($layout_a) `]` `,` "
        "`B` `[` custom<Bracketed>($type_b) `,` custom<Bracketed>($scale_b) `,` "
        "custom<Bracketed>($layout_b) `]` attr-dict `:` type($inouts) `->` type($res)"
    )

    inouts = d.operand(STRUCT)
    descriptor_a = d.operand(INT64)
    descriptor_b = d.operand(INT64)
    shape = d.attribute(MMA_SHAPE)
    type_a = d.attribute(WGMMA_TYPE, spelling="typeA")
    type_b = d.attribute(WGMMA_TYPE, spelling="typeB")
    type_d = d.attribute(WGMMA_TYPE, spelling="typeD")
    scale_d = d.attribute(WGMMA_SCALE_OUT, spelling="scaleD")
    scale_a = d.attribute(WGMMA_SCALE_IN, spelling="scaleA")
    scale_b = d.attribute(WGMMA_SCALE_IN, spelling="scaleB")
    layout_a = d.attribute(MMA_LAYOUT, spelling="layoutA")
    layout_b = d.attribute(MMA_LAYOUT, spelling="layoutB")
    satfinite = d.optional_attribute(MMA_INT_OVERFLOW)
    res = d.result(STRUCT)

    def verify(self) -> Iterator[str]:
        yield from _mma_problems(self)


class WgmmaStepsOp(NvvmOp):
    """Issue consecutive wgmmas into the same accumulators, optionally with fence and commit.

    Every step has a descriptor of B, and a descriptor or four registers of A. `scale_d` selects
    at run time whether the first step accumulates or overwrites.
    """

    name = "nvvm.wgmma.steps"
    traits = (SameType("inouts", "res"),)
    syntax = (
        "(`fence` $fence^)? (`apart` $apart^)? (`A` `(` $descriptors_a^ `)`)? "
        "(`registers` `(` $registers_a^ `:` type($registers_a) `)`)? "
        "`B` `(` $descriptors_b `)` (`if` $scale_d^)? `,` $inouts `,` $shape `,` "
        "`D` `[` custom<Bracketed>($type_d) `,` custom<Bracketed>($scale) `]` `,` "
        "`A` `[` custom<Bracketed>($type_a) `,` custom<Bracketed>($scale_a) `,` "
        "custom<Bracketed>($layout_a) `]` `,` "
        "`B` `[` custom<Bracketed>($type_b) `,` custom<Bracketed>($scale_b) `,` "
        "custom<Bracketed>($layout_b) `]` (`commit` $commit^)? attr-dict `:` type($inouts)"
    )

    inouts = d.operand(ACCUMULATOR)
    descriptors_a = d.operands(INT64)
    registers_a = d.operands(ANY)
    descriptors_b = d.operands(INT64)
    scale_d = d.optional_operand(BOOL)
    shape = d.attribute(MMA_SHAPE)
    type_a = d.attribute(WGMMA_TYPE, spelling="typeA")
    type_b = d.attribute(WGMMA_TYPE, spelling="typeB")
    type_d = d.attribute(WGMMA_TYPE, spelling="typeD")
    scale = d.attribute(WGMMA_SCALE_OUT, spelling="scaleD")
    """Whether the first step accumulates, if there is no operand `scale_d`."""
    scale_a = d.attribute(WGMMA_SCALE_IN, spelling="scaleA")
    scale_b = d.attribute(WGMMA_SCALE_IN, spelling="scaleB")
    layout_a = d.attribute(MMA_LAYOUT, spelling="layoutA")
    layout_b = d.attribute(MMA_LAYOUT, spelling="layoutB")
    fence = d.flag()
    """Whether to issue a wgmma fence first."""
    apart = d.flag()
    """Whether the accumulators need registers of their own; no wgmma may be in flight."""
    commit = d.flag()
    """Whether to commit these and earlier wgmmas as a group."""
    res = d.result(ACCUMULATOR)

    def verify(self) -> Iterator[str]:
        steps = len(self.descriptors_b)
        if not steps:
            yield "expected at least one step"
        if self.registers_a:
            if self.descriptors_a:
                yield "expected A in registers or in shared memory, got both"
            if len(self.registers_a) != A_REGISTERS * steps:
                yield f"expected {A_REGISTERS * steps} registers of A, got {len(self.registers_a)}"
            if self.layout_a is not MMALayout.ROW:
                yield "expected the layout 'row' of A in registers"
        elif len(self.descriptors_a) != steps:
            yield f"expected {steps} descriptors of A, got {len(self.descriptors_a)}"
        yield from _mma_problems(self)


def _mma_problems(op: WgmmaMmaAsyncOp | WgmmaStepsOp) -> Iterator[str]:
    a, b, accumulated = op.type_a, op.type_b, op.type_d
    shape = op.shape
    if find_mma(ALL_WGMMA, a.keyword, b.keyword, accumulated.keyword, shape.extents) is None:
        types = f"{a.keyword} and {b.keyword} to {accumulated.keyword}"
        yield f"there is no mma of {types} with the shape {shape}"
        return
    count = shape.m * shape.n // THREADS // (2 if accumulated is WGMMAType.F16 else 1)
    allowed: list[Type] = [StructType((type,) * count) for type in _REGISTER[accumulated]]
    if isinstance(op, WgmmaStepsOp):
        allowed.append(VectorType((shape.m * shape.n // THREADS,), _ELEMENT[accumulated]))
    if op.inouts.type not in allowed:
        yield f"expected {count} registers of '{_REGISTER[accumulated][0]}' as accumulators"
    for letter, type, layout, k_major in (
        ("A", a, op.layout_a, MMALayout.ROW),
        ("B", b, op.layout_b, MMALayout.COL),
    ):
        if layout is not k_major and type.keyword in K_MAJOR_ONLY:
            yield f"expected the layout '{k_major.keyword}' of {letter} with {type.keyword}"
