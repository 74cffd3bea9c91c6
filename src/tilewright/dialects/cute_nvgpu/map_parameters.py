"""Tensor maps that are parameters of a kernel, and the tensors that its launcher encodes in them.

The last parameters of a function with `cute_nvgpu.map_parameters` are two for each of these
attributes: a tensor map, and an i32 that puts the boxes of a tensor without elements out of bounds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.ir.attributes import ArrayAttr, Parametric
from tilewright.support.tensor_map_parameters import Argument, Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

MAP_PARAMETERS: Final = "cute_nvgpu.map_parameters"
"""On a kernel: the tensor maps that are its last parameters, as an array of attributes."""
_ARGUMENT: Final = re.compile(r"arg([0-9]+)")


class MapParameterAttr(Parametric):
    """`#cute_nvgpu.map_parameter<!map, address = arg0, sizes = [arg3, 64], strides = [arg4]>`.

    The tensor of a map: the argument that is its address, its sizes and its strides, each an
    argument or a constant, in elements. Dimensions are outermost first, as in the type of the map;
    the contiguous one, which is last, has no stride.
    """

    __slots__ = ("address", "map", "sizes", "strides")
    mnemonic = "cute_nvgpu.map_parameter"

    address: Argument
    map: TensorMapDescriptorType
    sizes: tuple[Scalar, ...]
    strides: tuple[Scalar, ...]

    def __new__(
        cls,
        map: TensorMapDescriptorType,
        address: Argument,
        sizes: Sequence[Scalar],
        strides: Sequence[Scalar],
    ) -> Self:
        return cls.unique(address, map, tuple(sizes), tuple(strides))

    def __reduce__(self) -> tuple[object, ...]:
        return MapParameterAttr, (self.map, self.address, self.sizes, self.strides)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        _, map, sizes, strides = cast(
            "tuple[Argument, TensorMapDescriptorType, tuple[Scalar, ...], tuple[Scalar, ...]]",
            parameters,
        )
        rank = len(map.tensor.shape or ())
        if (len(sizes), len(strides)) != (rank, rank - 1):
            wanted = f"expected {rank} sizes and {rank - 1} strides"
            return f"{wanted}, got {len(sizes)} and {len(strides)}"
        if any(isinstance(each, int) and each < 0 for each in (*sizes, *strides)):
            return "expected sizes and strides that are not negative"
        return None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        sizes, strides = (", ".join(map(_text, each)) for each in (self.sizes, self.strides))
        tensor = f"address = {_text(self.address)}, sizes = [{sizes}], strides = [{strides}]"
        return f"<{printer.type(self.map)}, {tensor}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        at = parser.at
        map = parser.type()
        if not isinstance(map, TensorMapDescriptorType):
            parser.error(f"expected the type of a tensor map, got '{map}'", at)
        _name(parser, "address")
        address = _argument(parser)
        lists: list[list[Scalar]] = []
        for name in ("sizes", "strides"):
            _name(parser, name)
            lists.append(parser.listed(lambda: _scalar(parser), "[", "]"))
        parser.expect(">")
        return parser.invalid(cls, map, address, *lists, at=at)


def _name(parser: Parser, name: str) -> None:
    for token in (",", name, "="):
        parser.expect(token)


def _argument(parser: Parser) -> Argument:
    at, word = parser.at, parser.keyword()
    match = _ARGUMENT.fullmatch(word)
    if match is None:
        parser.error(f"expected an argument, such as 'arg0', got '{word}'", at)
    return Argument(int(match[1]))


def _scalar(parser: Parser) -> Scalar:
    return parser.integer() if parser.is_integer() else _argument(parser)


def _text(scalar: Scalar) -> str:
    return str(scalar) if isinstance(scalar, int) else f"arg{scalar.number}"


def map_parameters(function: Operation) -> tuple[MapParameterAttr, ...]:
    """The tensor maps that are the last parameters of a function."""
    given = function.attributes.get(MAP_PARAMETERS)
    elements = given.elements if isinstance(given, ArrayAttr) else ()
    return tuple([each for each in elements if isinstance(each, MapParameterAttr)])
