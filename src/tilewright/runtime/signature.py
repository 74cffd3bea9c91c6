"""Kernel signatures, and encoding of arguments."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import numpy as np

from tilewright.runtime.arrays import DeviceArray
from tilewright.support.diagnostics import Diagnostic, UserError
from tilewright.support.floats import F64, FORMATS, decode, encode, nearest_float
from tilewright.support.location import UNKNOWN

if TYPE_CHECKING:
    from tilewright.support.location import Location

POINTER_SIZE: Final = 8

_ELEMENTS: Final = {
    "i1": ("bool",), "i4": (), "i8": (), "i16": (), "i32": (), "i64": (),
    "f16": ("float16",), "bf16": ("bfloat16",), "f32": ("float32",), "tf32": ("float32",),
    "f64": ("float64",), "f8E4M3FN": ("float8_e4m3fn",), "f8E5M2": ("float8_e5m2",),
    "f8E8M0FNU": ("float8_e8m0fnu",), "f4E2M1FN": ("float4_e2m1fn_x2",),
    "fnv8E5M3FNU": (),
}  # fmt: skip
"""The dtype names of array libraries for element types.

Integers of the same size, signed or not, are accepted for any.
"""


class Parameter:
    """One parameter of a kernel: a number, or the address of an array."""

    __slots__ = (
        "bits", "divisor", "element", "is_pointer", "is_written", "location", "lower", "spelling",
        "subject", "upper",
    )  # fmt: skip

    def __init__(
        self,
        subject: str,
        spelling: str,
        element: str | None,
        bits: int,
        *,
        is_pointer: bool,
        location: Location = UNKNOWN,
    ) -> None:
        self.subject = subject
        """Its name in messages: `argument 0 of '@add'`."""
        self.spelling = spelling
        """Its type as text."""
        self.element = element
        """The type of the number, or of the array's elements; None for any."""
        self.bits = bits
        """The size of the number, or of the array's elements."""
        self.is_pointer = is_pointer
        self.is_written = False
        """Whether the kernel may write to the array."""
        self.divisor = 1
        """A divisor of the number or address that the code relies on."""
        self.lower: int | None = None
        self.upper: int | None = None
        """The bounds of the number that the code relies on."""
        self.location = location

    def fail(self, message: str) -> NoReturn:
        """Raise an error for the argument."""
        raise UserError([Diagnostic(f"{self.subject}: {message}", self.location)])

    def encode(self, argument: Any) -> bytes:
        """Encode an argument; arrays are `DeviceArray`s."""
        if self.is_pointer:
            return self._address(argument).to_bytes(POINTER_SIZE, "little")
        number = argument
        if isinstance(number, np.generic):
            number = cast("Any", number).item()
        if not isinstance(number, int | float):
            self.fail(f"expected a number for '{self.spelling}', got {_kind(argument)}")
        if self.element in FORMATS:
            return self._float(nearest_float(number))
        return self._integer(number)

    def _address(self, argument: Any) -> int:
        if argument is None or (isinstance(argument, int) and argument == 0):
            return 0
        if not isinstance(argument, DeviceArray):
            self.fail(f"expected an array for '{self.spelling}', got {_kind(argument)}")
        if not self._takes(argument):
            # NumPy stores one f4 per byte.
            packed = " two to a byte, as uint8" if self.element == "f4E2M1FN" else ""
            actual = f"got an array of {argument.dtype}"
            self.fail(f"expected elements of '{self.element}'{packed}, {actual}")
        if argument.readonly and self.is_written:
            self.fail("expected an array that may change, got one that is read-only")
        if argument.address % self.divisor:
            self.fail(
                f"expected an address divisible by {self.divisor}, which the kernel relies on, "
                f"got {argument.address:#x}"
            )
        return argument.address

    def _takes(self, array: DeviceArray) -> bool:
        if self.element is None or not array.itemsize:
            return True
        if array.dtype in _ELEMENTS[self.element]:
            return True
        plain = array.dtype == "" or array.dtype.lstrip("u").startswith(("int", "bool", "void"))
        return plain and array.itemsize * 8 == max(self.bits, 8)

    def _integer(self, number: float) -> bytes:
        if not isinstance(number, int):
            self.fail(f"expected an integer for '{self.spelling}', got {number!r}")
        bits = self.bits
        if not -(1 << bits - 1) <= number < 1 << bits:
            self.fail(f"expected a number of {bits} bits, got {number}")
        if number % self.divisor:
            self.fail(
                f"expected a number divisible by {self.divisor}, which the kernel relies on, "
                f"got {number}"
            )
        # Assumptions of the program are about signed numbers.
        signed = number - (1 << bits) if number >> bits - 1 == 1 and bits > 1 else number
        low, high = self.lower, self.upper
        if (low is not None and signed < low) or (high is not None and signed > high):
            bounds = f"from {'?' if low is None else low} to {'?' if high is None else high}"
            self.fail(f"expected a number {bounds}, which the kernel relies on, got {number}")
        if bits > 1:
            bits = max(bits, 8)  # i4 is passed sign-extended in a byte
        return (number & (1 << bits) - 1).to_bytes(max(bits // 8, 1), "little")

    def _float(self, number: float) -> bytes:
        assert self.element is not None
        if self.element == "f64":
            return struct.pack("<d", number)
        pattern = decode(int.from_bytes(struct.pack("<d", number), "little"), F64)
        format = FORMATS[self.element]
        encoded = encode(pattern, format)
        return self._widened(encoded).to_bytes(max(self.bits // 8, 1), "little")

    def _widened(self, pattern: int) -> int:
        """The pattern in memory: tf32 is f32 with zeros in the low bits."""
        return pattern << 13 if self.element == "tf32" else pattern


class Signature:
    """The parameters of a kernel, in order."""

    __slots__ = ("location", "name", "parameters")

    def __init__(
        self, name: str, parameters: Sequence[Parameter], location: Location = UNKNOWN
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.location = location

    def encode(self, arguments: Sequence[Any]) -> list[bytes]:
        """Encode all arguments."""
        self.check_count(arguments)
        pairs = zip(self.parameters, arguments, strict=True)
        return [parameter.encode(argument) for parameter, argument in pairs]

    def check_count(self, arguments: Sequence[Any]) -> None:
        """Reject a wrong number of arguments."""
        expected, actual = len(self.parameters), len(arguments)
        if expected != actual:
            message = f"'@{self.name}': expected {expected} arguments, got {actual}"
            raise UserError([Diagnostic(message, self.location)])


def _kind(argument: Any) -> str:
    if isinstance(argument, DeviceArray):
        return f"an array of {argument.dtype or 'bytes'}"
    return f"{type(argument).__name__} {argument!r:.60}"
