"""Simpler types: smaller extents, and fewer element types, in the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tilewright.driver.reduction.strategy import Strategy
from tilewright.ir.attributes import (
    Attribute,
    DenseElementsAttr,
    FloatAttr,
    Parametric,
    element_bytes,
)
from tilewright.ir.types import DYNAMIC, F32, FloatType
from tilewright.support.location import Location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tilewright.ir.operation import Operation

SHAPES: Final = ("shape", "tile_shape", "tile", "strides")
"""The parameters of types that are numbers of elements along dimensions."""


class ShrinkExtents(Strategy[tuple[int, int]]):
    """Replace an extent wherever it occurs in the types of the program."""

    name = "shrink extents"

    def targets(self, module: Operation) -> Sequence[tuple[int, int]]:
        """Each extent with the powers of two below it, the least one last."""
        extents = sorted({each for type in _types(module) for each in _extents(type)})
        return [
            (extent, 1 << power)
            for extent in extents
            for power in reversed(range(extent.bit_length()))
            if 1 << power < extent
        ]

    def edit(self, target: tuple[int, int], module: Operation) -> None:
        """Replace the extent."""
        old, new = target
        rewrite_types(module, lambda extent: new if extent == old else extent, lambda type: type)


class UnifyElements(Strategy["FloatType"]):
    """Replace a type of floats by f32 wherever it occurs."""

    name = "unify element types"

    def targets(self, module: Operation) -> Sequence[FloatType]:
        """The types of floats but f32."""
        floats = {each for type in _types(module) for each in _floats(type)}
        return sorted(floats - {F32}, key=str)

    def edit(self, target: FloatType, module: Operation) -> None:
        """Replace the type."""
        rewrite_types(module, lambda extent: extent, lambda type: F32 if type is target else type)


def _types(module: Operation) -> Iterator[object]:
    for op in module.walk():
        for result in op.results:
            yield result.type
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    yield argument.type


def _extents(type: object) -> Iterator[int]:
    """The extents above one in a type and in those it is made of."""
    if not isinstance(type, Parametric):
        return
    for slot, parameter in zip(_slots(type), type.parameters, strict=True):
        if slot in SHAPES and isinstance(parameter, tuple):
            numbers = cast("tuple[object, ...]", parameter)
            yield from (each for each in numbers if isinstance(each, int) and each > 1)
        elif isinstance(parameter, Parametric):
            yield from _extents(parameter)


def _floats(type: object) -> Iterator[FloatType]:
    if isinstance(type, FloatType):
        yield type
    elif isinstance(type, Parametric):
        for parameter in type.parameters:
            yield from _floats(parameter)


def _slots(attribute: Parametric) -> Sequence[str]:
    return type(attribute).__slots__


class _Rewriter:
    """Rebuilds types and attributes with other extents and elements."""

    __slots__ = ("_element", "_extent", "_known")

    def __init__(
        self, extent: Callable[[int], int], element: Callable[[FloatType], FloatType]
    ) -> None:
        self._extent = extent
        self._element = element
        self._known: dict[Attribute, Attribute] = {}

    def attribute(self, old: Any) -> Any:
        """The attribute or type with what it is made of replaced; raises `InvalidValue`."""
        if isinstance(old, tuple):
            parts = cast("tuple[object, ...]", old)
            return tuple([self.attribute(part) for part in parts])
        if not isinstance(old, Parametric) or isinstance(old, Location):
            return old
        new = self._known.get(old)
        if new is None:
            new = self._known[old] = self._rebuilt(old)
        return new

    def _rebuilt(self, old: Parametric) -> Parametric:
        if isinstance(old, FloatType):
            return self._element(old)
        if isinstance(old, DenseElementsAttr):
            return self._elements(old)
        if isinstance(old, FloatAttr):
            new = self.attribute(old.type)
            return old if new is old.type else FloatAttr(0, new)
        parameters = [
            tuple(map(self._extent_of, cast("tuple[object, ...]", parameter)))
            if slot in SHAPES and isinstance(parameter, tuple)
            else self.attribute(parameter)
            for slot, parameter in zip(_slots(old), old.parameters, strict=True)
        ]
        return type(old).unique(*parameters)

    def _extent_of(self, each: object) -> object:
        return self._extent(each) if isinstance(each, int) and each != DYNAMIC else each

    def _elements(self, old: DenseElementsAttr) -> Parametric:
        """A splat of the first element, or of zero if the elements have another type."""
        new: Any = self.attribute(old.type)
        before: Any = old.type
        if new is before:
            return old
        if new.element is not before.element:
            return DenseElementsAttr(bytes(element_bytes(new.element)), new)
        return DenseElementsAttr(old.data[: element_bytes(new.element)], new)


def rewrite_types(
    module: Operation,
    extent: Callable[[int], int],
    element: Callable[[FloatType], FloatType],
) -> None:
    """Replace extents and element types in all types and attributes; raises `InvalidValue`."""
    rewriter = _Rewriter(extent, element)
    for op in module.walk():
        for result in op.results:
            result.type = rewriter.attribute(result.type)
        for name, stored in op.attributes.items():
            op.attributes[name] = rewriter.attribute(stored)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.type = rewriter.attribute(argument.type)
