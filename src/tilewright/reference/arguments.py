"""From the arguments of a launch to the parameters of a kernel: scalars, and arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, I1, FloatType, IntegerType
from tilewright.ir.values import Value
from tilewright.reference.address_space import AddressSpace
from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.numerics.conversion import int_to_float
from tilewright.reference.numerics.rounding import round_to
from tilewright.reference.programs import Kernel
from tilewright.reference.tile import (
    ADDRESS,
    DTYPES,
    Array,
    Pointer,
    element,
    is_array,
    shape,
    wrap,
)
from tilewright.support.diagnostics import Diagnostic
from tilewright.support.floats import nearest_float


class Table:
    """Rows of integers in memory, in which arrays stand for their addresses."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[Sequence[Array | int]]) -> None:
        self.rows = rows

    def arrays(self) -> list[Array]:
        """The arrays whose addresses the table holds."""
        return [entry for row in self.rows for entry in row if is_array(entry)]


def bind_arguments(entry: Kernel, arguments: Sequence[Any], space: AddressSpace) -> list[Array]:
    """The values of a kernel's parameters. Arrays stay where they are and change in place."""
    parameters = entry.body.block.args
    if len(arguments) != len(parameters):
        _fail(entry, f"expected {len(parameters)} arguments, got {len(arguments)}")
    homes = place_arrays(arguments, space)
    bound: list[Array] = []
    for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        if isinstance(argument, Table):
            argument = filled(argument, homes)
            homes[id(argument)] = space.allocate(f"argument {index}", argument.view(np.uint8)).base
        bound.append(_bind(entry, index, parameter, argument, homes))
    return bound


def filled(table: Table, homes: dict[int, int]) -> Array:
    """A table with addresses instead of arrays, in one row after the other."""
    rows = [[homes.get(id(entry), entry) for entry in row] for row in table.rows]
    return np.array(rows, np.int64).reshape(-1)


def _fail(entry: Kernel, message: str) -> Any:
    raise ExecutionError(Fault.ARGUMENT, [Diagnostic(message, entry.location)])


def _bind(
    entry: Kernel, index: int, parameter: Value, argument: Any, homes: dict[int, int]
) -> Array:
    type = parameter.type
    what = f"argument {index} of '@{entry.sym_name}'"
    held = element(parameter)
    if shape(parameter) or not (held in DTYPES or isinstance(held, Pointer)):
        _fail(entry, f"{what}: cannot pass a value of type '{type}'")
    if not isinstance(held, Pointer):
        _check_number(entry, what, argument, type, held)
        return scalar(argument, held)
    home = homes.get(id(argument))
    if home is not None:
        _check_elements(entry, what, argument, held.pointee)
        return np.array([home << (held.pointee is F4E2M1FN)], ADDRESS)
    if argument is None or (isinstance(argument, int | np.integer) and argument == 0):
        return np.zeros(1, ADDRESS)
    return _fail(entry, f"{what}: expected an array for '{type}', got {_kind(argument)}")


def _kind(argument: Any) -> str:
    if is_array(argument):
        return f"an array of {argument.dtype}"
    return f"{type(argument).__name__} {argument!r:.60}"


def _check_number(entry: Kernel, what: str, argument: Any, type: Type, held: Type) -> None:
    """Floats are rounded to any type of floats; integers must fit."""
    number = cast("Any", argument).item() if isinstance(argument, np.generic) else argument
    if not isinstance(number, int | float):
        _fail(entry, f"{what}: expected a number for '{type}', got {_kind(argument)}")
    if not isinstance(held, IntegerType):
        return
    if not isinstance(number, int):
        _fail(entry, f"{what}: expected an integer for '{type}', got {number!r}")
    if not -(1 << held.width - 1) <= number < 1 << held.width:
        _fail(entry, f"{what}: expected a number of {held.width} bits, got {number}")


def _check_elements(entry: Kernel, what: str, array: Array, pointee: Type) -> None:
    """Arrays must have the elements that the kernel expects, or integers of the same size."""
    is_packed = pointee is F4E2M1FN  # and NumPy has one in each byte
    expected, found = DTYPES[pointee], array.dtype
    # Files of NumPy's keep elements that it does not know as bytes.
    plain = found.kind in "iub" or found.type is np.void
    alike = plain and found.itemsize == expected.itemsize and found.isnative
    if alike or (found == expected and not is_packed):
        return
    packed = " two to a byte, as uint8" if is_packed else ""
    _fail(entry, f"{what}: expected elements of '{pointee}'{packed}, got an array of {found}")


def scalar(number: Any, element: Type) -> Array:
    """A number as a scalar tile."""
    if not isinstance(element, FloatType):
        if element is I1:
            return np.array([bool(number)])
        return wrap(np.array([int(number) & 0xFFFF_FFFF_FFFF_FFFF], np.uint64), element)
    if np.asarray(number).dtype.kind in "iub" and number < 1 << 63:
        return int_to_float(np.array([int(number)], np.int64), element, is_signed=True)
    return round_to(np.array([nearest_float(number)]), element)


def place_arrays(arguments: Sequence[Any], space: AddressSpace) -> dict[int, int]:
    """The addresses of arrays, by their identity.

    Arrays that share memory share an allocation: it spans all the bytes that any of them has.
    """
    arrays, names = _named_arrays(arguments)
    spans = {key: _span(array) for key, array in arrays.items()}
    homes: dict[int, int] = {}
    for group in _overlapping(spans):
        low, high = min(spans[key][0] for key in group), max(spans[key][1] for key in group)
        data = _bytes(low, high, [arrays[key] for key in group])
        allocation = space.allocate(" and ".join(names[key] for key in group), data)
        for key in group:
            homes[key] = allocation.base + arrays[key].ctypes.data - low
    return homes


def _named_arrays(arguments: Sequence[Any]) -> tuple[dict[int, Array], dict[int, str]]:
    """All arrays among the arguments, also those in tables, and what messages call them."""
    arrays: dict[int, Array] = {}
    names: dict[int, str] = {}
    for index, argument in enumerate(arguments):
        found = argument.arrays() if isinstance(argument, Table) else [argument]
        for array in found:
            if is_array(array):
                arrays[id(array)] = array
                names.setdefault(id(array), f"argument {index}")
    return arrays, names


def _span(array: Array) -> tuple[int, int]:
    """Where on the host the whole of what an array is a view of lies."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return np.lib.array_utils.byte_bounds(owner)


def _overlapping(spans: dict[int, tuple[int, int]]) -> list[list[int]]:
    """The arrays in groups that share memory."""
    groups: list[list[int]] = []
    end = -1
    for key in sorted(spans, key=lambda key: spans[key]):
        low, high = spans[key]
        if groups and low < end:
            groups[-1].append(key)
        else:
            groups.append([key])
        end = max(end, high)
    return groups


class _Memory:
    """Bytes at an address of the host, as NumPy takes them; keeps those alive who own them."""

    def __init__(self, low: int, high: int, owners: Sequence[Array]) -> None:
        self.owners = owners
        # Whoever may write to any of them may write to what they share.
        writable = any(owner.flags.writeable for owner in owners)
        self.__array_interface__ = {
            "version": 3,
            "shape": (high - low,),
            "typestr": "|u1",
            "data": (low, not writable),
        }


def _bytes(low: int, high: int, owners: Sequence[Array]) -> Array:
    return np.asarray(_Memory(low, high, owners))
