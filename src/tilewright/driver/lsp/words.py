"""The words of the assembly: operations, types, attributes and keywords, from the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from tilewright.driver.registry import DIALECTS, context
from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.types import (
    FLOATS,
    INDEX,
    ComplexType,
    IntegerType,
    MemRefType,
    NoneType,
    TensorType,
    TupleType,
    VectorType,
)
from tilewright.text.syntax import AnyOrder, Element, Group, Literal, read_syntax

if TYPE_CHECKING:
    from tilewright.ir.attributes import EnumAttr, Type
    from tilewright.ir.dialect import Dialect
    from tilewright.ir.operation import Operation

CUSTOM_WORDS: Final = {
    "builtin.module": ("attributes",),
    "cf.cond_br": ("weights",),
    "cf.switch": ("default",),
    "cuda_tile.entry": ("optimization_hints",),
    "cuda_tile.for": ("in", "to", "step", "iter_values"),
    "cuda_tile.loop": ("iter_values",),
    "cuda_tile.make_tensor_view": ("shape", "strides"),
    "cuda_tile.reduce": ("dim",),
    "cuda_tile.scan": ("dim",),
    "func.func": ("attributes",),
    "gpu.func": ("kernel", "attributes"),
    "gpu.module": ("attributes",),
    "llvm.call": ("vararg",),
    "llvm.func": ("attributes",),
    "llvm.mlir.global": ("constant",),
    "memref.global": ("uninitialized",),
    "scf.for": ("in", "to", "step", "iter_args", "unsigned"),
    "scf.if": ("else",),
    "scf.while": ("do", "attributes"),
}
"""The words that functions parse, not declared formats, by operation."""

OTHER_WORDS: Final = (
    "along", "attributes", "bit", "callsite", "dense", "every", "false", "fused", "in",
    "inbounds", "isolated", "loc", "of", "packed", "padding_value", "parts", "true", "unit",
    "unknown", "unroll",
)  # fmt: skip
"""The words in types, attributes and locations, and those of many operations."""

BUILTIN_TYPES: Final[dict[str, type[Type]]] = {
    **{name: type(kind) for name, kind in FLOATS.items()},
    **{f"i{width}": IntegerType for width in (1, 4, 8, 16, 32, 64)},
    "complex": ComplexType,
    "index": type(INDEX),
    "memref": MemRefType,
    "none": NoneType,
    "tensor": TensorType,
    "tuple": TupleType,
    "vector": VectorType,
}
"""The builtin types by their first word."""


def dialects() -> list[Dialect]:
    """Return all dialects; those that no program has used are loaded."""
    known = [context().dialect(name) for name in DIALECTS]
    return [dialect for dialect in known if dialect is not None]


def keywords(kind: type[Operation]) -> list[str]:
    """Return the words in the text of an operation, other than its name."""
    words = list(CUSTOM_WORDS.get(kind.name, ()))
    if kind.syntax is not None:
        words += [word for word in _literals(read_syntax(kind)) if word.isidentifier()]
    return list(dict.fromkeys(words))


def enums(kind: type[Operation]) -> list[type[EnumAttr]]:
    """Return the enumerations whose words may stand in the text of an operation."""
    fields = kind.schema.attributes
    return [field.kind.enum for field in fields if isinstance(field.kind, EnumKind)]


def _literals(elements: Iterable[Element]) -> Iterator[str]:
    for element in elements:
        match element:
            case Literal(text=text):
                yield text
            case Group(then=then, otherwise=otherwise):
                yield from _literals([*then, *otherwise])
            case AnyOrder(clauses=clauses):
                for clause in clauses:
                    yield from _literals(clause)
            case _:
                pass
