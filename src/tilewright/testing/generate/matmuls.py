"""Statements of matmuls on integers so small that every order of accumulation is exact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.driver.array_text import ELEMENTS as TYPES
from tilewright.testing.bounds import exact_limit
from tilewright.testing.generate.arithmetic import SIGNS
from tilewright.testing.generate.inputs import POWERS, Contents
from tilewright.testing.generate.kernel import Kernel
from tilewright.testing.generate.values import Facts, Tile, Value

ACCUMULATORS: Final = {
    "f16": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f32": ("f32",),
    "f64": ("f64",),
    "f8E4M3FN": ("f16", "f32"),
    "f8E5M2": ("f16", "f32"),
}
"""The accumulator types of each operand type."""


def _extents(k: Kernel, most: int) -> tuple[tuple[int, ...], int, int, int]:
    """The batch shape, and M, N and K."""
    m, n, k_extent = (1 << k.random.randint(0, most) for _ in range(3))
    return ((1 << k.random.randint(0, 2),) if k.chance(0.2) else ()), m, n, k_extent


def _operands(k: Kernel, element: str, most: int) -> tuple[Value, Value, Tile, int]:
    batch, m, n, k_extent = _extents(k, most)
    contents = "small" if k_extent <= 64 else "signs"
    if element == "i8":
        contents = k.random.choice(("small", "random"))
    lhs = k.load_input(Tile(element, (*batch, m, k_extent)), contents)
    rhs = k.load_input(Tile(element, (*batch, k_extent, n)), contents)
    return lhs, rhs, Tile("f32", (*batch, m, n)), k_extent


def float_dot(k: Kernel) -> None:
    """`mmaf` of every operand and accumulator type."""
    element = k.element(*ACCUMULATORS)
    lhs, rhs, shape, k_extent = _operands(k, element, 7 if k.chance(0.1) else 5)
    tile = shape.of(k.random.choice(ACCUMULATORS[element]))
    assert exact_limit(k_extent + 1, TYPES[element], TYPES[tile.element])
    acc = _accumulator(k, tile)
    most = lhs.facts.magnitude * rhs.facts.magnitude * k_extent + acc.facts.magnitude
    assert most <= 2.0**tile.kind.precision
    fast = " fast_acc" if element.startswith("f8") and k.chance(0.5) else ""
    text = f"mmaf {lhs.name}, {rhs.name}, {acc.name}{fast} : {lhs.tile}, {rhs.tile}, {tile}"
    k.define(text, tile, Facts(-most, most, True))


def _accumulator(k: Kernel, tile: Tile) -> Value:
    value = k.find(lambda v: v.tile == tile and v.facts.is_whole and v.facts.magnitude <= 64)
    if value is not None:
        return value
    return k.load_input(tile, "small") if k.chance(0.6) else k.constant(tile, (0.0,))


def integer_dot(k: Kernel) -> None:
    """`mmai` of signed and unsigned int8."""
    lhs, rhs, shape, k_extent = _operands(k, "i8", 5)
    tile = shape.of("i32")
    acc = k.load_input(tile, "small")
    signs = k.random.choice(SIGNS), k.random.choice(SIGNS)
    most = 255 * 255 * k_extent + 4
    text = f"mmai {lhs.name}, {rhs.name}, {acc.name} {signs[0]} {signs[1]}"
    k.define(f"{text} : {lhs.tile}, {rhs.tile}, {tile}", tile, Facts(-most, most, True))


def scaled_dot(k: Kernel) -> None:
    """`mmaf_scaled`, with scales that are powers of two, extreme ones among them."""
    if "f8E8M0FNU" not in k.elements:
        float_dot(k)
        return
    element = k.element("f8E4M3FN", "f8E5M2", "f4E2M1FN")
    block = k.random.choice((16, 32)) if element == "f4E2M1FN" else 32
    k_extent = block * k.random.choice((1, 2))
    m, n = (1 << k.random.randint(1, 4) for _ in range(2))
    if element == "f4E2M1FN":
        lhs = k.constant(Tile(element, (m, k_extent)), (k.random.choice((-2.0, 1.0, 2.0)),))
        rhs = k.constant(Tile(element, (k_extent, n)), (k.random.choice((-1.0, 1.0, 2.0)),))
    else:
        lhs = k.load_input(Tile(element, (m, k_extent)), "small")
        rhs = k.load_input(Tile(element, (k_extent, n)), "small")
    scales = ["f8E8M0FNU"]
    if element == "f4E2M1FN":
        scales += ["fnv8E5M3FNU", *(["f8E4M3FN"] if block == 16 else [])]
    scale = k.random.choice(scales)
    groups = k_extent // block
    lhs_scales, rhs_scales = _scales(k, scale, m, n, groups)
    left = k.load_input(Tile(scale, (m, groups)), lhs_scales)
    right = k.load_input(Tile(scale, (groups, n)), rhs_scales)
    acc = k.load_input(Tile("f32", (m, n)), "small")
    most = lhs.facts.magnitude * rhs.facts.magnitude * max(POWERS) ** 2 * k_extent + 4
    text = f"mmaf_scaled {lhs.name}, {rhs.name}, {acc.name}, {left.name}, {right.name}"
    types = ", ".join(str(v.tile) for v in (lhs, rhs, acc, left, right))
    k.define(f"{text} : {types}", acc.tile, Facts(-most, most, True))


MOST_EXPONENT: Final = 125
"""Of the scale of an operand, without the small power that it is multiplied by."""


def _scales(k: Kernel, scale: str, m: int, n: int, groups: int) -> Iterator[Contents]:
    """Yield small scales of both operands; or extreme ones, small when multiplied."""
    if scale != "f8E8M0FNU" or k.chance(0.5):
        yield from ("powers", "powers")
        return
    largest = k.random.randint(0, MOST_EXPONENT) if k.chance(0.5) else MOST_EXPONENT
    exponents = [k.random.choice((-largest, largest)) for _ in range(groups)]
    by_rows = [exponent for _ in range(m) for exponent in exponents]
    by_columns = [-exponent for exponent in exponents for _ in range(n)]
    for side in (by_rows, by_columns):
        yield tuple(2.0**exponent * k.random.choice(POWERS) for exponent in side)


STATEMENTS: Final = (float_dot, float_dot, integer_dot, scaled_dot)
