"""Warp-level matrix instructions: ldmatrix, stmatrix, mma.sync and mma.sp.sync."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Self

from tilewright.dialects.elements import types_of
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.constraints import ANY, INT32, STRUCT, pointer
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvvm.attributes import (
    MATRIX_ELEMENT,
    MATRIX_SHAPE,
    MMA_B1_OP,
    MMA_INT_OVERFLOW,
    MMA_LAYOUT,
    MMA_SHAPE,
    MMA_TYPE,
    MatrixElement,
    MatrixShape,
    MMALayout,
    MMAShape,
    MMAType,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import BF16, F16, F32, F64, I32, VectorType
from tilewright.support.diagnostics import InternalError
from tilewright.target.tensor_cores import (
    MMA,
    SPARSE_MMA,
    DotAtom,
    find_mma,
    fragment_registers,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.values import Value
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer

SHARED: Final = pointer(3)

_ELEMENTS_OF: Final = {
    MatrixShape(8, 8): (MatrixElement.B16,),
    MatrixShape(16, 16): (
        MatrixElement.B8,
        MatrixElement.B8X16__B6X16_P32,
        MatrixElement.B8X16__B4X16_P64,
    ),
    MatrixShape(8, 16): (MatrixElement.B8X16__B6X16_P32, MatrixElement.B8X16__B4X16_P64),
}


class LdMatrixOp(NvvmOp, InferringOp):
    """Load one, two or four matrices; each lane gives the address of a row."""

    name = "nvvm.ldmatrix"
    syntax = "$ptr attr-dict `:` custom<FunctionalType>($ptr, $res)"

    ptr = d.operand(SHARED)
    num = d.attribute(I32_ATTR)
    layout = d.attribute(MMA_LAYOUT)
    shape = d.attribute(MATRIX_SHAPE, default=MatrixShape(8, 8))
    element = d.attribute(MATRIX_ELEMENT, default=MatrixElement.B16, spelling="eltType")
    res = d.result(ANY)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        num = attributes["num"]
        assert isinstance(num, IntegerAttr)
        words = num.value * (2 if attributes.get("shape") is MatrixShape(16, 16) else 1)
        return (I32 if words == 1 else StructType((I32,) * words),)

    def verify(self) -> Iterator[str]:
        allowed = (1, 2) if self.shape is MatrixShape(16, 16) else (1, 2, 4)
        if self.num not in allowed:
            yield f"expected {' or '.join(map(str, allowed))} matrices, got {self.num}"
        elif self.element not in _ELEMENTS_OF.get(self.shape, ()):
            yield f"cannot load matrices {self.shape} of '{self.element.keyword}'"
        elif self.shape is MatrixShape(16, 16) and self.layout is not MMALayout.COL:
            yield "expected the layout 'col' of matrices m16n16"
        else:
            yield from super().verify()


class StMatrixOp(NvvmOp):
    """Store one, two or four matrices; each lane gives the address of a row."""

    name = "nvvm.stmatrix"
    syntax = "$ptr `,` $sources attr-dict `:` type($ptr) `,` type($sources)"

    ptr = d.operand(SHARED)
    sources = d.operands(INT32)
    layout = d.attribute(MMA_LAYOUT)
    shape = d.attribute(MATRIX_SHAPE, default=MatrixShape(8, 8))
    element = d.attribute(MATRIX_ELEMENT, default=MatrixElement.B16, spelling="eltType")

    def verify(self) -> Iterator[str]:
        if len(self.sources) not in (1, 2, 4):
            yield f"expected 1, 2 or 4 matrices, got {len(self.sources)}"
        pair = (self.shape, self.element)
        if pair == (MatrixShape(16, 8), MatrixElement.B8):
            if self.layout is not MMALayout.COL:
                yield "expected the layout 'col' of matrices m16n8"
        elif pair != (MatrixShape(8, 8), MatrixElement.B16):
            yield f"cannot store matrices {self.shape} of '{self.element.keyword}'"


FRAGMENT: Final[Mapping[str, Type]] = {
    "f16": VectorType((2,), F16),
    "f32": F32,
    "f64": F64,
}
"""The type of a fragment register; i32 for other element types."""

_INFERRED: Final[Mapping[Type, MMAType]] = {
    VectorType((2,), F16): MMAType.F16,
    VectorType((2,), BF16): MMAType.BF16,
    F64: MMAType.F64,
}
_ACCUMULATED: Final[Mapping[Type, MMAType]] = {
    VectorType((2,), F16): MMAType.F16,
    F32: MMAType.F32,
    I32: MMAType.S32,
    F64: MMAType.F64,
}
_INTEGERS: Final = (MMAType.S8, MMAType.U8, MMAType.S4, MMAType.U4)


def fragment_type(element: MMAType) -> Type:
    """Return the type of the fragment registers of an element type."""
    return FRAGMENT.get(element.keyword, I32)


class Mma(NvvmOp):
    """Base of the warp-level mma operations `D = A * B + C`, with the registers of a lane."""

    letters: ClassVar[Mapping[str, str]] = {"A": "operand_a", "B": "operand_b", "C": "operand_c"}
    table: ClassVar[tuple[DotAtom, ...]] = MMA
    sparse: ClassVar[bool] = False

    def group(self, letter: str) -> tuple[Value, ...]:
        """Return the registers of one of the matrices."""
        return self.schema.values(self, self.letters[letter])

    def multiplicand(self, letter: str) -> MMAType:
        """Return the element type of A or B, from the attribute or from the registers."""
        explicit = self.attributes.get(f"multiplicand{letter}PtxType")
        if isinstance(explicit, MMAType):
            return explicit
        inferred = _INFERRED.get(self.group(letter)[0].type) if self.group(letter) else None
        if inferred is None:
            raise InternalError(f"the elements of {letter} are not known", self.location)
        return inferred

    @property
    def accumulator(self) -> MMAType:
        """The element type of C and D."""
        result = self.results[0].type
        assert isinstance(result, StructType)
        return _ACCUMULATED.get(result.elements[0], MMAType.F32)

    def mma_problems(self) -> Iterator[str]:
        """Check types, shape and numbers of registers."""
        for letter in "AB":
            group = self.group(letter)
            known = f"multiplicand{letter}PtxType" in self.attributes
            if not group:
                yield f"expected registers of {letter}"
                return
            if not known and group[0].type not in _INFERRED:
                yield f"requires attribute 'multiplicand{letter}PtxType'"
                return
        shape = self.attributes["shape"]
        assert isinstance(shape, MMAShape)
        a, b, c = self.multiplicand("A"), self.multiplicand("B"), self.accumulator
        if find_mma(self.table, a.keyword, b.keyword, c.keyword, shape.extents) is None:
            types = f"{a.keyword} and {b.keyword} to {c.keyword}"
            yield f"there is no mma of {types} with the shape {shape}"
            return
        for letter, element in (("A", a), ("B", b), ("C", c)):
            yield from self._fragment_problems(letter, element, shape.extents)
        if self.attributes.get("layoutA", MMALayout.ROW) is not MMALayout.ROW:
            yield "expected the layout 'row' of A"
        if self.attributes.get("layoutB", MMALayout.COL) is not MMALayout.COL:
            yield "expected the layout 'col' of B"

    def _fragment_problems(
        self, letter: str, element: MMAType, shape: tuple[int, int, int]
    ) -> Iterator[str]:
        sparse = self.sparse and letter == "A"
        count = fragment_registers(shape, letter.lower(), element.keyword, sparse=sparse)
        expected = (fragment_type(element),) * count
        actual = types_of(self.group(letter))
        if actual != expected:
            yield (
                f"expected {count} registers of '{expected[0]}' for {letter}, got {len(actual)}"
                + (f" of '{actual[0]}'" if actual else "")
            )
        if letter == "C" and self.results[0].type is not StructType(expected):
            yield f"expected a result like C, got '{self.results[0].type}'"

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Read `A[%a] B[%b] C[%c] {...} : (type, type, type) -> struct`."""
        groups: dict[str, list[int]] = {}
        for letter in cls.letters:
            parser.expect(letter)
            parser.expect("[")
            groups[letter] = parser.operand_list()
            parser.expect("]")
        attributes = parser.optional_attr_dict()
        for field in cls.schema.attributes:
            if field.default is not None and not field.optional:
                attributes.setdefault(field.spelling, field.kind.wrap(field.default))
        parser.expect(":")
        at = parser.at
        types = parser.listed(parser.type, "(", ")")
        if len(types) != len(groups):
            parser.error(f"expected {len(groups)} types, got {len(types)}", at)
        parser.expect("->")
        result = parser.type()
        operands: list[Value] = []
        for references, type in zip(groups.values(), types, strict=True):
            operands += [parser.resolve(ref, type) for ref in references]
        sizes = tuple([len(references) for references in groups.values()])
        return cls(operands, [result], attributes, (), location, (), sizes)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        groups = {letter: self.group(letter) for letter in self.letters}
        for letter, values in groups.items():
            printer.emit(f" {letter}[{', '.join(map(printer.value, values))}]")
        printer.emit(printer.attr_dict(self))
        types = ", ".join([printer.type(values[0].type) for values in groups.values()])
        printer.emit(f" : ({types}) -> {printer.type(self.results[0].type)}")


class MmaOp(Mma):
    """mma of dense matrices."""

    name = "nvvm.mma.sync"

    operand_a = d.operands(ANY)
    operand_b = d.operands(ANY)
    operand_c = d.operands(ANY)
    shape = d.attribute(MMA_SHAPE)
    b1_op = d.optional_attribute(MMA_B1_OP, spelling="b1Op")
    int_overflow = d.optional_attribute(MMA_INT_OVERFLOW, spelling="intOverflowBehavior")
    layout_a = d.attribute(MMA_LAYOUT, spelling="layoutA")
    layout_b = d.attribute(MMA_LAYOUT, spelling="layoutB")
    type_a = d.optional_attribute(MMA_TYPE, spelling="multiplicandAPtxType")
    type_b = d.optional_attribute(MMA_TYPE, spelling="multiplicandBPtxType")
    res = d.result(STRUCT)

    def verify(self) -> Iterator[str]:
        yield from self.mma_problems()
        if self.b1_op is not None and self.type_a is not MMAType.B1:
            yield "expected 'b1Op' only with one-bit multiplicands"
        if self.int_overflow is not None and self.type_a not in _INTEGERS:
            yield "expected 'intOverflowBehavior' only with integer multiplicands"


class MmaSpOp(Mma):
    """mma of a 2:4 sparse A and a dense B."""

    name = "nvvm.mma.sp.sync"
    letters: ClassVar[Mapping[str, str]] = {
        "A": "operand_a",
        "B": "operand_b",
        "C": "operand_c",
        "sparseMetadata": "metadata",
    }
    table = SPARSE_MMA
    sparse = True

    operand_a = d.operands(ANY)
    operand_b = d.operands(ANY)
    operand_c = d.operands(ANY)
    metadata = d.operand(INT32)
    """The indices of the elements of A, two bits each."""
    shape = d.attribute(MMA_SHAPE)
    selector = d.attribute(I32_ATTR, default=0)
    """The lane of each four that holds the metadata."""
    ordered = d.flag(spelling="orderedMetadata")
    """Whether the indices of every pair are in order, as sm_90 and later require."""
    int_overflow = d.optional_attribute(MMA_INT_OVERFLOW, spelling="intOverflowBehavior")
    layout_a = d.attribute(MMA_LAYOUT, default=MMALayout.ROW, spelling="layoutA")
    layout_b = d.attribute(MMA_LAYOUT, default=MMALayout.COL, spelling="layoutB")
    type_a = d.optional_attribute(MMA_TYPE, spelling="multiplicandAPtxType")
    type_b = d.optional_attribute(MMA_TYPE, spelling="multiplicandBPtxType")
    res = d.result(STRUCT)

    def verify(self) -> Iterator[str]:
        yield from self.mma_problems()
        if not 0 <= self.selector <= 3:
            yield f"expected a selector from 0 to 3, got {self.selector}"
