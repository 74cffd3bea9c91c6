"""Products of matrices by the tensor cores: every warp multiplies its fragments piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import from_words, to_words
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import AndIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.nv_tileas.attributes import Atom, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, mma_instruction
from tilewright.dialects.nvgpu.warp import MmaSyncOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.dialects.vector.shapes import ShapeCastOp, ShuffleOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I64, FloatType, IntegerType, VectorType
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.linear import LANE, REGISTER, pack, unpack
from tilewright.target.arch import REGISTER_BYTES
from tilewright.target.tensor_cores import BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.matrix import Instruction
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

UNSIGNED_BYTE: Final = IntegerType(8, "u")


Origin = tuple[int, int, int]
"""Where a piece begins: the matrix of the batch, the row, the column."""


class RegisterFragments(NamedTuple):
    """An operand of a thread in pieces of the instruction."""

    fragment: Layout
    whole: tuple[int, int, int]
    """The extents of the tile as a batch of matrices."""
    at: dict[int, int]
    """The register that has the element with a packed number."""

    @staticmethod
    def of(tile: Value, fragment: Layout) -> RegisterFragments:
        """How a thread holds a tile that consists of fragments."""
        layout = layout_of(tile)
        *batch, rows, columns = layout.shape
        whole = (batch[0] if batch else 1, rows, columns)
        at = {layout.packed(register=r): r for r in range(layout.extent(REGISTER))}
        return RegisterFragments(fragment, whole, at)

    def corners(self) -> list[Origin]:
        """Where the pieces of a thread begin."""
        row, column = self.fragment.shape
        places = (unpack(packed, self.whole) for packed in self.at)
        return sorted({(b, r // row * row, c // column * column) for b, r, c in places})

    def places(self, corner: Origin) -> list[Origin]:
        """Where the registers of a piece lie, if the tile goes on for ever."""
        batch, row, column = corner
        inner = [self.fragment.at(register=r) for r in range(self.fragment.extent(REGISTER))]
        return [(batch, row + r, column + c) for r, c in inner]

    def register(self, place: Origin) -> int:
        """The register for a place; beyond the tile it is one that repeats another."""
        inside = [c % e for c, e in zip(place, self.whole, strict=True)]
        return self.at[pack(inside, self.whole)]


@converts(DotOp)
def dot(op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
    """Sums stay in their registers while the pieces along the depth are multiplied."""
    instruction = mma_instruction(op)
    if op.atom is not Atom.MMA_SYNC or instruction is None:
        return build.reject("expected a product of the tensor cores")
    m, n, k = instruction.shape
    bits = BITS[instruction.a]
    left = MmaSyncOperand(op, build, op.a, new.a, mma_left(bits, m, k), 2, instruction.a)
    right = MmaSyncOperand(op, build, op.b, new.b, mma_right(bits, k), 1, instruction.b)
    sums = RegisterFragments.of(op.c, mma_accumulator(m, n))
    corners = sums.corners()
    totals = _accumulator_fragments(
        build, new.c, [sums.register(p) for c in corners for p in sums.places(c)], m
    )
    for depth in range(0, left.held.whole[2], k):
        for number, (batch, row, column) in enumerate(corners):
            a, b = left.piece((batch, row, depth)), right.piece((batch, depth, column))
            totals[number] = _mma(build, instruction, a, b, totals[number])
    return _join_accumulators(build, sums, corners, totals, new.c.type)


class MmaSyncOperand:
    """A or B, cut into what one instruction takes."""

    __slots__ = ("_build", "_made", "_numbers", "_type", "_words", "held")

    def __init__(
        self,
        op: DotOp,
        build: ConversionBuilder,
        tile: Value,
        vector: Value,
        fragment: Layout,
        depth: int,
        spelled: str,
    ) -> None:
        self.held = held = RegisterFragments.of(tile, fragment)
        self._build = build
        assert isinstance(vector.type, VectorType)
        type = vector.type.element
        corners = held.corners()
        places = [place for corner in corners for place in held.places(corner)]
        order = [held.register(p) if p[depth] < held.whole[depth] else None for p in places]
        whole = _zero_lanes_beyond_k(op, build, vector, fragment, depth - 1, held.whole[depth])
        self._words = _words(build, _permuted(build, whole, order))
        self._numbers = {corner: number for number, corner in enumerate(corners)}
        own = UNSIGNED_BYTE if spelled == "u8" else type
        held_bits = max(1, 32 // BITS[spelled])
        self._type = VectorType((fragment.extent(REGISTER) // held_bits, held_bits), own)
        self._made: dict[Origin, Value] = {}

    def piece(self, corner: Origin) -> Value:
        """The operand that begins at a corner."""
        found = self._made.get(corner)
        if found is None:
            each = len(self._words) // len(self._numbers)
            start = self._numbers[corner] * each
            found = _shaped(self._build, self._words[start : start + each], self._type)
            self._made[corner] = found
        return found


def _zero_lanes_beyond_k(
    op: DotOp, build: ConversionBuilder, vector: Value, fragment: Layout, along: int, extent: int
) -> Value:
    """A factor with zeros where a lane lies beyond the depth, so that nothing counts twice."""
    outside = 0
    for bit, place in enumerate(fragment.vectors(LANE)):
        if unpack(place, fragment.shape)[along] >= extent:
            outside |= 1 << bit
    if not outside:
        return vector
    bits = build.create(AndIOp, lhs=thread_id(op, build), rhs=constant(build, outside)).result
    inside = build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=bits, rhs=constant(build, 0))
    zero = _zero(build, vector.type)
    return build.create(
        SelectOp, condition=inside.result, true_value=vector, false_value=zero
    ).result


def _zero(build: ConversionBuilder, type: Type) -> Value:
    return build.create(ConstantOp, value=literal([0], type), types=[type]).result


def _permuted(build: ConversionBuilder, vector: Value, order: Sequence[int | None]) -> Value:
    """Registers in an order of their own; none is zero."""
    assert isinstance(vector.type, VectorType)
    (count,) = vector.type.shape
    if list(order) == list(range(count)):
        return vector
    other = _zero(build, vector.type) if None in order else vector
    mask = [count if register is None else register for register in order]
    type = VectorType((len(mask),), vector.type.element)
    return build.create(ShuffleOp, v1=vector, v2=other, mask=mask, types=[type]).result


def _words(build: ConversionBuilder, vector: Value) -> Sequence[Value]:
    """A vector as what fills a register each: elements, or words of several small ones."""
    assert isinstance(vector.type, VectorType)
    element = vector.type.element
    assert isinstance(element, IntegerType | FloatType)
    is_small = element.width < 8 * REGISTER_BYTES
    return to_words(build, vector, REGISTER_BYTES) if is_small else elements(build, vector)


def _shaped(build: ConversionBuilder, words: Sequence[Value], type: VectorType) -> Value:
    """An operand of an instruction from its registers."""
    flat = VectorType((type.shape[0] * type.shape[1],), type.element)
    vector = from_words(build, words, flat)
    return build.create(ShapeCastOp, source=vector, types=[type]).result


def _accumulator_fragments(
    build: ConversionBuilder, vector: Value, order: Sequence[int], rows: int
) -> list[Value]:
    """The sums that each instruction starts with."""
    assert isinstance(vector.type, VectorType)
    words = _words(build, _permuted(build, vector, order))
    type = VectorType((rows // 8, 2), vector.type.element)
    count = len(order) // (type.shape[0] * 2)
    each = len(words) // count
    return [_shaped(build, words[n * each : (n + 1) * each], type) for n in range(count)]


def _mma(build: ConversionBuilder, instruction: Instruction, a: Value, b: Value, c: Value) -> Value:
    return build.create(
        MmaSyncOp,
        matrix_a=a,
        matrix_b=b,
        matrix_c=c,
        mma_shape=tuple([IntegerAttr(extent, I64) for extent in instruction.shape]),
        tf32_enabled=instruction.a == "tf32",
        types=[c.type],
    ).res


def _join_accumulators(
    build: ConversionBuilder,
    sums: RegisterFragments,
    corners: Sequence[Origin],
    totals: Sequence[Value],
    type: Type,
) -> Value:
    """The registers of all sums; of those that repeat each other one."""
    assert isinstance(type, VectorType)
    registers: dict[int, Value] = {}
    for corner, total in zip(corners, totals, strict=True):
        assert isinstance(total.type, VectorType)
        flat = VectorType((total.type.shape[0] * 2,), type.element)
        parts = elements(build, build.create(ShapeCastOp, source=total, types=[flat]).result)
        for place, part in zip(sums.places(corner), parts, strict=True):
            registers.setdefault(sums.register(place), part)
    ordered = [registers[number] for number in range(len(registers))]
    return build.create(FromElementsOp, elements=ordered, types=[type]).result


PATTERNS: Final[Patterns] = (dot,)
