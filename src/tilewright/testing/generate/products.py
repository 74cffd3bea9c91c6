"""Statements of matrix products on integers so small that every order of summing is exact."""

from __future__ import annotations

from typing import Final

from tilewright.driver.array_text import ELEMENTS as TYPES
from tilewright.testing.bounds import exact_limit
from tilewright.testing.generate.arithmetic import SIGNS
from tilewright.testing.generate.kernel import Kernel
from tilewright.testing.generate.values import Facts, Tile, Value

SUMS: Final = {
    "f16": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f32": ("f32",),
    "f64": ("f64",),
    "f8E4M3FN": ("f16", "f32"),
    "f8E5M2": ("f16", "f32"),
}
"""The accumulators of each type of factors."""


def _extents(k: Kernel, most: int) -> tuple[tuple[int, ...], int, int, int]:
    """How many products at once, and the three extents of each."""
    m, n, depth = (1 << k.random.randint(0, most) for _ in range(3))
    return ((1 << k.random.randint(0, 2),) if k.chance(0.2) else ()), m, n, depth


def _factors(k: Kernel, element: str, most: int) -> tuple[Value, Value, Tile, int]:
    batch, m, n, depth = _extents(k, most)
    contents = "small" if depth <= 64 else "signs"
    if element == "i8":
        contents = k.random.choice(("small", "random"))
    lhs = k.load_input(Tile(element, (*batch, m, depth)), contents)
    rhs = k.load_input(Tile(element, (*batch, depth, n)), contents)
    return lhs, rhs, Tile("f32", (*batch, m, n)), depth


def float_product(k: Kernel) -> None:
    """`mmaf` of every pair of types."""
    element = k.element(*SUMS)
    lhs, rhs, shape, depth = _factors(k, element, 7 if k.chance(0.1) else 5)
    tile = shape.of(k.random.choice(SUMS[element]))
    assert exact_limit(depth + 1, TYPES[element], TYPES[tile.element])
    acc = _accumulator(k, tile)
    most = lhs.facts.magnitude * rhs.facts.magnitude * depth + acc.facts.magnitude
    assert most <= 2.0**tile.kind.precision
    fast = " fast_acc" if element.startswith("f8") and k.chance(0.5) else ""
    text = f"mmaf {lhs.name}, {rhs.name}, {acc.name}{fast} : {lhs.tile}, {rhs.tile}, {tile}"
    k.define(text, tile, Facts(-most, most, True))


def _accumulator(k: Kernel, tile: Tile) -> Value:
    value = k.find(lambda v: v.tile == tile and v.facts.is_whole and v.facts.magnitude <= 64)
    if value is not None:
        return value
    return k.load_input(tile, "small") if k.chance(0.6) else k.constant(tile, (0.0,))


def integer_product(k: Kernel) -> None:
    """`mmai` of signed and unsigned bytes."""
    lhs, rhs, shape, depth = _factors(k, "i8", 5)
    tile = shape.of("i32")
    acc = k.load_input(tile, "small")
    signs = k.random.choice(SIGNS), k.random.choice(SIGNS)
    most = 255 * 255 * depth + 4
    text = f"mmai {lhs.name}, {rhs.name}, {acc.name} {signs[0]} {signs[1]}"
    k.define(f"{text} : {lhs.tile}, {rhs.tile}, {tile}", tile, Facts(-most, most, True))


def scaled_product(k: Kernel) -> None:
    """`mmaf_scaled`, with scales that are powers of two."""
    if "f8E8M0FNU" not in k.elements:
        float_product(k)
        return
    element = k.element("f8E4M3FN", "f8E5M2", "f4E2M1FN")
    block = k.random.choice((16, 32)) if element == "f4E2M1FN" else 32
    depth = block * k.random.choice((1, 2))
    m, n = (1 << k.random.randint(1, 4) for _ in range(2))
    if element == "f4E2M1FN":
        lhs = k.constant(Tile(element, (m, depth)), (k.random.choice((-2.0, 1.0, 2.0)),))
        rhs = k.constant(Tile(element, (depth, n)), (k.random.choice((-1.0, 1.0, 2.0)),))
    else:
        lhs = k.load_input(Tile(element, (m, depth)), "signs")
        rhs = k.load_input(Tile(element, (depth, n)), "signs")
    scales = ["f8E8M0FNU"]
    if element == "f4E2M1FN":
        scales += ["fnv8E5M3FNU", *(["f8E4M3FN"] if block == 16 else [])]
    scale = k.random.choice(scales)
    groups = depth // block
    left = k.load_input(Tile(scale, (m, groups)), "powers")
    right = k.load_input(Tile(scale, (groups, n)), "powers")
    acc = k.load_input(Tile("f32", (m, n)), "small")
    most = 4.0 * 16 * depth + 4
    text = f"mmaf_scaled {lhs.name}, {rhs.name}, {acc.name}, {left.name}, {right.name}"
    types = ", ".join(str(v.tile) for v in (lhs, rhs, acc, left, right))
    k.define(f"{text} : {types}", acc.tile, Facts(-most, most, True))


STATEMENTS: Final = (float_product, float_product, integer_product, scaled_product)
