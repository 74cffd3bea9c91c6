"""Cases of mma, against integers, and against wider accumulators with error bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from op_cases.core import Shape
from op_cases.kernel import Case, Kernel, tile
from op_cases.numbers import elements, from_integers, worth
from op_cases.values import Effort
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    I8,
    I32,
    TF32,
    FloatType,
)
from tilewright.reference.numerics.rounding import round_to
from tilewright.reference.tile import Array, to_patterns
from tilewright.testing.bounds import dot_tolerance, exact_limit, small_integers
from tilewright.testing.compare import EXACT, Tolerance

PAIRS: list[tuple[FloatType, FloatType]] = [
    (F8E4M3FN, F16),
    (F8E4M3FN, F32),
    (F8E5M2, F16),
    (F8E5M2, F32),
    (F16, F16),
    (F16, F32),
    (BF16, F32),
    (TF32, F32),
    (F32, F32),
    (F64, F64),
]
"""Operand and accumulator types."""

EXTENTS: list[tuple[Shape, int, int, int]] = [
    ((), 16, 8, 32),
    ((), 1, 4, 2),
    ((), 2, 2, 128),
    ((2,), 4, 16, 8),
]
"""Batch, and the three extents M, N and K."""


def _shapes(batch: Shape, m: int, n: int, k: int) -> tuple[Shape, Shape, Shape]:
    return (*batch, m, k), (*batch, k, n), (*batch, m, n)


def _numbers(array: Array, element: FloatType) -> Array:
    """The values of elements in double precision."""
    return worth(to_patterns(array, element).reshape(-1), element).reshape(array.shape)


def _case(
    operands: list[Array], acc: Array, operand_type: FloatType, acc_type: FloatType, fast: bool,
    expected: Array, tolerance: Tolerance = EXACT,
) -> Case:  # fmt: skip
    kernel = Kernel("mmaf")
    names = [kernel.load(array, operand_type) for array in operands] + [kernel.load(acc, acc_type)]
    types = ", ".join(tile(array.shape, operand_type) for array in operands)
    end = f"{'fast_acc ' if fast else ''}: {types}, {tile(acc.shape, acc_type)}"
    kernel.store(kernel.emit(f"mmaf {', '.join(names)} {end}"), expected, acc_type, tolerance)
    return kernel.case()


def floats(effort: Effort) -> Iterator[Case]:
    """`mmaf`: small integers exactly, other numbers within the bound, infinities and NaN."""
    for operand_type, acc_type in PAIRS:
        for fast in (False, True):
            for extents in EXTENTS:
                rng = effort.rng("mmaf", operand_type, acc_type, fast, extents)
                shapes, k = _shapes(*extents), extents[-1]
                limit = exact_limit(k + 1, operand_type, acc_type)
                lhs, rhs, acc = (small_integers(rng, shape, limit) for shape in shapes)
                held = [round_to(x, operand_type) for x in (lhs, rhs)]
                exact = round_to(np.matmul(lhs, rhs) + acc, acc_type)
                yield _case(held, round_to(acc, acc_type), operand_type, acc_type, fast, exact)
                yield _random(rng, shapes, operand_type, acc_type, fast)
        yield _special(effort, operand_type, acc_type)


def _random(
    rng: np.random.Generator, shapes: tuple[Shape, Shape, Shape],
    operand_type: FloatType, acc_type: FloatType, fast: bool,
) -> Case:  # fmt: skip
    held = [round_to(rng.normal(size=shape), operand_type) for shape in shapes[:2]]
    acc = round_to(rng.normal(size=shapes[2]), acc_type)
    lhs, rhs = (_numbers(array, operand_type) for array in held)
    start = _numbers(acc, acc_type)
    wide = np.longdouble if acc_type is F64 else np.float64
    exact = np.matmul(lhs.astype(wide), rhs.astype(wide)) + start
    return _case(
        held, acc, operand_type, acc_type, fast, exact, dot_tolerance(lhs, rhs, start, acc_type)
    )


def _special(effort: Effort, operand_type: FloatType, acc_type: FloatType) -> Case:
    """NaN and infinities propagate to the accumulator; opposite infinities give NaN."""
    rng = effort.rng("mmaf special", operand_type, acc_type)
    lhs, rhs = (small_integers(rng, shape, 2) + 3 for shape in ((8, 4), (4, 8)))
    acc = np.zeros((8, 8))
    lhs[1, 2], rhs[0, 5] = np.nan, np.nan
    acc[3, :4], acc[4, :4] = np.inf, -np.inf
    if operand_type is not F8E4M3FN:  # which has no infinity
        lhs[4, 1] = np.inf
    held = [round_to(x, operand_type) for x in (lhs, rhs)]
    with np.errstate(invalid="ignore"):
        expected = round_to((lhs[:, :, np.newaxis] * rhs).sum(axis=1) + acc, acc_type)
    return _case(held, round_to(acc, acc_type), operand_type, acc_type, False, expected)


def integers(effort: Effort) -> Iterator[Case]:
    """`mmai`: all signs, modulo 2^32."""
    for left in Signedness:
        for right in Signedness:
            for extents in EXTENTS:
                rng = effort.rng("mmai", left, right, extents)
                shapes = _shapes(*extents)
                lhs, rhs = (rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes[:2])
                acc = rng.integers(-(2**31), 2**31, shapes[2]).astype(np.int32)
                operands = [
                    array.astype(np.int64) if sign is Signedness.SIGNED
                    else array.view(np.uint8).astype(np.int64)
                    for array, sign in ((lhs, left), (rhs, right))
                ]  # fmt: skip
                expected = (np.matmul(*operands) + acc).reshape(-1).tolist()
                kernel = Kernel("mmai")
                names = [kernel.load(lhs, I8), kernel.load(rhs, I8), kernel.load(acc, I32)]
                types = ", ".join(
                    tile(shape, type) for shape, type in zip(shapes, (I8, I8, I32), strict=True)
                )
                signs = f"{left.keyword} {right.keyword}"
                result = kernel.emit(f"mmai {', '.join(names)} {signs} : {types}")
                kernel.store(result, from_integers(expected, I32).reshape(acc.shape), I32)
                yield kernel.case()


SCALED: list[tuple[FloatType, FloatType, int]] = [
    (F8E4M3FN, F8E8M0FNU, 32),
    (F8E5M2, F8E8M0FNU, 32),
    (F4E2M1FN, F8E4M3FN, 16),
    (F4E2M1FN, F8E8M0FNU, 16),
    (F4E2M1FN, F8E8M0FNU, 32),
    (F4E2M1FN, FNV8E5M3FNU, 16),
    (F4E2M1FN, FNV8E5M3FNU, 32),
]
"""Operand types, scale types, and the number of elements that share a scale."""


def scaled(effort: Effort) -> Iterator[Case]:
    """`mmaf_scaled`: small integers and powers of two exactly, any elements within the bound."""
    for operand_type, scale, block in SCALED:
        for batch in ((), (2,)):
            for random in (False, True):
                rng = effort.rng("mmaf_scaled", operand_type, scale, block, batch, random)
                yield _scaled(rng, batch, operand_type, scale, block, random)


def _scaled(
    rng: np.random.Generator, batch: Shape, operand_type: FloatType, scale: FloatType,
    block: int, random: bool,
) -> Case:  # fmt: skip
    m, n, k = 8, 16, 64
    shapes = (*batch, m, k), (*batch, k, n)
    scale_shapes = (*batch, m, k // block), (*batch, k // block, n)
    if random:
        held = [_any(rng, shape, operand_type) for shape in shapes]
        # Around one, and positive: negative scales have no meaning.
        one = {F8E4M3FN: 0x38, F8E8M0FNU: 127, FNV8E5M3FNU: 0x78}[scale]
        patterns = [rng.integers(one - 6, one + 6, shape) for shape in scale_shapes]
        scales = [elements(p.reshape(-1).tolist(), scale).reshape(p.shape) for p in patterns]
    else:
        held = [round_to(small_integers(rng, shape, 3), operand_type) for shape in shapes]
        scales = [round_to(2.0 ** rng.integers(0, 3, shape), scale) for shape in scale_shapes]
    acc = small_integers(rng, (*batch, m, n), 100).astype(np.float32)
    kernel = Kernel("mmaf_scaled")
    operands = [
        (held[0], operand_type),
        (held[1], operand_type),
        (acc, F32),
        (scales[0], scale),
        (scales[1], scale),
    ]
    names = ", ".join(kernel.load(array, type) for array, type in operands)
    types = ", ".join(tile(array.shape, type) for array, type in operands)
    lhs = _numbers(held[0], operand_type) * np.repeat(_numbers(scales[0], scale), block, axis=-1)
    rhs = _numbers(held[1], operand_type) * np.repeat(_numbers(scales[1], scale), block, axis=-2)
    exact = np.matmul(lhs, rhs) + acc
    tolerance = dot_tolerance(lhs, rhs, acc, F32) if random else EXACT
    expected = exact if random else exact.astype(np.float32)
    kernel.store(kernel.emit(f"mmaf_scaled {names} : {types}"), expected, F32, tolerance)
    return kernel.case()


def _any(rng: np.random.Generator, shape: Shape, operand_type: FloatType) -> Array:
    """Elements of all patterns but those that are no numbers."""
    patterns = np.arange(1 << operand_type.width, dtype=np.uint8)
    numbers = patterns[np.isfinite(worth(patterns, operand_type))]
    chosen = rng.choice(numbers, int(np.prod(shape)))
    return elements(chosen.tolist(), operand_type).reshape(shape)


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (floats, integers, scaled):
        yield from group(effort)
