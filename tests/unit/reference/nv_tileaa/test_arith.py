"""arith ops in nv_tileaa programs, against Python's integers and NumPy's floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from each_case import each_case

import tilewright

A = np.array([0, 1, -1, 7, -7, 100, -128, 127, 5, -3], np.int8)
B = np.array([1, 3, 2, -2, 7, -128, 3, 127, 5, 4], np.int8)
X = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 3e38, 1e-30, 7.0], np.float32)
Y = np.array([-0.0, 0.0, 2.0, np.nan, 1.0, 2.0, 1.0, 3e38, 1e-30, -2.0], np.float32)


def run(lines: str, *arrays: Any, kinds: tuple[str, ...]) -> Any:
    """Run a kernel that computes %r by `lines` from tiles %a, %b, ...; return the last array."""
    pairs = list(zip("abc"[: len(arrays)], kinds, strict=True))
    body = "".join(
        f"""
        %p{name} = aa.splat %{name}0 : !aa.ptr<{kind}> -> tensor<10x!aa.ptr<{kind}>>
        %q{name} = aa.addptr %p{name}, %i : tensor<10x!aa.ptr<{kind}>>, tensor<10xi32>
        %{name}, %t{name} = aa.load weak %q{name} : tensor<10x!aa.ptr<{kind}>> -> tensor<10x{kind}>
        """
        for name, kind in pairs
    )
    parameters = ", ".join(f"%{name}0: !aa.ptr<{kind}>" for name, kind in pairs)
    last, kind = pairs[-1]
    text = f"""gpu.module @m {{
      aa.func @k({parameters}) attributes {{kernel_spec = #aa.kernel_spec<>}} {{
        %i = aa.make_range : tensor<10xi32>
        {body}
        {lines}
        %t = aa.store weak %q{last}, %r token = %t{last}
          : tensor<10x!aa.ptr<{kind}>>, tensor<10x{kind}>
        aa.return
      }}
    }}"""
    given = [np.array(array) for array in arrays]
    tilewright.execute(text.replace("aa.", "nv_tileaa."), "k", 1, given)
    return given[-1]


def unsigned(number: int) -> int:
    return number & 255


INTEGERS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxsi": max,
    "minsi": min,
    "maxui": lambda a, b: max(unsigned(a), unsigned(b)),
    "minui": lambda a, b: min(unsigned(a), unsigned(b)),
    "divui": lambda a, b: unsigned(a) // unsigned(b),
    "remui": lambda a, b: unsigned(a) % unsigned(b),
    "ceildivui": lambda a, b: -(-unsigned(a) // unsigned(b)),
    "divsi": lambda a, b: abs(a) // abs(b) * (1 if a * b > 0 else -1),
    "remsi": lambda a, b: a - abs(a) // abs(b) * (1 if a * b > 0 else -1) * b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
}


@each_case("name", INTEGERS)
def test_integers(name: str) -> None:
    actual = run(f"%r = arith.{name} %a, %b : tensor<10xi8>", A, B, kinds=("i8", "i8"))
    pairs = zip(A.tolist(), B.tolist(), strict=True)
    expected = [(INTEGERS[name](a, b) + 128 & 255) - 128 for a, b in pairs]
    assert actual.tolist() == expected


@each_case(("name", "by"), [("shli", 3), ("shrsi", 2), ("shrui", 2)])
def test_shifts(name: str, by: int) -> None:
    lines = (
        f"%s = arith.constant dense<{by}> : tensor<10xi8>\n%r = arith.{name} %a, %s : tensor<10xi8>"
    )
    exact = {
        "shli": lambda a: a << by,
        "shrsi": lambda a: a >> by,
        "shrui": lambda a: (a & 255) >> by,
    }
    expected = [(exact[name](a) + 128 & 255) - 128 for a in A.tolist()]
    assert run(lines, A, kinds=("i8",)).tolist() == expected


FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
}


@each_case("name", FLOATS)
def test_floats(name: str) -> None:
    actual = run(f"%r = arith.{name} %a, %b : tensor<10xf32>", X, Y, kinds=("f32", "f32"))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(actual, FLOATS[name](X, Y))


def test_rounding_modes_of_divf() -> None:
    ones, threes = np.ones(10, np.float32), np.full(10, 3, np.float32)
    for mode, is_right in (("upward", np.greater), ("downward", np.less)):
        lines = f"%r = arith.divf %a, %b {mode} : tensor<10xf32>"
        actual = run(lines, ones, threes, kinds=("f32", "f32")).astype(np.float64) * 3
        assert is_right(actual, 1).all()
        assert (abs(actual - 1) < 2.0**-23).all()


RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sge": np.greater_equal,
    "ult": lambda a, b: a.view(np.uint8) < b.view(np.uint8),
    "ugt": lambda a, b: a.view(np.uint8) > b.view(np.uint8),
}


@each_case("name", RELATIONS)
def test_relations_of_integers(name: str) -> None:
    lines = f"""%c = arith.cmpi {name}, %a, %b : tensor<10xi8>
    %r = arith.extui %c : tensor<10xi1> to tensor<10xi8>"""
    actual = run(lines, A, B, kinds=("i8", "i8"))
    assert actual.tolist() == RELATIONS[name](A, B).astype(int).tolist()


UNORDERED = np.isnan(X) | np.isnan(Y)
FLOAT_RELATIONS: dict[str, Any] = {
    "false": np.zeros(10, bool),
    "oeq": X == Y,
    "one": (X != Y) & ~UNORDERED,
    "olt": X < Y,
    "ord": ~UNORDERED,
    "ueq": (X == Y) | UNORDERED,
    "uge": (X >= Y) | UNORDERED,
    "une": X != Y,
    "uno": UNORDERED,
    "true": np.ones(10, bool),
}


@each_case("name", FLOAT_RELATIONS)
def test_relations_of_floats(name: str) -> None:
    lines = f"""%c = arith.cmpf {name}, %a, %b : tensor<10xf32>
    %r = arith.select %c, %a, %b : tensor<10xi1>, tensor<10xf32>"""
    actual = run(lines, X, Y, kinds=("f32", "f32"))
    np.testing.assert_array_equal(actual, np.where(FLOAT_RELATIONS[name], X, Y))


def test_conversions() -> None:
    down_and_up = """%h = arith.truncf %a : tensor<10xf32> to tensor<10xf16>
    %r = arith.extf %h : tensor<10xf16> to tensor<10xf32>"""
    with np.errstate(all="ignore"):
        expected = X.astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(run(down_and_up, X, kinds=("f32",)), expected)
    there_and_back = """%f = arith.sitofp %a : tensor<10xi8> to tensor<10xf32>
    %n = arith.negf %f : tensor<10xf32>
    %w = arith.fptosi %n : tensor<10xf32> to tensor<10xi16>
    %r = arith.trunci %w : tensor<10xi16> to tensor<10xi8>"""
    assert (
        run(there_and_back, A, kinds=("i8",)).tolist()
        == (-A.astype(np.int16)).astype(np.int8).tolist()
    )
    bits = """%w = arith.extui %a : tensor<10xi8> to tensor<10xi16>
    %b1 = arith.bitcast %w : tensor<10xi16> to tensor<10xf16>
    %b2 = arith.bitcast %b1 : tensor<10xf16> to tensor<10xi16>
    %f = arith.uitofp %b2 : tensor<10xi16> to tensor<10xf32>
    %u = arith.fptoui %f : tensor<10xf32> to tensor<10xi16>
    %r = arith.trunci %u : tensor<10xi16> to tensor<10xi8>"""
    assert run(bits, A, kinds=("i8",)).tolist() == A.tolist()


@each_case("name", ["sqrt", "absf", "floor", "ceil", "trunc", "roundeven"])
def test_exact_functions_of_math(name: str) -> None:
    exact = {"absf": np.abs, "roundeven": np.rint}.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        expected = exact(X)
    actual = run(f"%r = math.{name} %a : tensor<10xf32>", X, kinds=("f32",))
    np.testing.assert_array_equal(actual, expected)
