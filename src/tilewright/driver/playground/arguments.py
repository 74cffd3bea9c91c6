"""Arguments of kernels for the form of the playground, and tables of the arrays afterwards."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tilewright.driver.array_text import ELEMENTS, LARGEST, parse_argument
from tilewright.reference.tile import DTYPES, is_array
from tilewright.support.floats import FORMATS

if TYPE_CHECKING:
    from tilewright.reference.tile import Array
    from tilewright.runtime.signature import Parameter, Signature

EXTENT: Final = 64
"""The default of numbers, which most often are extents; arrays have its square as size."""
SHOWN: Final = 8
"""The rows and columns of an array that are shown."""
LAUNCHED: Final = "launched"
"""The argument that a program of cuTile Python passes itself."""

_RUN: Final = re.compile(
    r"\s*//\s*RUN\b\s*(?:@(?P<kernel>[\w.$-]+))?(?:.*?\bgrid=(?P<grid>[\dx]+))?"
)
_ARG: Final = re.compile(r"\s*//\s*ARG\s+(?P<name>\w+)\s*=\s*(?P<text>\S+)\s*$")


class Directions(NamedTuple):
    """How comments of a program say that a kernel is run, as in test programs."""

    kernel: str
    grid: str
    arguments: list[tuple[str, str]]
    """The name and the text of each argument."""


def directions(source: str) -> list[Directions]:
    """The `RUN` directives of a program, each with the `ARG` directives after it."""
    runs: list[Directions] = []
    for line in source.splitlines():
        if match := _RUN.match(line):
            runs.append(Directions(match["kernel"] or "", match["grid"] or "1", []))
        elif runs and (match := _ARG.match(line)):
            runs[-1].arguments.append((match["name"], match["text"]))
    return runs


def form_of(signature: Signature, source: str) -> dict[str, Any]:
    """The kernel, the grid, and for each argument its label, type and text."""
    parameters = signature.parameters
    for run in directions(source):
        if run.kernel in ("", signature.name) and len(run.arguments) == len(parameters):
            pairs = zip(run.arguments, parameters, strict=True)
            fields = [_field(name, text, parameter) for (name, text), parameter in pairs]
            return {"name": signature.name, "grid": run.grid, "arguments": fields}
    fields = [
        _field(f"argument {index}", default_text(each, index), each)
        for index, each in enumerate(parameters)
    ]
    return {"name": signature.name, "grid": "1", "arguments": fields}


def launched_form(
    name: str, signature: Signature, grid: Sequence[int], names: Sequence[str], values: list[Any]
) -> dict[str, Any]:
    """The form of a kernel that a program of cuTile Python launches."""
    fields = [
        _field(label, _launched_text(value), parameter)
        for label, value, parameter in zip(names, values, signature.parameters, strict=True)
    ]
    return {"name": name, "grid": "x".join(map(str, grid)), "arguments": fields}


def _launched_text(value: Any) -> str:
    """The text of an argument of a launch; empty for what was not recorded."""
    if is_array(value):
        return LAUNCHED
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _field(label: str, text: str, parameter: Parameter) -> dict[str, Any]:
    return {"label": label, "type": parameter.spelling, "text": text}


def default_text(parameter: Parameter, seed: int) -> str:
    """The text of an argument of which only the type and the assumptions are known."""
    if parameter.is_pointer:
        element = parameter.element if parameter.element in ELEMENTS else "i8"
        contents = "zeros" if parameter.is_written else "small"
        rest = "" if parameter.is_written else f":{seed}"
        return f"{contents}:{EXTENT}x{EXTENT}x{element}{rest}"
    if parameter.element in FORMATS:
        return "1.0"
    number = math.ceil(EXTENT / parameter.divisor) * parameter.divisor
    if parameter.upper is not None and number > parameter.upper:
        number = parameter.upper - parameter.upper % parameter.divisor
    if parameter.lower is not None and number < parameter.lower:
        number = math.ceil(parameter.lower / parameter.divisor) * parameter.divisor
    limit = (1 << max(parameter.bits - 1, 1)) - 1
    return str(min(number, limit))


def parse_arguments(texts: Sequence[str], launched: Sequence[Any]) -> list[Any]:
    """The arguments of a form; `launched` are those that the program passes."""
    values: list[Any] = []
    for index, text in enumerate(texts):
        if text.strip() == LAUNCHED and index < len(launched):
            values.append(launched[index])
        else:
            values.append(parse_argument(text.strip()))
    return values


def array_table(label: str, array: Array, element: str | None) -> dict[str, Any]:
    """The first elements of an array, and the least and the largest."""
    typed = _typed(array, element)
    rows = typed.reshape(-1, typed.shape[-1]) if typed.ndim else typed.reshape(1, 1)
    shape = "x".join(map(str, (*typed.shape, element or typed.dtype.name)))
    cells = [[_spell(value) for value in row[:SHOWN]] for row in rows[:SHOWN]]
    table: dict[str, Any] = {"label": label, "shape": shape, "rows": cells}
    table["is_whole"] = rows.shape[0] <= SHOWN and rows.shape[1] <= SHOWN
    if typed.size:
        numbers = typed.astype(np.float64)
        table["range"] = f"{_spell(numbers.min())} to {_spell(numbers.max())}"
    return table


def _typed(array: Array, element: str | None) -> Array:
    """The array with its element type: files of arrays do not know those of ml_dtypes."""
    if element in ELEMENTS and array.dtype.kind == "V":
        return array.view(DTYPES[ELEMENTS[element]])
    return array


def _spell(value: Any) -> str:
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < LARGEST else f"{number:.6g}"
