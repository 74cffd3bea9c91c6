"""Folds of dots: of constants, and with an operand of zeros."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from hypothesis import given, settings
from hypothesis import strategies as st
from tileaa_programs import kernel, run, same, simplified, stays, use

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.rules import constant_of

DTYPES = {"i8": np.int8, "i32": np.int32, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def dense(name: str, values: np.ndarray, element: str) -> str:
    """A constant matrix, spelled as bit patterns."""
    values = values.astype(DTYPES[element])
    shape = "x".join(map(str, values.shape))
    size = values.itemsize
    if element.startswith("f"):
        rows = [
            [f"0x{bits:0{2 * size}X}" for bits in row] for row in values.view(f"u{size}").tolist()
        ]
    else:
        rows = [[str(number) for number in row] for row in values.tolist()]
    text = ", ".join(f"[{', '.join(row)}]" for row in rows)
    return f"%{name} = arith.constant dense<[{text}]> : tensor<{shape}x{element}>\n"


def splat(name: str, number: str, type: str, element: str) -> str:
    return (
        f"%{name}0 = arith.constant {number} : {element}\n"
        f"%{name} = aa.splat %{name}0 : {element} -> {type}\n"
    )


def dot(a: str, b: str, c: str, attributes: str = "", *, types: dict[str, str]) -> str:
    kinds = ", ".join(types[name] for name in ("a", "b", "c"))
    return f"%r = aa.dot %{a}, %{b}, %{c} {attributes} : {kinds}\n" + use(f"%r : {types['c']}")


I8 = {"a": "tensor<4x4xi8>", "b": "tensor<4x4xi8>", "c": "tensor<4x4xi32>"}
F16 = {"a": "tensor<4x4xf16>", "b": "tensor<4x4xf16>", "c": "tensor<4x4xf32>"}
F32: dict[str, str] = dict.fromkeys("abc", "tensor<4x4xf32>")
SIGNED = "{signedness_a = #aa.signedness<signed>, signedness_b = #aa.signedness<signed>}"
INTEGERS = "%x: tensor<4x4xi8>, %y: tensor<4x4xi8>, %z: tensor<4x4xi32>"
FLOATS = "%x: tensor<4x4xf16>, %y: tensor<4x4xf16>, %z: tensor<4x4xf32>"


def added(first: str, second: str, type: str, kind: str = "i") -> str:
    return f"%s = aa.add{kind} %{first}, %{second} : {type}\n" + use(f"%s : {type}")


@pytest.mark.parametrize(("first", "second"), [("r", "z"), ("z", "r")])
def test_an_integer_is_added_by_the_dot(first: str, second: str) -> None:
    head = splat("k", "0", I8["c"], "i32")
    kinds = ", ".join(I8[name] for name in "abc")
    body = f"%r = aa.dot %x, %y, %k {SIGNED} : {kinds}\n" + added(first, second, I8["c"])
    assert same(head + body, dot("x", "y", "z", SIGNED, types=I8), INTEGERS)


def test_a_float_is_not_added_by_the_dot() -> None:
    """The sum would be rounded more often."""
    head = splat("k", "0.0", F16["c"], "f32")
    kinds = ", ".join(F16[name] for name in "abc")
    body = head + f"%r = aa.dot %x, %y, %k : {kinds}\n" + added("z", "r", F16["c"], "f")
    assert any("aa.addf" in line for line in simplified(body, FLOATS))


def test_a_dot_with_another_use_is_not_repeated() -> None:
    head = splat("k", "0", I8["c"], "i32")
    body = head + dot("x", "y", "k", SIGNED, types=I8) + added("r", "z", I8["c"])
    lines = simplified(body, INTEGERS)
    assert sum("aa.dot" in line for line in lines) == 1
    assert any("aa.addi" in line for line in lines)


@pytest.mark.requirement("R2-003")
@each_case(("a", "b"), [("k", "x"), ("x", "k"), ("k", "k")])
def test_an_integer_dot_with_zero_is_the_accumulator(a: str, b: str) -> None:
    body = splat("k", "0", I8["a"], "i8") + dot(a, b, "z", SIGNED, types=I8)
    assert same(body, use(f"%z : {I8['c']}"), INTEGERS)


@pytest.mark.requirement("R2-003")
@each_case("zero", ["0.0", "-0.0"])
@each_case(("a", "b"), [("k", "o"), ("o", "k"), ("k", "k")])
def test_a_float_dot_of_zero_and_numbers_is_the_accumulator(a: str, b: str, zero: str) -> None:
    body = splat("k", zero, F16["a"], "f16") + splat("o", "1.5", F16["a"], "f16")
    assert same(body + dot(a, b, "z", types=F16), use(f"%z : {F16['c']}"), FLOATS)


@pytest.mark.requirement("R2-003")
def test_nnan_allows_the_fold() -> None:
    flags = "{fastmath = #arith.fastmath<nnan>}"
    body = splat("k", "0.0", F16["a"], "f16") + dot("k", "x", "z", flags, types=F16)
    assert same(body, use(f"%z : {F16['c']}"), FLOATS)


@pytest.mark.requirement("R2-003")
@each_case("other", ["0x7C00", "0xFC00", "0x7E00"])
def test_infinity_and_nan_are_not_lost(other: str) -> None:
    body = splat("k", "0.0", F16["a"], "f16") + splat("o", other, F16["a"], "f16")
    lines = simplified(body + dot("k", "o", "z", types=F16), FLOATS)
    assert any("nv_tileaa.dot" in line for line in lines)


@pytest.mark.requirement("R2-003", "R2-005")
def test_a_float_dot_of_zero_and_an_unknown_value_stays() -> None:
    body = splat("k", "0.0", F16["a"], "f16") + dot("k", "x", "z", types=F16)
    assert stays(body, FLOATS)


FINITE = {
    "%o = arith.sitofp %i : tensor<4x4xi8> to tensor<4x4xf16>\n": True,
    "%o = arith.uitofp %w : tensor<4x4xi32> to tensor<4x4xf16>\n": False,
    "%n = arith.sitofp %i : tensor<4x4xi8> to tensor<4x4xf16>\n"
    "%o = aa.negf %n : tensor<4x4xf16>\n": True,
    "%o = aa.fp_to_fp %f : tensor<4x4xf8E4M3FN> to tensor<4x4xf16>\n": False,
    "%o = aa.fp_to_fp %g : tensor<4x4xf4E2M1FN> to tensor<4x4xf16>\n": True,
    "%n = arith.sitofp %i : tensor<4x4xi8> to tensor<4x4xf32>\n"
    "%o = aa.fp_to_fp %n : tensor<4x4xf32> to tensor<4x4xf16>\n": False,
    "%o = aa.select %c, %x, %x : tensor<4x4xi1>, tensor<4x4xf16>\n": False,
    "%o = aa.permute %x [1, 0] : tensor<4x4xf16> -> tensor<4x4xf16>\n": False,
}


@pytest.mark.requirement("R2-003")
@each_case(("maker", "finite"), FINITE.items())
def test_which_values_are_known_to_be_finite(maker: str, finite: bool) -> None:
    arguments = (
        f"{FLOATS}, %i: tensor<4x4xi8>, %w: tensor<4x4xi32>, %f: tensor<4x4xf8E4M3FN>, "
        "%g: tensor<4x4xf4E2M1FN>, %c: tensor<4x4xi1>"
    )
    body = splat("k", "0.0", F16["a"], "f16") + maker + dot("o", "k", "z", types=F16)
    lines = simplified(body, arguments)
    assert any("nv_tileaa.dot" in line for line in lines) != finite


@pytest.mark.requirement("R2-003")
def test_scales_may_be_nan() -> None:
    types = {"a": "tensor<4x32xf8E4M3FN>", "b": "tensor<32x4xf8E4M3FN>", "c": "tensor<4x4xf32>"}
    arguments = "%sa: tensor<4x1xf8E8M0FNU>, %sb: tensor<1x4xf8E8M0FNU>, %z: tensor<4x4xf32>"
    body = splat("k", "0.0", types["a"], "f8E4M3FN") + splat("o", "1.0", types["b"], "f8E4M3FN")
    body += (
        f"%r = aa.dot %k, %o, %z scaled by %sa, %sb : {types['a']}, {types['b']}, {types['c']} "
        f"by tensor<4x1xf8E8M0FNU>, tensor<1x4xf8E8M0FNU>\n" + use(f"%r : {types['c']}")
    )
    lines = simplified(body, arguments)
    assert any("nv_tileaa.dot" in line for line in lines)


@pytest.mark.requirement("R2-005")
@each_case(("a", "b", "c"), [("x", "k", "k2"), ("k", "x", "k2"), ("k", "k", "z")])
def test_a_dot_with_an_unknown_operand_stays(a: str, b: str, c: str) -> None:
    body = splat("k", "2", I8["a"], "i8") + splat("k2", "2", I8["c"], "i32")
    lines = simplified(body + dot(a, b, c, SIGNED, types=I8), INTEGERS)
    assert any("nv_tileaa.dot" in line for line in lines)


def folded_dot(body: str) -> np.ndarray:
    """The matrix that a program of constants folds to."""
    function = run(kernel(body))
    assert not [op for op in function.walk() if isinstance(op, DotOp)]
    (value,) = next(op for op in function.walk() if op.name.endswith("barrier")).operands
    constant = constant_of(value)
    assert isinstance(constant, DenseElementsAttr)
    assert constant.type is value.type
    dtype = DTYPES[str(value.type).rpartition("x")[2].rstrip(">")]
    shape = tuple(int(extent) for extent in str(value.type)[7:-1].split("x")[:-1])
    elements = np.frombuffer(constant.data, dtype)
    return np.broadcast_to(elements if len(elements) == 1 else elements.reshape(shape), shape)


def signs(a: bool, b: bool) -> str:
    words = ["signed" if sign else "unsigned" for sign in (a, b)]
    return (
        f"{{signedness_a = #aa.signedness<{words[0]}>, signedness_b = #aa.signedness<{words[1]}>}}"
    )


@pytest.mark.requirement("R2-004", "R2-006", "R2-008")
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_integer_dots_match_numpy(seed: int, sign_a: bool, sign_b: bool) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-128, 128, (4, 4)).astype(np.int8) for _ in range(2))
    c = rng.integers(-(2**31), 2**31, (4, 4)).astype(np.int32)
    body = dense("a", a, "i8") + dense("b", b, "i8") + dense("c", c, "i32")
    left = (a if sign_a else a.view(np.uint8)).astype(np.int64)
    right = (b if sign_b else b.view(np.uint8)).astype(np.int64)
    expected = (left @ right + c).astype(np.int32)
    folded = folded_dot(body + dot("a", "b", "c", signs(sign_a, sign_b), types=I8))
    np.testing.assert_array_equal(folded, expected)


@pytest.mark.requirement("R2-006")
@pytest.mark.parametrize(("signed", "expected"), [(True, 4), (False, 4 * 255 * 255)])
def test_all_ones_are_minus_one_or_255(signed: bool, expected: int) -> None:
    body = splat("k", "-1", I8["a"], "i8") + splat("z", "0", I8["c"], "i32")
    folded = folded_dot(body + dot("k", "k", "z", signs(signed, signed), types=I8))
    np.testing.assert_array_equal(folded, np.full((4, 4), expected))


@pytest.mark.requirement("R2-007", "R2-008")
def test_dots_do_not_overflow_in_the_operand_type() -> None:
    body = splat("k", "1000.0", F16["a"], "f16") + splat("z", "0.0", F16["c"], "f32")
    folded = folded_dot(body + dot("k", "k", "z", types=F16))
    np.testing.assert_array_equal(folded, np.full((4, 4), np.float32(4e6)))


@pytest.mark.requirement("R2-004", "R2-007")
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_float_dots_are_rounded_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal((4, 4)).astype(np.float16) for _ in range(2))
    c = rng.standard_normal((4, 4)).astype(np.float32)
    body = dense("a", a, "f16") + dense("b", b, "f16") + dense("c", c, "f32")
    # `a * b` of two f16 has 22 bits, and four of similar magnitude add exactly in f64.
    expected = (a.astype(np.float64) @ b.astype(np.float64) + c).astype(np.float32)
    np.testing.assert_array_equal(folded_dot(body + dot("a", "b", "c", types=F16)), expected)


def test_batches_are_multiplied_one_by_one() -> None:
    types = {"a": "tensor<2x1x2xi8>", "b": "tensor<2x2x1xi8>", "c": "tensor<2x1x1xi32>"}
    body = "%a = arith.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi8>\n"
    body += "%b = arith.constant dense<[[[5], [6]], [[7], [8]]]> : tensor<2x2x1xi8>\n"
    body += "%c = arith.constant dense<[[[100]], [[200]]]> : tensor<2x1x1xi32>\n"
    folded = folded_dot(body + dot("a", "b", "c", signs(True, True), types=types))
    np.testing.assert_array_equal(folded.ravel(), [1 * 5 + 2 * 6 + 100, 3 * 7 + 4 * 8 + 200])


@each_case(
    ("number", "attributes", "folds"),
    [
        ("0x3F800001", '{input_precision = "ieee"}', True),
        ("0x3F800001", '{input_precision = "tf32"}', False),
        ("0x3F800001", "", False),
        ("0x3F802000", '{input_precision = "tf32"}', True),
    ],
)
def test_operands_truncated_to_tf32_stay(number: str, attributes: str, folds: bool) -> None:
    body = splat("k", number, F32["a"], "f32") + dot("k", "k", "k", attributes, types=F32)
    function = run(kernel(body))
    left = [op for op in function.walk() if isinstance(op, DotOp)]
    assert (not left) == folds


def test_large_dots_are_not_folded() -> None:
    type = "tensor<128x128xi8>"
    numbers = np.arange(128 * 128, dtype=np.int64).reshape(128, 128) % 5
    body = dense("a", numbers, "i8") + splat("z", "0", "tensor<128x128xi32>", "i32")
    types = {"a": type, "b": type, "c": "tensor<128x128xi32>"}
    function = run(kernel(body + dot("a", "a", "z", signs(True, True), types=types)))
    assert [op for op in function.walk() if isinstance(op, DotOp)]
    assert [op for op in function.walk() if isinstance(op, ConstantOp)]
