"""Dots, and the instructions that implement them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import matrix as tileaa
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import ANY_TENSOR, shape, shape_problems
from tilewright.dialects.nv_tileas.attributes import ATOM, Atom, in_shared_memory, maybe_layout_of
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.dialects.nv_tileas.types import without_layout
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR, IntegerKind
from tilewright.ir.operation import Operation
from tilewright.ir.traits import SameType
from tilewright.ir.types import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, I8, I32, TF32
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right, wgmma_left
from tilewright.layout.linear import OFFSET, WARP
from tilewright.layout.mma_columns import column_order, default_columns
from tilewright.layout.mma_tiling import consists_of
from tilewright.layout.wgmma import batched, instruction_columns, recognize_operand
from tilewright.target.tensor_cores import (
    ALL_WGMMA,
    BITS,
    MMA,
    WGMMA_COLUMNS,
    WGMMA_K_BYTES,
    WGMMA_ROWS,
    find_mma,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.layout.linear import Layout
    from tilewright.layout.wgmma import OperandSmem
    from tilewright.target.tensor_cores import Shape

SPELLED: Final[dict[Type, str]] = {
    F16: "f16",
    BF16: "bf16",
    TF32: "tf32",
    F32: "f32",
    F64: "f64",
    F8E4M3FN: "e4m3",
    F8E5M2: "e5m2",
    I32: "s32",
}
"""Element types as PTX spells them; the signedness of int8 is an attribute of the dot."""

SHAPES: Final[dict[str, tuple[Shape, ...]]] = {
    "f64": ((8, 8, 4),),
    "tf32": ((16, 8, 4), (16, 8, 8)),
    "f16": ((16, 8, 8), (16, 8, 16)),
    "bf16": ((16, 8, 8), (16, 8, 16)),
    "e4m3": ((16, 8, 32),),
    "e5m2": ((16, 8, 32),),
    "s8": ((16, 8, 16), (16, 8, 32)),
    "u8": ((16, 8, 16), (16, 8, 32)),
}
"""The shapes of mma.sync by the type of A, the smallest K first."""


PENDING: Final = IntegerKind(I32, minimum=0)


class Instruction(NamedTuple):
    """An MMA instruction: its types as PTX spells them, and its shape."""

    a: str
    b: str
    shape: Shape
    accumulator: str


def mma_instruction(op: tileaa.DotOp) -> Instruction | None:
    """The smallest-K mma.sync that covers the tile, if one supports the types of the dot."""
    types = dot_types(op)
    if types is None:
        return None
    a, b, accumulator = types
    shapes = SHAPES.get(a, ())
    k = shape(op.a.type)[-1]
    wanted = next((each for each in shapes if each[2] >= k), shapes[-1] if shapes else None)
    if wanted is None or find_mma(MMA, a, b, accumulator, wanted) is None:
        return None
    return Instruction(a, b, wanted, accumulator)


def wgmma_instruction(op: tileaa.DotOp) -> Instruction | None:
    """The widest wgmma that tiles a dot, if one supports its types and divides its shape."""
    types = dot_types(op)
    if types is None:
        return None
    a, b, accumulator = types
    *_, m, n = shape(op.c.type)
    wanted = (WGMMA_ROWS, min(n, WGMMA_COLUMNS), WGMMA_K_BYTES * 8 // BITS[a])
    if find_mma(ALL_WGMMA, a, b, accumulator, wanted) is None:
        return None
    if m % WGMMA_ROWS or shape(op.a.type)[-1] % wanted[2]:
        return None
    return Instruction(a, b, wanted, accumulator)


def async_instruction(op: DotOp) -> Instruction | None:
    """The instruction of a dot whose atom is asynchronous; None of any other."""
    return wgmma_instruction(op) if op.atom.asynchronous else None


def dot_types(op: tileaa.DotOp) -> tuple[str, str, str] | None:
    """The types of A, B and the accumulator of a dot without scales, as PTX spells them."""
    a = _operand_type(op, element_of(op.a.type), op.signedness_a)
    b = _operand_type(op, element_of(op.b.type), op.signedness_b)
    accumulator = SPELLED.get(element_of(op.c.type))
    if a is None or b is None or accumulator is None or op.a_scale is not None:
        return None
    return a, b, accumulator


def _operand_type(op: tileaa.DotOp, type: Type, signedness: Signedness | None) -> str | None:
    if type is I8:
        return "u8" if signedness is Signedness.UNSIGNED else "s8"
    if type is F32 and op.input_precision == "tf32":
        return "tf32"
    return SPELLED.get(type)


BATCHED_RANK: Final = 3
"""The rank of a batch of matrices."""


class DotOp(tileaa.DotOp):
    """`a @ b + c`, tiled by the instruction that the atom names.

    For `mma_sync` all three have fragment layouts of the instruction, B and the accumulator with
    their columns in any one order. For `wgmma` the accumulator
    has one, B is in shared memory, and A is in either; if it is `asynchronous`, the accumulator is
    complete, and the memory of A and B free, after a `dot_wait`; if it is `promoted`, `a @ b` is
    accumulated from zero and then added to `c`, rounded once; if it `overwrites`, the accumulator
    starts at zero, and the result takes the registers of `c`, which nothing uses later. For `fma`
    A and B have any layout, in registers or in shared memory; if one of them is a batch of one
    matrix, all matrices of the other are multiplied with it.
    """

    name = "nv_tileas.dot"
    traits = (*tileaa.DotOp.traits, LAID_OUT)

    atom = d.attribute(ATOM)
    asynchronous = d.flag()
    promoted = d.flag()
    overwrites = d.flag()
    scratch = d.optional_attribute(I64_ATTR)

    def verify(self) -> Iterator[str]:
        problems = list(super().verify())
        yield from problems
        if self.asynchronous and self.atom is not Atom.WGMMA:
            yield f"expected wgmma for an asynchronous dot, got {self.atom.keyword}"
        if self.promoted and (self.atom is not Atom.WGMMA or not self.is_float):
            yield "expected wgmma of floats for a promoted dot"
        if self.promoted and self.asynchronous:
            yield "expected a dot that is either promoted or asynchronous, got both"
        if self.overwrites and (self.atom is not Atom.WGMMA or self.promoted):
            yield "expected a dot by wgmma that is not promoted to overwrite registers"
        if self.atom is Atom.FMA or problems:
            return
        if self.atom is Atom.WGMMA:
            yield from self._warpgroup_problems()
            return
        instruction = mma_instruction(self)
        if instruction is None:
            yield f"expected types that mma.sync multiplies, got '{element_of(self.a.type)}'"
            return
        yield from self._fragment_problems(instruction)

    def _shape_problems(self) -> Iterator[str]:
        a, b, c = (shape(value.type) for value in (self.a, self.b, self.c))
        is_batch = len(a) == len(b) == len(c) == BATCHED_RANK
        if self.atom is not Atom.FMA or not is_batch or 1 not in (a[0], b[0]):
            yield from super()._shape_problems()
            return
        yield from shape_problems("b", (b[0], a[2], b[2]), self.b.type)
        yield from shape_problems("c", (max(a[0], b[0]), a[1], b[2]), self.c.type)

    def _warpgroup_problems(self) -> Iterator[str]:
        """Check that c has an accumulator layout of wgmma, and A and B the memory that it reads."""
        if wgmma_instruction(self) is None:
            types = [str(without_layout(value.type)) for value in (self.a, self.b, self.c)]
            yield f"expected a dot that wgmma supports, got {', '.join(types)}"
            return
        layout = maybe_layout_of(self.c)
        if layout is not None and instruction_columns(layout) is None:
            yield f"expected c in fragments of wgmma, got <{layout}>"
        left, right = wgmma_operands(self)
        if left is None and not in_shared_memory(self.a):
            yield from self._left_problems()
        elif left is None:
            yield "expected a in shared memory as wgmma reads it"
        if right is None:
            yield "expected b in shared memory as wgmma reads it"

    def _left_problems(self) -> Iterator[str]:
        """Check that A has a fragment layout of wgmma, and that warps own the rows of c."""
        a, c = maybe_layout_of(self.a), maybe_layout_of(self.c)
        if a is None or c is None:
            return
        if not consists_of(a, wgmma_left(8 * pointee_bytes(element_of(self.a.type)))):
            yield f"expected a in shared memory, or in fragments of wgmma, got <{a}>"
        yield from _row_problems(a, c)

    def _fragment_problems(self, instruction: Instruction) -> Iterator[str]:
        """Check that a, b and c have fragment layouts, and that warps own matching parts."""
        m, n, k = instruction.shape
        bits = BITS[instruction.a]
        fragments = (mma_left(bits, m, k), mma_right(bits, k), mma_accumulator(m, n))
        layouts = [maybe_layout_of(value) for value in (self.a, self.b, self.c)]
        a, b, c = layouts
        order = () if c is None else column_order(c, fragments[2])
        for name, layout, fragment in zip("abc", layouts, fragments, strict=True):
            if layout is None:
                continue
            tile = default_columns(layout, order) if name in "bc" else layout
            if not consists_of(tile, fragment):
                yield f"expected {name} in fragments of m{m}n{n}k{k}, got <{layout}>"
        if a is None or b is None or c is None:
            return
        yield from _row_problems(a, c)
        last = len(c.shape) - 1
        if b.only(WARP).drop(last - 1) != c.only(WARP).drop(last - 1):
            yield f"expected warps to hold the columns of b that c has, got <{b}> and <{c}>"


def _row_problems(a: Layout, c: Layout) -> Iterator[str]:
    last = len(c.shape) - 1
    if a.only(WARP).drop(last) != c.only(WARP).drop(last):
        yield f"expected warps to hold the rows of a that c has, got <{a}> and <{c}>"


def wgmma_operands(op: DotOp) -> tuple[OperandSmem | None, OperandSmem | None]:
    """A and B in shared memory, as batches of matrices, rows (M or N) by K; None if not so."""
    a, b = maybe_layout_of(op.a), maybe_layout_of(op.b)
    bytes = pointee_bytes(element_of(op.a.type))
    left = None if a is None else _recognize(batched(a), bytes)
    right = None if b is None else _recognize(batched(b).permute((0, 2, 1)), bytes)
    return left, right


def _recognize(layout: Layout, bytes: int) -> OperandSmem | None:
    return recognize_operand(layout, bytes) if layout.names == (OFFSET,) else None


class DotWaitOp(Operation):
    """Wait until at most `pending` asynchronous dots, those issued last, are in flight.

    The accumulator is threaded through: the result is complete, unless it is that of a dot that may
    be in flight. A of a dot that it waits for is `held` if it is in registers: nothing else is
    written to these before.
    """

    name = "nv_tileas.dot_wait"
    traits = (LAID_OUT, SameType("accumulator", "result"))
    syntax = "$accumulator (`held` $held^)? attr-dict `:` type($accumulator) (`,` type($held)^)?"

    accumulator = d.operand(ANY_TENSOR)
    held = d.operands(ANY_TENSOR)
    pending = d.attribute(PENDING, default=0)
    late = d.flag()
    """Whether what precedes it is to run beside the dots: ptxas would move it before that."""
    result = d.result(ANY_TENSOR)
