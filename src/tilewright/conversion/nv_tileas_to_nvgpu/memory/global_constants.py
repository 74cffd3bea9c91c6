"""What lies in memory before a kernel starts: global arrays, constants of different elements."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import global_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.context import lowering_context
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import apply_linear
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    multiply,
    to_i64,
    xor,
)
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    split_access,
    word_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_basis, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.types import element_type, thread_bits, vector_type
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.llvm.attributes import Linkage
from tilewright.dialects.llvm.constants import AddressOfOp
from tilewright.dialects.llvm.conversion import PtrToIntOp
from tilewright.dialects.llvm.globals import GlobalOp
from tilewright.dialects.llvm.memory import LoadOp
from tilewright.dialects.llvm.types import PTR_GLOBAL, ArrayType
from tilewright.dialects.nv_tileaa import structure as tileaa
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.ir.attributes import DenseElementsAttr, FloatAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F4E2M1FN, I8, I64, IntegerType, VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

GLOBAL_SPACE: Final = 1


_PRIVATE: Final = "private"


def _array(patterns: Sequence[int], element: Type) -> tuple[ArrayType, DenseElementsAttr]:
    """Elements as they lie in memory, as an array of integers: two of f4E2M1FN share a byte."""
    if element is F4E2M1FN:
        pairs = zip(patterns[::2], [*patterns[1::2], 0][: (len(patterns) + 1) // 2], strict=True)
        patterns, element = [low | high << 4 for low, high in pairs], I8
    integer = IntegerType(8 * pointee_bytes(element))
    value = literal(patterns, VectorType((len(patterns),), integer))
    assert isinstance(value, DenseElementsAttr)
    return ArrayType(len(patterns), integer), value


def _patterns(value: DenseElementsAttr, count: int) -> list[int]:
    """All elements, row by row."""
    found = list(value.elements())
    return found * count if len(found) == 1 else found


@converts(tileaa.GlobalOp)
def global_array(op: tileaa.GlobalOp, new: tileaa.GlobalOp, build: ConversionBuilder) -> Result:
    """A variable in global memory; the host knows it by name unless it is private."""
    element, count = element_of(op.value.type), prod(extents(op.value.type))
    found = [thread_bits(pattern, element) for pattern in _patterns(op.value, count)]
    type, contents = _array(found, element)
    return build.create(
        GlobalOp,
        sym_name=op.sym_name,
        type=type,
        value=contents,
        constant=op.constant,
        linkage=Linkage.INTERNAL if op.sym_visibility == _PRIVATE else Linkage.EXTERNAL,
        address_space=GLOBAL_SPACE,
        alignment=max(op.alignment, pointee_bytes(element)),
    )


@converts(tileaa.GetGlobalOp)
def get_global(op: tileaa.GetGlobalOp, new: tileaa.GetGlobalOp, build: ConversionBuilder) -> Result:
    """Its address as a number."""
    return _address(build, op.symbol)


def _address(build: ConversionBuilder, symbol: str) -> Value:
    pointer = build.create(AddressOfOp, symbol=symbol, types=[PTR_GLOBAL]).res
    return build.create(PtrToIntOp, arg=pointer, types=[I64]).res


@converts(ConstantOp)
def constant_tile(op: ConstantOp, new: ConstantOp, build: ConversionBuilder) -> Result:
    """Different elements lie in a table, from which every thread takes its own.

    Scalars of narrow floats are their bits.
    """
    if build.types.is_legal(op):
        return None
    if isinstance(op.value, FloatAttr):
        scalar = element_type(op.result.type)
        value = literal([thread_bits(op.value.bits, op.result.type)], scalar)
        return build.create(ConstantOp, value=value, types=[scalar])
    if not isinstance(op.value, DenseElementsAttr):
        return None
    type, layout = vector_type(build, op.result), layout_of(op.result)
    found = _patterns(op.value, layout.size)
    patterns = [thread_bits(pattern, op.result.type) for pattern in found]
    if not any(thread_basis(layout)):
        order = [layout.packed(register=r) for r in range(layout.extent(REGISTER))]
        value = literal([patterns[place] for place in order], type)
        return build.create(ConstantOp, value=value, types=[type])
    bytes = pointee_bytes(type.element)
    group = min(_contiguous_registers(layout), MAX_ACCESS_BYTES // bytes)
    address = _address(build, _global_constant(op, build, patterns, type.element))
    words: list[Value] = []
    for start in _element_indices(op, layout, group, build):
        words += _load_words(
            build, add(build, address, multiply(build, start, bytes, I64), I64), group * bytes
        )
    return from_words(build, words, type)


def _global_constant(
    op: ConstantOp, build: ConversionBuilder, patterns: Sequence[int], element: Type
) -> str:
    """The name of a table of these elements, one to a byte at least; equal ones are one."""
    wide = I8 if element is F4E2M1FN else element
    type, contents = _array(patterns, wide)
    symbols = Symbols(op, build)
    names = lowering_context(build).global_constants
    name = names.get(contents)
    if name is None or symbols.find(name) is None:
        name = names[contents] = symbols.free_name("constant")
        with build.at(symbols.start):
            build.create(
                GlobalOp, sym_name=name, type=type, value=contents, constant=True,
                linkage=Linkage.INTERNAL, address_space=GLOBAL_SPACE, alignment=MAX_ACCESS_BYTES,
            )  # fmt: skip
    return name


def _contiguous_registers(layout: Layout) -> int:
    """How many of the first registers hold neighbours."""
    count = 1
    for vector in layout.vectors(REGISTER):
        if vector != count:
            break
        count *= 2
    return count


def _element_indices(
    op: ConstantOp, layout: Layout, group: int, build: ConversionBuilder
) -> list[OpFoldResult]:
    """The numbers of the elements at which groups of registers begin, in 64 bits."""
    vectors = thread_basis(layout)
    own = apply_linear(build, thread_id(op, build), vectors)
    reach = gf2.support(vectors)
    found: list[OpFoldResult] = []
    for register in range(0, layout.extent(REGISTER), group):
        fixed = layout.packed(register=register)
        if fixed & reach:
            found.append(to_i64(build, xor(build, own, fixed)))
        else:
            found.append(add(build, to_i64(build, own), fixed, I64))
    return found


def _load_words(build: ConversionBuilder, address: OpFoldResult, bytes: int) -> Sequence[Value]:
    pointer = global_pointer(build, address)
    moved = build.create(LoadOp, addr=pointer, alignment=bytes, types=[word_type(bytes)]).res
    return split_access(build, moved, bytes)


PATTERNS: Final[Patterns] = (
    global_array,
    get_global,
    constant_tile,
)
