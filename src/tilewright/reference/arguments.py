"""Binding of launch arguments to kernel parameters: scalars, and arrays in memory."""

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
    """Rows of integers in memory, in which arrays are replaced by their addresses."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[Sequence[Array | int]]) -> None:
        self.rows = rows

    def arrays(self) -> list[Array]:
        """The arrays whose addresses the table contains."""
        return [entry for row in self.rows for entry in row if is_array(entry)]


def argument_names(arguments: Sequence[Any]) -> list[str]:
    """The names of arguments in diagnostics, if the caller has no better ones."""
    return [f"argument {index}" for index in range(len(arguments))]


def bind_arguments(
    entry: Kernel, arguments: Sequence[Any], space: AddressSpace, names: Sequence[str] | None = None
) -> list[Array]:
    """The values of a kernel's parameters. Arrays are aliased and updated in place."""
    parameters = entry.body.block.args
    if len(arguments) != len(parameters):
        _fail(entry, f"expected {len(parameters)} arguments, got {len(arguments)}")
    names = names or argument_names(arguments)
    addresses = map_arrays(arguments, space, names)
    bound: list[Array] = []
    for name, parameter, argument in zip(names, parameters, arguments, strict=True):
        if isinstance(argument, Table):
            argument = filled(argument, addresses)
            allocation = space.allocate(name, argument.view(np.uint8))
            addresses[id(argument)] = allocation.base
        bound.append(_bind(entry, name, parameter, argument, addresses))
    return bound


def filled(table: Table, addresses: dict[int, int]) -> Array:
    """A table with addresses instead of arrays, row-major."""
    rows = [[addresses.get(id(entry), entry) for entry in row] for row in table.rows]
    return np.array(rows, np.int64).reshape(-1)


def _fail(entry: Kernel, message: str) -> Any:
    raise ExecutionError(Fault.ARGUMENT, [Diagnostic(message, entry.location)])


def _bind(
    entry: Kernel, name: str, parameter: Value, argument: Any, addresses: dict[int, int]
) -> Array:
    type = parameter.type
    subject = f"{name} of '@{entry.sym_name}'"
    kind = element(parameter)
    if shape(parameter) or not (kind in DTYPES or isinstance(kind, Pointer)):
        _fail(entry, f"{subject}: cannot pass a value of type '{type}'")
    if not isinstance(kind, Pointer):
        _check_number(entry, subject, argument, type, kind)
        return scalar(argument, kind)
    address = addresses.get(id(argument))
    if address is not None:
        _check_elements(entry, subject, argument, kind.pointee)
        return np.array([address << (kind.pointee is F4E2M1FN)], ADDRESS)
    if argument is None or (isinstance(argument, int | np.integer) and argument == 0):
        return np.zeros(1, ADDRESS)
    return _fail(entry, f"{subject}: expected an array for '{type}', got {_kind(argument)}")


def _kind(argument: Any) -> str:
    if is_array(argument):
        return f"an array of {argument.dtype}"
    return f"{type(argument).__name__} {argument!r:.60}"


def _check_number(entry: Kernel, subject: str, argument: Any, type: Type, kind: Type) -> None:
    """Reject non-numbers, and integers out of range; floats are rounded to the type."""
    number = cast("Any", argument).item() if isinstance(argument, np.generic) else argument
    if not isinstance(number, int | float):
        _fail(entry, f"{subject}: expected a number for '{type}', got {_kind(argument)}")
    if not isinstance(kind, IntegerType):
        return
    if not isinstance(number, int):
        _fail(entry, f"{subject}: expected an integer for '{type}', got {number!r}")
    if not -(1 << kind.width - 1) <= number < 1 << kind.width:
        _fail(entry, f"{subject}: expected a number of {kind.width} bits, got {number}")


def _check_elements(entry: Kernel, subject: str, array: Array, pointee: Type) -> None:
    """Reject arrays whose elements are neither of the expected type nor integers of its size."""
    is_packed = pointee is F4E2M1FN  # NumPy stores one per byte
    expected, actual = DTYPES[pointee], array.dtype
    # NumPy's files store elements of unknown types as bytes.
    plain = actual.kind in "iub" or actual.type is np.void
    alike = plain and actual.itemsize == expected.itemsize and actual.isnative
    if alike or (actual == expected and not is_packed):
        return
    packed = " two to a byte, as uint8" if is_packed else ""
    _fail(entry, f"{subject}: expected elements of '{pointee}'{packed}, got an array of {actual}")


def scalar(number: Any, element: Type) -> Array:
    """Convert a number to a scalar tile."""
    if not isinstance(element, FloatType):
        if element is I1:
            return np.array([bool(number)])
        return wrap(np.array([int(number) & 0xFFFF_FFFF_FFFF_FFFF], np.uint64), element)
    if np.asarray(number).dtype.kind in "iub" and number < 1 << 63:
        return int_to_float(np.array([int(number)], np.int64), element, is_signed=True)
    return round_to(np.array([nearest_float(number)]), element)


def map_arrays(
    arguments: Sequence[Any], space: AddressSpace, own_names: Sequence[str]
) -> dict[int, int]:
    """Map arrays to addresses; return them by the identity of the array.

    Arrays that share host memory share an allocation, which spans all of their bytes.
    """
    arrays, names = _named_arrays(arguments, own_names)
    spans = {key: _span(array) for key, array in arrays.items()}
    addresses: dict[int, int] = {}
    for group in _overlapping(spans):
        low, high = min(spans[key][0] for key in group), max(spans[key][1] for key in group)
        data = _bytes(low, high, [arrays[key] for key in group])
        allocation = space.allocate(" and ".join(names[key] for key in group), data)
        for key in group:
            addresses[key] = allocation.base + arrays[key].ctypes.data - low
    return addresses


def _named_arrays(
    arguments: Sequence[Any], own_names: Sequence[str]
) -> tuple[dict[int, Array], dict[int, str]]:
    """All arrays among the arguments and in tables, and their names in diagnostics."""
    arrays: dict[int, Array] = {}
    names: dict[int, str] = {}
    for argument, name in zip(arguments, own_names, strict=True):
        if is_array(argument):
            arrays[id(argument)] = argument
            names.setdefault(id(argument), name)
        elif isinstance(argument, Table):
            for index, array in enumerate(argument.arrays()):
                arrays[id(array)] = array
                names.setdefault(id(array), f"item {index} of {name}")
    return arrays, names


def _span(array: Array) -> tuple[int, int]:
    """The host address range of the buffer that an array is a view of."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return np.lib.array_utils.byte_bounds(owner)


def _overlapping(spans: dict[int, tuple[int, int]]) -> list[list[int]]:
    """Group the arrays that share memory."""
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
    """Bytes at a host address through NumPy's array interface; keeps their owners alive."""

    def __init__(self, low: int, high: int, owners: Sequence[Array]) -> None:
        self.owners = owners
        # Shared memory is writable if any of its views is.
        writable = any(owner.flags.writeable for owner in owners)
        self.__array_interface__ = {
            "version": 3,
            "shape": (high - low,),
            "typestr": "|u1",
            "data": (low, not writable),
        }


def _bytes(low: int, high: int, owners: Sequence[Array]) -> Array:
    return np.asarray(_Memory(low, high, owners))
