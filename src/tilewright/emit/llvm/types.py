"""Types as LLVM IR spells them."""

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
"""Generic, global, shared, constant, local, tensor memory, shared memory of the cluster."""

LONG: Final = 16
"""A struct of more members has a name: it is spelled in every line that takes a member out."""


class TypeTexts(dict["Type", str]):
    """The text of each type, made when it is first asked for."""

    __slots__ = ("definitions",)

    def __init__(self) -> None:
        super().__init__()
        self.definitions: list[str] = []
        """What the names of types mean: lines that come before those that use them."""

    def __missing__(self, type: Type) -> str:
        text = self._text(type)
        if isinstance(type, StructType) and len(type.elements) > LONG:
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
    """How a type is spelled in the name of an intrinsic: `v4f32`, `p3`."""
    match type:
        case VectorType(shape=(extent,)):
            return f"v{extent}{mangled(type.element)}"
        case PointerType():
            return f"p{type.space}"
        case _:
            return str(type)
