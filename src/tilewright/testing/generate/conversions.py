"""Statements that convert between element types, with all numbers in range."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.rounding import conversion_roundings
from tilewright.driver.array_text import ELEMENTS as TYPES
from tilewright.ir.types import FloatType
from tilewright.testing.generate.arithmetic import SIGNS
from tilewright.testing.generate.elements import BASE_FLOATS, ELEMENTS, FLOATS, INTEGERS
from tilewright.testing.generate.kernel import Kernel
from tilewright.testing.generate.values import UNKNOWN, Facts, Tile, Value, float_facts, full

REACH: Final = 64.0


def bounded(k: Kernel, value: Value, low: float, high: float) -> Value:
    """Clamp a float, which also removes NaN."""
    if value.facts.within(low, high):
        return value
    least, most = k.constant(value.tile, (low,)), k.constant(value.tile, (high,))
    (upper,) = k.emit(f"maxf {value.name}, {least.name} : {value.tile}")
    text = f"minf {upper}, {most.name} : {value.tile}"
    return k.define(text, value.tile, Facts(low, high, value.facts.is_whole))


def extend(k: Kernel) -> None:
    """`exti`, also from i4."""
    a = k.any_of("i1", "i4", "i8", "i16", "i32")
    wider = [name for name in ("i8", "i16", "i32", "i64") if ELEMENTS[name].bits > a.tile.kind.bits]
    tile, sign = a.tile.of(k.random.choice(wider)), k.random.choice(SIGNS)
    low, high = int(a.facts.low or 0), int(a.facts.high or 0)
    facts = Facts(low, high, True)
    if sign == "unsigned" and low < 0:
        facts = Facts(0, (1 << a.tile.kind.bits) - 1, True)
    k.define(f"exti {a.name} {sign} : {a.tile} -> {tile}", tile, facts)


def truncate(k: Kernel) -> None:
    """`trunci`, with no-wrap flags where they hold."""
    a = k.any_of("i8", "i16", "i32", "i64")
    names = [name for name in ("i1", "i4", "i8", "i16", "i32")
             if ELEMENTS[name].bits < a.tile.kind.bits]  # fmt: skip
    tile = a.tile.of(k.random.choice(names))
    kind, flags = tile.kind, list[str]()
    if a.facts.within(kind.low, kind.high):
        flags.append("no_signed_wrap")
    if a.facts.within(0, kind.high):
        flags += ["no_unsigned_wrap", "no_wrap"]
    flag = f" overflow<{k.random.choice(flags)}>" if flags and k.chance(0.4) else ""
    facts = a.facts if a.facts.within(kind.low, kind.high) else full(kind)
    k.define(f"trunci {a.name}{flag} : {a.tile} -> {tile}", tile, facts)


def float_to_float(k: Kernel) -> None:
    """`ftof`, in every rounding mode that the types support."""
    names = [name for name in FLOATS if name in k.elements]
    a = k.any_of(*(BASE_FLOATS if k.chance(0.6) else names))
    others = [name for name in names if name != a.tile.element]
    target = k.random.choice([name for name in others if name != "f4E2M1FN" or a.tile.elements > 1])
    to_float(k, a, target)


def to_float(k: Kernel, a: Value, target: str) -> Value:
    """`ftof`, after clamping to the range of the target."""
    kind, tile = ELEMENTS[target], a.tile.of(target)
    a = _fitting(k, a, target)
    source, result = TYPES[a.tile.element], TYPES[target]
    assert isinstance(source, FloatType)
    assert isinstance(result, FloatType)
    modes = [mode.keyword for mode in conversion_roundings(Rounding, source, result)]
    if target == "tf32" and k.options.profile != "all":
        # NVIDIA's compiler supports no other modes for tf32.
        modes = [mode for mode in modes if mode in ("nearest_even", "zero")]
    mode = k.random.choice(modes)
    rounding = f" rounding<{mode}>" if mode != "nearest_even" else ""
    facts = UNKNOWN
    if a.facts.low is not None and a.facts.high is not None:
        facts = float_facts(a.facts.low, a.facts.high, a.facts.is_whole, kind)
    if target == "f8E8M0FNU":
        facts = Facts(0.5, 128.0)
    if kind.bits <= 8 and facts is UNKNOWN:
        facts = Facts(-kind.largest if kind.is_signed else 0.0, kind.largest)
    return k.define(f"ftof {a.name}{rounding} : {a.tile} -> {tile}", tile, facts)


def _fitting(k: Kernel, a: Value, target: str) -> Value:
    """Clamp a float to the range of another type."""
    kind = ELEMENTS[target]
    if kind.bits > 8 and kind.largest >= a.tile.kind.largest:
        return a
    most = min(REACH, kind.largest, a.tile.kind.largest)
    low = 1.0 if target == "f8E8M0FNU" else -most if kind.is_signed else 0.0
    if a.facts.within(low, most):
        return a
    if a.tile.element in BASE_FLOATS:
        return bounded(k, a, low, most)
    wide = to_float(k, a, "f32")
    return bounded(k, wide, low, most)


def float_to_int(k: Kernel) -> None:
    """`ftoi` of numbers in range; with `saturating` of any."""
    a = k.any_of(*BASE_FLOATS) if k.chance(0.8) else k.any_of(*FLOATS)
    tile, sign = a.tile.of(k.element(*INTEGERS)), k.random.choice(SIGNS)
    kind = tile.kind
    if k.chance(0.3):
        text = f"ftoi {a.name} {sign} saturating : {a.tile} -> {tile}"
        k.define(text, tile, full(kind))
        return
    if a.tile.element not in BASE_FLOATS:
        a = to_float(k, a, "f32")
    least, most = (kind.low, kind.high) if sign == "signed" else (0, (1 << kind.bits) - 1)
    a = bounded(k, a, max(float(least), -REACH), min(float(most), REACH))
    facts = Facts(int(a.facts.low or 0), int(a.facts.high or 0), True)
    if not facts.within(kind.low, kind.high):
        facts = full(kind)
    k.define(f"ftoi {a.name} {sign} : {a.tile} -> {tile}", tile, facts)


def int_to_float(k: Kernel) -> None:
    """`itof` of integers in range."""
    a = k.any_of(*INTEGERS)
    names = [
        name for name in FLOATS if name in k.elements and name not in ("f8E8M0FNU", "f4E2M1FN")
    ]
    target, sign = k.random.choice(names), k.random.choice(SIGNS)
    kind, tile = ELEMENTS[target], a.tile.of(target)
    low, high = int(a.facts.low or 0), int(a.facts.high or 0)
    if sign == "unsigned" and low < 0:
        low, high = 0, (1 << a.tile.kind.bits) - 1
    if max(-low, high) > kind.largest or (low < 0 and not kind.is_signed):
        mask = k.constant(a.tile, (7,) if a.tile.kind.bits > 1 else (1,))
        a = k.define(f"andi {a.name}, {mask.name} : {a.tile}", a.tile, Facts(0, 7, True))
        low, high = 0, 7
        if a.tile.kind.bits == 1:
            sign, low, high = "unsigned", 0, 1
    facts = float_facts(low, high, True, kind)
    k.define(f"itof {a.name} {sign} : {a.tile} -> {tile}", tile, facts)


def bitcast(k: Kernel) -> None:
    """`bitcast` of non-NaNs: the payload of a NaN is undefined."""
    a = k.find(lambda v: v.facts.low is not None and v.tile.element not in ("i4", "tf32", "i1"))
    a = a if a is not None else k.fresh(Tile("i32", k.shape()))
    names = [name for name in (*INTEGERS, *FLOATS) if name in k.elements and name != "tf32"
             and ELEMENTS[name].bits == a.tile.kind.bits and name != "f4E2M1FN"]  # fmt: skip
    if not names or a.facts.low is None:
        return
    tile = a.tile.of(k.random.choice(names))
    k.define(f"bitcast {a.name} : {a.tile} -> {tile}", tile, full(tile.kind))


STATEMENTS: Final = (
    extend, truncate, float_to_float, float_to_float, float_to_int, int_to_float, bitcast,
)  # fmt: skip
