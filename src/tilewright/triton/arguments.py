"""The arguments of a launch as kernel parameters, by the signature that Triton compiled for."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tilewright.support.diagnostics import Unsupported, fail
from tilewright.triton.tensor_maps import expand, is_descriptor

if TYPE_CHECKING:
    from tilewright.triton.device_tensors import DeviceTensors

_CONSTANT: Final = "constexpr"

_INTEGER_BYTES: Final = {
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "address": 8,
    "u1": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
}  # fmt: skip


def _bf16(value: float) -> bytes:
    # As Triton's launcher does: it cuts the low bits off.
    return np.float32(value).tobytes()[2:]


_FLOATS: Final[Mapping[str, Callable[[float], bytes]]] = {
    "fp16": lambda value: np.float16(value).tobytes(),
    "bf16": _bf16,
    "fp32": lambda value: np.float32(value).tobytes(),
    "f32": lambda value: np.float32(value).tobytes(),
    "fp64": lambda value: struct.pack("<d", value),
}


def parameters(
    names: Sequence[str],
    types: Sequence[Any],
    values: Sequence[Any],
    maps: Sequence[Mapping[str, Any]],
    tensors: DeviceTensors,
) -> list[bytes]:
    """The bytes of each parameter of a kernel.

    Arguments that are constants of the kernel are no parameters, tuples have one for each element.
    `maps` describe the tensor descriptors in their order.
    """
    each_map = iter(maps)
    encoded: list[bytes] = []
    for name, type, value in zip(names, types, values, strict=True):
        for part, own_type, own in _flattened(name, type, value):
            if is_descriptor(own_type):
                encoded += _descriptor(part, own_type, own, next(each_map, None), tensors)
            else:
                encoded.append(_encode(part, own_type, own, tensors))
    return encoded


def _flattened(name: str, type: Any, value: Any) -> Iterator[tuple[str, str, Any]]:
    """The elements of an argument that are parameters, with names for people."""
    if isinstance(type, tuple):
        types: Sequence[Any] = type
        for index, inner in enumerate(types):
            yield from _flattened(f"{name}[{index}]", inner, value[index])
    elif type != _CONSTANT:
        yield name, type, value


def _descriptor(
    name: str, type: str, value: Any, map: Mapping[str, Any] | None, tensors: DeviceTensors
) -> list[bytes]:
    address = tensors.address(value.base, name)
    expanded = expand(type, value, map, address)
    return [
        value if isinstance(value, bytes) else _encode(name, own, value, tensors)
        for own, value in zip(expanded.types, expanded.values, strict=True)
    ]


def _encode(name: str, type: str, value: Any, tensors: DeviceTensors) -> bytes:
    if type.startswith("*"):
        return tensors.address(value, name).to_bytes(8, "little")
    if type in _INTEGER_BYTES:
        size = _INTEGER_BYTES[type]
        return (_integer(name, value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    if type in _FLOATS:
        return _FLOATS[type](float(value))
    raise Unsupported(f"argument '{name}' of Triton's type '{type}'")


def _integer(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        fail(f"argument '{name}': expected an integer, got {type(value).__name__}")
