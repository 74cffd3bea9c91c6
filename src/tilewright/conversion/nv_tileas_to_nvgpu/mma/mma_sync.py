"""dot by `mma.sync`: every warp multiplies its fragments of A and B, instruction by instruction."""

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
from tilewright.layout.mma_columns import column_order, default_columns
from tilewright.target.arch import REGISTER_BYTES
from tilewright.target.tensor_cores import BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.matrix import Instruction
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

UNSIGNED_BYTE: Final = IntegerType(8, "u")
Position = tuple[int, int, int]
"""Coordinates of an element, or of the first one of a fragment: batch, row, column."""


class RegisterFragments(NamedTuple):
    """A thread's registers of a tile that consists of fragments of an instruction."""

    fragment: Layout
    shape: tuple[int, int, int]
    """The shape of the tile as a batch of matrices."""
    register_of: dict[int, int]
    """The register of an element, by its row-major index."""

    @staticmethod
    def of(layout: Layout, fragment: Layout) -> RegisterFragments:
        """The registers of a tile in a layout of these fragments."""
        *batch, rows, columns = layout.shape
        shape = (batch[0] if batch else 1, rows, columns)
        register_of = {layout.packed(register=r): r for r in range(layout.extent(REGISTER))}
        return RegisterFragments(fragment, shape, register_of)

    def origins(self) -> list[Position]:
        """The origins of the fragments of a thread."""
        row, column = self.fragment.shape
        positions = (unpack(packed, self.shape) for packed in self.register_of)
        return sorted({(b, r // row * row, c // column * column) for b, r, c in positions})

    def coordinates(self, origin: Position) -> list[Position]:
        """The coordinates of the registers of a fragment, which may exceed the tile."""
        batch, row, column = origin
        offsets = [self.fragment.at(register=r) for r in range(self.fragment.extent(REGISTER))]
        return [(batch, row + r, column + c) for r, c in offsets]

    def register(self, coordinate: Position) -> int:
        """The register of an element; beyond the tile, the register that it wraps around to."""
        wrapped = [c % e for c, e in zip(coordinate, self.shape, strict=True)]
        return self.register_of[pack(wrapped, self.shape)]


@converts(DotOp)
def dot(op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
    """Accumulate along K, with all accumulators of a thread in registers."""
    instruction = mma_instruction(op)
    if op.atom is not Atom.MMA_SYNC or instruction is None:
        return build.reject("expected a dot by mma.sync")
    m, n, k = instruction.shape
    bits = BITS[instruction.a]
    order = column_order(layout_of(op.c), mma_accumulator(m, n))
    right, result = (default_columns(layout_of(tile), order) for tile in (op.b, op.c))
    left = layout_of(op.a)
    a_operand = MmaSyncOperand(op, build, left, new.a, mma_left(bits, m, k), 2, instruction.a)
    b_operand = MmaSyncOperand(op, build, right, new.b, mma_right(bits, k), 1, instruction.b)
    results = RegisterFragments.of(result, mma_accumulator(m, n))
    origins = results.origins()
    registers = [results.register(at) for origin in origins for at in results.coordinates(origin)]
    accumulators = _accumulator_fragments(build, new.c, registers, m)
    for k_start in range(0, a_operand.fragments.shape[2], k):
        for number, (batch, row, column) in enumerate(origins):
            a = a_operand.fragment_at((batch, row, k_start))
            b = b_operand.fragment_at((batch, k_start, column))
            accumulators[number] = _mma(build, instruction, a, b, accumulators[number])
    return _join_accumulators(build, results, origins, accumulators, new.c.type)


class MmaSyncOperand:
    """A or B as fragments of one instruction."""

    __slots__ = ("_build", "_fragments", "_numbers", "_type", "_words", "fragments")

    def __init__(
        self,
        op: DotOp,
        build: ConversionBuilder,
        layout: Layout,
        vector: Value,
        fragment: Layout,
        k_dimension: int,
        ptx_type: str,
    ) -> None:
        self.fragments = fragments = RegisterFragments.of(layout, fragment)
        self._build = build
        assert isinstance(vector.type, VectorType)
        type = vector.type.element
        origins = fragments.origins()
        coordinates = [at for origin in origins for at in fragments.coordinates(origin)]
        k = fragments.shape[k_dimension]
        registers = [fragments.register(at) if at[k_dimension] < k else None for at in coordinates]
        padded = _zero_lanes_beyond_k(op, build, vector, fragment, k_dimension - 1, k)
        self._words = _words(build, _permuted(build, padded, registers))
        self._numbers = {origin: number for number, origin in enumerate(origins)}
        element = UNSIGNED_BYTE if ptx_type == "u8" else type
        per_register = max(1, 32 // BITS[ptx_type])
        self._type = VectorType((fragment.extent(REGISTER) // per_register, per_register), element)
        self._fragments: dict[Position, Value] = {}

    def fragment_at(self, origin: Position) -> Value:
        """The fragment at an origin."""
        fragment = self._fragments.get(origin)
        if fragment is None:
            count = len(self._words) // len(self._numbers)
            start = self._numbers[origin] * count
            fragment = _shaped(self._build, self._words[start : start + count], self._type)
            self._fragments[origin] = fragment
        return fragment


def _zero_lanes_beyond_k(
    op: DotOp, build: ConversionBuilder, vector: Value, fragment: Layout, k_dimension: int, k: int
) -> Value:
    """An operand with zeros in lanes beyond K, where fragments wrap around."""
    outside = 0
    for bit, image in enumerate(fragment.vectors(LANE)):
        if unpack(image, fragment.shape)[k_dimension] >= k:
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


def _permuted(build: ConversionBuilder, vector: Value, registers: Sequence[int | None]) -> Value:
    """The registers with these indices; None is zero."""
    assert isinstance(vector.type, VectorType)
    (count,) = vector.type.shape
    if list(registers) == list(range(count)):
        return vector
    other = _zero(build, vector.type) if None in registers else vector
    mask = [count if register is None else register for register in registers]
    type = VectorType((len(mask),), vector.type.element)
    return build.create(ShuffleOp, v1=vector, v2=other, mask=mask, types=[type]).result


def _words(build: ConversionBuilder, vector: Value) -> Sequence[Value]:
    """A vector as 32-bit words of packed elements; wider elements are themselves."""
    assert isinstance(vector.type, VectorType)
    element = vector.type.element
    assert isinstance(element, IntegerType | FloatType)
    is_small = element.width < 8 * REGISTER_BYTES
    return to_words(build, vector, REGISTER_BYTES) if is_small else elements(build, vector)


def _shaped(build: ConversionBuilder, words: Sequence[Value], type: VectorType) -> Value:
    """The operand of an instruction, from its words."""
    flat = VectorType((type.shape[0] * type.shape[1],), type.element)
    vector = from_words(build, words, flat)
    return build.create(ShapeCastOp, source=vector, types=[type]).result


def _accumulator_fragments(
    build: ConversionBuilder, vector: Value, order: Sequence[int], rows: int
) -> list[Value]:
    """The initial accumulator of each instruction."""
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
    fragments: RegisterFragments,
    origins: Sequence[Position],
    accumulators: Sequence[Value],
    type: Type,
) -> Value:
    """The accumulators of all instructions as the registers of the result, without duplicates."""
    assert isinstance(type, VectorType)
    registers: dict[int, Value] = {}
    for origin, accumulator in zip(origins, accumulators, strict=True):
        assert isinstance(accumulator.type, VectorType)
        flat = VectorType((accumulator.type.shape[0] * 2,), type.element)
        values = elements(build, build.create(ShapeCastOp, source=accumulator, types=[flat]).result)
        for coordinate, value in zip(fragments.coordinates(origin), values, strict=True):
            registers.setdefault(fragments.register(coordinate), value)
    ordered = [registers[number] for number in range(len(registers))]
    return build.create(FromElementsOp, elements=ordered, types=[type]).result


PATTERNS: Final[Patterns] = (dot,)
