"""Coverage of programs of many seeds: operations, element types, attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.cuda_tile.types import PtrType, TileType
from tilewright.ir.attributes import EnumAttr
from tilewright.ir.operation import Operation

NEVER: Final = frozenset(
    {
        "cuda_tile.multimem_load_reduce_view_tko",
        "cuda_tile.multimem_reduce_view_tko",
        "cuda_tile.multimem_store_view_tko",
    }
)
"""The operations that no program has: multimem addresses are those of objects that a GPU's driver
makes, and not every GPU has them."""


class Coverage:
    """Counts operations, types and attributes of programs."""

    def __init__(self) -> None:
        self.programs = 0
        self.operations: Counter[str] = Counter()
        self.elements: dict[str, set[str]] = {}
        """The element types with which each operation has been seen."""
        self.attributes: dict[str, set[str]] = {}
        """The values of each enum attribute or flag."""

    def add(self, module: ModuleOp) -> None:
        """Count one program."""
        self.programs += 1
        for op in module.walk():
            self.operations[op.name] += 1
            self.elements.setdefault(op.name, set()).update(_elements(op))
            for name, value in _keywords(op):
                self.attributes.setdefault(f"{op.name}.{name}", set()).add(value)

    def missing(self) -> list[str]:
        """The operations of the dialect that have not been seen."""
        return sorted(set(OPCODES) - set(self.operations) - NEVER)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        seen = len(set(OPCODES) & set(self.operations))
        yield f"{self.programs} programs, {seen} of {len(OPCODES)} operations"
        if self.missing():
            yield f"never: {', '.join(self.missing())}"
        for name, count in sorted(self.operations.items()):
            yield f"{name} {count}: {' '.join(sorted(self.elements[name]))}"
            for key in sorted(key for key in self.attributes if key.startswith(f"{name}.")):
                values = " ".join(sorted(self.attributes[key]))
                yield f"  {key.removeprefix(f'{name}.')}: {values}"


def _elements(op: Operation) -> Iterable[str]:
    for value in (*op.operands, *op.results):
        if isinstance(value.type, TileType):
            element = value.type.element
            yield f"ptr<{element.pointee}>" if isinstance(element, PtrType) else str(element)


def _keywords(op: Operation) -> Iterator[tuple[str, str]]:
    for field in op.schema.attributes:
        value = op.attributes.get(field.spelling)
        if isinstance(value, EnumAttr):
            yield field.name, value.keyword
        elif field.optional:
            yield field.name, "no" if value is None else "yes"
