"""Global variables, and constant tiles in global memory."""

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
from tilewright.layout.vector_access import contiguous_registers
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

GLOBAL_SPACE: Final = 1
_PRIVATE: Final = "private"


def _array(patterns: Sequence[int], element: Type) -> tuple[ArrayType, DenseElementsAttr]:
    """The memory image of elements, as an array of integers: two of f4E2M1FN share a byte."""
    if element is F4E2M1FN:
        pairs = zip(patterns[::2], [*patterns[1::2], 0][: (len(patterns) + 1) // 2], strict=True)
        patterns, element = [low | high << 4 for low, high in pairs], I8
    integer = IntegerType(8 * pointee_bytes(element))
    value = literal(patterns, VectorType((len(patterns),), integer))
    assert isinstance(value, DenseElementsAttr)
    return ArrayType(len(patterns), integer), value


def _patterns(value: DenseElementsAttr, count: int) -> list[int]:
    """The bits of all elements, in row-major order."""
    patterns = list(value.elements())
    return patterns * count if len(patterns) == 1 else patterns


@converts(tileaa.GlobalOp)
def global_array(op: tileaa.GlobalOp, new: tileaa.GlobalOp, build: ConversionBuilder) -> Result:
    """A variable in global memory; the host knows it by name unless it is private."""
    element, count = element_of(op.value.type), prod(extents(op.value.type))
    patterns = [thread_bits(pattern, element) for pattern in _patterns(op.value, count)]
    type, contents = _array(patterns, element)
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
    """The address as an i64."""
    return _address(build, op.symbol)


def _address(build: ConversionBuilder, symbol: str) -> Value:
    pointer = build.create(AddressOfOp, symbol=symbol, types=[PTR_GLOBAL]).res
    return build.create(PtrToIntOp, arg=pointer, types=[I64]).res


@converts(ConstantOp)
def constant_tile(op: ConstantOp, new: ConstantOp, build: ConversionBuilder) -> Result:
    """A constant that is no splat: a global constant from which every thread loads its elements.

    If every thread has all elements, it is a constant vector. Scalars of narrow floats are their
    bits.
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
    elements = _patterns(op.value, layout.size)
    patterns = [thread_bits(pattern, op.result.type) for pattern in elements]
    if not any(thread_basis(layout)):
        order = [layout.packed(register=r) for r in range(layout.extent(REGISTER))]
        value = literal([patterns[index] for index in order], type)
        return build.create(ConstantOp, value=value, types=[type])
    bytes = pointee_bytes(type.element)
    vector = contiguous_registers(layout, MAX_ACCESS_BYTES // bytes)
    address = _address(build, _global_constant(op, build, patterns, type.element))
    words: list[Value] = []
    for index in _element_indices(op, layout, vector, build):
        start = add(build, address, multiply(build, index, bytes, I64), I64)
        words += _load_words(build, start, vector * bytes)
    return from_words(build, words, type)


def _global_constant(
    op: ConstantOp, build: ConversionBuilder, patterns: Sequence[int], element: Type
) -> str:
    """The symbol of a global constant with these elements, each at least a byte."""
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


def _element_indices(
    op: ConstantOp, layout: Layout, vector: int, build: ConversionBuilder
) -> list[OpFoldResult]:
    """The index of the first element of each vector access, as an i64."""
    vectors = thread_basis(layout)
    thread_part = apply_linear(build, thread_id(op, build), vectors)
    thread_bits = gf2.support(vectors)
    indices: list[OpFoldResult] = []
    for register in range(0, layout.extent(REGISTER), vector):
        register_part = layout.packed(register=register)
        if register_part & thread_bits:
            indices.append(to_i64(build, xor(build, thread_part, register_part)))
        else:
            indices.append(add(build, to_i64(build, thread_part), register_part, I64))
    return indices


def _load_words(build: ConversionBuilder, address: OpFoldResult, bytes: int) -> Sequence[Value]:
    pointer = global_pointer(build, address)
    loaded = build.create(LoadOp, addr=pointer, alignment=bytes, types=[word_type(bytes)]).res
    return split_access(build, loaded, bytes)


PATTERNS: Final[Patterns] = (
    global_array,
    get_global,
    constant_tile,
)
