"""Convert launch arguments to a cuTile signature and to flat kernel parameters.

cuTile's launcher does the same, but queries the CUDA driver, so it needs a GPU. It specializes
kernels on divisibility, unit strides and unit extents of arguments: we make exactly the same
assumptions, and the executor checks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np

from tilewright.cutile.host_arrays import HostArray, host_array
from tilewright.cutile.versions import cutile
from tilewright.reference.arguments import Table
from tilewright.support.diagnostics import fail

_SPECIALIZED_RANK: Final = 5
"""Arrays of higher rank are not specialized: TMA does not support them."""
_ALIGNMENT: Final = 16
_OF_KERNEL: Final = " of kernel"


class Arguments:
    """Launch arguments: their cuTile signature, and the flat kernel parameters."""

    def __init__(self, kernel: Any, arguments: Sequence[Any]) -> None:
        self._ct = cutile()
        self._forms = cutile("compilation")
        self.parameters: list[Any] = []
        self.names: list[str] = []
        """The name of each parameter in diagnostics."""
        function = kernel._annotated_function
        self.signature = self._sign(function, arguments)

    def _sign(self, function: Any, arguments: Sequence[Any]) -> Any:
        """Build the signature and its mangled symbol."""
        nodes = function.parameter_annotations
        name = function.pyfunc.__name__
        if len(nodes) != len(arguments):
            fail(f"kernel '{name}': expected {len(nodes)} arguments, got {len(arguments)}")
        constraints = [
            self._constrain(argument, node, f"argument '{parameter}'{_OF_KERNEL} '{name}'")
            for argument, node, parameter in zip(
                arguments, nodes, function.pysig.parameters, strict=True
            )
        ]
        convention = self._forms.CallingConvention.cutile_python_v2()
        return self._forms.KernelSignature(constraints, convention).with_mangled_symbol(name)

    def _constrain(self, argument: Any, node: Any, what: str) -> Any:
        argument = _python_number(argument)
        if isinstance(argument, tuple):
            return self._constrain_tuple(argument, node, what)
        if node.KIND != "leaf":
            fail(f"{what}: expected a tuple, got {_kind(argument)}")
        if node.constant:
            return self._constrain_constant(argument, what)
        if isinstance(argument, bool | int | float):
            return self._constrain_scalar(argument, node, what)
        if isinstance(argument, list):
            return self._constrain_list(argument, node, what)
        array = host_array(argument, what)
        if array is None:
            fail(f"{what}: expected an array, a number, a tuple or a list, got {_kind(argument)}")
        annotation = node.array or self._ct.ArrayAnnotation()
        constraint = self._array_constraint([array], annotation, what)
        self._pass(_array_parameters(array, constraint), _array_names(array, what))
        return constraint

    def _pass(self, parameters: Sequence[Any], names: Sequence[str]) -> None:
        """Append flat parameters with their names."""
        self.parameters += parameters
        self.names += names

    def _constrain_tuple(self, items: tuple[Any, ...], node: Any, what: str) -> Any:
        if node.KIND == "leaf":
            nodes = [node] * len(items)
        elif node.KIND == "homogeneous_tuple":
            nodes = [node.each] * len(items)
        else:
            nodes = node.items
        if len(nodes) != len(items):
            fail(f"{what}: expected a tuple of {len(nodes)}, got one of {len(items)}")
        parts = [
            self._constrain(item, part, f"item {index} of {what}")
            for index, (item, part) in enumerate(zip(items, nodes, strict=True))
        ]
        return self._forms.TupleConstraint(parts)

    def _constrain_constant(self, argument: Any, what: str) -> Any:
        if cutile("_cext").classify_constant(argument, True) is None:
            fail(f"{what}: expected a constant number, got {_kind(argument)}")
        return self._forms.ConstantConstraint(argument)

    def _constrain_scalar(self, argument: float, node: Any, what: str) -> Any:
        self._pass([argument], [_short(what)])
        if isinstance(argument, bool):
            return self._forms.ScalarConstraint(self._ct.bool_)
        if isinstance(argument, float):
            return self._forms.ScalarConstraint(self._ct.float32)
        dtype = self._ct.int32 if node.scalar is None else node.scalar.dtype
        _check_fits(argument, dtype.bitwidth, what)
        return self._forms.ScalarConstraint(dtype)

    def _constrain_list(self, items: list[Any], node: Any, what: str) -> Any:
        """Build the constraint of a list of arrays: a table of addresses, shapes and strides."""
        if not items:
            fail(f"{what}: expected arrays in the list, got an empty one")
        arrays: list[HostArray] = []
        for index, item in enumerate(items):
            array = host_array(item, f"item {index} of {what}")
            if array is None:
                fail(f"item {index} of {what}: expected an array, got {_kind(item)}")
            arrays.append(array)
        if len({(array.element, len(array.shape)) for array in arrays}) > 1:
            fail(f"{what}: expected arrays of one element type and rank in the list")
        annotation = self._ct.ArrayAnnotation() if node.list is None else node.list.element
        element = self._array_constraint(arrays, annotation, what)
        table = Table([_array_parameters(array, element) for array in arrays])
        self._pass([table, len(arrays)], [_short(what), f"length of {_short(what)}"])
        return self._forms.ListConstraint(element, alias_groups=(), elements_may_alias=True)

    def _array_constraint(self, arrays: list[HostArray], annotation: Any, what: str) -> Any:
        """Build the constraint that holds for all of the arrays."""
        first = arrays[0]
        rank = len(first.shape)
        for array in arrays:
            _check_strides(array, what)
            for number in (*array.shape, *array.strides):
                _check_fits(number, annotation.index_dtype.bitwidth, what)
        shapes = _static(arrays, annotation.static_shape_dims, "shape", what)
        strides = _static(arrays, annotation.static_stride_dims, "strides", what)
        return self._forms.ArrayConstraint(
            getattr(self._ct, "bool_" if first.element == "bool" else first.element),
            rank,
            index_dtype=annotation.index_dtype,
            stride_lower_bound_incl=0,
            alias_groups=(),
            may_alias_internally=not all(map(_has_disjoint_elements, arrays)),
            stride_constant=strides or _ones([array.strides for array in arrays]),
            shape_constant=shapes or _ones([array.shape for array in arrays]),
            stride_divisible_by=_divisors(
                [array.strides for array in arrays], _ALIGNMENT * 8 // first.bits
            ),
            shape_divisible_by=_divisors([array.shape for array in arrays], _ALIGNMENT),
            base_addr_divisible_by=_ALIGNMENT if all(a.is_aligned for a in arrays) else 1,
        )


def _array_parameters(array: HostArray, constraint: Any) -> list[Any]:
    """The flat parameters of an array: its memory, its shape, its strides.

    cuTile assumes that the stride of a unit axis is a multiple of 16 bytes and not negative,
    whatever it is: no address depends on it. So the next smaller multiple is passed.
    """
    divisor = max(1, _ALIGNMENT * 8 // array.bits)
    strides = [
        stride if static is not None or extent > 1 else max(0, stride - stride % divisor)
        for stride, extent, static in zip(
            array.strides, array.shape, constraint.stride_constant, strict=True
        )
    ]
    return [array.memory, *array.shape, *strides]


def _short(what: str) -> str:
    """The description of an argument without its kernel, for errors at a line of the kernel."""
    return what.partition(_OF_KERNEL)[0]


def _array_names(array: HostArray, what: str) -> list[str]:
    """The names of the flat parameters of an array."""
    name, axes = _short(what), range(len(array.shape))
    extents = [f"extent {axis} of {name}" for axis in axes]
    return [name, *extents, *(f"stride {axis} of {name}" for axis in axes)]


def _python_number(argument: Any) -> Any:
    """Convert a NumPy scalar to the Python number of the same value; return others as they are."""
    return cast("Any", argument).item() if isinstance(argument, np.generic) else argument


def _kind(argument: Any) -> str:
    return f"{type(argument).__name__} {argument!r}"


def _check_fits(number: int, bits: int, what: str) -> None:
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        fail(f"{what}: {number} does not fit into {bits} bits")


def _check_strides(array: HostArray, what: str) -> None:
    """Reject negative strides, which cuTile assumes that no array has."""
    for axis, (stride, extent) in enumerate(zip(array.strides, array.shape, strict=True)):
        if stride < 0 and extent > 1:
            fail(
                f"{what}: expected strides of at least 0, which cuTile assumes, got {stride} in "
                f"axis {axis}; pass a copy, such as numpy.ascontiguousarray makes"
            )


def _static(
    arrays: list[HostArray], axes: Sequence[int], which: str, what: str
) -> list[int | None] | None:
    """Return the values that an annotation makes static, and None elsewhere."""
    if not axes:
        return None
    rows: list[tuple[int, ...]] = [getattr(array, which) for array in arrays]
    values: list[int | None] = [None] * len(rows[0])
    for axis in axes:
        if not -len(values) <= axis < len(values):
            fail(f"{what}: expected an axis of {len(values)} for its static {which}, got {axis}")
        if len({row[axis] for row in rows}) > 1:
            fail(f"{what}: expected the same static {which} of axis {axis} in the whole list")
        values[axis] = rows[0][axis]
    return values


def _ones(rows: Sequence[Sequence[int]]) -> list[int | None]:
    """Return 1 in columns where all rows have 1, None elsewhere."""
    is_specialized = len(rows[0]) <= _SPECIALIZED_RANK
    return [
        1 if is_specialized and all(number == 1 for number in column) else None
        for column in zip(*rows, strict=True)
    ]


def _divisors(rows: Sequence[Sequence[int]], divisor: int) -> list[int]:
    """Return the divisor in columns whose values it divides, 1 elsewhere."""
    is_specialized = len(rows[0]) <= _SPECIALIZED_RANK
    return [
        divisor if is_specialized and all(number % divisor == 0 for number in column) else 1
        for column in zip(*rows, strict=True)
    ]


def _has_disjoint_elements(array: HostArray) -> bool:
    """Whether the strides guarantee that no two indices alias."""
    axes = sorted(zip(array.strides, array.shape, strict=True))
    if axes and axes[0][0] <= 0:
        return False
    return all(outer[0] >= inner[0] * inner[1] for inner, outer in pairwise(axes))
