"""Parse kernel arguments: `3`, `zeros:4x4xf32`, `random:128xf16:7`, `input.npy`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tilewright.driver.files import FileError
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, I4, FloatType, IntegerType
from tilewright.reference.numerics.conversion import int_to_float
from tilewright.reference.numerics.rounding import round_to
from tilewright.reference.tile import DTYPES, Array, is_array, wrap
from tilewright.reference.uninitialised import mark_uninitialised

ELEMENTS: Final[dict[str, Type]] = {type.spell(): type for type in DTYPES if type is not I4}
SHAPED: Final = re.compile(r"(?P<shape>(?:\d+x)*)(?P<element>[a-z]\w*)")
LARGEST: Final = 1 << 40
"""The largest element count of an array."""
UNINITIALISED: Final = "uninitialised"
SYNTAX: Final = (
    f"zeros, ones, iota, small, random or {UNINITIALISED}, then :SHAPExTYPE, as in zeros:4x8xf32"
)


class ArgumentError(ValueError):
    """A kernel argument that does not parse."""


def parse_argument(text: str) -> Any:
    """Parse a scalar or an array."""
    if text.endswith(".npy"):
        return load_array(text)
    if ":" in text:
        return make_array(text)
    if text in ("true", "false"):
        return text == "true"
    for read in (lambda: int(text, 0), lambda: float(text)):
        try:
            return read()
        except ValueError:
            continue
    raise ArgumentError(f"expected a number, a file that ends in .npy, or {SYNTAX}, found '{text}'")


def load_array(path: str) -> Array:
    """Load an array from an `.npy` file."""
    try:
        array: Any = np.load(path)
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror or error}") from error
    except (EOFError, ValueError) as error:
        raise FileError(f"cannot read '{path}': {error}") from error
    if not is_array(array):
        raise FileError(f"cannot read '{path}': expected one array, found an archive")
    return array


def _zeros(shape: tuple[int, ...], seed: int, element: Type) -> Array:
    return np.zeros(shape, np.int64)


def _ones(shape: tuple[int, ...], seed: int, element: Type) -> Array:
    return np.ones(shape, np.int64)


def _iota(shape: tuple[int, ...], seed: int, element: Type) -> Array:
    return np.arange(math.prod(shape)).reshape(shape)


def _small(shape: tuple[int, ...], seed: int, element: Type) -> Array:
    """Integers from -4 to 4, whose adds and multiplies are exact in every element type."""
    return np.random.default_rng(seed).integers(-4, 5, shape)


def _random(shape: tuple[int, ...], seed: int, element: Type) -> Array:
    """Standard normal floats, or uniform integers over the whole range."""
    random = np.random.default_rng(seed)
    if isinstance(element, IntegerType):
        return random.integers(-(1 << 63), 1 << 63, shape)
    return random.standard_normal(shape)


CONTENTS: Final[dict[str, Callable[[tuple[int, ...], int, Type], Array]]] = {
    "zeros": _zeros,
    "ones": _ones,
    "iota": _iota,
    "small": _small,
    "random": _random,
    UNINITIALISED: _zeros,
}


def make_array(text: str) -> Array:
    """Build the array of `contents:SHAPExTYPE` or `contents:SHAPExTYPE:seed`."""
    name, shaped, seed = (*text.split(":", 2), "0")[:3]
    if name not in CONTENTS:
        raise ArgumentError(f"expected {SYNTAX}, found '{name}'")
    match = SHAPED.fullmatch(shaped)
    if match is None or match["element"] not in ELEMENTS:
        known = ", ".join(ELEMENTS)
        raise ArgumentError(f"expected a shape and a type ({known}), found '{shaped}'")
    if not seed.isdecimal():
        raise ArgumentError(f"expected a seed that is a number, found '{seed}'")
    shape = tuple(int(extent) for extent in match["shape"].split("x")[:-1])
    element = ELEMENTS[match["element"]]
    if element is F4E2M1FN and not (shape and shape[-1] % 2 == 0):
        raise ArgumentError(f"expected rows of even length, two to a byte, found '{shaped}'")
    if math.prod(shape) > LARGEST:
        raise ArgumentError(f"expected an array that fits into memory, found '{shaped}'")
    array = elements_of(CONTENTS[name](shape, int(seed), element), element)
    return mark_uninitialised(array) if name == UNINITIALISED else array


def elements_of(numbers: Array, element: Type) -> Array:
    """Convert to an element type as kernels expect it in memory: f4E2M1FN packed two per byte."""
    if element is F4E2M1FN:
        nibbles = to_element(numbers, element).view(np.uint8).reshape(-1, 2)
        packed = nibbles[:, 0] | nibbles[:, 1] << np.uint8(4)
        return packed.reshape(*numbers.shape[:-1], numbers.shape[-1] // 2)
    return to_element(numbers, element)


def to_element(numbers: Array, element: Type) -> Array:
    """Convert to an element type, one array element per value."""
    if not isinstance(element, FloatType):
        return np.ascontiguousarray(wrap(numbers, element), DTYPES[element])
    if numbers.dtype.kind == "i":
        return int_to_float(numbers, element, is_signed=True)
    return round_to(numbers, element)
