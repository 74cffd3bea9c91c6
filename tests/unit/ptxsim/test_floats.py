"""Floating-point instructions as PTX: comparisons, min and max, conversions, approximations."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from each_case import each_case

DTYPES: dict[str, type[Any]] = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "pred": np.uint32,
    "u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16, "u32": np.uint32,
    "s32": np.int32, "u64": np.uint64, "s64": np.int64, "b16": np.uint16, "b32": np.uint32,
}  # fmt: skip
REGISTERS = {8: "%rs", 16: "%rs", 32: "%r", 64: "%rd"}


def evaluate(run, instruction: str, types: str, *columns: np.ndarray) -> np.ndarray:
    """Evaluate `instruction d, a, …` for each element of the columns."""
    result, *sources = types.split()
    count = len(columns[0])
    out = np.zeros(count, DTYPES[result])
    lines = [
        "mov.u32 %r50, %tid.x;",
        "mov.u32 %r51, %ctaid.x;",
        "mad.lo.u32 %r50, %r51, 128, %r50;",
    ]
    lines += ["ld.param.u32 %r52, [p0];", "setp.ge.u32 %p9, %r50, %r52;", "@%p9 ret;"]
    names: list[str] = []
    args: list[object] = [count]
    for at, (type, column) in enumerate(zip(sources, columns, strict=True)):
        width = 8 * np.dtype(DTYPES[type]).itemsize
        names.append(f"{REGISTERS[width]}{at + 1}")
        lines += [
            f"ld.param.u64 %rd50, [p{at + 1}];",
            f"mad.wide.u32 %rd50, %r50, {width // 8}, %rd50;",
            f"ld.global.b{width} {names[-1]}, [%rd50];",
        ]
        args.append(np.ascontiguousarray(column.astype(DTYPES[type])))
    width = 8 * np.dtype(DTYPES[result]).itemsize
    target = "%p1" if result == "pred" else f"{REGISTERS[width]}9"
    lines.append(f"{instruction} {', '.join([target, *names])};")
    if result == "pred":
        target = "%r9"
        lines.append("selp.u32 %r9, 1, 0, %p1;")
    lines += [
        f"ld.param.u64 %rd50, [p{len(sources) + 1}];",
        f"mad.wide.u32 %rd50, %r50, {width // 8}, %rd50;",
        f"st.global.b{width} [%rd50], {target};",
        "ret;",
    ]
    params = "u32 " + "u64 " * (len(sources) + 1)
    run("\n".join(lines), [*args, out], params, grid=-(-count // 128), block=128)
    return out


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3.5, 1e38])
PAIRS = [column.reshape(-1) for column in np.meshgrid(SPECIAL, SPECIAL)]

ORDERED: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


def expected_comparison(name: str, a: float, b: float) -> bool:
    nan = math.isnan(a) or math.isnan(b)
    if name in ("num", "nan"):
        return nan == (name == "nan")
    if name in ("ne", "neu"):
        return name == "neu" if nan else a != b
    return ORDERED[name[:2]](a, b) if not nan else name.endswith("u")


@each_case("type", ["f16", "f32", "f64"])
@each_case(
    "name",
    ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"],
)
def test_comparisons(run, name: str, type: str) -> None:
    with np.errstate(all="ignore"):
        a, b = (column.astype(DTYPES[type]) for column in PAIRS)
    got = evaluate(run, f"setp.{name}.{type}", f"pred {type} {type}", a, b)
    expected = [expected_comparison(name, float(x), float(y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(got, expected)


def test_comparisons_that_flush(run) -> None:
    tiny, zero = np.array([1e-40, -1e-40, 2e-38]), np.zeros(3)
    assert evaluate(run, "setp.eq.ftz.f32", "pred f32 f32", tiny, zero).tolist() == [1, 1, 0]
    assert evaluate(run, "setp.eq.f32", "pred f32 f32", tiny, zero).tolist() == [0, 0, 0]


@pytest.mark.parametrize("type", ["f16", "f32", "f64"])
@pytest.mark.parametrize("greater", [False, True])
@pytest.mark.parametrize("nan", ["", ".NaN"])
def test_min_and_max(run, greater: bool, nan: str, type: str) -> None:
    if type == "f64" and nan:
        pytest.skip("no such instruction in PTX")
    with np.errstate(all="ignore"):
        a, b = (column.astype(DTYPES[type]) for column in PAIRS)
    name = "max" if greater else "min"
    got = evaluate(run, f"{name}{nan}.{type}", f"{type} {type} {type}", a, b)
    for x, y, result in zip(a.tolist(), b.tolist(), got.tolist(), strict=True):
        if math.isnan(x) or math.isnan(y):
            others = [value for value in (x, y) if not math.isnan(value)]
            expected = math.nan if nan or not others else others[0]
        else:
            key = (max if greater else min)((value, math.copysign(1, value)) for value in (x, y))
            expected = key[0] if key[0] else math.copysign(0, key[1])
        if math.isnan(expected):
            assert math.isnan(result)
        else:
            assert (result, math.copysign(1, result)) == (expected, math.copysign(1, expected))


def test_saturation_and_flushing(run) -> None:
    a = np.array([0.5, 2.0, -1.0, np.nan, 1e-39, np.inf])
    got = evaluate(run, "add.sat.f32", "f32 f32 f32", a, np.zeros(6))
    np.testing.assert_array_equal(got, np.array([0.5, 1, 0, 0, 1e-39, 1], np.float32))
    got = evaluate(run, "add.ftz.f32", "f32 f32 f32", a[:5], np.zeros(5))
    assert got[4] == 0
    small = np.array([2e-38, -2e-38])
    got = evaluate(run, "mul.ftz.f32", "f32 f32 f32", small, np.array([0.5, 0.5]))
    assert got.tolist() == [0.0, 0.0]
    assert np.signbit(got).tolist() == [False, True]
    got = evaluate(run, "mul.f32", "f32 f32 f32", small, np.array([0.5, 0.5]))
    assert (np.abs(got) > 0).all()


def test_nan_is_canonical(run) -> None:
    nan = np.array([0x7FC00001, 0xFFC00000], np.uint32)
    got = evaluate(run, "add.f32", "b32 b32 b32", nan, nan)
    assert got.tolist() == [0x7FFFFFFF, 0x7FFFFFFF]


def test_signs(run) -> None:
    a = np.array([1.5, -0.0, -np.inf])
    assert evaluate(run, "neg.f32", "f32 f32", a).tolist() == [-1.5, 0.0, math.inf]
    assert evaluate(run, "abs.f64", "f64 f64", a).tolist() == [1.5, 0.0, math.inf]
    got = evaluate(run, "copysign.f32", "f32 f32 f32", a, np.array([2.0, 3.0, 4.0]))
    assert got.tolist() == [2.0, -3.0, -4.0]


NUMBERS = np.array(
    [0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 126.7, 127.5, 128.5, -129.2, 255.5, 65535.5,
     65536.0, 2147483647.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0,
     9.2e18, 9.3e18, -9.3e18, 1.8e19, 1.9e19, np.inf, -np.inf, np.nan, 1e-40]
)  # fmt: skip


def python_round(value: float, mode: str) -> int:
    exact = Fraction(value)
    return {
        "rni": round(exact),
        "rzi": math.trunc(exact),
        "rmi": math.floor(exact),
        "rpi": math.ceil(exact),
    }[mode]


@each_case("source", ["f32", "f64"])
@each_case("target", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
@each_case("mode", ["rni", "rzi", "rmi", "rpi"])
def test_floats_to_integers(run, mode: str, target: str, source: str) -> None:
    with np.errstate(all="ignore"):
        numbers = NUMBERS.astype(DTYPES[source])
    held = {"u8": "u16", "s8": "s16"}.get(target, target)
    got = evaluate(run, f"cvt.{mode}.{target}.{source}", f"{held} {source}", numbers)
    limits = np.iinfo(DTYPES[target])
    for value, result in zip(numbers.tolist(), got.tolist(), strict=True):
        if math.isnan(value):
            wide = source == "f64" or target[1:] == "64"
            expected = int(
                np.array([1 << (limits.bits - 1) if wide else 0]).astype(DTYPES[target])[0]
            )
        elif math.isinf(value):
            expected = limits.max if value > 0 else limits.min
        else:
            expected = min(max(python_round(value, mode), limits.min), limits.max)
        assert result == expected, value


def nearest(value: int, dtype: type[np.floating], mode: str) -> float:
    """Round an integer to a float by choosing among the neighbours of NumPy's result."""
    with np.errstate(all="ignore"):
        start = dtype(float(value))
    around = {float(start)}
    around |= {float(np.nextafter(start, dtype(end))) for end in (-np.inf, np.inf)}
    finite = sorted(x for x in around if math.isfinite(x))
    below = [x for x in finite if x <= value]
    above = [x for x in finite if x >= value]
    low, high = max(below), min(above) if above else math.inf
    if mode == "rm" or (mode == "rz" and value > 0):
        return low
    if mode in ("rp", "rz"):
        return high
    gap = Fraction(high) - value - (value - Fraction(low)) if math.isfinite(high) else 0
    if gap == 0 and low != high:
        # Of two equally near numbers the one with an even mantissa wins.
        even = np.array([low], dtype).view(f"u{np.dtype(dtype).itemsize}")[0] & 1 == 0
        return low if even else high
    return low if gap > 0 or low == high else high


@each_case("mode", ["rn", "rz", "rm", "rp"])
@each_case("target", ["f32", "f64"])
@each_case("source", ["s32", "u32", "s64", "u64"])
def test_integers_to_floats(run, source: str, target: str, mode: str) -> None:
    rng = np.random.default_rng(1)
    limits = np.iinfo(DTYPES[source])
    values = rng.integers(limits.min, limits.max, 200, DTYPES[source], endpoint=True)
    # Halfway between two floats, and next to that.
    bits = 24 if target == "f32" else 53
    edges = [(1 << bits) + 1, (1 << bits) + 3, (1 << (bits + 1)) + 3, limits.max, limits.min, 0]
    values = np.concatenate(
        (values, np.array([e for e in edges if e <= limits.max], DTYPES[source]))
    )
    got = evaluate(run, f"cvt.{mode}.{target}.{source}", f"{target} {source}", values)
    for value, result in zip(values.tolist(), got.tolist(), strict=True):
        assert result == nearest(value, DTYPES[target], mode), value


def test_every_f16_survives_f32(run) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    numbers = ~np.isnan(bits.view(np.float16))
    wide = evaluate(run, "cvt.f32.f16", "f32 b16", bits)
    np.testing.assert_array_equal(wide[numbers], bits.view(np.float16)[numbers].astype(np.float32))
    back = evaluate(run, "cvt.rn.f16.f32", "b16 f32", wide)
    np.testing.assert_array_equal(back[numbers], bits[numbers])
    assert (back[~numbers] == 0x7FFF).all()


def test_packed_conversions(run) -> None:
    """The first operand goes to the upper half."""
    a, b = np.array([1.0, 65519.0, -2.0]), np.array([0.5, 1e6, np.nan])
    got = evaluate(run, "cvt.rn.f16x2.f32", "b32 f32 f32", a, b)
    assert [hex(x) for x in got.tolist()] == ["0x3c003800", "0x7bff7c00", "0xc0007fff"]
    got = evaluate(run, "cvt.rn.bf16x2.f32", "b32 f32 f32", a, b)
    assert [hex(x) for x in got.tolist()] == ["0x3f803f00", "0x47804974", "0xc0007fff"]
    got = evaluate(run, "cvt.rn.relu.f16x2.f32", "b32 f32 f32", a[2:], a[:1])
    assert [hex(x) for x in got.tolist()] == ["0x3c00"]
    got = evaluate(run, "cvt.rna.tf32.f32", "b32 b32", np.array([0x3F801000, 0x3F800FFF]))
    assert [hex(x) for x in got.tolist()] == ["0x3f802000", "0x3f800000"]


def test_integers_to_integers(run) -> None:
    values = np.array([-1, 300, -40000, 2**31 - 1])
    assert evaluate(run, "cvt.u16.s32", "u16 s32", values).tolist() == [65535, 300, 25536, 65535]
    assert evaluate(run, "cvt.sat.u8.s32", "u16 s32", values).tolist() == [0, 255, 0, 255]
    assert evaluate(run, "cvt.sat.s16.s32", "s16 s32", values).tolist() == [-1, 300, -32768, 32767]
    assert evaluate(run, "cvt.s64.s8", "s64 s32", values).tolist() == [-1, 44, -64, -1]
    assert evaluate(run, "cvt.u64.u32", "u64 s32", values)[0] == 2**32 - 1


@each_case(
    ("instruction", "function", "ulps"),
    [
        ("ex2.approx.ftz.f32", lambda x: 2.0**x, 2), ("lg2.approx.f32", math.log2, 4),
        ("rcp.approx.ftz.f32", lambda x: 1 / x, 1), ("rsqrt.approx.f32", lambda x: x**-0.5, 2),
        ("sqrt.approx.f32", math.sqrt, 1), ("tanh.approx.f32", math.tanh, 2**13),
        ("sqrt.rn.f32", math.sqrt, 0.5), ("rcp.rn.f32", lambda x: 1 / x, 0.5),
    ],
)  # fmt: skip
def test_approximations(
    run, instruction: str, function: Callable[[float], float], ulps: float
) -> None:
    values = np.random.default_rng(4).uniform(0.01, 30, 500).astype(np.float32)
    got = evaluate(run, instruction, "f32 f32", values)
    for x, result in zip(values.tolist(), got, strict=True):
        exact = function(x)
        assert (
            abs(float(result) - exact) <= ulps * float(np.spacing(np.float32(abs(exact)))) * 1.0001
        )


def test_packed_arithmetic(run) -> None:
    """Low and high half of every f16x2 against NumPy's float16, whose add rounds once."""
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=512).astype(np.float16) for _ in range(2))
    packed = [column.view(np.uint32) for column in (a, b)]
    got = evaluate(run, "add.rn.f16x2", "b32 b32 b32", *packed)
    np.testing.assert_array_equal(got.view(np.float16), a + b)
    got = evaluate(run, "mul.f16x2", "b32 b32 b32", *packed)
    np.testing.assert_array_equal(got.view(np.float16), a * b)
    got = evaluate(run, "neg.f16x2", "b32 b32", packed[0])
    np.testing.assert_array_equal(got.view(np.float16), -a)
    got = evaluate(run, "fma.rn.relu.f16x2", "b32 b32 b32 b32", *packed, packed[0])
    exact = a.astype(np.float64) * b.astype(np.float64) + a.astype(np.float64)
    np.testing.assert_array_equal(got.view(np.float16), np.maximum(exact.astype(np.float16), 0))


MULTIPLES = np.random.default_rng(8).integers(-1024, 1025, (2, 500)) / 256
"""Numbers exact in f16 and bf16, for which float64 represents `a * b + ADDENDS` exactly."""
ADDENDS = np.random.default_rng(9).integers(-(2**23), 2**23, 500) / 2.0**21


def rounded(exact: np.ndarray, mode: str) -> np.ndarray:
    """Round float64 numbers to float32 in the given mode."""
    near = exact.astype(np.float32)
    if mode == "rn":
        return near
    target = {"rz": 0.0, "rm": -np.inf, "rp": np.inf}[mode]
    is_wrong = {"rz": abs(near) > abs(exact), "rm": near > exact, "rp": near < exact}[mode]
    return np.where(is_wrong, np.nextafter(near, np.float32(target)), near)


@each_case("mode", ["rn", "rz", "rm", "rp"])
@each_case("narrow", ["f16", "bf16"])
def test_f32_fma_add_and_sub_of_narrower_sources(run, narrow: str, mode: str) -> None:
    # bf16 has a precision of eight bits.
    a, b = MULTIPLES if narrow == "f16" else np.trunc(MULTIPLES * 16) / 16
    if narrow == "f16":
        type, columns = "f16", (a, b)
    else:
        type, columns = "b16", tuple(x.astype(np.float32).view(np.uint32) >> 16 for x in (a, b))
    form = f"{mode}.f32.{narrow}"
    got = evaluate(run, f"fma.{form}", f"f32 {type} {type} f32", *columns, ADDENDS)
    np.testing.assert_array_equal(got, rounded(a * b + ADDENDS, mode))
    got = evaluate(run, f"add.{form}", f"f32 {type} f32", columns[0], ADDENDS)
    np.testing.assert_array_equal(got, rounded(a + ADDENDS, mode))
    got = evaluate(run, f"sub.{form}", f"f32 {type} f32", columns[0], ADDENDS)
    np.testing.assert_array_equal(got, rounded(a - ADDENDS, mode))


def test_narrower_sources_clamp(run) -> None:
    half, one = np.array([0.5, 1.5, -3.0]), np.array([0.25, 0.25, 0.25])
    got = evaluate(run, "add.rn.sat.f32.f16", "f32 f16 f32", half, one)
    assert got.tolist() == [0.75, 1.0, 0.0]
