"""Cases of reduce and scan, against NumPy and Python's folds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from patterns import sample

from op_cases.core import Shape
from op_cases.kernel import Case, Kernel, tile
from op_cases.numbers import elements, from_integers, integers, worth
from op_cases.values import ALL_FLOATS, FLOATS, INTEGERS, Effort
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, F8E8M0FNU, F32, I1, I4, I8, I32, FloatType, IntegerType
from tilewright.reference.tile import Array, dtype, format_of, from_patterns
from tilewright.testing.bounds import reduction_tolerance, scan_tolerance, small_integers
from tilewright.testing.compare import EXACT, Tolerance

SCALARS = tuple(element for element in ALL_FLOATS if element is not F4E2M1FN)
"""The types that a scalar in a body may have."""
SHAPES: list[tuple[Shape, int]] = [((16,), 0), ((4, 8), 0), ((4, 8), 1), ((2, 4, 8), 1), ((1,), 0)]


class Fold:
    """A body, the text of its identities, and the same function in Python."""

    def __init__(self, body: str, combine: Callable[[Any, Any], Any], identity: str) -> None:
        self.body = body
        self.combine = combine
        self.identity = identity


def _operation(name: str, element: Type, modifiers: str = "") -> str:
    return f"%r = {name} %a, %b {modifiers} : tile<{element}>"


def integer_folds(element: IntegerType) -> list[Fold]:
    """Bodies for integers."""
    if element is I4:
        wide = "\n".join(f"%w{v} = exti %{v} signed : tile<i4> -> tile<i8>" for v in "ab")
        larger = "%m = maxi %wa, %wb signed : tile<i8>\n%r = trunci %m : tile<i8> -> tile<i4>"
        return [Fold(f"{wide}\n{larger}", max, "-8 : i4")]
    least = -(1 << (element.width - 1))
    one = "true" if element is I1 else f"1 : {element}"
    return [
        Fold(_operation("addi", element), operator.add, f"0 : {element}"),
        Fold(_operation("muli", element), operator.mul, one),
        Fold(_operation("maxi", element, "signed"), max, f"{least} : {element}"),
        Fold(_operation("xori", element), operator.xor, f"0 : {element}"),
    ]  # fmt: skip


def float_fold(element: FloatType) -> Fold:
    """Maximum; types without arithmetic are converted to f32."""
    lowest = format_of(element).signed_pattern(format_of(element).max_finite, True)
    identity = f"{hex(lowest if format_of(element).signed else 0)} : {element}"
    if element in FLOATS:
        return Fold(_operation("maxf", element), max, identity)
    wide = "\n".join(f"%w{v} = ftof %{v} : tile<{element}> -> tile<f32>" for v in "ab")
    mode = "rounding<zero> " if element is F8E8M0FNU else ""
    back = f"%r = ftof %m {mode}: tile<f32> -> tile<{element}>"
    return Fold(f"{wide}\n%m = maxf %wa, %wb : tile<f32>\n{back}", max, identity)


def _line(
    name: str, values: Sequence[str], shape: Shape, dim: int, types: Sequence[Type],
    identities: Sequence[str], body: str, results: Sequence[str], *, reverse: bool = False,
    more: str = "",
) -> str:  # fmt: skip
    """A reduce or scan of any number of operands; `results` are what the body yields."""
    short = shape if name == "scan" else shape[:dim] + shape[dim + 1 :]
    direction = f" reverse={str(reverse).lower()}" if name == "scan" else ""
    sources = ", ".join(tile(shape, type) for type in types)
    targets = ", ".join(tile(short, type) for type in types)
    letters = iter("abcdefgh")
    arguments = ", ".join(f"%{next(letters)}: tile<{type}>" for type in types for _ in range(2))
    scalars = ", ".join(f"tile<{type}>" for type in types)
    return (
        f"{name} {', '.join(values)} dim={dim}{direction}{more} "
        f"identities=[{', '.join(identities)}] : {sources} -> {targets} ({arguments}) {{\n{body}\n"
        f"yield {', '.join(results)} : {scalars}\n}}"
    )


def _case(
    name: str, source: Array, element: Type, dim: int, fold: Fold, expected: Array,
    tolerance: Tolerance = EXACT, *, reverse: bool = False, more: str = "",
) -> Case:  # fmt: skip
    kernel = Kernel(name)
    value = kernel.load(source, element)
    line = _line(
        name, [value], source.shape, dim, [element], [fold.identity], fold.body, ["%r"],
        reverse=reverse, more=more,
    )  # fmt: skip
    kernel.store(kernel.emit(line), expected, element, tolerance)
    return kernel.case()


def _runs(name: str) -> Iterator[tuple[Shape, int, bool]]:
    for shape, dim in SHAPES:
        for reverse in (False, True) if name == "scan" else (False,):
            yield shape, dim, reverse


def folded(
    numbers: Any, dim: int, combine: Callable[[Any, Any], Any], *, scan: bool, reverse: bool
) -> Any:
    """Reduce or scan an array of objects along a dimension in Python."""
    rows = np.moveaxis(np.asarray(numbers, dtype=object), dim, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    results = [list(accumulate(row[::-1] if reverse else row, combine)) for row in flat.tolist()]
    if reverse:
        results = [row[::-1] for row in results]
    if not scan:
        return np.array([row[-1] for row in results], dtype=object).reshape(rows.shape[:-1])
    return np.moveaxis(np.array(results, dtype=object).reshape(rows.shape), -1, dim)


def whole_numbers(effort: Effort) -> Iterator[Case]:
    """Integers of every width, with several bodies."""
    for name in ("reduce", "scan"):
        for element in (*INTEGERS, I4):
            for fold in integer_folds(element):
                for shape, dim, reverse in _runs(name):
                    rng = effort.rng(name, element, shape, dim, reverse)
                    patterns = sample(element, int(np.prod(shape)), rng)
                    numbers = np.array(integers(patterns, element, signed=True), dtype=object)
                    exact = folded(
                        numbers.reshape(shape), dim, fold.combine,
                        scan=name == "scan", reverse=reverse,
                    )  # fmt: skip
                    expected = from_integers(exact.reshape(-1).tolist(), element)
                    source = from_patterns(patterns, element).reshape(shape)
                    yield _case(
                        name, source, element, dim, fold, expected.reshape(exact.shape),
                        reverse=reverse,
                    )  # fmt: skip


def largest_numbers(effort: Effort) -> Iterator[Case]:
    """The largest number, of every float type; there are no NaNs among them."""
    for name in ("reduce", "scan"):
        for element in SCALARS:
            for shape, dim, reverse in _runs(name):
                rng = effort.rng(name, element, shape, dim, reverse)
                patterns = _numbers_only(element, int(np.prod(shape)), rng).reshape(shape)
                # Patterns of one sign are in the order of their numbers.
                fold = float_fold(element)
                order = _ranks(patterns, element)
                exact = folded(order, dim, max, scan=name == "scan", reverse=reverse)
                expected = elements([_pattern(r, element) for r in exact.reshape(-1)], element)
                source = from_patterns(patterns.reshape(-1), element).reshape(shape)
                yield _case(
                    name, source, element, dim, fold, expected.reshape(exact.shape),
                    reverse=reverse,
                )  # fmt: skip


def _numbers_only(element: FloatType, count: int, rng: np.random.Generator) -> Array:
    many = sample(element, 64 * count, rng)
    numbers = worth(many, element)
    return many[np.isfinite(numbers)][:count]


def _ranks(patterns: Array, element: FloatType) -> Any:
    sign = format_of(element).sign
    ranks = [p if not p & sign else -(p ^ sign) - 1 for p in patterns.reshape(-1).tolist()]
    return np.array(ranks, dtype=object).reshape(patterns.shape)


def _pattern(rank: int, element: FloatType) -> int:
    return rank if rank >= 0 else (-rank - 1) | format_of(element).sign


def additions(effort: Effort) -> Iterator[Case]:
    """Addition of floats: small integers exactly, others within the error bound."""
    for name in ("reduce", "scan"):
        for element in FLOATS:
            fold = Fold(_operation("addf", element), operator.add, f"0.0 : {element}")
            for shape, dim, reverse in _runs(name):
                rng = effort.rng(name, element, shape, dim, reverse)
                small = small_integers(rng, shape, 8).astype(dtype(element))
                expected = _sum(small.astype(np.float64), dim, name, reverse).astype(dtype(element))
                yield _case(name, small, element, dim, fold, expected, reverse=reverse)
                other = rng.normal(size=shape).astype(dtype(element))
                exact = _sum(other.astype(np.longdouble), dim, name, reverse)
                if name == "reduce":
                    tolerance = reduction_tolerance(other, dim, element)
                else:
                    tolerance = scan_tolerance(other, dim, element, reverse=reverse)
                yield _case(name, other, element, dim, fold, exact, tolerance, reverse=reverse)


def _sum(numbers: Array, dim: int, name: str, reverse: bool) -> Array:
    if name == "reduce":
        return np.asarray(numbers.sum(axis=dim))
    ordered = np.flip(numbers, dim) if reverse else numbers
    prefixes = np.cumsum(ordered, axis=dim)
    return np.flip(prefixes, dim) if reverse else prefixes


def several(effort: Effort) -> Iterator[Case]:
    """Two operands: argmax, the largest number with its index, with a branch in the body."""
    body = """%wins = cmpf greater_than ordered %b, %a : tile<f32> -> tile<i1>
    %v, %w = if %wins -> (tile<f32>, tile<i32>) {
      yield %b, %d : tile<f32>, tile<i32>
    } else {
      yield %a, %c : tile<f32>, tile<i32>
    }"""
    for name in ("reduce", "scan"):
        for shape, dim in SHAPES:
            rng = effort.rng(name, shape, dim)
            numbers = rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32)
            indices = np.indices(shape)[dim].astype(np.int32)
            kernel = Kernel(name)
            values = [kernel.load(numbers, F32), kernel.load(indices, I32)]
            identities = ["0xFF800000 : f32", "0 : i32"]
            line = _line(name, values, shape, dim, [F32, I32], identities, body, ["%v", "%w"])
            kernel.add(f"%best, %index = {line}")
            best = numbers.max(axis=dim)
            index = numbers.argmax(axis=dim)
            if name == "scan":
                best = np.maximum.accumulate(numbers, axis=dim)
                # The index changes with the number: all numbers differ.
                new = np.where(numbers == best, indices, 0)
                index = np.maximum.accumulate(new, axis=dim)
            kernel.store("%best", np.asarray(best), F32)
            kernel.store("%index", np.asarray(index).astype(np.int32), I32)
            yield kernel.case()


def captured(effort: Effort) -> Iterator[Case]:
    """A body that captures a value, which it adds once for each combination."""
    for name in ("reduce", "scan"):
        rng = effort.rng(name, "captured")
        source = rng.integers(-100, 100, (4, 8)).astype(np.int8)
        kernel = Kernel(name)
        value, outside = kernel.load(source, I8), kernel.load(np.array(3, np.int8), I8)
        body = f"%s = addi %a, %b : tile<i8>\n%r = addi %s, {outside} : tile<i8>"
        line = _line(name, [value], (4, 8), 1, [I8], ["0 : i8"], body, ["%r"])
        totals = np.cumsum(source, axis=1, dtype=np.int64) + 3 * np.arange(8)
        expected = totals if name == "scan" else totals[:, -1]
        kernel.store(kernel.emit(line), expected.astype(np.int8), I8)
        yield kernel.case()


def exclusive(effort: Effort) -> Iterator[Case]:
    """Scans that say whether an element takes part in its own result."""
    for shape, dim, reverse in _runs("scan"):
        source = effort.rng("exclusive", shape, dim, reverse).integers(-9, 9, shape, dtype=np.int32)
        ordered = np.flip(source, dim) if reverse else source
        totals = np.cumsum(ordered, axis=dim, dtype=np.int32)
        for inclusive in (False, True):
            # Without itself, an element has the sum of those before it: zero for the first.
            result = totals if inclusive else totals - ordered
            expected = np.flip(result, dim) if reverse else result
            yield _case(
                "scan", source, I32, dim, integer_folds(I32)[0], expected,
                reverse=reverse, more=f" inclusive={str(inclusive).lower()}",
            )  # fmt: skip


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (whole_numbers, largest_numbers, additions, several, captured, exclusive):
        yield from group(effort)
