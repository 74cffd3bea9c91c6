"""The element types that reductions through multimem addresses work on: those of PTX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.ir.types import BF16, F16, F32, F64, I32, I64

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

_INTEGERS: Final = (I32, I64)
_ADDED: Final = (*_INTEGERS, F16, BF16, F32, F64)
_COMPARED: Final = (*_INTEGERS, F16, BF16)

LOADED: Final[dict[str, tuple[Type, ...]]] = {"add": _ADDED, "min": _COMPARED, "max": _COMPARED}
"""The element types of a reduction of loaded values, if not integers only."""
UPDATED: Final[dict[str, tuple[Type, ...]]] = {"add": _ADDED}
"""The element types of an atomic reduction, if not integers only."""


def reduction_problems(
    reduction: str, element: Type, elements: dict[str, tuple[Type, ...]]
) -> Iterator[str]:
    """Check the element type of a reduction."""
    allowed = elements.get(reduction, _INTEGERS)
    if element not in allowed:
        expected = ", ".join(type.spell() for type in allowed)
        yield f"'{reduction}' works on {expected}, got '{element}'"
