"""Host tensor descriptors as kernel parameters: a tensor map, or a pointer, sizes and strides."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tilewright.ptxsim.tensor_map import ELEMENT_TYPES, TensorMap
from tilewright.support.diagnostics import Unsupported, fail

_TYPE: Final = re.compile(r"tensordesc(_im2col)?<([^[>]*)\[([^\]]*)\]")
_SWIZZLES: Final = (0, 32, 64, 128)
_TF32: Final = "tf32"


class Expanded(NamedTuple):
    """The types and values of the parameters that a descriptor becomes."""

    types: list[str]
    values: list[Any]


def is_descriptor(type: object) -> bool:
    """Whether a type of a signature is that of a tensor descriptor."""
    return isinstance(type, str) and type.startswith("tensordesc")


def expand(type: str, descriptor: Any, map: Mapping[str, Any] | None, address: int) -> Expanded:
    """The parameters of a descriptor of a tensor at an address.

    `map` describes the box of the copy engine. Without one, on GPUs without the engine, the kernel
    computes addresses itself.
    """
    match = _TYPE.match(type)
    if match is None or match[1]:
        raise Unsupported(f"tensor descriptors of the type '{type}'")
    sizes, strides = list(descriptor.shape), list(descriptor.strides)
    rank = len(sizes)
    # The sizes and strides follow in either case, for code that reads them.
    types, values = ["i32"] * rank + ["i64"] * rank, [*sizes, *strides]
    if map is not None:
        return Expanded(["map", *types], [encode(descriptor, map, address), *values])
    flags = [descriptor.padding == "nan"]
    if hasattr(descriptor, "round_f32_to_tf32"):
        flags.append(descriptor.round_f32_to_tf32)
    own = ["address", *["i64"] * (2 * rank), *["i1"] * len(flags)]
    return Expanded([*own, *types], [address, *sizes, *strides, *flags, *values])


def encode(descriptor: Any, map: Mapping[str, Any], address: int) -> bytes:
    """A tensor map in the layout of the emulator, from what Triton's compiler says of the box."""
    number: int = map["elem_type"]
    if map["fp4_padded"] or number >= len(ELEMENT_TYPES) or map.get("is_im2col"):
        raise Unsupported("tensor descriptors of packed fp4 elements, and those of im2col")
    element = ELEMENT_TYPES[number]
    if getattr(descriptor, "round_f32_to_tf32", False):
        element = _TF32
    width: int = map["elem_size"]
    try:
        return bytes(
            TensorMap(
                address,
                element,
                _innermost_first(descriptor.shape),
                tuple(width * stride for stride in _innermost_first(descriptor.strides)[1:]),
                _innermost_first(map["block_size"]),
                swizzle=_SWIZZLES[map["swizzle"]],
                nan=descriptor.padding == "nan",
            )
        )
    except ValueError as error:
        fail(f"tensor descriptor: {error}")


def _innermost_first(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(size) for size in reversed(sizes))
