"""Print constants in LLVM IR."""

from __future__ import annotations

import re
from struct import pack, unpack
from typing import TYPE_CHECKING, Final

from tilewright.dialects.llvm.types import ArrayType, StructType
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from tilewright.ir.types import FloatType, IntegerType, VectorType
from tilewright.support.bits import to_signed
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from tilewright.emit.llvm.types import TypeTexts
    from tilewright.ir.attributes import Type

_PLAIN: Final = re.compile(r"[A-Za-z$._][\w$.]*", re.ASCII)


def escaped(text: str) -> str:
    """Escape a string, including bytes that are not UTF-8."""
    data = text.encode("utf-8", "surrogateescape")
    return "".join([chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data])


def symbol(name: str) -> str:
    """Print `@name`, quoted if necessary."""
    if _PLAIN.fullmatch(name):
        return f"@{name}"
    return f'@"{escaped(name)}"'


def float_text(bits: int, type: FloatType) -> str:
    """Print a float in hexadecimal, which is exact."""
    match type.format:
        case "f64":
            return f"0x{bits:016X}"
        case "f32":
            return f"0x{_widened(bits):016X}"
        case "f16":
            return f"0xH{bits:04X}"
        case "bf16":
            return f"0xR{bits:04X}"
        case _:
            raise InternalError(f"'{type}' has no constants in LLVM IR")


def _widened(bits: int) -> int:
    """Widen f32 bits to f64, as LLVM spells them; NaN payloads are kept."""
    if bits & 0x7F800000 == 0x7F800000:
        return (bits & 0x80000000) << 32 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
    (number,) = unpack("<f", pack("<I", bits))
    return unpack("<Q", pack("<d", number))[0]


def _scalar(bits: int, type: Type) -> str:
    if isinstance(type, FloatType):
        return float_text(bits, type)
    assert isinstance(type, IntegerType)
    if type.width == 1:
        return "true" if bits else "false"
    return str(to_signed(bits, type.width))


def constant_text(value: Attribute, type: Type, types: TypeTexts) -> str:
    """Print a constant without its type."""
    match value:
        case IntegerAttr():
            assert isinstance(type, IntegerType)
            return _scalar(value.value % (1 << type.width), type)
        case FloatAttr():
            return _scalar(value.bits, type)
        case DenseElementsAttr():
            return _dense(value, type, types)
        case StringAttr():
            return f'c"{escaped(value.value)}"'
        case ArrayAttr():
            return _members(value, type, types)
        case _:
            raise InternalError(f"no constant of type '{type}' in LLVM IR")


def _dense(value: DenseElementsAttr, type: Type, types: TypeTexts) -> str:
    assert isinstance(type, VectorType | ArrayType)
    if not any(value.data):
        return "zeroinitializer"
    elements = value.elements()
    if isinstance(type, VectorType) and value.is_splat:
        return f"splat ({types[type.element]} {_scalar(elements[0], type.element)})"
    if value.is_splat:
        elements *= _count(type)
    return _nested(elements, type, types)


def _count(type: Type) -> int:
    if isinstance(type, ArrayType):
        return type.extent * _count(type.element)
    return type.shape[0] if isinstance(type, VectorType) else 1


def _nested(elements: list[int], type: Type, types: TypeTexts) -> str:
    if not isinstance(type, ArrayType | VectorType):
        return _scalar(elements[0], type)
    inner = type.element
    step = _count(inner)
    parts = [
        f"{types[inner]} {_nested(elements[start : start + step], inner, types)}"
        for start in range(0, len(elements), step)
    ]
    inside = ", ".join(parts)
    return f"[{inside}]" if isinstance(type, ArrayType) else f"<{inside}>"


def _members(value: ArrayAttr, type: Type, types: TypeTexts) -> str:
    if isinstance(type, ArrayType):
        kinds: tuple[Type, ...] = (type.element,) * type.extent
    else:
        assert isinstance(type, StructType)
        kinds = type.elements
    parts = [
        f"{types[kind]} {constant_text(member, kind, types)}"
        for member, kind in zip(value.elements, kinds, strict=True)
    ]
    inside = ", ".join(parts)
    if isinstance(type, ArrayType):
        return f"[{inside}]"
    return f"<{{ {inside} }}>" if type.packed else f"{{ {inside} }}"
