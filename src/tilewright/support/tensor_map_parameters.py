"""Tensor maps that a launcher encodes and passes to a kernel: what it has to know of each.

After a kernel's own arguments, two parameters follow for each map: the map, 128 bytes that are a
grid constant, and an i32 that is added to the outermost coordinate of every box. It is 0, or
`OUT_OF_BOUNDS` for a tensor without elements: the hardware takes no extent of 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KERNEL: Final = "kernel"
PARAMETERS: Final = "parameters"
ENCODERS: Final = (KERNEL, PARAMETERS)
"""What encodes tensor maps: the kernel, or its launcher, which passes them as parameters."""
MAP_BYTES: Final = 128
PARAMETERS_PER_MAP: Final = 2
OUT_OF_BOUNDS: Final = 1 << 30
"""Added to a coordinate of a tensor with one element, it is out of bounds."""
COORDINATES: Final = 1 << 31
"""Coordinates from here on are too large for an i32."""
LARGEST_EXTENT: Final = (1 << 32) - 1
"""Larger extents saturate: no coordinate is beyond this one."""
STRIDE_LIMIT: Final = 1 << 40
"""Bytes, below which all strides are."""
ALIGNMENT: Final = 16
"""Bytes: of the address of a tensor, and of all strides but that of the contiguous dimension."""
ELEMENTS: Final = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "tf32",
)  # fmt: skip
"""The element types of tensor maps, in the order of their numbers in PTX."""
ELEMENT_BYTES: Final[Mapping[str, int]] = dict(
    zip(ELEMENTS, (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4), strict=True)
)


class Argument(NamedTuple):
    """An argument of the kernel, by its number; as a size or stride it is unsigned."""

    number: int


Scalar = int | Argument
"""A constant, or an argument."""
_SCALARS: Final = ("sizes", "strides")
_PREFIX: Final = "arg"
"""Of the number of an argument, in text."""


class TensorMapParameter(NamedTuple):
    """A tensor map, and the tensor that it describes; dimensions are innermost first."""

    element: str
    """One of `ELEMENTS`."""
    box: tuple[int, ...]
    """The extents of a box."""
    address: Argument
    sizes: tuple[Scalar, ...]
    """Elements."""
    strides: tuple[Scalar, ...]
    """Elements, for all dimensions but the first."""
    swizzle: int = 0
    """Bytes of a row within which chunks are swizzled: 0, 32, 64 or 128."""
    interleave: int = 0
    """0, 16 or 32 bytes."""
    nan: bool = False
    """Whether elements out of bounds are NaN instead of zero."""
    l2_promotion: int = 0
    """0, 64, 128 or 256 bytes."""

    def bind(self, arguments: Sequence[bytes]) -> BoundTensor:
        """The tensor of a launch with these arguments, as they are passed."""

        def value(scalar: Scalar) -> int:
            if isinstance(scalar, int):
                return scalar
            return int.from_bytes(arguments[scalar.number], "little")

        # As in the kernel.
        sizes = [min(value(size), LARGEST_EXTENT) for size in self.sizes]
        width = ELEMENT_BYTES[self.element]
        return BoundTensor(
            value(self.address),
            tuple([max(size, 1) for size in sizes]),
            tuple([value(stride) * width for stride in self.strides]),
            0 if all(sizes) else OUT_OF_BOUNDS,
        )


class BoundTensor(NamedTuple):
    """The tensor of a map in one launch; dimensions are innermost first."""

    address: int
    sizes: tuple[int, ...]
    """Elements, at least one."""
    strides: tuple[int, ...]
    """Bytes, for all dimensions but the first."""
    offset: int
    """What is added to the outermost coordinate."""


def to_json(maps: Mapping[str, Sequence[TensorMapParameter]]) -> str:
    """The maps of each kernel as text."""
    import json  # noqa: PLC0415

    described = {name: [_described(each) for each in listed] for name, listed in maps.items()}
    return json.dumps(described)


def _described(map: TensorMapParameter) -> dict[str, object]:
    fields = map._asdict()
    fields["address"] = map.address.number
    for name in _SCALARS:
        fields[name] = [_text(scalar) for scalar in fields[name]]
    return fields


def _text(scalar: Scalar) -> int | str:
    return scalar if isinstance(scalar, int) else f"{_PREFIX}{scalar.number}"


def from_json(text: str) -> dict[str, tuple[TensorMapParameter, ...]]:
    """The maps of each kernel, from the text of `to_json`.

    Raises `ValueError`, `TypeError`, `KeyError` or `AttributeError` for other text.
    """
    import json  # noqa: PLC0415

    read: dict[str, list[dict[str, Any]]] = json.loads(text)
    return {name: tuple([_parameter(each) for each in listed]) for name, listed in read.items()}


def _parameter(fields: dict[str, Any]) -> TensorMapParameter:
    fields["box"] = tuple(fields["box"])
    fields["address"] = Argument(fields["address"])
    for name in _SCALARS:
        fields[name] = tuple([_scalar(each) for each in fields[name]])
    map = TensorMapParameter(**fields)
    if not _is_valid(map):
        raise ValueError(f"expected a tensor map, found {fields}")
    return map


def _is_valid(map: TensorMapParameter) -> bool:
    """Whether the fields are of their types: text may have anything there."""
    scalars = [each.number if isinstance(each, Argument) else each
               for each in (map.address, *map.sizes, *map.strides)]  # fmt: skip
    numbers: list[object] = [*scalars, *map.box, map.swizzle, map.interleave, map.l2_promotion]
    flags: list[object] = [map.nan]
    return (
        map.element in ELEMENT_BYTES
        and all(isinstance(each, int) and each >= 0 for each in numbers)
        and all(isinstance(each, bool) for each in flags)
        and len(map.box) == len(map.sizes) == len(map.strides) + 1
    )


def _scalar(text: int | str) -> Scalar:
    return text if isinstance(text, int) else Argument(int(text.removeprefix(_PREFIX)))
