"""Statements of arithmetic: integers, bits, floats with defined rounding, comparisons, choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tilewright.testing.generate.elements import BASE_FLOATS, INTEGERS, Element
from tilewright.testing.generate.kernel import Kernel
from tilewright.testing.generate.values import (
    UNKNOWN,
    Facts,
    Tile,
    Value,
    float_facts,
    full,
    integer_facts,
)

PREDICATES: Final = (
    "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
    "greater_than_or_equal",
)  # fmt: skip
SIGNS: Final = ("signed", "unsigned")
DIRECTED: Final = ("zero", "negative_inf", "positive_inf")
Corner = Callable[[float, float], float]
CORNERS: Final[dict[str, Corner]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def corners(a: Facts, b: Facts, compute: Corner) -> tuple[float, float]:
    """Bounds of a monotone function of two bounded operands."""
    results = [compute(x, y) for x in (a.low or 0, a.high or 0) for y in (b.low or 0, b.high or 0)]
    return min(results), max(results)


def overflow_flags(low: float, high: float, kind: Element, *operands: Facts) -> list[str]:
    """The no-wrap flags that hold for a result with exact bounds."""
    if low < kind.low or high > kind.high or kind.bits == 1:
        return []
    is_positive = low >= 0 and all((facts.low or 0) >= 0 for facts in operands)
    return ["no_signed_wrap", *(["no_unsigned_wrap", "no_wrap"] if is_positive else [])]


def integer_binary(k: Kernel) -> None:
    """`addi`, `subi`, `muli`, with no-wrap flags where they hold."""
    a = k.any_of(*INTEGERS)
    b = k.operand(a.tile)
    op = k.random.choice(("add", "sub", "mul"))
    low, high = corners(a.facts, b.facts, CORNERS[op])
    kind = a.tile.kind
    flags = overflow_flags(low, high, kind, a.facts, b.facts)
    flag = f" overflow<{k.random.choice(flags)}>" if flags and k.chance(0.4) else ""
    text = f"{op}i {a.name}, {b.name}{flag} : {a.tile}"
    k.define(text, a.tile, integer_facts(int(low), int(high), kind))


def bitwise(k: Kernel) -> None:
    """`andi`, `ori`, `xori`."""
    a = k.any_of(*INTEGERS)
    b = k.operand(a.tile)
    op = k.random.choice(("andi", "ori", "xori"))
    facts = full(a.tile.kind)
    if op == "andi" and (b.facts.low or 0) >= 0 and b.facts.high is not None:
        facts = Facts(0, b.facts.high, True)
    k.define(f"{op} {a.name}, {b.name} : {a.tile}", a.tile, facts)


def integer_unary(k: Kernel) -> None:
    """`absi` and `negi`."""
    a = k.any_of(*INTEGERS)
    low, high, kind = int(a.facts.low or 0), int(a.facts.high or 0), a.tile.kind
    if k.chance(0.5):
        facts = Facts(0, max(-low, high), True) if low > kind.low else full(kind)
        k.define(f"absi {a.name} : {a.tile}", a.tile, facts)
        return
    flag = " overflow<no_signed_wrap>" if low > kind.low and kind.bits > 1 and k.chance(0.4) else ""
    k.define(f"negi {a.name}{flag} : {a.tile}", a.tile, integer_facts(-high, -low, kind))


def extremum(k: Kernel) -> None:
    """`maxi`, `mini` and `mulhii`."""
    a = k.any_of(*INTEGERS)
    b = k.operand(a.tile)
    if k.chance(0.3):
        k.define(f"mulhii {a.name}, {b.name} : {a.tile}", a.tile, full(a.tile.kind))
        return
    op, sign = k.random.choice(("maxi", "mini")), k.random.choice(SIGNS)
    text = f"{op} {a.name}, {b.name} {sign} : {a.tile}"
    k.define(text, a.tile, a.facts.union(b.facts))


def positive(k: Kernel, tile: Tile) -> Value:
    """A divisor tile of numbers from 1 to 8."""
    if k.chance(0.5):
        return k.constant(tile, (k.random.randint(1, 8),))
    source, seven, one = k.operand(tile), k.constant(tile, (7,)), k.constant(tile, (1,))
    (low,) = k.emit(f"andi {source.name}, {seven.name} : {tile}")
    return k.define(f"addi {low}, {one.name} : {tile}", tile, Facts(1, 8, True))


def division(k: Kernel) -> None:
    """`divi` and `remi` by nonzero divisors."""
    a = k.any_of(*INTEGERS[1:])
    b = positive(k, a.tile)
    sign = k.random.choice(SIGNS)
    if k.chance(0.4):
        k.define(f"remi {a.name}, {b.name} {sign} : {a.tile}", a.tile, Facts(-7, 7, True))
        return
    modes = (
        ("zero", "positive_inf", "negative_inf") if sign == "signed" else ("zero", "positive_inf")
    )
    mode = k.random.choice(modes)
    rounding = f" rounding<{mode}>" if mode != "zero" or k.chance(0.2) else ""
    k.define(f"divi {a.name}, {b.name} {sign}{rounding} : {a.tile}", a.tile, full(a.tile.kind))


def shift(k: Kernel) -> None:
    """`shli` and `shri` by less than the width."""
    a = k.any_of(*INTEGERS)
    kind = a.tile.kind
    if k.chance(0.5):
        number = k.random.randrange(kind.bits)
        amount = k.constant(a.tile, (number,))
    else:
        number = kind.bits - 1
        source, mask = k.operand(a.tile), k.constant(a.tile, (number,))
        facts = Facts(0, number, True) if kind.bits > 1 else full(kind)
        amount = k.define(f"andi {source.name}, {mask.name} : {a.tile}", a.tile, facts)
    if k.chance(0.5):
        low, high = ((int(bound or 0)) << number for bound in (a.facts.low, a.facts.high))
        flags = overflow_flags(low, high, kind, a.facts)
        flag = f" overflow<{k.random.choice(flags)}>" if flags and k.chance(0.6) else ""
        facts = integer_facts(min(low, 0), max(high, 0), kind)
        k.define(f"shli {a.name}, {amount.name}{flag} : {a.tile}", a.tile, facts)
        return
    sign = k.random.choice(SIGNS)
    k.define(f"shri {a.name}, {amount.name} {sign} : {a.tile}", a.tile, full(kind))


def compare_integers(k: Kernel) -> None:
    """`cmpi`."""
    a = k.any_of(*INTEGERS)
    b, tile = k.operand(a.tile), a.tile.of("i1")
    op = f"cmpi {k.random.choice(PREDICATES)} {a.name}, {b.name}, {k.random.choice(SIGNS)}"
    k.define(f"{op} : {a.tile} -> {tile}", tile, full(tile.kind))


def compare_floats(k: Kernel) -> None:
    """`cmpf`."""
    a = k.any_of(*BASE_FLOATS)
    b, tile = k.operand(a.tile), a.tile.of("i1")
    order = k.random.choice(("ordered", "unordered"))
    text = f"cmpf {k.random.choice(PREDICATES)} {order} {a.name}, {b.name} : {a.tile} -> {tile}"
    k.define(text, tile, full(tile.kind))


def choose(k: Kernel) -> None:
    """`select` between two tiles of any type."""
    a = k.any_of(*(name for name in sorted(k.elements) if name != "f4E2M1FN"))
    b, condition = k.operand(a.tile), k.operand(a.tile.of("i1"))
    text = f"select {condition.name}, {a.name}, {b.name} : {condition.tile}, {a.tile}"
    k.define(text, a.tile, a.facts.union(b.facts))


def modifiers(k: Kernel, element: str) -> str:
    """A random rounding mode, nearest or one that the hardware supports."""
    text = ""
    if element in ("f32", "f64") and k.chance(0.25):
        text += f" rounding<{k.random.choice(DIRECTED)}>"
    if element == "f32" and k.chance(0.2):
        text += " flush_to_zero"
    return text


def float_binary(k: Kernel) -> None:
    """`addf`, `subf`, `mulf`."""
    a = k.any_of(*BASE_FLOATS)
    b = k.operand(a.tile)
    op = k.random.choice(("add", "sub", "mul"))
    text = f"{op}f {a.name}, {b.name}{modifiers(k, a.tile.element)} : {a.tile}"
    k.define(text, a.tile, _bounded(a, b, op))


def _bounded(a: Value, b: Value, op: str) -> Facts:
    if a.facts.low is None or b.facts.low is None:
        return UNKNOWN
    low, high = corners(a.facts, b.facts, CORNERS[op])
    return float_facts(low, high, a.facts.is_whole and b.facts.is_whole, a.tile.kind)


def fused(k: Kernel) -> None:
    """`fma`."""
    a = k.any_of(*BASE_FLOATS)
    b, c = k.operand(a.tile), k.operand(a.tile)
    text = f"fma {a.name}, {b.name}, {c.name}{modifiers(k, a.tile.element)} : {a.tile}"
    facts = UNKNOWN
    if None not in (a.facts.low, b.facts.low, c.facts.low):
        low, high = corners(a.facts, b.facts, CORNERS["mul"])
        low, high = low + (c.facts.low or 0), high + (c.facts.high or 0)
        is_whole = a.facts.is_whole and b.facts.is_whole and c.facts.is_whole
        facts = float_facts(low, high, is_whole, a.tile.kind)
    k.define(text, a.tile, facts)


def divide_floats(k: Kernel) -> None:
    """`divf` with defined rounding, and `remf`."""
    a = k.any_of(*BASE_FLOATS)
    b = k.operand(a.tile)
    if k.chance(0.3):
        k.define(f"remf {a.name}, {b.name} : {a.tile}", a.tile, UNKNOWN)
        return
    text = f"divf {a.name}, {b.name}{modifiers(k, a.tile.element)} : {a.tile}"
    k.define(text, a.tile, UNKNOWN)


def float_unary(k: Kernel) -> None:
    """`absf`, `negf`, `ceil`, `floor`, and `sqrt` with defined rounding."""
    a = k.any_of(*BASE_FLOATS)
    op = k.random.choice(("absf", "negf", "ceil", "floor", "sqrt"))
    low, high = a.facts.low, a.facts.high
    facts = UNKNOWN
    if low is not None and high is not None and op != "sqrt":
        size = a.facts.magnitude + (op in ("ceil", "floor"))
        facts = float_facts(-size, size, a.facts.is_whole or op in ("ceil", "floor"), a.tile.kind)
    rounding = modifiers(k, a.tile.element) if op == "sqrt" else ""
    k.define(f"{op} {a.name}{rounding} : {a.tile}", a.tile, facts)


def float_extremum(k: Kernel) -> None:
    """`maxf` and `minf`."""
    a = k.any_of(*BASE_FLOATS)
    b = k.operand(a.tile)
    flags = " flush_to_zero" if a.tile.element == "f32" and k.chance(0.2) else ""
    flags += " propagate_nan" if k.chance(0.3) else ""
    text = f"{k.random.choice(('maxf', 'minf'))} {a.name}, {b.name}{flags} : {a.tile}"
    k.define(text, a.tile, a.facts.union(b.facts))


STATEMENTS: Final = (
    integer_binary, integer_binary, bitwise, integer_unary, extremum, division, shift,
    compare_integers, compare_floats, choose, float_binary, float_binary, fused, divide_floats,
    float_unary, float_extremum,
)  # fmt: skip
