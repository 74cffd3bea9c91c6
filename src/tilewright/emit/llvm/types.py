"""Translation of types to LLVM IR text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.llvm.types import (
    ArrayType,
    LLVMFunctionType,
    PointerType,
    StructType,
    VoidType,
)
from tilewright.ir.types import FloatType, IntegerType, VectorType
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.ir.attributes import Type

FLOATS: Final[Mapping[str, str]] = {
    "f16": "half",
    "bf16": "bfloat",
    "f32": "float",
    "f64": "double",
    "f80": "x86_fp80",
    "f128": "fp128",
}


SPACES: Final = frozenset((0, 1, 3, 4, 5, 6, 7))
"""NVPTX address spaces: generic, global, shared, const, local, tensor memory, shared::cluster."""

MAX_LITERAL_STRUCT: Final = 16
"""The largest struct that is spelled as a literal type.

Larger ones are named, because every `extractvalue` repeats the type."""


class TypeTexts(dict["Type", str]):
    """A cache of the text of each type, computed on first lookup."""

    __slots__ = ("definitions",)

    def __init__(self) -> None:
        super().__init__()
        self.definitions: list[str] = []
        """Definitions of named struct types, each after those that it uses."""

    def __missing__(self, type: Type) -> str:
        text = self._text(type)
        if isinstance(type, StructType) and len(type.elements) > MAX_LITERAL_STRUCT:
            name = f"%struct.{len(self.definitions)}"
            self.definitions.append(f"{name} = type {text}")
            text = name
        self[type] = text
        return text

    def _text(self, type: Type) -> str:
        match type:
            case IntegerType():
                return f"i{type.width}"
            case FloatType() if type.format in FLOATS:
                return FLOATS[type.format]
            case PointerType() if type.space in SPACES:
                return f"ptr addrspace({type.space})" if type.space else "ptr"
            case PointerType():
                raise Unsupported(f"pointers into the address space {type.space}")
            case VectorType(shape=(extent,)):
                return f"<{extent} x {self[type.element]}>"
            case StructType():
                inside = ", ".join([self[element] for element in type.elements])
                return f"<{{ {inside} }}>" if type.packed else f"{{ {inside} }}"
            case ArrayType():
                return f"[{type.extent} x {self[type.element]}]"
            case VoidType():
                return "void"
            case LLVMFunctionType():
                inputs = [*[self[each] for each in type.inputs], *["..."] * type.variadic]
                return f"{self[type.result]} ({', '.join(inputs)})"
            case _:
                raise Unsupported(f"'{type}' in LLVM IR")


def mangled(type: Type) -> str:
    """Mangle a type for the name of an overloaded intrinsic: `v4f32`, `p3`."""
    match type:
        case VectorType(shape=(extent,)):
            return f"v{extent}{mangled(type.element)}"
        case PointerType():
            return f"p{type.space}"
        case _:
            return str(type)
